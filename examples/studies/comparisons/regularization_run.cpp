#include "regularization_run.hpp"

#include "overfit_tasks.hpp"

#include <xtape/core/number_text.hpp>
#include <xtape/inspect/log/line_file.hpp>
#include <xtape/inspect/measure/update_split.hpp>
#include <xtape/inspect/run/series.hpp>

#include <algorithm>
#include <cmath>
#include <memory>

namespace xtape::examples {

namespace {

std::unique_ptr<Optimizer> make_optimizer(const std::string& scheme, const ParamStore& store, double decay) {
  const std::vector<ParamGroup> groups = decay_groups(store, decay);
  const SgdOptions momentum = {.momentum = 0.9};
  const AdamOptions means = {.beta2 = 0.99};
  if (scheme == "sgd" || scheme == "sgd-l2") return std::make_unique<SGD>(groups, momentum);
  if (scheme == "sgdw") return std::make_unique<SGDW>(groups, momentum);
  if (scheme == "adam" || scheme == "adam-l2") return std::make_unique<Adam>(groups, means);
  return std::make_unique<AdamW>(groups, means);
}

/// Sums of the two parts of the updates, and the file with their norms.
class SplitLog {
 public:
  explicit SplitLog(const std::string& directory) : file_(directory + "/update_split.csv") {
    write("step,name,update,gradient,decay\n");
  }

  void add(index_t step, const UpdateSplit& split) {
    std::string rows;
    for (const SplitStats& n : split.numbers()) {
      rows += std::to_string(step) + "," + n.name + "," + number_text(n.update, "%.9g") + "," +
              number_text(n.gradient, "%.9g") + "," + number_text(n.decay, "%.9g") + "\n";
      sums_[n.name].gradient += n.gradient;
      sums_[n.name].decay += n.decay;
    }
    write(rows);
    ++steps_;
  }

  void put(const ParamStore& store, Results& results) const {
    for (const Parameter& p : store.parameters()) {
      if (!p.decays()) continue;
      double squares = 0;
      for (real w : p.value()) squares += static_cast<double>(w) * static_cast<double>(w);
      results["weight_norm/" + p.name()] = {std::sqrt(squares)};
      const auto sum = sums_.find(p.name());
      if (sum == sums_.end()) continue;
      results["gradient_part/" + p.name()] = {sum->second.gradient / steps_};
      results["decay_part/" + p.name()] = {sum->second.decay / steps_};
    }
  }

 private:
  void write(const std::string& rows) {
    const std::string error = file_.append(rows);
    if (!error.empty()) throw FileError("update_split", file_.path() + ": " + error);
  }

  LineFile file_;
  std::map<std::string, SplitStats> sums_;
  double steps_ = 0;
};

/// Medians of sqrt(v) and of the decay rate over bins of equally many weights.
void put_bins(std::vector<DecayedWeight> weights, double lr, Results& results) {
  std::sort(weights.begin(), weights.end(), [](const auto& a, const auto& b) { return a.root_v < b.root_v; });
  for (std::size_t bin = 0; bin < kRootBins && weights.size() >= kRootBins; ++bin) {
    std::vector<double> roots, rates;
    for (std::size_t i = weights.size() * bin / kRootBins; i < weights.size() * (bin + 1) / kRootBins; ++i) {
      roots.push_back(weights[i].root_v);
      rates.push_back(weights[i].rate / lr);
    }
    results["root_v"].push_back(finite_median(roots).value_or(std::nan("")));
    results["decay_rate"].push_back(finite_median(rates).value_or(std::nan("")));
  }
}

}  // namespace

const std::vector<std::string>& scheme_names() {
  static const std::vector<std::string> names = {"sgd", "sgd-l2", "sgdw", "adam", "adam-l2", "adamw"};
  return names;
}

Results train_regularized(const std::vector<std::string>& arguments) {
  Args args("regularization", "Trains one model of the comparison.", {.steps = 1500});
  const auto task_name = args.choice("task", {"transformer", "lstm", "digits"}, "transformer", "model and data");
  const auto data = args.text("data", "kjv.txt", "text, or the digits in CSV");
  const auto batch = args.integer("batch", 16, {1, 4096}, "windows or images in a step");
  const auto width = args.integer("width", 64, {4, 4096}, "width of the model");
  const auto scheme = args.choice("scheme", scheme_names(), "adam", "optimizer and kind of weight decay");
  const auto strength = args.number("strength", 0, {0, 1000}, "weight decay of matrices");
  const auto lr = args.number("lr", 2e-3, {0, 10}, "learning rate after 50 steps of warm-up; then it falls to a tenth");
  const auto interval =
      args.integer("log-interval", 50, {1, 1'000'000}, "steps from one line and validation to the next");
  std::vector<const char*> argv = {"regularization"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  args.parse(static_cast<int>(argv.size()), argv.data());

  ParamStore store(args.seed());
  const OverfitTask task = overfit_task(task_name, store, data, {.batch = batch, .width = width});
  const auto opt = make_optimizer(scheme, store, strength);
  UpdateSplit split(*opt);
  RunLog log(args, store, {.interval = interval});
  SplitLog parts(log.directory());
  Results results;
  double best = std::numeric_limits<double>::infinity();
  for (index_t step = 0; step < args.steps(); ++step) {
    const bool due = log.due(step);
    std::optional<double> validation;
    if (due) best = std::min(best, *(validation = task.loss(Part::validation)));
    Tape tape;
    const Tensor loss = task.train_loss(step);
    tape.backward(loss);
    const double norm = clip_grad_norm(store, 1);
    const double rate = cosine(step, {.warmup = 50, .total = args.steps(), .peak = lr, .floor = lr / 10});
    if (log.accepts(step, loss.item(), norm) && split.step(rate, due) && due) parts.add(step, split);
    log.step(step,
             {.loss = loss.item(), .validation_loss = validation, .lr = rate, .grad_norm = norm, .tokens = task.tokens},
             *opt);
    store.zero_grad();
    if (due && step + 1 == args.steps()) put_bins(split.weights(), rate, results);
  }
  log.finish();
  parts.put(store, results);
  results["train_loss"] = {task.loss(Part::train)};
  results["validation_loss"] = {task.loss(Part::validation)};
  results["test_loss"] = {task.loss(Part::test)};
  results["best_validation_loss"] = {std::min(best, results["validation_loss"].front())};
  return results;
}

}  // namespace xtape::examples
