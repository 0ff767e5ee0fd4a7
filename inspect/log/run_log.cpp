#include <xtape/core/error.hpp>
#include <xtape/core/kernels/reduce.hpp>
#include <xtape/core/runtime.hpp>
#include <xtape/core/threads.hpp>
#include <xtape/data/durable_file.hpp>
#include <xtape/data/files.hpp>
#include <xtape/inspect/log/anomaly.hpp>
#include <xtape/inspect/log/console.hpp>
#include <xtape/inspect/log/console_table.hpp>
#include <xtape/inspect/log/dump_signal.hpp>
#include <xtape/inspect/log/flight_recorder.hpp>
#include <xtape/inspect/log/gradient_history.hpp>
#include <xtape/inspect/log/layer_table.hpp>
#include <xtape/inspect/log/log_state.hpp>
#include <xtape/inspect/log/new_run_folder.hpp>
#include <xtape/inspect/log/run_log.hpp>
#include <xtape/inspect/log/run_writer.hpp>
#include <xtape/inspect/log/step_probe.hpp>
#include <xtape/inspect/run/attention_maps.hpp>
#include <xtape/inspect/run/machine.hpp>
#include <xtape/inspect/run/run_folder.hpp>
#include <xtape/inspect/run/run_json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

namespace xtape::inline XTAPE_DTYPE {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kFlightSteps = 64;
constexpr index_t kMostEvents = 100;  // of one kind, so that a broken run does not fill the disk
constexpr index_t kMostDumps = 10;

double seconds_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

std::vector<std::string> names_of(const std::vector<Parameter>& parameters) {
  std::vector<std::string> names;
  for (const Parameter& parameter : parameters) names.push_back(parameter.name());
  return names;
}

LayerTable table_of(const std::vector<Parameter>& parameters) {
  std::vector<index_t> elements;
  for (const Parameter& parameter : parameters) elements.push_back(parameter.numel());
  return {names_of(parameters), elements};
}

RunInfo info_of(const RunDescription& run, const ParamStore& store) {
  RunInfo info = {.description = run,
                  .dtype = dtype_name(),
                  .blas = gemm_library(),
                  .isa = isa_name(),
                  .threads = threads(),
                  .parameters = store.parameter_count()};
  for (const Parameter& p : store.parameters())
    info.layout.push_back({p.name(), {p.shape().begin(), p.shape().end()}, p.trainable()});
  return info;
}

/// Adds a step to the interval since the last logged step.
void add(IntervalStats& interval, const FlightStep& step, bool skipped, std::optional<double> cosine) {
  const auto widen = [](double& low, double& high, double value) {
    if (!std::isfinite(value)) return;
    low = std::fmin(low, value);  // ignores NaN
    high = std::fmax(high, value);
  };
  widen(interval.loss_min, interval.loss_max, step.loss);
  widen(interval.grad_norm_min, interval.grad_norm_max, step.grad_norm);
  ++interval.steps;
  interval.clipped += step.clip_factor < 1;
  interval.skipped += skipped;
  const auto& updates = step.update_norms;
  interval.still += std::all_of(updates.begin(), updates.end(), [](double norm) { return norm == 0; });
  if (!cosine) return;
  const double before = interval.cosines++ > 0 ? interval.grad_cosine : 0;
  interval.grad_cosine = before + (*cosine - before) / static_cast<double>(interval.cosines);
}

}  // namespace

struct RunLog::State {
  State(const RunDescription& run, const ParamStore& store, const RunLogOptions& options)
      : interval(options.interval),
        steps(run.steps),
        policy(run.on_trouble),
        parameters(store.parameters()),
        table(table_of(parameters)),
        recorder(names_of(parameters), kFlightSteps),
        gradients(parameters),
        directory(run.resumes ? run.directory : make_run_folder(run.directory, run.program)),
        lock(directory),
        waits(run.resumes),
        console(run.steps, options.console) {
    if (run.detect_anomaly) anomaly = std::make_shared<AnomalyFinder>(directory);
    // A tape that outlives this log still holds its probe.
    const auto see = [finder = anomaly](const OpEvent& event) { finder->see(event); };
    probe = anomaly ? std::make_shared<StepProbe>(see) : std::make_shared<StepProbe>();
  }

