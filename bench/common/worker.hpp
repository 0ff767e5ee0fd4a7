// A worker is a process that holds one workload and runs steps of it on request. It reads one command per line and
// answers with one line:
//
//   about            versions and libraries that the worker runs on
//   list             names of the workloads
//   setup NAME       "ready LOSS GRADIENT_NORM PARTS FLOPS" after the first step; "setup NAME tiny" for small sizes
//   run N            "time MS": milliseconds per step over N steps
//   memory           "memory MB": peak memory of the process so far
//   COMMAND          further commands of this worker
//
// An invalid line ends the process with "error WHY" and status 1.
#pragma once

#include "workloads.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace bench {

class Workload {
 public:
  virtual ~Workload() = default;

  /// Runs one training step, from zero_grad to the optimizer's step. The gradients stay until the next step.
  virtual void step() = 0;
  /// Loss of the last step. For an op without a loss: the sum of its result times a fixed upstream gradient.
  virtual double loss() const = 0;
  /// 2-norm of all gradients of the last step.
  virtual double gradient_norm() const = 0;
  /// Number of equal parts in a step; the reported time is that of one part.
  virtual std::int64_t parts() const { return 1; }
};

struct Worker {
  std::string about;
  std::function<std::unique_ptr<Workload>(const Sizes&)> make;
  std::map<std::string, std::function<double()>> commands = {};  ///< further commands; the answer to each is a number
};

/// Serves commands from standard input until it ends. Returns the exit status.
int serve(const Worker& worker);

/// Milliseconds per call, averaged over `count` calls.
double milliseconds(std::int64_t count, const std::function<void()>& call);

}  // namespace bench
