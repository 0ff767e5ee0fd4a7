// RunWriter: the files that grow during a run.
#pragma once

#include <xtape/inspect/log/line_file.hpp>
#include <xtape/inspect/run/records.hpp>

#include <functional>
#include <memory>
#include <string>

namespace xtape {

/// Writes metrics.jsonl, grad_norms.csv, events.jsonl and the TensorBoard file. If a write fails, `warn` is called once
/// and all four files are closed; the training continues.
class RunWriter {
 public:
  /// Throws FileError if a file cannot be created, or exists and must be fresh.
  RunWriter(const std::string& directory, std::function<void(const std::string&)> warn, LineFile::Open how);

  void step(const StepRecord& record);
  void event(const EventRecord& record);
  void flush();
  /// Removes the records of `step` and later steps. Throws FileError.
  void cut(index_t step);
  void close();

 private:
  using File = std::unique_ptr<LineFile>;
  void write_headings();  ///< of empty files
  void append(File& file, const std::string& lines);
  void give_up_if(const std::string& reason, const LineFile& file);

  std::function<void(const std::string&)> warn_;
  File metrics_, norms_, events_, tensorboard_;  // null once closed
};

}  // namespace xtape
