// Run folders with known truth.
#pragma once

#include <xtape/inspect/run/grad_norms_csv.hpp>
#include <xtape/inspect/run/metrics_jsonl.hpp>
#include <xtape/inspect/run/run_json.hpp>

#include "child_process.hpp"

#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace xtape::test {

/// Numbers of a healthy run of `steps` logged steps, every 10th: a loss from ln 65 down to 1.5 with noise, a gradient
/// norm that falls a little, three blocks, one recurrent layer whose gradient falls by `decay` a step back.
struct MadeRun {
  index_t steps = 100;
  double decay = 0.95;
  index_t window = 64;
  unsigned seed = 1;
  std::function<void(StepRecord&, double part)> change = {};  ///< part of the run that has passed, 0..1
  std::vector<EventRecord> events = {};
  bool finished = true;

  std::vector<StepRecord> records() const {
    std::mt19937 random(seed);
    const auto noise = [&](double size) {
      return 1 + size * (static_cast<double>(random()) / static_cast<double>(random.max()) * 2 - 1);
    };
    std::vector<StepRecord> out;
    for (index_t i = 0; i < steps; ++i) {
      const double part = steps > 1 ? static_cast<double>(i) / static_cast<double>(steps - 1) : 0;
      StepRecord r;
      r.step = 10 * i;
      r.loss = (1.5 + (std::log(65.0) - 1.5) * std::exp(-4 * part)) * noise(0.03);
      if (i == 0) r.loss = std::log(65.0) * noise(0.01);
      r.lr = 1e-3 * std::min(1.0, 10 * part) * (1.1 - part);
      r.grad_norm = (0.5 + 0.5 * std::exp(-3 * part)) * noise(0.3);
      r.classes = 65;
      r.interval = {i == 0 ? 1 : 10,   i % 4 == 0 ? 1 : 0, 0, r.loss * 0.97, r.loss * 1.03,
                    r.grad_norm * 0.8, r.grad_norm * 1.2};
      for (int layer = 0; layer < 3; ++layer) {
        const std::string name = "layers." + std::to_string(layer);
        r.layers.push_back({name, 0, 1, 0.01 * noise(0.2) * (1 + 0.2 * layer)});
        ParameterStats p{.name = name + ".weight", .grad_norm = r.grad_norm / 2 * noise(0.1), .grad_max = 0.1};
        p.grad_nonfinite = 0;
        p.grad_zero_share = 0;
        p.weight_norm = 10;
        p.update_norm = 10 * r.lr * noise(0.1);
        p.update_ratio = p.update_norm / p.weight_norm;
        r.parameters.push_back(p);
      }
      r.units = {{"layers.0.relu", {}, {}, 0.02}, {"rnn_l0.hidden", 0.1, 0.1, {}}, {"rnn_l0.forget", 0.2, 0.25, {}}};
      TimeStats times{"rnn_l0", {{"hidden"}}, {{"hidden"}}};
      for (index_t lag = 0; lag < window; ++lag) {
        times.by_time[0].norms.push_back(0.001 * noise(0.2));
        times.by_lag[0].norms.push_back(0.01 * std::pow(decay, lag) * noise(0.1));
      }
      r.times.push_back(times);
      r.wall = {static_cast<double>(i), 1000.0, 1 << 26};
      if (change) change(r, part);
      out.push_back(std::move(r));
    }
    return out;
  }

  /// Writes it and returns the directory.
  std::string write(const TemporaryDirectory& work, const std::string& name) const {
    RunInfo info = {.description = {.program = "made", .seed = 1},
                    .dtype = "f32",
                    .blas = "none",
                    .isa = "v4",
                    .threads = 1,
                    .parameters = 300};
    info.description.options.emplace_back("steps", index_t{10 * steps});
    for (int layer = 0; layer < 3; ++layer)
      info.layout.push_back({"layers." + std::to_string(layer) + ".weight", {10, 10}, true});
    work.write(name + "/run.json", run_json(info));
    std::string metrics, norms = kGradNormsHeader, lines;
    index_t last = 0;
    for (const StepRecord& r : records()) {
      metrics += metrics_line(r);
      norms += grad_norms_rows(r);
      last = r.step;
    }
    for (const EventRecord& event : events) lines += event_line(event);
    if (finished) lines += event_line({last, "finished", "the run is finished"});
    work.write(name + "/metrics.jsonl", metrics);
    work.write(name + "/grad_norms.csv", norms);
    work.write(name + "/events.jsonl", lines);
    return work.path() + "/" + name;
  }
};

}  // namespace xtape::test
