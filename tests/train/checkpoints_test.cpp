#include <xtape/nn/init.hpp>

#include "child_process.hpp"
#include "inspect/log/file_size_limit.hpp"
#include "support.hpp"

#include <filesystem>

using namespace xtape;
using namespace xtape::test;
namespace fs = std::filesystem;

namespace {

/// Stands for the log: a state that must be saved and loaded.
struct Notes {
  index_t count = 0, resumed_at = -1;
  std::string state() const { return std::to_string(count); }
  void load_state(index_t step, const std::string& state) {
    resumed_at = step;
    count = state.empty() ? 0 : std::stol(state);
  }
};

std::unique_ptr<Args> arguments(index_t steps, const std::string& resume = "", index_t stop_after = 0) {
  auto args = std::make_unique<Args>("program", "About.", ArgsDefaults{.seed = 5});
  args->resumable();
  std::vector<std::string> words = {"program", "--steps", std::to_string(steps), "--stop-after",
                                    std::to_string(stop_after)};
  if (!resume.empty()) {
    std::ofstream(resume + "/run.json") << R"({"program": "program", "options": {}})";
    words.insert(words.end(), {"--resume", resume});
  }
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  args->parse(static_cast<int>(argv.size()), argv.data());
  return args;
}

/// A small network with everything that a step can depend on, trained on its own random numbers.
struct Run {
  std::unique_ptr<Args> args;
  ParamStore store;
  Linear in, out;
  BatchNorm norm;
  Dropout drop;
  AdamW opt;
  Notes notes;
  Random data;
  std::vector<Tensor> memory;
  Checkpoints checkpoints;
  std::vector<double> losses;

  Run(const std::string& directory, std::unique_ptr<Args> arguments, const CheckpointOptions& options,
      index_t width = 5, const AdamOptions& adam = {.beta2 = 0.99}, std::uint64_t seed = 5)
      : args(std::move(arguments)),
        store(seed),
        in(store.root() / "in", 3, width),
        out(store.root() / "out", width, 2),
        norm(store.root() / "norm", width),
        drop(store.root() / "drop", 0.5),
        opt(decay_groups(store, 0.1), adam),
        data(7, "data"),
        checkpoints(*args, store, opt, directory, options) {
    checkpoints.carry("log", notes);
    checkpoints.carry("data", data);
    checkpoints.carry("memory", memory);
  }

  void step(index_t step) {
    for (int part = 0; part < 2; ++part) {  // two small batches a step
      Array x = empty_array({6, 3});
      for (real& value : x) value = static_cast<real>(data.normal());
      data.uniform();  // leaves the stream in the middle of a block
      Tape tape;
      Tensor h = drop(norm(in(Tensor(x))));
      if (!memory.empty()) h = h + memory[0];
      const Tensor y = out(h);
      const Tensor loss = mean(y * y);
      memory = {h.detach()};
      tape.backward(loss);
      losses.push_back(static_cast<double>(loss.item()));
    }
    opt.step(cosine(step, {.warmup = 2, .total = args->steps(), .peak = 0.05}));
    store.zero_grad();
    ++notes.count;
    checkpoints.step(step);
  }

