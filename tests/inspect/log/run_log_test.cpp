#include <xtape/core/runtime.hpp>
#include <xtape/core/threads.hpp>
#include <xtape/inspect/run/attention_maps.hpp>
#include <xtape/inspect/run/grad_norms_csv.hpp>
#include <xtape/inspect/run/lock_file.hpp>
#include <xtape/inspect/run/run_json.hpp>
#include <xtape/nn/init.hpp>
#include <xtape/train/program.hpp>

#include "child_process.hpp"
#include "core/forked.hpp"
#include "file_size_limit.hpp"
#include "stderr_capture.hpp"
#include "support.hpp"

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

using namespace xtape;
using namespace xtape::test;
using nlohmann::json;

namespace {

/// Parsed arguments of a run of `steps` steps into a directory.
std::unique_ptr<Args> arguments(const std::string& out, index_t steps) {
  auto args = std::make_unique<Args>("program", "About.", ArgsDefaults{.seed = 5});
  args->number("lr", 0.5, {0, 1}, "");
  args->text("text", "quo\"te \xff", "");
  const std::string count = std::to_string(steps), thread_count = std::to_string(threads());
  const char* argv[] = {"program", "--out", out.c_str(), "--steps", count.c_str(), "--threads", thread_count.c_str()};
  args->parse(7, argv);
  return args;
}

/// An optimizer that only says how far it moved.
struct Mover {
  std::map<std::string, double> moved = {};
  double update_norm(const Parameter& parameter) const { return moved.at(parameter.name()); }
};

/// Two parameters, w [2,2] and b [2].
struct Model {
  ParamStore store{5};
  Parameter w = store.root().parameter("w", {2, 2}, init::constant(2));
  Parameter b = (store.root() / "head").parameter("b", {2}, init::zeros());
  Mover mover{{{"w", 0.25}, {"head.b", 0}}};

  void set_grads(std::initializer_list<double> dw, std::initializer_list<double> db) {
    w.set_grad(array({2, 2}, dw));
    b.set_grad(row(db));
  }
};

constexpr RunLogOptions kQuiet = {.interval = 1, .console = false};

std::vector<json> metrics_of(const std::string& directory) {
  std::vector<json> out;
  for (const std::string& line : lines_of(content_of(directory + "/metrics.jsonl"))) out.push_back(json::parse(line));
  return out;
}

/// The rows of one step without the step: "kind,name,t" -> value.
std::map<std::string, std::string> norms_of(const std::string& directory, index_t step) {
  std::map<std::string, std::string> out;
  for (const std::string& line : lines_of(content_of(directory + "/grad_norms.csv"))) {
    const std::size_t first = line.find(','), last = line.rfind(',');
    if (line.substr(0, first) == std::to_string(step))
      out[line.substr(first + 1, last - first - 1)] = line.substr(last + 1);
  }
  return out;
}

}  // namespace

TEST_CASE("run.json tells what was run and where") {
  const TemporaryDirectory work;
  Model model;
  const auto args = arguments(work.path() + "/run", 9);
  RunLog log(*args, model.store, kQuiet);
  CHECK(log.directory() == work.path() + "/run");
  const json info = json::parse(content_of(log.directory() + "/run.json"));
  CHECK(info["format_version"] == 1);
  CHECK(info["program"] == "program");
  CHECK(info["seed"] == 5);
  CHECK(info["parameters"] == 6);
  CHECK(info["threads"] == threads());
  CHECK(info["flavour"] == (kDouble ? "f64" : "f32"));
  CHECK(info["isa"] == isa_name());
  CHECK(info["blas"] == gemm_library());
  for (const char* key : {"version", "compiler", "cpu", "started"}) CHECK(info[key].get<std::string>() != "");
  const json options = {{"steps", 9},
                        {"seed", 5},
                        {"threads", threads()},
                        {"out", log.directory()},
                        {"quick", false},
                        {"on-trouble", "warn"},
                        {"detect-anomaly", false},
                        {"lr", 0.5},
                        {"text", {{"bytes", "quo\"te%20%FF"}}}};
  CHECK(info["options"] == options);
}

