// Trains small models with planted faults, and healthy ones, and scores what the diagnosis says about each.
//
//   xtape_fault_bench [--json FILE] [--half develop|report] [--kind NAME] [--quick] [--jobs N] [--keep DIR]
//
// --half, --kind   only the runs of this half, of this kind (or healthy runs whose name begins so)
// --quick          a sample of under 30 seconds
// --jobs           trainings at the same time; default: the number of processors. The table does not depend on it.
// --json           a file for all numbers and texts
// --keep           keeps the run folders as DIR/<half>/<kind>-<model> and DIR/<half>/<healthy run>; DIR must be new
//
// Exit code 1 if the bench itself is wrong: a fault that does not show, a healthy run that does not learn, a process
// that dies. What the diagnosis says does not change it. 2 for a bad option.
#include "results.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>

using namespace xtape;
using namespace xtape::faults;

namespace {

constexpr std::uint64_t kSample = 8;  ///< --quick takes one run of so many

struct UsageProblem : std::runtime_error {
  using std::runtime_error::runtime_error;
};

Half half_named(const std::string& name) {
  for (const Half half : {Half::develop, Half::report})
    if (name == name_of(half)) return half;
  throw UsageProblem("--half: develop or report, not " + name);
}

Options parse(int argc, char** argv) {
  Options out{.jobs = std::max(1, static_cast<int>(std::thread::hardware_concurrency()))};
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--quick") {
      out.quick = true;
      continue;
    }
    if (i + 1 == argc) throw UsageProblem("unknown option, or one without its value: " + option);
    const std::string value = argv[++i];
    if (option == "--json") out.json = value;
    else if (option == "--keep") out.keep = value;
    else if (option == "--half") out.half = half_named(value);
    else if (option == "--kind") out.kind = value;
    else if (option == "--jobs") out.jobs = std::max(1, std::atoi(value.c_str()));
    else throw UsageProblem("unknown option " + option);
  }
  if (!out.keep.empty() && std::filesystem::exists(out.keep)) throw UsageProblem("--keep: exists: " + out.keep);
  return out;
}

bool selected(const Options& options, const std::string& key, const std::string& kind) {
  if (options.half && half_of(key) != *options.half) return false;
  if (!options.kind.empty() && kind != options.kind) return false;
  return !options.quick || fnv1a(key) % kSample == 0;
}

/// The table's own rules: every run has one name, every cause an id that exists.
void check(const std::vector<Fault>& faults, const std::vector<Healthy>& healthy) {
  std::set<std::string> keys;
  const auto add = [&](const std::string& key) {
    if (!keys.insert(key).second) throw std::logic_error("two runs have the name " + key);
  };
  for (const Fault& fault : faults) {
    add(fault.key());
    const Expected& expected = fault.expected;
    if (expected.causes.size() > 2 || (expected.causes.empty() && expected.refusal.empty()))
      throw std::logic_error(fault.key() + " needs one cause, or two");
    for (const std::string& cause : expected.causes)
      if (!cause_ids().contains(cause)) throw std::logic_error(fault.key() + ": no such cause: " + cause);
  }
  for (const Healthy& run : healthy) add(run.name);
}

Table run(const Options& options) {
  const std::vector<Healthy> healthy = all_healthy();
  check(all_faults(), healthy);
  Table table;
  std::vector<Job> jobs, bases;
  std::set<std::string> models;
  for (const Fault& fault : all_faults())
    if (selected(options, fault.key(), fault.kind)) {
      table.faults.push_back(fault);
      jobs.push_back({fault.key(), fault.recipe});
      if (models.insert(fault.recipe.name).second) bases.push_back({fault.recipe.name, base(fault.recipe.name)});
    }
  for (const Healthy& one : healthy)
    if (selected(options, one.name, one.name)) {
      table.healthy.push_back(one);
      jobs.push_back({one.name, one.recipe});
    }
  Options without_folders = options;
  without_folders.keep.clear();
  const std::vector<Result> of_bases = run_jobs(bases, without_folders), results = run_jobs(jobs, options);
  for (std::size_t i = 0; i < bases.size(); ++i) table.bases[bases[i].key] = of_bases[i];
  const auto middle = results.begin() + static_cast<std::ptrdiff_t>(table.faults.size());
  table.fault_results.assign(results.begin(), middle);
  table.healthy_results.assign(middle, results.end());
  return table;
}

bool sound(const Table& table) {
  bool out = true;
  for (std::size_t i = 0; i < table.faults.size(); ++i) out = out && table.shows(i);
  for (std::size_t i = 0; i < table.healthy.size(); ++i) out = out && table.learned(i);
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options = parse(argc, argv);
    set_threads(1);
    const Table table = run(options);
    print(table);
    if (!options.json.empty()) std::ofstream(options.json) << json_of(table).dump(1) << "\n";
    return sound(table) ? 0 : 1;
  } catch (const UsageProblem& problem) {
    std::fprintf(stderr, "xtape_fault_bench: %s\n", problem.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "xtape_fault_bench: %s\n", error.what());
    return 1;
  }
}
