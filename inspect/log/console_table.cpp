#include <xtape/core/number_text.hpp>
#include <xtape/inspect/log/console_table.hpp>

#include <algorithm>

namespace xtape {

namespace {

std::string right_aligned(const std::string& text, std::size_t width) {
  return std::string(text.size() < width ? width - text.size() : 0, ' ') + text;
}

}  // namespace

void ConsoleTable::set(const std::string& name, const char* format, std::optional<double> value) {
  const auto at = std::find_if(columns_.begin(), columns_.end(), [&](const Column& c) { return c.name == name; });
  if (at == columns_.end() && !value) return;
  if (at != columns_.end()) {
    at->value = value;
    next_ = at - columns_.begin() + 1;
  } else {
    const std::size_t width = columns_.empty() ? 8 : std::max<std::size_t>(10, name.size() + 2);
    columns_.insert(columns_.begin() + next_++, {name, format, width, value});
  }
}

std::string ConsoleTable::lines(const StepRecord& r) {
  for (Column& column : columns_) column.value.reset();
  next_ = 0;
  set("step", "%.0f", static_cast<double>(r.step));
  set("loss", "%.4f", r.loss);
  set("validation", "%.4f", r.validation_loss);
  set("lr", "%.2e", r.lr > 0 ? std::optional(r.lr) : std::nullopt);
  set("grad norm", "%.4f", r.grad_norm);
  for (const auto& [name, value] : r.extra) set(name, "%.4f", value);
  set("tokens/s", "%.0f", r.wall.tokens_per_second);
  std::string heading, line;
  for (const Column& column : columns_) {
    heading += right_aligned(column.name, column.width);
    line += right_aligned(column.value ? number_text(*column.value, column.format) : "", column.width);
  }
  const bool changed = columns_.size() > named_;
  named_ = columns_.size();
  line.erase(line.find_last_not_of(' ') + 1);
  return changed ? heading + "\n" + line : line;
}

}  // namespace xtape