  index_t interval, steps;
  OnTrouble policy;
  std::vector<Parameter> parameters;
  LayerTable table;
  FlightRecorder recorder;
  GradientHistory gradients;
  std::string directory;
  FolderLock lock;
  IgnoredPipeSignal no_reader;
  bool waits;               // for load_state()
  std::string resumed_run;  // the new run.json, written when the state is loaded
  Console console;
  ConsoleTable lines;
  std::optional<RunWriter> writer;
  std::shared_ptr<AnomalyFinder> anomaly;  // null unless --detect-anomaly
  std::shared_ptr<StepProbe> probe;
  std::optional<SignalWatch> signals = std::optional<SignalWatch>(std::in_place);  // until finish()
  SpikeDetector spikes;
  IntervalStats since_logged;
  index_t last_step = -1;
  index_t refused_step = -1;  // accepts() returned false
  bool any_logged = false, finished = false, stopped = false, optimizer_told = false, anomaly_told = false;
  index_t tokens = 0;  // since `logged_at`
  index_t dumps = 0;
  std::map<std::string, index_t> events;  // by kind
  Clock::time_point started_at = Clock::now(), logged_at = started_at;

  Wall wall() {
    const Clock::time_point now = Clock::now();
    const double since_last = seconds_between(logged_at, now);
    Wall out{.seconds = seconds_between(started_at, now), .memory_bytes = resident_bytes()};
    if (tokens > 0 && since_last > 0) out.tokens_per_second = static_cast<double>(tokens) / since_last;
    tokens = 0;
    logged_at = now;
    return out;
  }

  /// The values kept for every step, logged or not. Throws GradientError after a failed backward pass.
  FlightStep flight_step(index_t step, const StepMetrics& metrics, const OptimizerView& optimizer) const {
    FlightStep out{.step = step, .batch = metrics.batch.value_or(step), .loss = metrics.loss, .lr = metrics.lr};
    double joint = 0, clipped = 0;
    for (const Parameter& p : parameters) {
      const double norm = p.has_grad() ? p.grad_norm() : 0, after = norm * p.clip_factor();
      joint = kernels::joint_norm(joint, norm);
      clipped = kernels::joint_norm(clipped, after);
      out.grad_norms.push_back(norm);
      out.update_norms.push_back(optimizer.update_norm(p));
    }
    out.grad_norm = metrics.grad_norm.value_or(joint);
    out.clip_factor = joint > 0 && clipped < joint ? clipped / joint : 1;
    return out;
  }

