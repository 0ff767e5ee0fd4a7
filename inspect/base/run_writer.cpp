#include <xtape/inspect/base/run_records.hpp>
#include <xtape/inspect/base/run_writer.hpp>
#include <xtape/inspect/base/step_json.hpp>
#include <xtape/inspect/base/tensorboard.hpp>

#include <chrono>

namespace xtape {

namespace {

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

RunWriter::RunWriter(const std::string& directory, std::function<void(const std::string&)> warn)
    : warn_(std::move(warn)),
      metrics_(std::make_unique<LineFile>(directory + "/metrics.jsonl")),
      norms_(std::make_unique<LineFile>(directory + "/grad_norms.csv")),
      events_(std::make_unique<LineFile>(directory + "/events.jsonl")),
      tensorboard_(std::make_unique<LineFile>(directory + "/" + tensorboard_file_name())) {
  append(norms_, kGradNormsHeader);
  append(tensorboard_, tensorboard_header(seconds_since_1970()));
}

void RunWriter::append(File& file, const std::string& lines) {
  if (file) give_up_if(file->append(lines), *file);
}

void RunWriter::give_up_if(const std::string& reason, const LineFile& file) {
  if (reason.empty()) return;
  warn_("cannot write " + file.path() + ": " + reason + "; the run goes on without its log");
  for (File* each : {&metrics_, &norms_, &events_, &tensorboard_}) each->reset();
}

void RunWriter::step(const StepRecord& record) {
  append(metrics_, metrics_line(record));
  append(norms_, grad_norms_rows(record));
  append(tensorboard_, tensorboard_step(record, seconds_since_1970()));
}

void RunWriter::event(const EventRecord& record) { append(events_, event_line(record)); }

void RunWriter::close() {
  for (File* each : {&metrics_, &norms_, &events_, &tensorboard_})
    if (*each) give_up_if((*each)->close(), **each);
  for (File* each : {&metrics_, &norms_, &events_, &tensorboard_}) each->reset();
}

}  // namespace xtape
