// RunWriter: the files of a run that grow while it lasts.
#pragma once

#include <xtape/inspect/log/run_directory.hpp>
#include <xtape/inspect/run/records.hpp>

#include <functional>
#include <memory>
#include <string>

namespace xtape {

/// metrics.jsonl, grad_norms.csv, events.jsonl and the TensorBoard file. If the disk refuses a line, `warn` is called
/// once and all four are given up: half a log must not end a training.
class RunWriter {
 public:
  /// Throws FileError if a file cannot be made, or is there and should be fresh. A run that goes
  /// on has a TensorBoard file of its own beside the first one.
  RunWriter(const std::string& directory, std::function<void(const std::string&)> warn, LineFile::Open how);

  void step(const StepRecord& record);
  void event(const EventRecord& record);
  void flush();
  /// Removes what was written from `step` on. Throws FileError.
  void cut(index_t step);
  void close();

 private:
  using File = std::unique_ptr<LineFile>;
  void write_headings();  ///< of files that are empty
  void append(File& file, const std::string& lines);
  void give_up_if(const std::string& reason, const LineFile& file);

  std::function<void(const std::string&)> warn_;
  File metrics_, norms_, events_, tensorboard_;  // empty once they are closed or given up
};

}  // namespace xtape
