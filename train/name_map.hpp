// NameMap: translates tensor names of files from other programs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace xtape {

/// Translates foreign names to our names. A rule replaces a whole name or its first parts. The first matching rule is
/// used; a name without one stays.
class NameMap {
 public:
  NameMap() = default;  ///< changes no name

  /// Rules from a JSON object, {"foreign": "ours", ...}, in the order of the file. A part "*" matches any one part,
  /// which replaces the "*" in ours, in order. null leaves the tensor out:
  ///   {"transformer.h.*.attn.bias": null, "transformer.h.*.ln_1": "layers.*.norm1", "lm_head": "head"}
  /// Throws FileError if the file cannot be read, is not such an object, or a rule has more "*" in ours than in
  /// foreign.
  static NameMap load(const std::string& path);

  /// Our name; nothing if the tensor is left out.
  std::optional<std::string> operator()(std::string_view foreign) const;

 private:
  struct Rule {
    std::vector<std::string> foreign;              ///< parts between dots
    std::optional<std::vector<std::string>> ours;  ///< nothing: leave out
  };
  std::vector<Rule> rules_;
};

}  // namespace xtape
