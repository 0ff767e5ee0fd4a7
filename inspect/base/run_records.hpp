// The text of what a run directory holds: run.json, lines of metrics.jsonl, rows of grad_norms.csv.
#pragma once

#include <xtape/core/config.hpp>
#include <xtape/train/base/args.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace xtape {

/// Of run.json and of each line of metrics.jsonl; a change that older readers cannot read raises it.
constexpr int kRunFormat = 1;

/// Facts about a run that do not change while it lasts.
struct RunInfo {
  std::string program;
  std::vector<std::pair<std::string, ArgValue>> options;
  std::uint64_t seed;
  std::string flavour;  ///< "f32" or "f64"
  std::string blas;
  std::string isa;  ///< instruction set of the kernels: "plain", "v3", "v4"
  int threads;
  index_t parameters;  ///< number of elements
};

/// The content of run.json; the version, compiler, processor and time are filled in.
std::string run_json(const RunInfo& info);

/// The content of run.json of a run that goes on: as it was, but for the number of steps wanted now, and with the time,
/// version, processor, kernels and threads added to its list "resumed". Throws FileError if `before` is no run.json.
std::string resumed_run_json(const std::string& before, const RunInfo& info, index_t steps);

/// The step of a line of metrics.jsonl; the largest number for a line that is damaged.
std::optional<index_t> step_of_json_line(std::string_view line);
/// The step of a row of grad_norms.csv; nothing for its heading.
std::optional<index_t> step_of_csv_row(std::string_view row);

/// What the training loop tells about one step.
struct StepMetrics {
  double loss;                                 ///< of the training batch, from before the update
  std::optional<double> validation_loss = {};  ///< on the steps that measure it
  double lr = 0;
  std::optional<double> grad_norm =
      {};              ///< joint 2-norm of all gradients before clipping, as clip_grad_norm returned it
  index_t tokens = 0;  ///< of this step's batch
};

/// What depends on the clock or the machine.
struct Wall {
  double seconds;  ///< since the log was opened
  std::optional<double> tokens_per_second = {};
  std::int64_t memory_bytes = 0;  ///< resident
};

/// One line of metrics.jsonl with its line end. Numbers are the shortest that read back as the same double; those that
/// are not finite become the strings "NaN", "Inf", "-Inf".
std::string metrics_line(index_t step, const StepMetrics& metrics, const Wall& wall);

constexpr const char* kGradNormsHeader = "step,kind,name,t,value\n";

/// One row of grad_norms.csv without a time step, with its line end. The name is quoted where CSV (RFC 4180) needs it.
std::string grad_norms_row(index_t step, const char* kind, const std::string& name, double value);

/// A number as in grad_norms.csv and on the console: printf's `format`, or NaN, Inf, -Inf.
std::string number_text(double value, const char* format = "%.9g");

}  // namespace xtape