TEST_CASE("logged numbers are those of the raw arrays, before the clipping") {
  const TemporaryDirectory work;
  Model model;
  const auto args = arguments(work.path() + "/run", 1);
  RunLog log(*args, model.store, kQuiet);
  model.set_grads({1, -2, 3, -4}, {5, 6});
  const double dw = norm_of(model.w.grad()), db = norm_of(model.b.grad());
  const double norm = clip_grad_norm(model.store, 0.5);
  check_near(norm_of(model.w.grad()), 0.5 * dw / norm, {1e-6, 0});  // it did clip
  log.step(0, {.loss = 0.1, .validation_loss = 0.2, .lr = 0.3, .grad_norm = norm, .tokens = 10}, model.mover);

  const json line = metrics_of(log.directory()).at(0);
  CHECK(line["format_version"] == 1);
  CHECK(line["step"] == 0);
  CHECK(line["loss"] == 0.1);
  CHECK(line["validation_loss"] == 0.2);
  CHECK(line["lr"] == 0.3);
  CHECK(line["grad_norm_preclip"] == norm);
  check_near(norm, std::sqrt(dw * dw + db * db), {1e-12, 0});
  CHECK(line["wall"]["seconds"] > 0);
  CHECK(line["wall"]["tokens_per_second"] > 0);
  CHECK(line["wall"]["memory_bytes"] > 0);

  const auto rows = norms_of(log.directory(), 0);
  CHECK(rows.size() == 9);
  const auto check_row = [&](const std::string& key, double want) {
    INFO(key);
    check_near(number_at(rows.at(key), 0), want, {1e-8, 0});
  };
  check_row("grad_norm_preclip,w,", dw);
  check_row("grad_norm_preclip,head.b,", db);
  check_row("weight_norm,w,", norm_of(model.w.value()));
  check_row("update_norm,w,", 0.25);
  check_row("update_ratio,w,", 0.25 / norm_of(model.w.value()));
  check_row("total_preclip,all,", norm);
  CHECK(rows.at("weight_norm,head.b,") == "0");
  CHECK(rows.at("update_norm,head.b,") == "0");
  CHECK(rows.at("update_ratio,head.b,") == "0");
  CHECK(lines_of(content_of(log.directory() + "/grad_norms.csv")).front() == "step,kind,name,t,value");
}

TEST_CASE("the update norms are how far AdamW moved the weights") {
  const TemporaryDirectory work;
  Model model;
  const auto args = arguments(work.path() + "/run", 3);
  RunLog log(*args, model.store, kQuiet);
  AdamW opt(decay_groups(model.store, 0.1));
  for (index_t step = 0; step < 3; ++step) {
    model.set_grads({1, -2, 3, -4.0 * static_cast<double>(step)}, {0.1, -0.2});
    const Array before = model.w.value();
    CHECK(opt.step(0.01));
    log.step(step, {.loss = 0}, opt);
    Array moved = before;
    for (std::size_t i = 0; i < moved.size(); ++i) moved.data()[i] -= model.w.value().data()[i];
    const auto rows = norms_of(log.directory(), step);
    check_near(number_at(rows.at("update_norm,w,"), 0), norm_of(moved), {tolerance(1e-8, 1e-4), 0});
    check_near(number_at(rows.at("update_ratio,w,"), 0), norm_of(moved) / norm_of(model.w.value()),
               {tolerance(1e-8, 1e-4), 0});
  }
}

