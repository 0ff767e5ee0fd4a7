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

constexpr std::size_t kMostRejected = 3;  // lines that a warning names

std::string content_from(const fs::path& path, std::size_t offset) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(offset));
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
  return last != events.rend() && (steps.empty() || last->step >= steps.back().step);
}

RunReader::RunReader(std::string directory) {
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
    read_info_json(shallow_json<Json>(content_from(path, 0)), run_);
  } catch (const Json::exception&) {
    info_warnings_.push_back(std::string(run_folder::kRun) +
                             " cannot be read: program, options and seed are incomplete");
  }
}

std::vector<std::string> RunReader::new_lines(Lines& file, bool& restarted) {
  const fs::path path = fs::path(run_.directory) / file.name;
  std::error_code error;
  const auto size = fs::file_size(path, error);
  file.missing = static_cast<bool>(error);
  restarted = !file.missing && size < file.offset;  // truncated by a resume
  if (restarted) file = Lines{file.name};
  if (file.missing) return {};
  const std::string text = content_from(path, file.offset);
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != text.npos; begin = end + 1)
    lines.push_back(text.substr(begin, end - begin));
  file.offset += begin;
  file.half = begin < text.size();
  return lines;
}

bool RunReader::read_steps() {
  bool restarted = false;
  const std::vector<std::string> lines = new_lines(metrics_, restarted);
  if (restarted || (run_.only_norms && !metrics_.missing)) run_.steps.clear();
  if (!metrics_.missing) run_.only_norms = false;
  for (const std::string& line : lines) {
    ++metrics_.line;
    std::optional<StepRecord> record = read_metrics_line(line);
    if (!record) {
      metrics_.rejected.push_back(std::to_string(metrics_.line));
      continue;
    }
    while (!run_.steps.empty() && run_.steps.back().step >= record->step) run_.steps.pop_back();
    run_.steps.push_back(std::move(*record));
  }
  return restarted || !lines.empty();
}

bool RunReader::read_events() {
  bool restarted = false;
  const std::vector<std::string> lines = new_lines(events_, restarted);
  if (restarted) run_.events.clear();
  for (const std::string& line : lines) {
    ++events_.line;
    if (std::optional<EventRecord> event = read_event_line(line)) run_.events.push_back(std::move(*event));
    else events_.rejected.push_back(std::to_string(events_.line));
  }
  return restarted || !lines.empty();
}

void RunReader::read_norms() {
  const fs::path path = fs::path(run_.directory) / run_folder::kGradNorms;
  if (!fs::exists(path)) return;
  run_.steps = steps_of_norms(content_from(path, 0));
  run_.only_norms = true;
}

void RunReader::list_warnings() {
  run_.warnings = info_warnings_;
  for (const Lines* file : {&metrics_, &events_}) {
    if (file->missing)
      run_.warnings.push_back(file->name + (file == &metrics_
                                                ? " is missing: losses, layers and time steps are not known"
                                                : " is missing: spikes between logged steps are not known"));
    if (!file->rejected.empty()) {
      std::string which;
      for (std::size_t i = 0; i < std::min(kMostRejected, file->rejected.size()); ++i)
        which += (i ? ", " : "") + file->rejected[i];
      if (file->rejected.size() > kMostRejected)
        which += " and " + std::to_string(file->rejected.size() - kMostRejected) + " more";
      run_.warnings.push_back(file->name + ": cannot read line " + which);
    }
    if (file->half) run_.warnings.push_back(file->name + " ends in the middle of a line, which is left out");
  }
  if (run_.only_norms) run_.warnings.push_back(std::string("gradient norms are taken from ") + run_folder::kGradNorms);
}

bool RunReader::update() {
  const bool steps = read_steps(), events = read_events();
  if (metrics_.missing && !run_.only_norms) read_norms();
  list_warnings();
  return steps || events;
}

RunData read_run(const std::string& directory) { return RunReader(directory).run(); }

}  // namespace xtape
