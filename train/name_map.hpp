// Names of tensors in files made elsewhere.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace xtape {

/// Says which name of ours a foreign name means. A rule replaces a whole name or its first parts; the first rule that
/// matches counts, and a name that none matches stays.
class NameMap {
 public:
  NameMap() = default;  ///< every name stays

  /// Rules from a JSON object, {"foreign": "ours", ...}, in the order of the file. A part "*" stands for any one part,
  /// and the same part takes the place of the "*" in ours, in order; null instead of a name leaves the tensor out:
  ///   {"transformer.h.*.attn.bias": null, "transformer.h.*.ln_1": "layers.*.norm1", "lm_head": "head"}
  /// Throws FileError if the file cannot be read, is not such an object, or a rule has more "*" in ours.
  static NameMap load(const std::string& path);

  /// Our name; nothing if the tensor is to be left out.
  std::optional<std::string> operator()(std::string_view foreign) const;

 private:
  struct Rule {
    std::vector<std::string> foreign;              ///< parts between dots
    std::optional<std::vector<std::string>> ours;  ///< nothing: leave out
  };
  std::vector<Rule> rules_;
};

}  // namespace xtape