TEST_CASE("without a total it is computed, and optional numbers are left out") {
  const TemporaryDirectory work;
  Model model;
  const auto args = arguments(work.path() + "/run", 1);
  RunLog log(*args, model.store, kQuiet);
  model.w.set_grad(array({2, 2}, {3, 0, 0, 4}));  // the other parameter has no gradient
  log.step(0, {.loss = 1}, model.mover);
  const json line = metrics_of(log.directory()).at(0);
  check_near(line["grad_norm_preclip"], 5, {1e-12, 0});
  CHECK(!line.contains("validation_loss"));
  CHECK(!line["wall"].contains("tokens_per_second"));
  CHECK(norms_of(log.directory(), 0).at("grad_norm_preclip,head.b,") == "0");
}

TEST_CASE("numbers that are not finite keep the files readable") {
  const TemporaryDirectory work;
  Model model;
  const auto args = arguments(work.path() + "/run", 2);
  RunLog log(*args, model.store, kQuiet);
  AdamW opt(all_parameters(model.store));
  model.set_grads({1, 1, 1, 1}, {1, 1});
  CHECK(opt.step(0.1));
  model.set_grads({kNaN, 0, 0, 0}, {kInf, 0});
  const double norm = clip_grad_norm(model.store, 1);
  CHECK(!opt.step(0.1));
  log.step(0, {.loss = kNaN, .validation_loss = -kInf, .lr = 0, .grad_norm = norm}, opt);
  model.set_grads({1, 0, 0, 0}, {kInf, 0});
  log.step(1, {.loss = kInf, .grad_norm = clip_grad_norm(model.store, 1)}, opt);
  const std::vector<json> lines = metrics_of(log.directory());
  CHECK(lines.at(0)["loss"] == "NaN");
  CHECK(lines.at(0)["validation_loss"] == "-Inf");
  CHECK(lines.at(0)["grad_norm_preclip"] == "NaN");
  CHECK(lines.at(1)["loss"] == "Inf");
  CHECK(lines.at(1)["grad_norm_preclip"] == "Inf");
  const auto rows = norms_of(log.directory(), 0);
  CHECK(rows.at("grad_norm_preclip,w,") == "NaN");
  CHECK(rows.at("grad_norm_preclip,head.b,") == "Inf");
  CHECK(rows.at("total_preclip,all,") == "NaN");
  CHECK(rows.at("update_norm,w,") == "0");  // the optimizer refused the step
  CHECK(norms_of(log.directory(), 1).at("total_preclip,all,") == "Inf");
}

TEST_CASE("attention weights are kept with the text of each place, and read back") {
  const TemporaryDirectory work;
  Model model;
  const auto args = arguments(work.path() + "/run", 2);
  RunLog log(*args, model.store, kQuiet);
  const std::vector<std::string> tokens = {"a", "\n", "\xFF"};
  Array weights = counting({2, 1, 2, 3});
  log.attention(0, tokens, weights);
  log.attention(7, tokens, weights);
  const AttentionMaps maps = read_attention(log.directory(), 10);
  CHECK(maps.tokens == std::vector<std::string>{"a", "\n", "\xEF\xBF\xBD"});  // a byte that is no text
  REQUIRE(maps.steps.size() == 2);
  CHECK(maps.steps[1].step == 7);
  CHECK(std::vector<index_t>{maps.layers, maps.heads, maps.queries, maps.keys} == std::vector<index_t>{2, 1, 2, 3});
  for (std::size_t i = 0; i < weights.size(); ++i) CHECK(maps.steps[1].weights[i] == weights.data()[i]);
  check_throws<ShapeError>([&] { log.attention(8, tokens, counting({2, 2, 3})); },
                           "[run_log] expected attention weights [layers, heads, queries, keys]");
  check_throws<ShapeError>([&] { log.attention(8, tokens, counting({1, 1, 3, 4})); },
                           "of at most 3 queries and keys, got (1,1,3,4)");
  std::filesystem::remove_all(log.directory() + "/attention");
  work.write("run/attention", "a file where the directory should be");
  log.attention(8, tokens, weights);  // warns
  CHECK(content_of(log.directory() + "/attention") == "a file where the directory should be");
}

