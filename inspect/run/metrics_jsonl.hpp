// Lines of metrics.jsonl and events.jsonl, written and read. docs/run_folder.md has the schema.
#pragma once

#include <xtape/inspect/run/records.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace xtape {

/// "format_version" of run.json and of each line of metrics.jsonl and events.jsonl. Raise it for changes that older
/// readers cannot read.
constexpr int kRunFormat = 1;

/// A line with its line end. Numbers have the fewest digits that read back as the same double; NaN and infinities are
/// the strings "NaN", "Inf" and "-Inf".
std::string metrics_line(const StepRecord& record);
std::string event_line(const EventRecord& record);

/// The value of the key "interval" alone.
std::string interval_json(const IntervalStats& numbers);
/// Reads such a text; nothing if it is not a JSON object of that form.
std::optional<IntervalStats> read_interval_json(std::string_view text);

/// Reads many lines: the records share their names, and the memory for parsing is used again.
class RecordParser {
 public:
  enum class Histograms { keep, drop };
  explicit RecordParser(Histograms histograms = Histograms::keep);
  ~RecordParser();
  RecordParser(const RecordParser&) = delete;
  RecordParser& operator=(const RecordParser&) = delete;

  /// Reads a line; nothing if it is incomplete, damaged or of a newer format. Missing keys keep their defaults, unknown
  /// keys are ignored.
  std::optional<StepRecord> step(std::string_view line);
  std::optional<EventRecord> event(std::string_view line);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The same for one line alone.
std::optional<StepRecord> read_metrics_line(std::string_view line);
std::optional<EventRecord> read_event_line(std::string_view line);

/// The step of a line of either file. Returns the largest number for a damaged line and for the events "finished" and
/// "stopped", so that a resumed run cuts them off.
std::optional<index_t> step_of_json_line(std::string_view line);

}  // namespace xtape
