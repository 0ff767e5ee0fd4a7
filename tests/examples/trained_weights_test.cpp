// --weights and --evaluate of the examples: models trained here, and models from PyTorch (tests/exchange/exchange.py).
#include "child_process.hpp"
#include "support.hpp"

#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

using namespace xtape;
using namespace xtape::test;
using nlohmann::json;

#if defined(XTAPE_CHAR_RNN) && defined(XTAPE_CHAR_TRANSFORMER) && !defined(XTAPE_DOUBLE)

namespace {

/// A name map of docs/weights.md.
std::string map_in_docs(const std::string& name) {
  const std::string page = content_of(XTAPE_SOURCE_DIR "/docs/weights.md"), mark = "```json " + name + "\n";
  const std::size_t begin = page.find(mark) + mark.size();
  REQUIRE(page.find(mark) != page.npos);
  return page.substr(begin, page.find("```", begin) - begin);
}

double nats_of(const Finished& result) {
  INFO(result.err);
  REQUIRE(result.code == 0);
  CHECK(result.out.find(" nats per character over ") != std::string::npos);
  return number_at(result.out, 0);
}

}  // namespace

TEST_CASE("models from PyTorch cost a text what they cost there") {
  const std::string here = XTAPE_SOURCE_DIR "/tests/exchange/from_torch/";
  const TemporaryDirectory work;
  for (const auto& [program, file, map] :
       {std::tuple(XTAPE_CHAR_RNN, "char_lstm", "lstm"), std::tuple(XTAPE_CHAR_TRANSFORMER, "gpt", "gpt")}) {
    INFO(file);
    const json must_match = json::parse(content_of(here + file + ".json"));
    work.write("text", must_match["text"]);
    work.write("vocab.json", must_match["vocab"].dump());
    work.write("names.json", map_in_docs(map));
    std::vector<std::string> options = {
        "--weights", here + file + ".safetensors", "--evaluate", "text", "--vocab", "vocab.json", "--names",
        "names.json"};
    if (std::string(file) == "gpt") options.insert(options.end(), {"--heads", "3"});
    check_near(nats_of(run(program, options, work.path())), must_match["nats"], {0, 2e-6});
    CHECK(!std::filesystem::exists(work.path() + "/runs"));
  }
}

TEST_CASE("the name map for nn.TransformerEncoder covers every weight") {
  const TemporaryDirectory work;
  const NameMap names = NameMap::load(work.write("names.json", map_in_docs("encoder")));
  ParamStore store;
  const TransformerLM model(store.root(), {.vocab = 5, .width = 4, .heads = 2, .layers = 2});
  std::set<std::string> ours;
  for (const Parameter& parameter : store.parameters()) ours.insert(parameter.name());
  std::set<std::string> mapped;
  for (const char* name : {"tokens.weight", "positions.weight", "encoder.norm.weight", "encoder.norm.bias",
                           "output.weight", "output.bias"})
    mapped.insert(*names(name));
  for (const std::string layer : {"encoder.layers.0.", "encoder.layers.1."})  // as torch.nn.TransformerEncoder has them
    for (const char* name : {"self_attn.in_proj_weight", "self_attn.in_proj_bias", "self_attn.out_proj.weight",
                             "self_attn.out_proj.bias", "linear1.weight", "linear1.bias", "linear2.weight",
                             "linear2.bias", "norm1.weight", "norm1.bias", "norm2.weight", "norm2.bias"})
      mapped.insert(*names(layer + name));
  CHECK(mapped == ours);
}

TEST_CASE("a run's own weights and checkpoints are evaluated without more options") {
  const TemporaryDirectory work;
  work.write("text", some_text(300));
  const std::vector<std::string> small = {"--text",  "text", "--context", "16", "--batch", "4",
                                          "--steps", "30",   "--sample",  "0",  "--out"};
  std::vector<std::string> rnn = small, transformer = small;
  rnn.insert(rnn.end(), {"rnn", "--hidden", "16"});
  transformer.insert(transformer.end(), {"transformer", "--width", "16", "--heads", "2", "--layers", "1"});
  REQUIRE(run(XTAPE_CHAR_RNN, rnn, work.path()).code == 0);
  REQUIRE(run(XTAPE_CHAR_TRANSFORMER, transformer, work.path()).code == 0);
  const auto evaluate = [&](const char* program, const std::string& file, const std::vector<std::string>& more = {}) {
    std::vector<std::string> options = {"--weights", file, "--evaluate", "text"};
    options.insert(options.end(), more.begin(), more.end());
    return run(program, options, work.path());
  };
  const double nats = nats_of(evaluate(XTAPE_CHAR_RNN, "rnn/weights.safetensors"));
  CHECK(nats > 0.5);
  CHECK(nats < 3.5);  // log 17 is what knowing nothing costs; a text of digits
  CHECK(nats_of(evaluate(XTAPE_CHAR_RNN, "rnn/checkpoints/step_30.safetensors")) == nats);
  CHECK(nats_of(evaluate(XTAPE_CHAR_TRANSFORMER, "transformer/weights.safetensors", {"--heads", "2"})) < 3.5);

  const std::vector<std::pair<Finished, std::string>> table = {
      {evaluate(XTAPE_CHAR_TRANSFORMER, "transformer/weights.safetensors"),
       "[weights] expected --heads 2 for the model of "},
      {evaluate(XTAPE_CHAR_TRANSFORMER, "rnn/weights.safetensors"), "the weights have no token_embedding.weight"},
      {evaluate(XTAPE_CHAR_RNN, "transformer/weights.safetensors"), "the weights have no embedding.weight"},
      {evaluate(XTAPE_CHAR_RNN, "none"), "none"},
      {evaluate(XTAPE_CHAR_RNN, "text"), "[safetensors] text: "},
      {run(XTAPE_CHAR_RNN, {"--weights", "rnn/weights.safetensors"}, work.path()),
       "--weights and --evaluate belong together"},
      {evaluate(XTAPE_CHAR_RNN, XTAPE_SOURCE_DIR "/tests/exchange/from_torch/char_lstm.safetensors",
                {"--names", work.write("names.json", map_in_docs("lstm"))}),
       "does not say which characters its ids are; give --vocab FILE"},
  };
  for (const auto& [result, message] : table) {
    INFO(result.err);
    CHECK(result.code == 2);
    CHECK(lines_of(result.err).size() == 1);
    CHECK(result.err.find(message) != std::string::npos);
  }
}

#endif