  StepRecord record_of(const FlightStep& now, const StepMetrics& metrics, const OptimizerView& optimizer) {
    StepRecord out;
    probe->fill(out, parameters);
    out.step = now.step;
    out.loss = metrics.loss;
    out.validation_loss = metrics.validation_loss;
    out.lr = metrics.lr;
    out.grad_norm = now.grad_norm;
    out.clip_factor = now.clip_factor;
    out.loss_z = spikes.loss_z(metrics.loss);
    out.grad_norm_z = spikes.grad_norm_z(now.grad_norm);
    out.extra = metrics.extra;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      ParameterStats& p = out.parameters[i];
      p.weight_norm = kernels::norm(parameters[i].value().data(), parameters[i].numel());
      p.update_norm = now.update_norms[i];
      p.update_ratio = p.update_norm == 0 ? 0 : p.update_norm / p.weight_norm;
      p.equal_rows = equal_rows(parameters[i]);
      if (const double share = gradients.untouched_rows(parameters[i]); share > 0) p.untouched_rows = share;
    }
    if (optimizer.describe) add_optimizer(out, optimizer.describe());
    return out;
  }

  /// What the record says of the optimizer.
  void add_optimizer(StepRecord& out, OptimizerView::Description optimizer) {
    if (!std::exchange(optimizer_told, true)) out.optimizer = std::move(optimizer.info);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      ParameterStats& p = out.parameters[i];
      const auto rates = optimizer.rates.find(p.name);
      p.unoptimized = rates == optimizer.rates.end() && parameters[i].trainable();
      if (rates == optimizer.rates.end()) continue;
      const auto [lr_scale, decay] = rates->second;
      if (lr_scale != 1) p.lr_scale = lr_scale;
      if (decay > 0) p.decay_norm = out.lr * lr_scale * decay * p.weight_norm;
    }
  }

  void write(StepRecord& record, const FlightStep& now) {
    record.interval = std::exchange(since_logged, {});
    record.wall = wall();
    writer->step(record);
    table.add(now.grad_norms);
    console.line(lines.lines(record));
    any_logged = true;
  }

  /// Dumps the flight recorder, at most kMostDumps times. Returns the file's name or "".
  std::string dump(const std::string& reason) {
    if (dumps >= kMostDumps) return "";
    try {
      std::string file = recorder.dump(directory, reason);
      dumps += !file.empty();
      return file;
    } catch (const FileError& error) {
      dumps = kMostDumps;
      console.warning(std::string(error.what()) + "; the run continues without its flight recorder");
      return "";
    }
  }

  void report(EventRecord event) {
    if (++events[event.kind] > kMostEvents) return;
    if (event.file.empty()) event.file = dump(event.text);
    console.warning(event.text + (event.file.empty() ? "" : "; see " + directory + "/" + event.file));
    writer->event(event);
  }

  /// Reports what is wrong with a step. Returns whether the run must stop.
  bool report_troubles(const FlightStep& now) {
    bool broken = false;
    if (anomaly && anomaly->found() && !std::exchange(anomaly_told, true)) {
      const Anomaly& a = *anomaly->found();
      report({now.step, "anomaly", a.text, a.layer, a.op, a.file, 0});
      broken = true;
    }
    if (const std::optional<BadStep> trouble = spikes.judge(now.step, now.loss, now.grad_norm)) {
      const bool nonfinite = trouble->kind == BadStep::Kind::nonfinite;
      const std::string batch = " (batch " + std::to_string(now.batch) + ")";
      const std::string skipped = refused_step == now.step ? "; the step is skipped" : "";
      report(
          {now.step, nonfinite ? "nonfinite" : "spike", trouble->text + batch + skipped, "", "", "", trouble->value});
      broken = broken || nonfinite;
    }
    return broken && policy == OnTrouble::stop;
  }

  /// Prepares the next step: attaches the probe if the step is logged or all ops are checked.
  void prepare(bool next_is_due) {
    probe->begin(next_is_due);
    if (anomaly) anomaly->begin(last_step + 1);
    if (next_is_due || anomaly) probe->attach();
    else probe->detach();
  }

  /// Records an end before the run is finished, once.
  void stop(const std::string& why) {
    if (waits || finished || std::exchange(stopped, true)) return;
    writer->event({std::max<index_t>(last_step, 0), "stopped", why, "", "", "", 0});
  }

  void handle_signal() {
    const int signal = signals->take();
    if (signal == 0) return;
    const std::string file = dump("signal " + std::to_string(signal));
    if (!file.empty())
      writer->event({last_step, "dump", "signal " + std::to_string(signal) + " came", "", "", file, 0});
    if (signal == SIGUSR1) return;
    stop("stopped by " + signal_name(signal) + " after " + std::to_string(last_step + 1) + " of " +
         std::to_string(steps) + " steps");
    SignalWatch::give_back(signal);
  }
};

RunLog::RunLog(const RunDescription& run, const ParamStore& store, const RunLogOptions& options) {
  if (options.interval < 1) throw ValueError("run_log", "an interval of at least 1", options.interval);
  state_ = std::make_unique<State>(run, store, options);
  State& s = *state_;
  const std::string run_file = s.directory + "/" + run_folder::kRun;
  const RunInfo info = info_of(run, store);
  if (s.waits) {
    remove_leftovers(s.directory);
    s.resumed_run = resumed_run_json(read_file(run_file), info);
  } else write_file(run_file, run_json(info));
  const auto how = s.waits ? LineFile::Open::go_on : LineFile::Open::fresh;
  s.writer.emplace(s.directory, [&s](const std::string& text) { s.console.warning(text); }, how);
  if (!s.waits) s.prepare(true);
}

RunLog::~RunLog() {
  if (!state_) return;
  state_->probe->detach();
  if (state_->finished) return;
  state_->dump("the run ended before it was finished");
  if (state_->writer)
    state_->stop("stopped before it was finished, after " + std::to_string(state_->last_step + 1) + " of " +
                 std::to_string(state_->steps) + " steps");
}

