#include <xtape/core/error.hpp>
#include <xtape/nn/attention_config.hpp>

#include <utility>

namespace xtape::inline XTAPE_DTYPE {

bool is_linear(AttentionKind kind) {
  return kind != AttentionKind::softmax && kind != AttentionKind::additive && kind != AttentionKind::argmax;
}

const std::vector<std::string>& attention_config_names() {
  static const std::vector<std::string> names = {"softmax", "mqa",  "gqa", "additive", "separable", "quadratic",
                                                 "elu",     "relu", "rff", "prf",      "argmax"};
  return names;
}

AttentionConfig attention_config(std::string_view name, index_t heads) {
  if (name == "mqa") return {.key_heads = 1};
  if (name == "gqa") {
    if (heads % 2 != 0) throw ValueError("attention", "an even number of heads for gqa", heads);
    return {.key_heads = heads / 2};
  }
  using enum AttentionKind;
  constexpr std::pair<std::string_view, AttentionKind> kinds[] = {{"softmax", softmax},
                                                                  {"additive", additive},
                                                                  {"separable", separable},
                                                                  {"quadratic", quadratic},
                                                                  {"elu", elu},
                                                                  {"relu", relu},
                                                                  {"rff", rff},
                                                                  {"prf", prf},
                                                                  {"argmax", argmax}};
  for (const auto& [known, kind] : kinds)
    if (name == known) return {.kind = kind};
  std::string known;
  for (const std::string& other : attention_config_names()) known += (known.empty() ? "" : ", ") + other;
  throw ValueError("attention", "one of " + known, "'" + std::string(name) + "'");
}

}  // namespace xtape::inline XTAPE_DTYPE
