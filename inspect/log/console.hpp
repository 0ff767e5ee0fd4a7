// Console: lines of text and, on a terminal, a progress bar below them.
#pragma once

#include <xtape/core/config.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace spdlog {
class logger;
}

namespace xtape {

/// "  42 % [========>           ] 1260/3000, 1:10 left", at most `columns` wide. The time left is estimated from the
/// mean time of the steps so far.
std::string progress_text(index_t done, index_t total, double seconds, int columns);

class Console {
 public:
  /// The bar counts to `total`. It is shown only if stdout is a terminal. Without `enabled` only warnings are printed.
  Console(index_t total, bool enabled);
  ~Console();
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  void line(const std::string& text);     ///< on stdout; may be several lines
  void warning(const std::string& text);  ///< on stderr
  void progress(index_t done);            ///< redraws the bar at most ten times a second
  void end_progress();                    ///< removes the bar

 private:
  using Clock = std::chrono::steady_clock;
  void erase();
  void draw();

  std::shared_ptr<spdlog::logger> lines_, warnings_;
  bool enabled_, terminal_;
  index_t total_, done_ = 0;
  Clock::time_point start_ = Clock::now(), drawn_{};
};

}  // namespace xtape