  void go() {
    for (index_t s = checkpoints.resume(); s < args->steps(); ++s) step(s);
  }
};

constexpr int kQuietInterval = 4;
CheckpointOptions quiet(index_t keep = 3, index_t interval = kQuietInterval) {
  return {.interval = interval, .keep = keep, .must_match = {{"text", "a"}}, .console = false};
}

std::vector<std::string> files_in(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

TEST_CASE("a run that is stopped anywhere and resumed ends with the same bits") {
  const TemporaryDirectory work;
  fs::create_directory(work.path() + "/whole");
  Run whole(work.path() + "/whole", arguments(10), quiet());
  whole.go();
  const std::string want = content_of(work.path() + "/whole/checkpoints/step_10.safetensors");
  REQUIRE(want.size() > 1000);
  for (index_t stop = 1; stop < 10; ++stop) {
    INFO("stopped after ", stop);
    const std::string directory = work.path() + "/" + std::to_string(stop);
    fs::create_directory(directory);
    Run first(directory, arguments(10, "", stop), quiet());
    CHECK_THROWS_AS(first.go(), StopRequested);
    Run second(directory, arguments(10, directory), quiet());
    second.go();
    CHECK(second.notes.resumed_at == stop);
    first.losses.insert(first.losses.end(), second.losses.begin(), second.losses.end());
    CHECK(first.losses == whole.losses);
    CHECK(content_of(directory + "/checkpoints/step_10.safetensors") == want);
  }
}

TEST_CASE("Adam goes on after a checkpoint as if there had been none") {
  const TemporaryDirectory work;
  const std::vector<double> gradients = {1, -0.5, 0.25, 2};
  const std::vector<double> want = {-0.0999999990, -0.1266337026, -0.1606766169, -0.2249658085};
  const auto args = arguments(4);
  for (std::size_t i = 0; i < 4; ++i) {
    ParamStore store;  // anew for each step, as in a new process
    Parameter w = store.root().parameter("w", {1}, init::zeros());
    Adam opt(all_parameters(store));
    Checkpoints checkpoints(*args, store, opt, work.path(), {.console = false});
    if (i > 0) CHECK(checkpoints.load(work.path() + "/file") == static_cast<index_t>(i));
    w.set_grad(row({gradients[i]}));
    opt.step(0.1);
    store.zero_grad();
    check_near(static_cast<double>(w.value()(0)), want[i], {1e-8, tolerance(1e-9, 1e-7)});
    checkpoints.save(work.path() + "/file", static_cast<index_t>(i) + 1);
  }
}

TEST_CASE("all that does not fit is listed at once, and nothing is changed") {
  const TemporaryDirectory work;
  Run saved(work.path(), arguments(4), quiet());
  saved.step(0);
  const std::string path = work.path() + "/file";
  saved.checkpoints.save(path, 1);

  CheckpointOptions other_text = quiet();
  other_text.must_match["text"] = "b";
  Run other(work.path(), arguments(4), other_text, 7, {.beta2 = 0.999}, 6);
  std::vector<Tensor> extra;
  other.checkpoints.carry("extra", extra);
  const Snapshot before = other.store.snapshot();
  for (const char* part :
       {"[checkpoint] ", "file does not fit: missing carried/extra; ", "it is of seed 5, this is 6",
        "the text is not the same", "shape of in.weight: expected (7,3), got (5,3)",
        "shape of norm.running_mean: expected (7), got (5)",
        "expected a state of the options beta1 0.9, beta2 0.999, eps 1e-08, got beta1 0.9, beta2 0.99, eps 1e-08"})
    check_throws<MismatchError>([&] { other.checkpoints.load(path); }, part);
  for (std::size_t i = 0; i < before.parameters.size(); ++i)
    check_equal(other.store.parameters()[i].value(), before.parameters[i].second);
  CHECK(other.opt.state().parameters.empty());
  CHECK(other.notes.resumed_at == -1);

  Run narrow(work.path(), arguments(4), quiet(), 7);
  check_throws<MismatchError>([&] { narrow.checkpoints.load(path); }, "expected 'exp_avg' of in.bias of shape (");
  check_throws<MismatchError>([&] { narrow.checkpoints.load(path); }, "expected 'exp_avg' of in.weight of shape (");

  ParamStore store(5);
  Linear layer(store.root() / "in", 3, 5);
  SGD sgd(all_parameters(store));
  Notes notes;
  const auto args = arguments(4);
  Checkpoints checkpoints(*args, store, sgd, work.path(), {.console = false});
  checkpoints.carry("log", notes);
  for (const char* part : {"unexpected masks of drop, carried/memory, stream data, ",
                           "out.weight, out.bias, norm.weight", "norm.num_batches_tracked"})
    check_throws<MismatchError>([&] { checkpoints.load(path); }, part);
  check_throws<MismatchError>([&] { checkpoints.load(path); }, "expected a state of sgd, got adamw");
}

TEST_CASE("a damaged checkpoint is refused wherever it is damaged, and changes nothing") {
  const TemporaryDirectory work;
  Run run(work.path(), arguments(4), quiet());
  run.step(0);
  const std::string path = work.path() + "/file";
  run.checkpoints.save(path, 1);
  const std::string content = content_of(path), weights = content_of(path);
  run.step(1);
  const Snapshot before = run.store.snapshot();
  for (std::size_t i = 0; i < content.size(); i += 7) {
    std::string damaged = content;
    damaged[i] = static_cast<char>(damaged[i] ^ 4);
    work.write("file", damaged);
    CHECK_THROWS_AS(run.checkpoints.load(path), FileError);
    work.write("file", content.substr(0, i));
    CHECK_THROWS_AS(run.checkpoints.load(path), FileError);
  }
  for (std::size_t i = 0; i < before.parameters.size(); ++i)
    check_equal(run.store.parameters()[i].value(), before.parameters[i].second);
  work.write("file", content);
  CHECK(run.checkpoints.load(path) == 1);
  save_weights(path, run.store);
  check_throws<FileError>([&] { run.checkpoints.load(path); }, "file is not a checkpoint");
  const std::string later = std::string(R"({"format_version":)") + std::to_string(kCheckpointFormat + 1) + "}";
  write_safetensors(path, {}, {{kCheckpointKey, later}});
  check_throws<FileError>([&] { run.checkpoints.load(path); }, "made by a later version");
  write_safetensors(path, {}, {{kCheckpointKey, "{}"}});
  check_throws<FileError>([&] { run.checkpoints.load(path); }, "its record is damaged");
}

TEST_CASE("a whole number of a record that is none, or too large, is damage") {
  const CheckpointRecord record = {.step = 7, .masks = {{"a", 7}}, .tensors = {{"b", 7}}, .randoms = {{"c", {7, 7}}}};
  const std::string text = checkpoint_json(record);
  CHECK(read_checkpoint_json("file", text).masks.at("a") == 7);
  int numbers = 0;
  for (std::size_t at = 0; (at = text.find(":7", at)) != text.npos; ++at, ++numbers)
    for (const char* wrong : {"6.66667e+54", "7.5", "-1e300", "18446744073709551616", "true", "\"7\"", "null"}) {
      const std::string damaged = std::string(text).replace(at + 1, 1, wrong);
      CAPTURE(damaged);
      check_throws<FileError>([&] { read_checkpoint_json("file", damaged); }, "its record is damaged");
    }
  CHECK(numbers == 5);
}

TEST_CASE("the newest are kept, the best is kept, and of damaged ones the next older is taken") {
  const TemporaryDirectory work;
  const std::string directory = work.path() + "/checkpoints";
  {
    Run run(work.path(), arguments(9), quiet(2, 2));
    run.checkpoints.resume();
    for (index_t step = 0; step < 9; ++step) {
      run.checkpoints.validated(step, step == 4 ? 1 : step == 6 ? std::nan("") : 2);
      run.step(step);
    }
    CHECK(files_in(directory) ==
          std::vector<std::string>{"best.safetensors", "step_8.safetensors", "step_9.safetensors"});
    CHECK(run.checkpoints.load(directory + "/best.safetensors") == 4);
    CHECK(run.notes.count == 4);
  }
  work.write("checkpoints/step_9.safetensors", "damaged");
  work.write("checkpoints/step_12x.safetensors", "no checkpoint");
  work.write("checkpoints/step_10.safetensors.new", "half-written");
  {
    Run run(work.path(), arguments(12, work.path()), quiet(2, 2));
    CHECK(run.checkpoints.resume() == 8);
    run.checkpoints.validated(8, 1.5);  // not better than the best
    CHECK(run.checkpoints.load(directory + "/best.safetensors") == 4);
  }
  work.write("checkpoints/step_8.safetensors", "");
  Run run(work.path(), arguments(12, work.path()), quiet(2, 2));
  check_throws<FileError>([&] { run.checkpoints.resume(); }, "no checkpoint in " + directory + " is intact");
  fs::remove_all(directory);
  CHECK(run.checkpoints.resume() == 0);
  CHECK(run.notes.resumed_at == 0);
}

TEST_CASE("what cannot be saved is told, and what was saved stays") {
  const TemporaryDirectory work;
  Run run(work.path(), arguments(9), quiet(3, 2));
  run.step(0);
  run.step(1);
  const std::string path = work.path() + "/checkpoints/step_2.safetensors", content = content_of(path);
  run.step(2);
  {
    const FileSizeLimit limit(100);
    check_throws<FileError>([&] { run.step(3); },
                            "step_4.safetensors: File too large; the run ends at step 4, and its newest checkpoint is "
                            "that of step 2");
  }
  CHECK(files_in(work.path() + "/checkpoints") == std::vector<std::string>{"step_2.safetensors"});
  CHECK(content_of(path) == content);
  run.in.weight.set_grad(empty_array({5, 3}));
  check_throws<ValueError>([&] { run.checkpoints.save(path, 3); }, "a gradient of in.weight");
  run.store.zero_grad();
  fs::remove_all(work.path() + "/checkpoints");
  Run lost(work.path() + "/none", arguments(1), quiet());
  check_throws<FileError>([&] { lost.step(0); }, "none/checkpoints: No such file or directory");
}

TEST_CASE("wrong uses of checkpoints are refused") {
  const TemporaryDirectory work;
  check_throws<ValueError>([&] { Run(work.path(), arguments(1), quiet(0)); },
                           "expected interval and keep of at least 1, got 4 and 0");
  check_throws<ValueError>([&] { Run(work.path(), arguments(1), quiet(1, 0)); },
                           "expected interval and keep of at least 1, got 0 and 1");
  Run run(work.path(), arguments(1), quiet());
  check_throws<NameError>([&] { run.checkpoints.carry("memory", run.data); }, "carried as 'memory' already");
  ParamStore store;
  const Parameter bad = store.root().parameter("optimizer/w", {1}, init::zeros());
  check_throws<NameError>([&] { save_weights(work.path() + "/file", store); }, "is reserved for checkpoints");
}

TEST_CASE("a random stream goes on from its position") {
  for (int drawn = 0; drawn < 9; ++drawn) {
    Random first(3, "s"), second(3, "s");
    for (int i = 0; i < drawn; ++i) i % 3 == 1 ? static_cast<double>(first.bits()) : first.normal();
    second.seek(first.position());
    for (int i = 0; i < 9; ++i) {
      CHECK(first.normal() == second.normal());
      CHECK(first.bits() == second.bits());
    }
  }
  check_throws<ValueError>([] { Random(1, "s").seek({0, 2, {}}); }, "no such position");
  check_throws<ValueError>([] { Random(1, "s").seek({5, 1, {}}); }, "no such position");
}

TEST_CASE("a run whose validation loss is any number goes on from its checkpoints") {
  for (const double loss : {1.0, 0.0, -0.0, kInf, -kInf, kNaN, 5e-324, -1.7976931348623157e308}) {
    CAPTURE(loss);
    const TemporaryDirectory work;
    Run whole(work.path(), arguments(8), quiet(3, 2));
    whole.checkpoints.resume();
    whole.step(0);
    whole.checkpoints.validated(1, loss);
    whole.step(1);
    Run again(work.path(), arguments(8, work.path()), quiet(3, 2));
    CHECK(again.checkpoints.resume() == 2);
    // The best loss is the one of before: only a lower one is saved.
    fs::remove(work.path() + "/checkpoints/best.safetensors");
    again.checkpoints.validated(2, loss);
    const bool none_before = std::isnan(loss) || loss == kInf;
    CHECK(!fs::exists(work.path() + "/checkpoints/best.safetensors"));
    again.checkpoints.validated(2, 1e300);
    CHECK(fs::exists(work.path() + "/checkpoints/best.safetensors") == none_before);
  }
}

TEST_CASE("every number of a checkpoint's record comes back") {
  for (const double x : {kInf, -kInf, kNaN, 0.0, -0.0, 5e-324, 0.1, 1.7976931348623157e308}) {
    CheckpointRecord record{.step = 3, .dtype = "f64", .optimizer = "adam", .optimizer_options = {{"eps", x}}};
    record.randoms["data"] = {.block = 1, .left = 2, .spare = x};
    record.states["bytes"] = "caf\xE9";
    record.best_loss = x;
    const CheckpointRecord back = read_checkpoint_json("file", checkpoint_json(record));
    check_near(back.optimizer_options.at("eps"), x, {0, 0});
    check_near(*back.randoms.at("data").spare, x, {0, 0});
    check_near(*back.best_loss, x, {0, 0});
    CHECK(std::signbit(*back.best_loss) == std::signbit(x));
    CHECK(back.states.at("bytes") == "caf\xE9");
  }
  std::string old = checkpoint_json({.step = 3, .dtype = "f64", .optimizer = "adam", .best_loss = 7.25});
  old.replace(old.find("7.25"), 4, "null");  // as version 0.1.0 wrote minus infinity
  check_near(*read_checkpoint_json("file", old).best_loss, -kInf, {0, 0});
}
