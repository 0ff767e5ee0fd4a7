#include <xtape/core/error.hpp>
#include <xtape/train/mismatches.hpp>

namespace xtape {

void Mismatches::shape(const std::string& name, const Shape& in_file, const Shape& wanted) {
  others_.push_back("shape of " + name + ": " + expected_got(shape_text(wanted), in_file));
}

bool Mismatches::none() const { return missing_.empty() && unexpected_.empty() && others_.empty(); }

void Mismatches::raise(const std::string& op, const std::string& path) const {
  if (none()) return;
  std::string text;
  const auto append = [&text](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  const auto append_names = [&](const char* what, const std::vector<std::string>& names) {
    for (std::size_t i = 0; i < names.size(); ++i)
      if (i == 0) append(what + names[i]);
      else text += ", " + names[i];
  };
  append_names("missing ", missing_);
  append_names("unexpected ", unexpected_);
  for (const std::string& other : others_) append(other);
  throw MismatchError(op, path + " does not fit: " + text);
}

}  // namespace xtape
