#include <xtape/core/error.hpp>
#include <xtape/core/kernels/gemm.hpp>
#include <xtape/core/kernels/levels/levels.hpp>
#include <xtape/core/kernels/reduce.hpp>
#include <xtape/core/kernels/threads.hpp>
#include <xtape/data/files.hpp>
#include <xtape/inspect/base/console.hpp>
#include <xtape/inspect/base/layer_table.hpp>
#include <xtape/inspect/base/machine.hpp>
#include <xtape/inspect/base/run_files.hpp>
#include <xtape/inspect/run_log.hpp>

#include <chrono>
#include <cmath>
#include <optional>

namespace xtape::inline XTAPE_FLAVOUR {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

LayerTable table_of(const std::vector<Parameter>& parameters) {
  std::vector<std::string> names;
  std::vector<index_t> elements;
  for (const Parameter& parameter : parameters) {
    names.push_back(parameter.name());
    elements.push_back(parameter.size());
  }
  return {names, elements};
}

RunInfo info_of(const Args& args, const ParamStore& store) {
  return {.program = args.program(),
          .options = args.values(),
          .seed = args.seed(),
          .flavour = sizeof(real) == sizeof(double) ? "f64" : "f32",
          .blas = kernels::gemm_backend(),
          .isa = kernels::level().name,
          .threads = threads(),
          .parameters = store.parameter_count()};
}

struct ParameterNorms {
  double gradient, weight, update;
};

std::vector<ParameterNorms> measured_norms(const std::vector<Parameter>& parameters,
                                           const std::function<double(const Parameter&)>& update_norm) {
  std::vector<ParameterNorms> out;
  for (const Parameter& p : parameters)
    out.push_back({.gradient = p.has_grad() ? p.grad_norm() : 0,
                   .weight = std::sqrt(kernels::sum_of_squares(p.value().data(), p.size())),
                   .update = update_norm(p)});
  return out;
}

double joint_gradient_norm(const std::vector<ParameterNorms>& norms) {
  double squares = 0;
  for (const ParameterNorms& n : norms) squares += n.gradient * n.gradient;
  return std::sqrt(squares);
}

std::string grad_norms_rows(index_t step, const std::vector<Parameter>& parameters,
                            const std::vector<ParameterNorms>& norms, double total) {
  std::string rows;
  for (std::size_t i = 0; i < norms.size(); ++i) {
    const std::string& name = parameters[i].name();
    const ParameterNorms& n = norms[i];
    rows += grad_norms_row(step, "grad_norm_preclip", name, n.gradient) +
            grad_norms_row(step, "weight_norm", name, n.weight) + grad_norms_row(step, "update_norm", name, n.update) +
            grad_norms_row(step, "update_ratio", name, n.update == 0 ? 0 : n.update / n.weight);
  }
  return rows + grad_norms_row(step, "total_preclip", "all", total);
}

std::string console_header() { return "    step      loss  validation        lr  grad norm  tokens/s"; }

std::string console_line(index_t step, const StepMetrics& metrics, const Wall& wall) {
  const auto column = [](const std::optional<double>& value, const char* format, std::size_t width) {
    const std::string text = value ? number_text(*value, format) : "";
    return std::string(text.size() < width ? width - text.size() : 0, ' ') + text;
  };
  return column(static_cast<double>(step), "%.0f", 8) + column(metrics.loss, "%.4f", 10) +
         column(metrics.validation_loss, "%.4f", 12) + column(metrics.lr, "%.2e", 10) +
         column(metrics.grad_norm, "%.4f", 11) + column(wall.tokens_per_second, "%.0f", 10);
}

}  // namespace

struct RunLog::State {
  State(const Args& args, const ParamStore& store, const RunLogOptions& options)
      : interval(options.interval),
        steps(args.steps()),
        parameters(store.parameters()),
        table(table_of(parameters)),
        directory(args.resume().empty() ? make_run_directory(args.out(), args.program()) : args.resume()),
        lock(directory),
        waits(!args.resume().empty()),
        console(args.steps(), options.console) {}

  index_t interval, steps;
  std::vector<Parameter> parameters;
  LayerTable table;
  std::string directory;
  DirectoryLock lock;
  bool waits;               // for load_state
  std::string resumed_run;  // the new run.json, once the state is loaded
  Console console;
  std::optional<LineFile> metrics_file, norms_file;  // empty once the disk refused a line
  index_t last_step = -1;
  bool any_logged = false, finished = false;
  index_t tokens = 0;  // since `logged_at`
  Clock::time_point started_at = Clock::now(), logged_at = started_at;

  /// Warns and gives the files up if `reason`, of a failure to write, is not empty.
  void give_up_if(const std::string& reason, const LineFile& file) {
    if (reason.empty()) return;
    console.warning("cannot write " + file.path() + ": " + reason + "; the run goes on without its log");
    metrics_file.reset();
    norms_file.reset();
  }

