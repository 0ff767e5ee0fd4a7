#include <xtape/core/error.hpp>
#include <xtape/data/json.hpp>
#include <xtape/inspect/run/grad_norms_csv.hpp>
#include <xtape/inspect/run/metrics_jsonl.hpp>
#include <xtape/inspect/run/reader.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

namespace xtape {

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;

constexpr index_t kMostRejected = 3;  // lines that a warning names

/// Where the last record of a line begins, behind one that was not written to its end; 0 if there is none.
std::size_t record_behind(std::string_view line) {
  const std::size_t at = line.rfind("{\"format_version\":");
  return at == line.npos ? 0 : at;
}

std::string content_of_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string option_text(const Json& value) { return find_bytes(value).value_or(json_text(value)); }

/// Reads the values of run.json. Throws the JSON library's exceptions if it has another form.
void read_info_json(const Json& json, RunData& run) {
  const auto text = [&](const char* key) { return json.value(key, std::string()); };
  run.program = text("program");
  run.started = text("started");
  run.version = text("version");
  run.dtype = text("flavour");
  run.compiler = text("compiler");
  run.cpu = text("cpu");
  run.isa = text("isa");
  run.blas = text("blas");
  if (json.contains("seed")) run.seed = integer_of<std::uint64_t>(json["seed"]);
  if (json.contains("parameters")) run.parameters = integer_of<index_t>(json["parameters"]);
  if (json.contains("threads")) run.threads = integer_of<int>(json["threads"]);
  if (json.contains("options"))
    for (const auto& [name, value] : json.at("options").items()) {
      run.options.emplace_back(name, option_text(value));
      if (name == "steps") run.planned_steps = integer_of<index_t>(value);
    }
  if (json.contains("layout"))
    for (const Json& p : json.at("layout"))
      run.layout.push_back({p.at("name"), integers_of<index_t>(p.at("shape")), p.at("trainable")});
}

}  // namespace

bool RunData::finished() const {
  const auto last =
      std::find_if(events.rbegin(), events.rend(), [](const EventRecord& e) { return e.kind == "finished"; });
  return last != events.rend() && ends_at(last->step);
}

RunReader::RunReader(std::string directory)
    : metrics_(directory, run_folder::kMetrics), events_(directory, run_folder::kEvents) {
  run_.directory = std::move(directory);
  std::error_code error;
  if (!fs::is_directory(run_.directory, error))
    throw FileError("inspect", run_.directory + ": there is no such directory");
  const auto there = [&](const char* name) { return fs::exists(fs::path(run_.directory) / name, error); };
  if (!there(run_folder::kRun) && !there(run_folder::kMetrics) && !there(run_folder::kGradNorms))
    throw FileError("inspect", run_.directory + ": this is not a run: it has neither " + run_folder::kRun + " nor " +
                                   run_folder::kMetrics + " nor " + run_folder::kGradNorms);
  read_info();
  update();
}

void RunReader::read_info() {
  const fs::path path = fs::path(run_.directory) / run_folder::kRun;
  if (!fs::exists(path)) {
    info_warnings_.push_back(std::string(run_folder::kRun) + " is missing: program, options and seed are not known");
    return;
  }
  try {
    read_info_json(shallow_json<Json>(content_of_file(path)), run_);
  } catch (const Json::exception&) {
    info_warnings_.push_back(std::string(run_folder::kRun) +
                             " cannot be read: program, options and seed are incomplete");
  }
}

bool RunReader::Lines::restart_if_rewritten() {
  if (!reader.restart_if_rewritten()) return false;
  rejected.clear();
  rejected_count = 0;
  return true;
}

template <class Parse, class Take>
index_t RunReader::Lines::read(const Parse& parse, const Take& take) {
  return reader.read([&](const LineReader::Line& line) {
    auto record = parse(line.text);
    if (!record && !line.cut) {  // of a cut line the warning about the hole tells
      if (++rejected_count <= kMostRejected) rejected.push_back(line.number);
      if (const std::size_t at = record_behind(line.text)) record = parse(line.text.substr(at));
    }
    if (record) take(*std::move(record));
  });
}

std::vector<std::string> RunReader::Lines::warnings(const std::string& without) const {
  std::vector<std::string> out;
  if (reader.missing()) out.push_back(name + " is missing: " + without);
  if (rejected_count > 0) {
    std::string which;
    for (const index_t line : rejected) which += (which.empty() ? "" : ", ") + std::to_string(line);
    if (rejected_count > kMostRejected) which += " and " + std::to_string(rejected_count - kMostRejected) + " more";
    out.push_back(name + ": cannot read line " + which);
  }
  if (const LineReader::Holes& holes = reader.holes(); holes.count > 0)
    out.push_back(name + " has " + std::to_string(holes.bytes) + " zero bytes at byte " +
                  std::to_string(holes.first_byte) + ", line " + std::to_string(holes.first_line) +
                  (holes.count > 1 ? ", and at " + std::to_string(holes.count - 1) + " places more" : "") +
                  ", as a power cut leaves them; what was there is lost, what follows is read");
  if (reader.half()) out.push_back(name + " ends in the middle of a line, which is left out");
  return out;
}

bool RunReader::read_steps() {
  const bool restarted = metrics_.restart_if_rewritten();
  if (restarted) run_.steps.clear();
  const index_t lines = metrics_.read([this](std::string_view text) { return parser_.step(text); },
                                      [this](StepRecord step) { add_step(std::move(step)); });
  return restarted || lines > 0;
}

void RunReader::add_step(StepRecord record) {
  if (std::exchange(run_.only_norms, false)) run_.steps.clear();
  while (!run_.steps.empty() && run_.steps.back().step >= record.step) run_.steps.pop_back();
  run_.steps.push_back(std::move(record));
}

bool RunReader::read_events() {
  const bool restarted = events_.restart_if_rewritten();
  if (restarted) run_.events.clear();
  const index_t lines = events_.read([this](std::string_view text) { return parser_.event(text); },
                                     [this](EventRecord event) { run_.events.push_back(std::move(event)); });
  return restarted || lines > 0;
}

void RunReader::read_norms() {
  LineReader file(run_.directory + "/" + run_folder::kGradNorms);
  run_.steps.clear();
  file.read([this](const LineReader::Line& line) { add_norms_row(run_.steps, line.text); });
  run_.only_norms = !file.missing();
}

void RunReader::list_warnings() {
  run_.warnings = info_warnings_;
  const auto add = [this](const std::vector<std::string>& some) {
    run_.warnings.insert(run_.warnings.end(), some.begin(), some.end());
  };
  add(metrics_.warnings("losses, layers and time steps are not known"));
  add(events_.warnings("spikes between logged steps are not known"));
  if (run_.only_norms) run_.warnings.push_back(std::string("gradient norms are taken from ") + run_folder::kGradNorms);
}

bool RunReader::read_lines() {
  const bool steps = read_steps(), events = read_events();
  if (metrics_.reader.missing() && !run_.only_norms) read_norms();
  return steps || events;
}

bool RunReader::update() {
  const RunState before = run_.status.state;
  const auto status = [this] { return run_status(run_, metrics_.reader.half() || events_.reader.half()); };
  bool lines = read_lines();
  run_.status = status();
  if (has_ended(run_.status.state) && read_lines()) {  // its last lines came in between
    lines = true;
    run_.status = status();
  }
  list_warnings();
  return lines || run_.status.state != before;
}

RunData read_run(const std::string& directory) { return RunReader(directory).take(); }

}  // namespace xtape
