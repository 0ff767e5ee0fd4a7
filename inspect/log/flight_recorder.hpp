// FlightRecorder: keeps the last steps of a run in memory and writes them to a file when something goes wrong.
#pragma once

#include <xtape/inspect/run/records.hpp>

#include <deque>
#include <string>
#include <vector>

namespace xtape {

/// One step. The norms have the order of the recorder's parameter names.
struct FlightStep {
  index_t step = 0;
  index_t batch = 0;  ///< index of the batch
  double loss = 0, lr = 0, grad_norm = 0, clip_factor = 1;
  std::vector<double> grad_norms = {};    ///< by parameter, before clipping
  std::vector<double> update_norms = {};  ///< by parameter
};

class FlightRecorder {
 public:
  FlightRecorder(std::vector<std::string> parameters, std::size_t steps)
      : parameters_(std::move(parameters)), capacity_(steps) {}

  void add(FlightStep step);

  /// Writes all steps to `directory`/flight/step_<last step>.json. Returns the name relative to `directory`, or "" if
  /// no step was added since the last dump. Throws FileError.
  std::string dump(const std::string& directory, const std::string& reason);

 private:
  std::vector<std::string> parameters_;
  std::size_t capacity_;
  std::deque<FlightStep> steps_;
  index_t dumped_ = -1;  // the last step of the last dump
};

}  // namespace xtape
