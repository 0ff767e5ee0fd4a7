#include <xtape/core/nearest_name.hpp>
#include <xtape/core/number_text.hpp>
#include <xtape/core/threads.hpp>
#include <xtape/data/utf8.hpp>
#include <xtape/inspect/run/run_json.hpp>
#include <xtape/train/args.hpp>
#include <xtape/train/program.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <limits>

namespace xtape {

namespace {

constexpr std::size_t kHelpColumns = 100;

std::string shortest(index_t value) { return std::to_string(value); }
std::string shortest(double value) { return number_text(value); }

std::string value_text(const ArgValue& value) {
  if (const auto* integer = std::get_if<index_t>(&value)) return shortest(*integer);
  if (const auto* number = std::get_if<double>(&value)) return shortest(*number);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return std::get<bool>(value) ? "true" : "false";
}

template <class T>
std::string range_text(Range<T> range, const char* from, const char* at_least) {
  const bool open = range.high == std::numeric_limits<T>::max() || std::isinf(static_cast<double>(range.high));
  return open ? at_least + shortest(range.low) : from + shortest(range.low) + " to " + shortest(range.high);
}

/// Parses the whole text as a finite number in the range.
template <class T>
std::optional<ArgValue> read_in(Range<T> range, std::string_view text) {
  std::optional<T> value;
  if constexpr (std::is_same_v<T, double>) value = read_number(text);
  else value = read_integer<T>(text);
  if (!value || !(*value >= range.low && *value <= range.high)) return std::nullopt;
  if (!std::isfinite(static_cast<double>(*value))) return std::nullopt;
  return *value;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : ", ") + part;
  return out;
}

/// Appends a text with line breaks between words, each line starting at column `indent`.
void append_wrapped(std::string& out, const std::string& text, std::size_t indent) {
  std::size_t column = indent;
  for (const std::string_view word : words_between_spaces(text)) {
    if (column > indent && column + 1 + word.size() > kHelpColumns) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    }
    if (column > indent) out += ' ', ++column;
    out += word;
    column += word.size();
  }
  out += '\n';
}

}  // namespace

