// What reading a large log costs: writes a run of 300 parameters and 5000 logged steps, or as many as the arguments
// say, and prints the time and memory of reading it, of judging it and of its report. Exits with 1 if reading takes 5 s
// or 200 MB, or if the page has 2 MB.
#include <xtape/inspect/report/report_page.hpp>
#include <xtape/inspect/run/metrics_jsonl.hpp>
#include <xtape/inspect/run/reader.hpp>
#include <xtape/inspect/run/run_json.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

using namespace xtape;

namespace {

constexpr double kMostSeconds = 5, kMostMegabytes = 200, kMostPageMegabytes = 2;

std::string parameter_name(index_t i) {
  return "encoder.layers." + std::to_string(i / 4) + (i % 4 < 2 ? ".linear1" : ".linear2") +
         (i % 2 == 0 ? ".weight" : ".bias");
}

/// A logged step with the digits of a real run.
StepRecord made_step(index_t step, index_t parameters, std::mt19937_64& random) {
  const auto number = [&](double size) { return size * (0.5 + static_cast<double>(random() >> 11) * 0x1p-53); };
  StepRecord r;
  r.step = step;
  r.loss = number(4) / (1 + 1e-3 * static_cast<double>(step)) + 1;
  r.lr = 1e-3;
  r.grad_norm = number(1);
  r.classes = 65;
  r.interval = {10, 3, 0, r.loss * 0.9, r.loss * 1.1, r.grad_norm * 0.8, r.grad_norm * 1.2};
  for (index_t i = 0; i < parameters; ++i) {
    ParameterStats p{.name = parameter_name(i), .grad_norm = number(0.1)};
    p.grad_max = number(0.01);
    p.grad_nonfinite = 0;
    p.grad_zero_share = number(0.1);
    std::vector<index_t> counts;
    for (int bin = 0; bin < 24; ++bin) counts.push_back(static_cast<index_t>(number(4000)));
    p.grad_histogram = {-30, std::move(counts)};
    p.weight_norm = number(10);
    p.update_norm = number(0.01);
    p.update_ratio = p.update_norm / p.weight_norm;
    r.parameters.push_back(std::move(p));
  }
  for (index_t i = 0; i < parameters / 4; ++i) {
    r.layers.push_back({"encoder.layers." + std::to_string(i), number(0.1), number(1), number(0.01)});
    r.units.push_back({"encoder.layers." + std::to_string(i) + ".relu", {}, {}, number(0.1)});
  }
  r.wall = {static_cast<double>(step), 1e4, 1 << 28};
  return r;
}

void write_run(const std::string& directory, index_t parameters, index_t lines) {
  RunInfo info = {.description = {.program = "large", .seed = 1}, .dtype = "f32", .blas = "none", .isa = "v4"};
  info.description.options.emplace_back("steps", 10 * lines);
  for (index_t i = 0; i < parameters; ++i) info.layout.push_back({parameter_name(i), {256, 256}, true});
  std::ofstream(directory + "/run.json") << run_json(info);
  std::ofstream metrics(directory + "/metrics.jsonl");
  std::mt19937_64 random(1);
  for (index_t i = 0; i < lines; ++i) metrics << metrics_line(made_step(10 * i, parameters, random));
  std::ofstream(directory + "/events.jsonl") << event_line({10 * (lines - 1), "finished", "the run is finished"});
}

double most_megabytes() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_maxrss) * 1024 / 1e6;
}

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Runs a part and prints what it took. Returns the seconds of the processor, which other programs do not change.
template <class Part>
double measured(const char* name, const Part& part) {
  const auto begin = std::chrono::steady_clock::now();
  const double cpu_begin = cpu_seconds();
  part();
  const double cpu = cpu_seconds() - cpu_begin,
               seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf("%-8s %8.2f s of CPU time, %.2f s in all, at most %.0f MB\n", name, cpu, seconds, most_megabytes());
  std::fflush(stdout);
  return cpu;
}

}  // namespace

int main(int argc, char** argv) {
  const index_t parameters = argc > 1 ? std::stoll(argv[1]) : 300, lines = argc > 2 ? std::stoll(argv[2]) : 5000;
  const std::string directory =
      (std::filesystem::temp_directory_path() / ("xtape_large_log_" + std::to_string(::getpid()))).string();
  std::filesystem::create_directories(directory);
  write_run(directory, parameters, lines);
  std::printf("%lld parameters, %lld lines, %.0f MB of %s\n", static_cast<long long>(parameters),
              static_cast<long long>(lines),
              static_cast<double>(std::filesystem::file_size(directory + "/metrics.jsonl")) / 1e6, "metrics.jsonl");
  RunData run;
  std::vector<Verdict> verdicts;
  std::string page;
  const double seconds = measured("read", [&] { run = read_run(directory); }), megabytes = most_megabytes();
  measured("judge", [&] { verdicts = judge(run); });
  measured("report", [&] { page = report_page(run, verdicts); });
  std::printf("page     %8.2f MB\n", static_cast<double>(page.size()) / 1e6);
  std::filesystem::remove_all(directory);
  const bool good = seconds < kMostSeconds && megabytes < kMostMegabytes &&
                    static_cast<double>(page.size()) < 1e6 * kMostPageMegabytes;
  return good ? 0 : 1;
}
