// What an older version wrote (make.sh), read and gone on with by the programs of today. Numbers are those of the older
// version, which today's agree with but for rounding.
#include "child_process.hpp"
#include "support.hpp"

#include <xtape/data/npy.hpp>
#include <xtape/data/safetensors.hpp>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace xtape;
using namespace xtape::test;
using nlohmann::json;
namespace fs = std::filesystem;

#if defined(XTAPE_CHAR_RNN) && defined(XTAPE_CHAR_TRANSFORMER) && !defined(XTAPE_DOUBLE)

namespace {

const std::vector<std::pair<std::string, std::string>> kOldRuns = {{"char_rnn", XTAPE_CHAR_RNN},
                                                                   {"char_transformer", XTAPE_CHAR_TRANSFORMER}};

/// The files of the older version, copied to where they may be changed.
class OldRuns {
 public:
  OldRuns() {
    fs::copy(XTAPE_SOURCE_DIR "/tests/compatibility/runs", work_.path(),
             fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  }
  std::string path(const std::string& name) const { return work_.path() + "/" + name; }
  std::string content(const std::string& name) const { return content_of(path(name)); }
  json parsed(const std::string& name) const { return json::parse(content(name)); }

  /// Runs a program among the files with the instruction set that made them.
  Finished command(const std::string& program, std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"XTAPE_ISA=plain", "XTAPE_GEMM=xtape", program});
    return run("/usr/bin/env", arguments, work_.path());
  }

 private:
  TemporaryDirectory work_;
};

/// What the rounding of 14 steps in float leaves: softmax and losses are more exact than in the older version.
const Limits kRounding = {1e-4, 1e-5};

/// Equal, with numbers within these limits.
bool nearly_equal(const json& a, const json& b, const Limits& limits) {
  if (a.is_number() && b.is_number()) return difference(a.get<double>(), b.get<double>(), limits).empty();
  if (a.type() != b.type() || a.size() != b.size()) return false;
  if (a.is_array())
    return std::equal(a.begin(), a.end(), b.begin(),
                      [&](const json& x, const json& y) { return nearly_equal(x, y, limits); });
  if (!a.is_object()) return a == b;
  for (const auto& [key, value] : a.items())
    if (!b.contains(key) || !nearly_equal(value, b[key], limits)) return false;
  return true;
}

/// The lines of a file of JSON, without what depends on the clock, and without the histograms of a gradient that is
/// partly nothing but rounding: the bias of keys shifts all scores of a query alike, which softmax ignores.
std::vector<json> records_of(const std::string& text) {
  std::vector<json> out;
  for (const std::string& line : lines_of(text)) {
    json record = json::parse(line);
    record.erase("wall");
    if (record.contains("parameters"))
      if (auto& of = record["parameters"]; of.contains("layers.0.self_attn.in_proj_bias"))
        for (const char* key : {"grad_log2_counts_preclip", "grad_zero_share_preclip"})
          of["layers.0.self_attn.in_proj_bias"].erase(key);
    out.push_back(record);
  }
  return out;
}

/// The lines of a file of comma-separated values, with numbers as numbers.
std::vector<json> rows_of(const std::string& text) {
  std::vector<json> out;
  for (const std::string& line : lines_of(text)) {
    std::istringstream fields(line);
    json row = json::array();
    for (std::string field; std::getline(fields, field, ',');) {
      const json value = json::parse(field, nullptr, false);
      row.push_back(value.is_number() ? value : json(field));
    }
    out.push_back(row);
  }
  return out;
}

/// Without the keys that the older version did not write.
json as_then(json got, const json& want) {
  if (!got.is_object() || !want.is_object()) return got;
  for (auto at = got.begin(); at != got.end();) {
    if (!want.contains(at.key())) {
      at = got.erase(at);
      continue;
    }
    at.value() = as_then(at.value(), want[at.key()]);
    ++at;
  }
  return got;
}

void check_records(std::vector<json> got, const std::vector<json>& want) {
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < want.size(); ++i) got[i] = as_then(got[i], want[i]);
  for (std::size_t i = 0; i < want.size(); ++i)
    CHECK_MESSAGE(nearly_equal(got[i], want[i], kRounding), got[i].dump(), "\nis not\n", want[i].dump());
}

void check_weights(const std::string& got, const std::string& want) {
  const SafetensorsFile file(got), wanted(want);
  REQUIRE(file.tensors().size() == wanted.tensors().size());
  for (const StoredTensor& tensor : wanted.tensors()) {
    INFO(tensor.name);
    REQUIRE(file.find(tensor.name) != nullptr);
    check_near(to_array(*file.find(tensor.name)), to_array(tensor), kRounding);
  }
}

