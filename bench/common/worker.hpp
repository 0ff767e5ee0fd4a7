// A worker: a process that holds one workload and, told over its input, runs steps of it. One line in, one line out:
//
//   about            what it runs on
//   list             the workloads' names
//   setup NAME       "ready LOSS GRADIENT_NORM PARTS FLOPS" after the first step; "setup NAME tiny" for small sizes
//   run N            "time MS", milliseconds of a step, over N steps
//   memory           "memory MB", the peak of the process so far
//   COMMAND          what the worker adds to these
//
// A line that cannot be obeyed ends the process with "error WHY" and status 1.
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

  /// One training step, from zero_grad to the optimizer. The gradients stay until the next.
  virtual void step() = 0;
  /// Of the last step. Where there is no loss: the result times a fixed upstream gradient, summed.
  virtual double loss() const = 0;
  /// 2-norm of all gradients of the last step.
  virtual double gradient_norm() const = 0;
  /// How many alike parts a step has; the time of one of them is what is wanted.
  virtual std::int64_t parts() const { return 1; }
};

struct Worker {
  std::string about;
  std::function<std::unique_ptr<Workload>(const Sizes&)> make;
  std::map<std::string, std::function<double()>> commands = {};  ///< further ones, each answered with a number
};

/// Serves the standard input until it ends; the exit status.
int serve(const Worker& worker);

/// Milliseconds that one call takes, over `count` calls.
double milliseconds(std::int64_t count, const std::function<void()>& call);

}  // namespace bench