Args::Args(std::string program, std::string about, const ArgsDefaults& defaults)
    : program_(std::move(program)),
      about_(std::move(about)),
      quick_steps_(defaults.quick_steps),
      steps_(integer("steps", defaults.steps, {1, 1'000'000'000}, "training steps")),
      seed_(integer("seed", defaults.seed, {0, std::numeric_limits<index_t>::max()},
                    "seed of all random numbers; the same seed gives the same run")),
      threads_(integer("threads", xtape::threads(), {1, 1024}, "threads; the results do not depend on it")),
      out_(text("out", "", "directory for the run, new or empty; by default runs/" + program_ + "-<UTC time>")),
      quick_(flag("quick", "a run of only " + shortest(quick_steps_) + " steps, to see that all works")),
      on_trouble_(choice("on-trouble", {"warn", "skip", "stop"}, "warn",
                         "what to do about a step that is not finite, or a spike")),
      detect_anomaly_(flag("detect-anomaly", "find the first op that makes a number that is not finite; slow")) {
  group("Options");
}

const ArgValue* Args::declare(Entry entry) {
  const auto taken = [&](const Entry& other) { return other.name == entry.name; };
  if (parsed_) throw UsageError(program_, "option --" + entry.name + " is declared after the arguments are parsed");
  if (entry.name == "help" || std::any_of(entries_.begin(), entries_.end(), taken))
    throw UsageError(program_, "option --" + entry.name + " is declared twice");
  if (entry.read && !entry.read(value_text(entry.value)))
    throw UsageError(program_,
                     "--" + entry.name + ": " + expected_got(entry.takes, "the default " + value_text(entry.value)));
  entry.group = group_;
  entries_.push_back(std::move(entry));
  return &entries_.back().value;
}

Option<index_t> Args::integer(const std::string& name, index_t value, Range<index_t> range, const std::string& help) {
  return {this, declare({.name = name,
                         .help = help,
                         .value = value,
                         .placeholder = "N",
                         .takes = "a whole number " + range_text(range, "from ", "of at least "),
                         .limits = range_text(range, "", "at least "),
                         .read = [range](std::string_view text) { return read_in(range, text); }})};
}

Option<double> Args::number(const std::string& name, double value, Range<double> range, const std::string& help) {
  return {this, declare({.name = name,
                         .help = help,
                         .value = value,
                         .placeholder = "X",
                         .takes = "a number " + range_text(range, "from ", "of at least "),
                         .limits = range_text(range, "", "at least "),
                         .read = [range](std::string_view text) { return read_in(range, text); }})};
}

Option<std::string> Args::text(const std::string& name, const std::string& value, const std::string& help) {
  const auto read = [](std::string_view text) { return ArgValue(std::string(text)); };
  return {this, declare({.name = name, .help = help, .value = value, .placeholder = "TEXT", .read = read})};
}

Option<std::string> Args::choice(const std::string& name, const std::vector<std::string>& choices,
                                 const std::string& value, const std::string& help) {
  const auto read = [choices](std::string_view text) -> std::optional<ArgValue> {
    if (std::find(choices.begin(), choices.end(), text) == choices.end()) return std::nullopt;
    return std::string(text);
  };
  return {this, declare({.name = name,
                         .help = help,
                         .value = value,
                         .placeholder = "NAME",
                         .takes = "one of " + joined(choices),
                         .limits = joined(choices),
                         .read = read})};
}

Option<bool> Args::flag(const std::string& name, const std::string& help) {
  return {this, declare({.name = name, .help = help, .value = false})};
}

void Args::resumable(std::vector<std::string> may_change) {
  resume_ = text("resume", "", "directory of a run that is to go on from its newest checkpoint, with its options");
  stop_after_ =
      integer("stop-after", 0, {0, 1'000'000'000}, "stop once so many steps are done, to go on later; 0: never");
  may_change_ = std::move(may_change);
  may_change_.insert(may_change_.end(), {"steps", "threads"});
}

const std::string& Args::resume() const {
  static const std::string none;
  return resume_ ? **resume_ : none;
}

void Args::parse(int argc, const char* const* argv) {
  CLI::App app;
  app.set_help_flag("-h,--help");
  app.allow_extras();  // fail_unknown reports them
  std::deque<std::string> texts;
  std::deque<bool> flags;
  std::vector<CLI::Option*> options;
  for (const Entry& entry : entries_) {
    if (entry.placeholder.empty()) options.push_back(app.add_flag("--" + entry.name, flags.emplace_back()));
    else options.push_back(app.add_option("--" + entry.name, texts.emplace_back())->take_last());
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::cout << help();
    std::exit(finish_output(0));
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string text = error.what();  // "--width: 1 required TEXT missing"
    throw UsageError(program_, text.substr(0, text.find(':')) + " needs a value; see --help");
  } catch (const CLI::Error& error) {
    throw UsageError(program_, std::string(error.what()) + "; see --help");
  }
  for (const std::string& unknown : app.remaining())
    if (unknown != "--") fail_unknown(unknown);

  Given given;
  for (std::size_t i = 0, text = 0, flag = 0; i < entries_.size(); ++i) {
    const bool is_flag = entries_[i].placeholder.empty();
    const std::string value = is_flag ? (flags[flag++] ? "true" : "") : texts[text++];
    if (options[i]->count() > 0) given.emplace_back(&entries_[i], value);
  }
  for (const auto& [entry, value] : given)
    if (entry->name == "resume") {
      add_values_of_run(given, std::string(value));
      break;
    }
  read_values(given);
}

/// Adds the options of the run to resume that are not given. Throws UsageError if one is given with another value and
/// may not change.
void Args::add_values_of_run(Given& given, const std::string& run) {
  const auto is_given = [&given](const std::string& name) {
    return std::find_if(given.begin(), given.end(), [&](const auto& g) { return g.first->name == name; });
  };
  if (is_given("out") != given.end()) throw UsageError(program_, "--out and --resume exclude each other");
  for (const auto& [name, value] : options_of_run(run, program_)) {
    if (name == "resume" || name == "stop-after" || name == "out" || name == "threads") continue;
    const auto entry =
        std::find_if(entries_.begin(), entries_.end(), [&n = name](const Entry& e) { return e.name == n; });
    if (entry == entries_.end())
      throw UsageError(program_, run + " has an option --" + name + ", which this program does not know");
    const auto found = is_given(name);
    if (found == given.end()) {
      given.emplace_back(&*entry, value);
      continue;
    }
    const bool same = entry->read ? entry->read(found->second) == entry->read(value) : found->second == value;
    if (!same && std::find(may_change_.begin(), may_change_.end(), name) == may_change_.end())
      throw UsageError(program_, "--" + name + (entry->read ? " was " + value : " was not given") + " in " + run +
                                     " and stays so when it is resumed");
  }
}

/// Parses all values before setting any.
void Args::read_values(const Given& given) {
  std::vector<ArgValue> values;
  bool steps_given = false;
  for (const auto& [entry, text] : given) {
    const std::optional<ArgValue> value = entry->read ? entry->read(text) : ArgValue(!text.empty());
    if (!value) throw UsageError(program_, "--" + entry->name + ": " + expected_got(entry->takes, "'" + text + "'"));
    values.push_back(*value);
    steps_given = steps_given || entry->name == "steps";
  }
  for (std::size_t i = 0; i < given.size(); ++i) given[i].first->value = values[i];
  parsed_ = true;
  if (quick_ && !steps_given) entries_.front().value = quick_steps_;
  set_threads(static_cast<int>(*threads_));
}

void Args::fail_unknown(const std::string& argument) const {
  if (!argument.starts_with('-')) throw UsageError(program_, "unexpected argument '" + argument + "'; see --help");
  const std::string given = argument.substr(0, argument.find('='));
  const std::string bare = given.substr(std::min(given.find_first_not_of('-'), given.size()));
  std::vector<std::string> names;
  for (const Entry& entry : entries_) names.push_back(entry.name);
  throw UsageError(program_, "there is no option " + given + suggestion(bare, names, "--"));
}

std::vector<std::pair<std::string, ArgValue>> Args::values() const {
  std::vector<std::pair<std::string, ArgValue>> out;
  for (const Entry& entry : entries_) out.emplace_back(entry.name, entry.value);
  return out;
}

Args::operator RunDescription() const {
  return {.program = program_,
          .options = values(),
          .seed = seed(),
          .steps = steps(),
          .directory = resume().empty() ? out() : resume(),
          .resumes = !resume().empty(),
          .on_trouble = parse_on_trouble(on_trouble()),
          .detect_anomaly = detect_anomaly()};
}

std::string Args::help() const {
  std::string out = "Usage: " + program_ + " [OPTION...]\n";
  append_wrapped(out, about_, 0);
  const auto left = [](const Entry& e) { return "  --" + e.name + (e.placeholder.empty() ? "" : " " + e.placeholder); };
  std::size_t indent = 0;
  std::vector<std::string> groups;
  for (const Entry& entry : entries_) {
    indent = std::max(indent, left(entry).size() + 2);
    if (std::find(groups.begin(), groups.end(), entry.group) == groups.end()) groups.push_back(entry.group);
  }
  std::rotate(groups.begin(), groups.begin() + 1, groups.end());  // the program's own options come first
  for (const std::string& group : groups) {
    out += "\n" + group + "\n";
    for (const Entry& entry : entries_) {
      if (entry.group != group) continue;
      const std::string default_text = entry.placeholder.empty() ? "" : value_text(entry.value);
      const std::string notes = entry.limits + (entry.limits.empty() || default_text.empty() ? "" : "; ") +
                                (default_text.empty() ? "" : "default " + default_text);
      out += left(entry) + std::string(indent - left(entry).size(), ' ');
      append_wrapped(out, entry.help + (notes.empty() ? "" : " (" + notes + ")"), indent);
    }
  }
  const std::string help_flag = "  --help";
  return out + help_flag + std::string(indent - help_flag.size(), ' ') + "print this text\n";
}

}  // namespace xtape
