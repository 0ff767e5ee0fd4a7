// The names of the files in a run folder. docs/run_folder.md describes their content.
#pragma once

#include <xtape/core/config.hpp>

#include <string>

namespace xtape::run_folder {

constexpr const char* kRun = "run.json";                      ///< program, options, seed, machine, parameters
constexpr const char* kMetrics = "metrics.jsonl";             ///< one line for each logged step
constexpr const char* kGradNorms = "grad_norms.csv";          ///< all norms of the logged steps, one row each
constexpr const char* kEvents = "events.jsonl";               ///< NaN, spikes, anomalies, dumps, the end of the run
constexpr const char* kTensorBoard = "events.out.tfevents.";  ///< prefix; then time, host and process
constexpr const char* kAttention = "attention";  ///< folder of step_N.npy: the attention weights of one sentence
constexpr const char* kTokens = "tokens.json";   ///< in attention/: the text at each position
constexpr const char* kFlight = "flight";        ///< folder of step_N.json: the steps before something went wrong
constexpr const char* kAnomaly = "anomaly";      ///< folder of the first op that produced NaN or infinity
constexpr const char* kAnomalyRecord = "anomaly.json";  ///< in anomaly/: the op; its arrays are .npy files beside it
constexpr const char* kCheckpoints = "checkpoints";     ///< folder of step_N.safetensors: everything a run resumes from
constexpr const char* kBest = "best.safetensors";       ///< in checkpoints/: the lowest validation loss so far
constexpr const char* kWeights = "weights.safetensors";  ///< the weights at the end, written by the program
constexpr const char* kReport = "report.html";           ///< the page that `xtape report` writes
constexpr const char* kLock = ".lock";                   ///< locked by the process that writes the run; holds its id
constexpr const char* kStepPrefix = "step_";             ///< of the names step_N in the folders above

/// "step_<step><extension>".
inline std::string step_file(index_t step, const char* extension) {
  return kStepPrefix + std::to_string(step) + extension;
}

}  // namespace xtape::run_folder