TEST_CASE("the first step, the last, every interval-th and those with a validation loss are logged") {
  const TemporaryDirectory work;
  Model model;
  model.set_grads({1, 2, 3, 4}, {5, 6});
  const auto args = arguments(work.path() + "/run", 12);
  RunLog log(*args, model.store, {.interval = 4, .console = false});
  std::vector<index_t> due;
  for (index_t step = 1; step < 12; ++step) {  // a run that begins at step 1
    if (log.due(step)) due.push_back(step);
    log.step(step, {.loss = 0, .validation_loss = step == 6 ? std::optional(1.0) : std::nullopt}, model.mover);
  }
  CHECK(due == std::vector<index_t>{1, 4, 8, 11});
  std::vector<index_t> logged;
  for (const json& line : metrics_of(log.directory())) logged.push_back(line["step"]);
  CHECK(logged == std::vector<index_t>{1, 4, 6, 8, 11});
  for (index_t step = 0; step < 12; ++step)
    CHECK(norms_of(log.directory(), step).empty() == (std::count(logged.begin(), logged.end(), step) == 0));
}

TEST_CASE("only the key wall differs between two runs") {
  const TemporaryDirectory work;
  std::vector<std::string> texts;
  for (const char* name : {"one", "two"}) {
    Model model;
    const auto args = arguments(work.path() + "/" + name, 5);
    RunLog log(*args, model.store, kQuiet);
    AdamW opt(all_parameters(model.store));
    for (index_t step = 0; step < 5; ++step) {
      model.set_grads({1, -2, 3, -4.0 / static_cast<double>(step + 1)}, {0.1, -0.2});
      opt.step(0.01);
      log.step(step, {.loss = 1.0 / static_cast<double>(step + 3), .lr = 0.01, .tokens = 1}, opt);
    }
    texts.push_back(content_of(log.directory() + "/grad_norms.csv"));
    for (const std::string& line : lines_of(content_of(log.directory() + "/metrics.jsonl"))) {
      const std::size_t wall = line.find(",\"wall\":{");
      REQUIRE(wall != std::string::npos);
      texts.back() += line.substr(0, wall) + "\n";
    }
  }
  CHECK(texts.at(0) == texts.at(1));
}

TEST_CASE("wrong calls are refused and write nothing") {
  const TemporaryDirectory work;
  Model model;
  const auto args = arguments(work.path() + "/run", 9);
  check_throws<ValueError>([&] { RunLog(*args, model.store, {.interval = 0}); },
                           "[run_log] expected an interval of at least 1, got 0");
  CHECK(!std::filesystem::exists(args->out()));
  RunLog log(*args, model.store, kQuiet);
  check_throws<FileError>([&] { RunLog(*args, model.store, kQuiet); }, "the directory is not empty");
  log.step(3, {.loss = 0}, model.mover);
  check_throws<ValueError>([&] { log.step(3, {.loss = 0}, model.mover); }, "expected a step after 3, got 3");
  model.set_grads({1, 2, 3, 4}, {5, 6});
  check_throws<std::out_of_range>([&] { log.step(4, {.loss = 0}, Mover()); }, "");
  {
    Tape tape;
    tape.on_grad(model.w, [](const Array&) { throw std::runtime_error("half-way"); });
    CHECK_THROWS(tape.backward(sum(model.w * Tensor::scalar(2))));
  }
  check_throws<GradientError>([&] { log.step(5, {.loss = 0}, model.mover); }, "zero_grad()");
  model.store.zero_grad();
  log.step(4, {.loss = 0}, model.mover);
  log.finish();
  log.finish();
  check_throws<ValueError>([&] { log.step(6, {.loss = 0}, model.mover); }, "after finish()");
  CHECK(metrics_of(log.directory()).size() == 2);
  check_throws<FileError>([&] { RunLog(*arguments("/proc/xtape", 1), model.store, kQuiet); },
                          "/proc/xtape: the directory cannot be created");
}

