#include <xtape/core/nearest_name.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace xtape {

namespace {

/// Levenshtein distance: the smallest number of insertions, deletions and replacements of characters.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest_name(std::string_view given, const std::vector<std::string>& names) {
  std::string nearest;
  std::size_t least = 4;  // above the largest distance that counts as near
  for (const std::string& name : names) {
    const bool begun = given.size() >= 2 && name.starts_with(given);
    const std::size_t distance = begun ? 1 : edit_distance(given, name);
    if (distance < least && 2 * distance < std::max(given.size(), name.size())) nearest = name, least = distance;
  }
  return nearest;
}

std::string suggestion(std::string_view given, const std::vector<std::string>& names, std::string_view prefix) {
  const std::string nearest = nearest_name(given, names);
  return nearest.empty() ? "; see --help" : "; did you mean " + std::string(prefix) + nearest + "?";
}

}  // namespace xtape