void RunLog::stop(const std::string& why) { state_->stop(why); }

const std::string& RunLog::directory() const { return state_->directory; }

bool RunLog::due(index_t step) const {
  return !state_->any_logged || step % state_->interval == 0 || step + 1 == state_->steps;
}

bool RunLog::accepts(index_t step, double loss, double grad_norm) {
  State& s = *state_;
  if (s.policy == OnTrouble::warn || !s.spikes.judge(step, loss, grad_norm)) return true;
  if (s.policy == OnTrouble::stop && std::isfinite(loss) && std::isfinite(grad_norm)) return true;
  s.refused_step = step;
  return false;
}

void RunLog::record(index_t step, const StepMetrics& metrics, const OptimizerView& optimizer) {
  State& s = *state_;
  if (s.finished) throw ValueError("run_log", "step() is called after finish()");
  if (s.waits) throw ValueError("run_log", "the run is resumed, but its state is not loaded; use Checkpoints");
  if (step <= s.last_step) throw ValueError("run_log", "a step after " + std::to_string(s.last_step), step);
  const bool logged = due(step) || metrics.validation_loss;
  const FlightStep now = s.flight_step(step, metrics, optimizer);  // may throw: before any change
  const std::optional<double> cosine = s.gradients.add();
  StepRecord record;
  if (logged) record = s.record_of(now, metrics, optimizer);
  s.last_step = step;
  s.tokens += metrics.tokens;
  add(s.since_logged, now, s.refused_step == step || !std::isfinite(now.grad_norm), cosine);
  s.recorder.add(now);
  s.console.progress(step + 1);
  if (logged) s.write(record, now);
  const bool stop = s.report_troubles(now);
  s.spikes.add(now.loss, now.grad_norm);
  s.prepare(due(step + 1));
  if (stop)
    throw DivergedError("run_log", "the run stops at step " + std::to_string(step) + ", as --on-trouble stop asks");
  s.handle_signal();
}

void RunLog::attention(index_t step, const std::vector<std::string>& tokens, const Array& weights) {
  if (weights.dimension() != 4 || weights.shape()[2] > tokens.size() || weights.shape()[3] > tokens.size())
    throw ShapeError("run_log",
                     "attention weights [layers, heads, queries, keys] of at most " + std::to_string(tokens.size()) +
                         " queries and keys",
                     weights.shape());
  try {
    save_attention(state_->directory, step, tokens, stored("attention", weights));
  } catch (const FileError& error) {
    state_->console.warning(std::string(error.what()) + "; the run continues without its attention weights");
  }
}

std::string RunLog::state() {
  State& s = *state_;
  s.writer->flush();
  return log_state_text({.any_logged = s.any_logged,
                         .since_logged = s.since_logged,
                         .watched = s.spikes.history(),
                         .events = s.events,
                         .dumps = s.dumps,
                         .optimizer_told = s.optimizer_told,
                         .measured = s.probe->history(),
                         .gradients = s.gradients.state()});
}

void RunLog::load_state(index_t step, const std::string& text) {
  State& s = *state_;
  const LogState before = log_state(text);
  if (!s.waits) throw ValueError("run_log", "only a run started with --resume can load a state");
  s.writer->cut(step);
  write_file(s.directory + "/" + run_folder::kRun, s.resumed_run);
  s.any_logged = before.any_logged;
  s.since_logged = before.since_logged;
  s.spikes.restore(before.watched);
  s.events = before.events;
  s.dumps = before.dumps;
  s.optimizer_told = before.optimizer_told;
  s.probe->restore(before.measured);
  if (before.gradients) s.gradients.restore(*before.gradients);
  s.last_step = step - 1;
  s.waits = false;
  s.prepare(due(step));
}

void RunLog::finish() {
  State& s = *state_;
  if (s.finished) return;
  s.finished = true;
  s.probe->detach();
  s.signals.reset();
  s.console.end_progress();
  s.writer->event({s.last_step, "finished", "the run is finished", "", "", "", 0});
  s.writer->close();
  s.console.line("\n" + s.table.text() + "\nThe run is in " + s.directory);
}

}  // namespace xtape::inline XTAPE_DTYPE
