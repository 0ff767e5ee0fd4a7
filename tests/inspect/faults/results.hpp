// What the runs of the bench gave: rows of the table, rates, JSON.
#pragma once

#include "recipe.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace xtape::faults {

/// One training and what was said about it.
struct Job {
  std::string key;  ///< "kind/model", or the name of a healthy run
  Recipe recipe;
};

struct Result {
  Outcome outcome;
  Said said;
  bool red = false;       ///< a verdict or the diagnosis is bad
  std::string all = {};   ///< ids of all bad and warning verdicts
  double seconds = 0;     ///< of the training
  std::string died = {};  ///< why there is no result
};

struct Options {
  std::string json = {};          ///< file for everything
  std::string keep = {};          ///< directory for the run folders
  std::optional<Half> half = {};  ///< only this one
  std::string kind = {};          ///< only this kind, or only this healthy run
  bool quick = false;             ///< a sample
  int jobs = 1;                   ///< trainings at once
};

/// Runs each job in a process of its own, several at once. The results are in the order of the jobs.
std::vector<Result> run_jobs(const std::vector<Job>& jobs, const Options& options);

/// All that is known of a selection of runs. Faults and healthy runs have their results in the same order.
struct Table {
  std::vector<Fault> faults;
  std::vector<Result> fault_results;
  std::vector<Healthy> healthy;
  std::vector<Result> healthy_results;
  std::map<std::string, Result> bases;  ///< by model

  Expected expected_of(std::size_t fault) const;  ///< with the step that only the outcome tells
  Score score_of(std::size_t fault) const;
  bool shows(std::size_t fault) const;  ///< whether the fault is real, beside its healthy base
  bool learned(std::size_t healthy) const;
};

/// Prints the rows and the rates of each half.
void print(const Table& table);
nlohmann::json json_of(const Table& table);

nlohmann::json json_of(const Result& result);
Result result_of(const nlohmann::json& json);

}  // namespace xtape::faults
