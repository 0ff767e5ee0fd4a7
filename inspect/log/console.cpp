#include <xtape/inspect/log/console.hpp>

#include <fcntl.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace xtape {

namespace {

constexpr int kBarColumns = 30;

template <class Sink>
std::shared_ptr<spdlog::logger> make_logger(const char* pattern) {
  auto logger = std::make_shared<spdlog::logger>("xtape", std::make_shared<Sink>());
  logger->set_pattern(pattern);
  logger->flush_on(spdlog::level::info);
  return logger;
}

/// Opens /dev/null for the standard streams that are closed: a run needs no console.
void open_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0) (void)::open("/dev/null", O_RDWR);  // takes the lowest free number, this one
}

int terminal_columns() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string clock_text(double seconds) {
  const auto all = std::llround(seconds);
  char text[48];
  if (all < 3600) std::snprintf(text, sizeof text, "%lld:%02lld", all / 60, all % 60);
  else std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", all / 3600, all / 60 % 60, all % 60);
  return text;
}

}  // namespace

std::string progress_text(index_t done, index_t total, double seconds, int columns) {
  const double part = total > 0 ? std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0) : 1;
  const int full = static_cast<int>(part * kBarColumns);
  char percent[16];
  std::snprintf(percent, sizeof percent, "%3d %% [", static_cast<int>(part * 100));
  std::string text = percent + std::string(full, '=') + (full < kBarColumns ? ">" : "") +
                     std::string(std::max(kBarColumns - full - 1, 0), ' ') + "] " + std::to_string(done) + "/" +
                     std::to_string(total);
  if (done > 0)
    text += ", " + clock_text(seconds / static_cast<double>(done) * static_cast<double>(total - done)) + " left";
  return text.substr(0, static_cast<std::size_t>(std::max(columns, 0)));
}

Console::Console(index_t total, bool enabled)
    : lines_(make_logger<spdlog::sinks::stdout_sink_mt>("%v")),
      warnings_(make_logger<spdlog::sinks::stderr_sink_mt>("%l: %v")),
      enabled_(enabled),
      terminal_(enabled && isatty(STDOUT_FILENO)),
      total_(total) {
  open_closed_streams();
}

Console::~Console() { erase(); }

void Console::line(const std::string& text) {
  if (!enabled_) return;
  erase();
  lines_->info(text);
  draw();
}

void Console::warning(const std::string& text) {
  erase();
  warnings_->warn(text);
  draw();
}

void Console::progress(index_t done) {
  done_ = done;
  if (terminal_ && Clock::now() - drawn_ > std::chrono::milliseconds(100)) draw();
}

void Console::end_progress() {
  erase();
  terminal_ = false;
}

void Console::erase() {
  if (!terminal_) return;
  std::fputs("\r\033[K", stdout);  // go to the first column, clear the line
  std::fflush(stdout);
}

void Console::draw() {
  if (!terminal_) return;
  drawn_ = Clock::now();
  const double seconds = std::chrono::duration<double>(drawn_ - start_).count();
  std::fputs(("\r\033[K" + progress_text(done_, total_, seconds, terminal_columns() - 1)).c_str(), stdout);
  std::fflush(stdout);
}

}  // namespace xtape
