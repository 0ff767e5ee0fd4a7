// Exchange of weights with PyTorch in both directions. exchange.py in this folder is PyTorch's side.
#include "child_process.hpp"
#include "support.hpp"

#include <filesystem>

using namespace xtape;
using namespace xtape::test;

namespace {

const std::string kHere = XTAPE_SOURCE_DIR "/tests/exchange/";

/// A module under the scope "model", and its output for an input.
struct Module {
  std::string name;
  std::function<std::function<Array(const Array&)>(const Scope&)> build;
  Shape input;
};

IndexArray indices_of(const Array& x) {
  IndexArray out = empty_array<IndexArray>(x.shape());
  std::copy(x.begin(), x.end(), out.begin());
  return out;
}

std::vector<Module> modules() {
  const auto shared = [](auto layer, const auto& run) {
    return
        [layer = std::make_shared<decltype(layer)>(std::move(layer)), run](const Array& x) { return run(*layer, x); };
  };
  return {
      {"lstm",
       [=](const Scope& s) {
         return shared(LSTM(s, 3, 4, {.layers = 2, .bidirectional = true}),
                       [](const LSTM& lstm, const Array& x) { return lstm(Tensor(x)).y.value(); });
       },
       {2, 5, 3}},
      {"gru",
       [=](const Scope& s) {
         return shared(GRU(s, 3, 4, {.layers = 2}),
                       [](const GRU& gru, const Array& x) { return gru(Tensor(x)).y.value(); });
       },
       {2, 5, 3}},
      {"encoder_layer",
       [=](const Scope& s) {
         return shared(TransformerBlock(s, {.width = 8, .heads = 2, .hidden = 12}),
                       [](const TransformerBlock& block, const Array& x) { return block(Tensor(x), {}).value(); });
       },
       {2, 5, 8}},
      {"batch_norm",
       [=](const Scope& s) {
         return shared(BatchNorm(s, 3), [](const BatchNorm& norm, const Array& x) { return norm(Tensor(x)).value(); });
       },
       {6, 3}},
      {"embedding",
       [=](const Scope& s) {
         return shared(Embedding(s, 7, 3),
                       [](const Embedding& embedding, const Array& x) { return embedding(indices_of(x)).value(); });
       },
       {2, 3}},
  };
}

/// Maps names so that only the module's tensors are loaded.
NameMap only_the_model(const TemporaryDirectory& work) {
  return NameMap::load(work.write("names.json", R"({"input": null, "output": null})"));
}

}  // namespace

TEST_CASE("modules with weights from PyTorch give PyTorch's outputs") {
  const TemporaryDirectory work;
  for (const Module& module : modules()) {
    INFO(module.name);
    const SafetensorsFile file(kHere + "from_torch/" + module.name + ".safetensors");
    ParamStore store;
    const auto run = module.build(store.root() / "model");
    load_weights(file, store, only_the_model(work));
    store.eval();
    check_near(run(to_array(*file.find("input"))), to_array(*file.find("output")),
               {tolerance(1e-12, 1e-5), tolerance(1e-13, 1e-6)});
  }
}

#ifdef XTAPE_DOUBLE

TEST_CASE("the files written for PyTorch equal those that PyTorch was tested with") {
  const TemporaryDirectory work;
  // if set: commit the files, and run exchange.py --check
  const bool rewrite = std::getenv("XTAPE_WRITE_EXCHANGE") != nullptr;
  for (const Module& module : modules()) {
    INFO(module.name);
    ParamStore store(3);
    const auto run = module.build(store.root() / "model");
    Random random(3, module.name);
    for (Parameter parameter : store.parameters())
      for (index_t i = 0; i < parameter.numel(); ++i) parameter.edit()[i] += static_cast<real>(0.1 * random.normal());
    for (Buffer buffer : store.buffers())
      for (std::size_t i = 0; i < buffer.value().size(); ++i)
        buffer.edit()[i] += 1 + static_cast<real>(random.below(3));
    for (IntegerBuffer counter : store.integer_buffers()) *counter.edit() += 1 + random.below(3);
    Array input = empty_array(module.input);
    for (real& x : input) x = static_cast<real>(module.name == "embedding" ? random.below(7) : random.normal());
    store.eval();
    const Array output = run(input);
    std::vector<StoredTensor> tensors = stored_values(store);
    tensors.push_back(stored("input", input));
    tensors.push_back(stored("output", output));
    const std::string committed = kHere + "from_xtape/" + module.name + ".safetensors", path = work.path() + "/file";
    write_safetensors(rewrite ? committed : path, tensors);
    if (rewrite) continue;
    const SafetensorsFile now(path), then(committed);
    REQUIRE(now.tensors().size() == then.tensors().size());
    for (std::size_t i = 0; i < now.tensors().size(); ++i) {
      CHECK(now.tensors()[i].name == then.tensors()[i].name);
      check_near(to_array(now.tensors()[i]), to_array(then.tensors()[i]), {1e-12, 1e-13});
    }
    const std::string old_header = content_of(committed), new_header = content_of(path);
    const std::size_t checksum = old_header.find("xtape.crc32\":\"") + 14;  // outputs may differ in the last bit
    CHECK(old_header.substr(0, checksum) == new_header.substr(0, checksum));
  }
}

#endif