TEST_CASE("on a full disk the run goes on after one warning") {
  const TemporaryDirectory work;
  Model model;
  model.set_grads({1, 2, 3, 4}, {5, 6});
  const auto args = arguments(work.path() + "/run", 9);
  RunLog log(*args, model.store, kQuiet);
  log.step(0, {.loss = 0}, model.mover);
  const std::string metrics = content_of(log.directory() + "/metrics.jsonl");
  const std::string norms = content_of(log.directory() + "/grad_norms.csv");
  {
    const FileSizeLimit limit(metrics.size() + 10);
    const StderrCapture capture(work.path() + "/stderr");
    for (index_t step = 1; step < 9; ++step) log.step(step, {.loss = 0}, model.mover);
    log.finish();
  }
  const std::string warnings = content_of(work.path() + "/stderr");
  CHECK(warnings == "warning: cannot write " + log.directory() +
                        "/metrics.jsonl: File too large; the run continues without its log\n");
  CHECK(content_of(log.directory() + "/grad_norms.csv") == norms);
  CHECK(content_of(log.directory() + "/metrics.jsonl") == metrics);
}

TEST_CASE("names are quoted where CSV needs it") {
  CHECK(grad_norms_row(1, "kind", "plain name", 0.1) == "1,kind,plain name,,0.1\n");
  CHECK(grad_norms_row(1, "kind", "a,\"b\"", 1.0 / 3) == "1,kind,\"a,\"\"b\"\"\",,0.333333333\n");
}

namespace {

/// What the tests printed so far must not be printed by a child again.
void flush_streams() {
  std::cout.flush();
  std::fflush(stdout);
}

/// Trains two steps with a console and ends as a program does. Returns the exit code.
int logged_run(const std::string& directory) {
  Model model;
  const auto args = arguments(directory, 2);
  RunLog log(*args, model.store, {.interval = 1});
  for (index_t step = 0; step < 2; ++step) {
    model.set_grads({1, 1, 1, 1}, {1, 1});
    log.step(step, {.loss = 1.5}, model.mover);
  }
  log.finish();
  return finish_output(0);
}

}  // namespace

TEST_CASE("a run whose standard streams are closed loses its console only") {
  for (const std::vector<int>& streams : {std::vector<int>{0, 1, 2}, {1}, {0, 1}, {2}}) {
    const TemporaryDirectory work;
    const std::string directory = work.path() + "/run";
    flush_streams();
    CHECK(in_child([&] {
            for (const int stream : streams) close(stream);
            return logged_run(directory) == 0;
          }) == 0);
    CHECK(metrics_of(directory).size() == 2);  // every line is JSON
    CHECK(read_lock_text(content_of(directory + "/.lock")));
    CHECK(lines_of(content_of(directory + "/grad_norms.csv")).front() == "step,kind,name,t,value");
    CHECK(json::parse(content_of(directory + "/run.json"))["program"] == "program");
  }
}

TEST_CASE("a run whose reader goes away, or whose console is full, goes on to its end") {
  for (const bool pipe_is_closed : {true, false}) {
    const TemporaryDirectory work;
    const std::string directory = work.path() + "/run";
    flush_streams();
    CHECK(in_child([&] {
            close(STDERR_FILENO);
            int ends[2];
            if (pipe(ends) != 0) return false;
            const int full = open("/dev/full", O_WRONLY);
            dup2(pipe_is_closed ? ends[1] : full, STDOUT_FILENO);
            for (const int end : ends) close(end);
            std::signal(SIGPIPE, SIG_DFL);
            const int code = logged_run(directory);
            struct sigaction now{};
            sigaction(SIGPIPE, nullptr, &now);
            return code == 1 && now.sa_handler == SIG_DFL;
          }) == 0);
    CHECK(metrics_of(directory).size() == 2);
    CHECK(content_of(directory + "/events.jsonl").find("\"finished\"") != std::string::npos);
  }
}
