#include <xtape/data/files.hpp>
#include <xtape/inspect/log/run_writer.hpp>
#include <xtape/inspect/log/tensorboard.hpp>
#include <xtape/inspect/run/grad_norms_csv.hpp>
#include <xtape/inspect/run/metrics_jsonl.hpp>
#include <xtape/inspect/run/run_folder.hpp>

#include <chrono>
#include <filesystem>

namespace xtape {

namespace {

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// The event file of the run, or a new name if there is none.
std::string tensorboard_path(const std::string& directory) {
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    if (entry.path().filename().string().starts_with(run_folder::kTensorBoard)) return entry.path();
  return directory + "/" + tensorboard_file_name();
}

}  // namespace

RunWriter::RunWriter(const std::string& directory, std::function<void(const std::string&)> warn, LineFile::Open how)
    : warn_(std::move(warn)),
      metrics_(std::make_unique<LineFile>(directory + "/" + run_folder::kMetrics, how)),
      norms_(std::make_unique<LineFile>(directory + "/" + run_folder::kGradNorms, how)),
      events_(std::make_unique<LineFile>(directory + "/" + run_folder::kEvents, how)),
      tensorboard_(std::make_unique<LineFile>(tensorboard_path(directory), how)) {
  write_headings();
}

void RunWriter::write_headings() {
  if (norms_ && norms_->empty()) append(norms_, kGradNormsHeader);
  if (tensorboard_ && tensorboard_->empty()) append(tensorboard_, tensorboard_header(seconds_since_1970()));
}

void RunWriter::append(File& file, const std::string& lines) {
  if (file) give_up_if(file->append(lines), *file);
}

void RunWriter::give_up_if(const std::string& reason, const LineFile& file) {
  if (reason.empty()) return;
  warn_("cannot write " + file.path() + ": " + reason + "; the run continues without its log");
  for (File* each : {&metrics_, &norms_, &events_, &tensorboard_}) each->reset();
}

void RunWriter::step(const StepRecord& record) {
  append(metrics_, metrics_line(record));
  append(norms_, grad_norms_rows(record));
  append(tensorboard_, tensorboard_step(record, seconds_since_1970()));
}

void RunWriter::event(const EventRecord& record) { append(events_, event_line(record)); }

void RunWriter::flush() {
  for (File* each : {&metrics_, &norms_, &events_, &tensorboard_})
    if (*each) give_up_if((*each)->flush(), **each);
}

void RunWriter::cut(index_t step) {
  const auto shorten = [step](File& file, auto step_of) {
    if (file) file->cut(size_before(step, read_file(file->path()), step_of));
  };
  shorten(metrics_, step_of_json_line);
  shorten(events_, step_of_json_line);
  shorten(norms_, step_of_csv_row);
  if (tensorboard_) tensorboard_->cut(tensorboard_size_before(step, read_file(tensorboard_->path())));
  write_headings();
}

void RunWriter::close() {
  for (File* each : {&metrics_, &norms_, &events_, &tensorboard_})
    if (*each) give_up_if((*each)->close(), **each);
  for (File* each : {&metrics_, &norms_, &events_, &tensorboard_}) each->reset();
}

}  // namespace xtape