/// The findings of all verdicts: their words may change.
std::map<std::string, json> findings_of(const json& page) {
  std::map<std::string, json> out;
  for (const json& verdict : page["verdicts"])
    out[verdict["id"]] = {verdict["finding"], verdict.value("layer", ""), verdict.value("step", -1)};
  return out;
}

}  // namespace

#ifdef __x86_64__  // elsewhere the compiler may fuse multiplications and additions, which changes bits
TEST_CASE("a run that an older version was stopped in ends as it would have ended there") {
  const OldRuns old;
  for (const auto& [name, program] : kOldRuns) {
    INFO(name);
    const std::string stopped = name + ".stopped";
    const Finished result = old.command(program, {"--resume", stopped, "--threads", "1"});
    INFO(result.err);
    if (result.code == 2 && result.err.find("f32") != std::string::npos && result.err.find("f64") != std::string::npos)
      continue;  // examples in double refuse checkpoints in float
    REQUIRE(result.code == 0);
    const auto both = [&](const std::string& file) {
      return std::pair(old.path(stopped + "/" + file), old.path(name + "/" + file));
    };
    const auto check_lines = [&](const std::string& file, const auto& lines) {
      INFO(file);
      const auto [got, want] = both(file);
      check_records(lines(content_of(got)), lines(content_of(want)));
    };
    check_weights(both("weights.safetensors").first, both("weights.safetensors").second);
    check_lines("grad_norms.csv", rows_of);
    check_lines("events.jsonl", records_of);
    check_lines("metrics.jsonl", records_of);
    if (name == "char_transformer") {
      const auto [got, want] = both("attention/step_35.npy");
      check_near(load_npy(got), load_npy(want), kRounding);
      CHECK(old.parsed(stopped + "/attention/tokens.json") == old.parsed(name + "/attention/tokens.json"));
    }
    CHECK(old.parsed(stopped + "/run.json")["options"] == [&] {
      json options = old.parsed(name + "/run.json")["options"];
      options["out"] = stopped, options["stop-after"] = 22;
      return options;
    }());
  }
}
#endif

TEST_CASE("weights and checkpoints of an older version are listed and evaluated") {
  const OldRuns old;
  for (const auto& [name, program] : kOldRuns)
    for (const std::string& file : {name + "/weights.safetensors", name + "/checkpoints/step_36.safetensors",
                                    name + ".stopped/checkpoints/step_22.safetensors"}) {
      INFO(file);
      const Finished list = old.command(XTAPE_COMMAND, {"weights", file});
      CHECK(list.code == 0);
      CHECK(list.err == "");
      const json run = old.parsed(name + "/run.json");
      for (const json& parameter : run["layout"])
        CHECK(list.out.find(parameter["name"].get<std::string>() + " ") != std::string::npos);
      std::vector<std::string> options = {"--weights", file, "--evaluate", "text", "--threads", "1"};
      if (name == "char_transformer") options.insert(options.end(), {"--heads", "2"});
      const Finished evaluated = old.command(program, options);
      INFO(evaluated.err);
      REQUIRE(evaluated.code == 0);
      if (file.find("stopped") == file.npos)
        CHECK(std::abs(number_at(evaluated.out, 0) - number_at(old.content(name + ".nats"), 0)) < 2e-6);
    }
}

TEST_CASE("a run of an older version is inspected, drawn and compared, with the same findings") {
  const OldRuns old;
  for (const auto& [name, program] : kOldRuns) {
    INFO(name);
    const Finished inspected = old.command(XTAPE_COMMAND, {"inspect", name, "--json"});
    CHECK(inspected.code == 0);
    CHECK(inspected.err == "");
    const json page = json::parse(inspected.out), wanted = old.parsed(name + ".json");
    CHECK(findings_of(page) == findings_of(wanted));
    CHECK(nearly_equal(page["layers"], wanted["layers"], {1e-9, 0}));
    for (const char* key :
         {"format_version", "program", "finished", "diverged", "logged_steps", "last_step", "warnings"})
      CHECK_MESSAGE(page[key] == wanted[key], key);
    for (const std::string& run : {name, name + ".stopped"}) {
      CHECK(old.command(XTAPE_COMMAND, {"inspect", run}).code == 0);
      const Finished drawn = old.command(XTAPE_COMMAND, {"report", run});
      CHECK(drawn.code == 0);
      CHECK(drawn.err == "");
      CHECK(old.content(run + "/report.html").find(name) != std::string::npos);
    }
  }
  const Finished compared = old.command(XTAPE_COMMAND, {"compare", "char_rnn", "char_transformer"});
  CHECK(compared.code == 0);
  CHECK(compared.err == "");
  for (const auto& [name, program] : kOldRuns) CHECK(compared.out.find(name) != std::string::npos);
}

#endif