  void append(std::optional<LineFile>& file, const std::string& lines) {
    if (file) give_up_if(file->append(lines), *file);
  }

  Wall wall() {
    const Clock::time_point now = Clock::now();
    const double since_last = seconds_between(logged_at, now);
    Wall out{.seconds = seconds_between(started_at, now), .memory_bytes = resident_bytes()};
    if (tokens > 0 && since_last > 0) out.tokens_per_second = static_cast<double>(tokens) / since_last;
    tokens = 0;
    logged_at = now;
    return out;
  }

  void write(index_t step, const StepMetrics& metrics, const std::vector<ParameterNorms>& norms) {
    const Wall now = wall();
    append(metrics_file, metrics_line(step, metrics, now));
    append(norms_file, grad_norms_rows(step, parameters, norms, *metrics.grad_norm));
    std::vector<double> gradient_norms;
    for (const ParameterNorms& n : norms) gradient_norms.push_back(n.gradient);
    table.add(gradient_norms);
    console.line(console_line(step, metrics, now));
    any_logged = true;
  }
};

RunLog::RunLog(const Args& args, const ParamStore& store, const RunLogOptions& options) {
  if (options.interval < 1)
    throw ValueError("run_log", "the interval must be at least 1, not " + std::to_string(options.interval));
  state_ = std::make_unique<State>(args, store, options);
  const std::string& directory = state_->directory;
  const std::string run_file = directory + "/run.json";
  const RunInfo info = info_of(args, store);
  if (state_->waits) state_->resumed_run = resumed_run_json(read_file(run_file), info, args.steps());
  else write_file(run_file, run_json(info));
  const auto how = state_->waits ? LineFile::Open::go_on : LineFile::Open::fresh;
  state_->metrics_file.emplace(directory + "/metrics.jsonl", how);
  state_->norms_file.emplace(directory + "/grad_norms.csv", how);
  if (!state_->waits) state_->append(state_->norms_file, kGradNormsHeader);
  state_->console.line(console_header());
}

RunLog::~RunLog() = default;

const std::string& RunLog::directory() const { return state_->directory; }

bool RunLog::due(index_t step) const {
  return !state_->any_logged || step % state_->interval == 0 || step + 1 == state_->steps;
}

void RunLog::record(index_t step, const StepMetrics& metrics, const UpdateNorm& update_norm) {
  State& s = *state_;
  if (s.finished) throw ValueError("run_log", "a step is logged after finish()");
  if (s.waits) throw ValueError("run_log", "a run is resumed, but nothing loaded its state (see Checkpoints)");
  if (step <= s.last_step)
    throw ValueError("run_log",
                     "step " + std::to_string(step) + " does not come after step " + std::to_string(s.last_step));
  const bool logged = due(step) || metrics.validation_loss;
  StepMetrics complete = metrics;
  std::vector<ParameterNorms> norms;
  if (logged) {  // all that can throw comes before anything is changed
    norms = measured_norms(s.parameters, update_norm);
    if (!complete.grad_norm) complete.grad_norm = joint_gradient_norm(norms);
  }
  s.last_step = step;
  s.tokens += metrics.tokens;
  s.console.progress(step + 1);
  if (logged) s.write(step, complete, norms);
}

std::string RunLog::state() {
  for (auto* file : {&state_->metrics_file, &state_->norms_file})
    if (*file) state_->give_up_if((*file)->flush(), **file);
  return state_->any_logged ? "logged" : "";
}

void RunLog::load_state(index_t step, const std::string& state) {
  State& s = *state_;
  if (state != "logged" && state != "") throw ValueError("run_log", "this is not the state of a log: '" + state + "'");
  if (!s.waits) throw ValueError("run_log", "only a run with --resume can go on");
  s.metrics_file->cut(size_before(step, read_file(s.metrics_file->path()), step_of_json_line));
  s.norms_file->cut(size_before(step, read_file(s.norms_file->path()), step_of_csv_row));
  write_file(s.directory + "/run.json", s.resumed_run);
  if (s.norms_file->empty()) s.append(s.norms_file, kGradNormsHeader);
  s.any_logged = state == "logged";
  s.last_step = step - 1;
  s.waits = false;
}

void RunLog::finish() {
  State& s = *state_;
  if (s.finished) return;
  s.finished = true;
  s.console.end_progress();
  if (s.metrics_file) s.give_up_if(s.metrics_file->close(), *s.metrics_file);
  if (s.norms_file) s.give_up_if(s.norms_file->close(), *s.norms_file);
  s.console.line("\n" + s.table.text() + "\nThe run is in " + s.directory);
}

}  // namespace xtape::inline XTAPE_FLAVOUR
