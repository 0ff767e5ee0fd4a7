// Lines of metrics.jsonl and events.jsonl, written and read. docs/run_directory.md has the schema.
#pragma once

#include <xtape/inspect/run/records.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace xtape {

/// Of run.json and of each line of metrics.jsonl and events.jsonl; a change that older readers cannot read raises it.
constexpr int kRunFormat = 1;

/// With its line end. Stats are the shortest that read back as the same double; those that are not finite become the
/// strings "NaN", "Inf", "-Inf".
std::string metrics_line(const StepRecord& record);
std::string event_line(const EventRecord& record);

/// What metrics.jsonl has under "interval", by itself.
std::string interval_json(const IntervalStats& numbers);
/// Nothing if the text is not what interval_json writes.
std::optional<IntervalStats> read_interval_json(std::string_view text);

/// Nothing if the line is not what the functions above write: cut short, garbled, or of a newer format. Keys that are
/// missing leave their defaults; unknown ones are passed over.
std::optional<StepRecord> read_metrics_line(std::string_view line);
std::optional<EventRecord> read_event_line(std::string_view line);

/// The step of a line of either file. Returns the largest number for a damaged line and for the event "finished", so
/// that a resumed run cuts them off.
std::optional<index_t> step_of_json_line(std::string_view line);

}  // namespace xtape
