// Args: declares, checks and reads the command-line options of a program.
//
//   Args args("char_rnn", "Trains a recurrent network on a text.", {.steps = 2000});
//   const auto width = args.integer("width", 128, {1, 4096}, "width of the hidden state");
//   const auto lr = args.number("lr", 1e-3, {0, 1}, "peak learning rate");
//   args.parse(argc, argv);
//   Linear head(store.root() / "head", width, 65);      // after parse() an option converts to its value
#pragma once

#include <xtape/core/config.hpp>
#include <xtape/core/error.hpp>
#include <xtape/inspect/run/description.hpp>

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace xtape {

using ArgValue = OptionValue;

/// An inclusive range.
template <class T>
struct Range {
  T low;
  T high;
};

class Args;

/// A declared option. After Args::parse it converts to its value. It refers to the Args, which must outlive it.
template <class T>
class Option {
 public:
  /// Throws UsageError before `parse`.
  const T& operator*() const;
  operator const T&() const { return **this; }

 private:
  friend class Args;
  Option(const Args* args, const ArgValue* value) : args_(args), value_(value) {}

  const Args* args_;
  const ArgValue* value_;
};

struct ArgsDefaults {
  index_t steps = 1000;
  index_t quick_steps = 20;  ///< steps of a --quick run
  index_t seed = 0;
};

/// Every program has --seed, --steps, --threads, --out, --quick, --on-trouble, --detect-anomaly and --help, besides the
/// options that it declares.
class Args {
 public:
  /// `program` is the name in messages and of run folders; `about` is a sentence for --help.
  Args(std::string program, std::string about, const ArgsDefaults& defaults = {});
  Args(const Args&) = delete;
  Args& operator=(const Args&) = delete;

  /// The heading in --help of the options declared after it.
  void group(std::string title) { group_ = std::move(title); }

  /// Declare an option. `name` has no dashes, `help` no full stop. Throw UsageError if the name is taken, the default
  /// is not allowed, or parse() was called.
  Option<index_t> integer(const std::string& name, index_t value, Range<index_t> range, const std::string& help);
  /// Only finite numbers are accepted, even if the range ends at infinity.
  Option<double> number(const std::string& name, double value, Range<double> range, const std::string& help);
  Option<std::string> text(const std::string& name, const std::string& value, const std::string& help);
  Option<std::string> choice(const std::string& name, const std::vector<std::string>& choices, const std::string& value,
                             const std::string& help);
  /// A flag, false by default.
  Option<bool> flag(const std::string& name, const std::string& help);

  /// Declares --resume RUN, which continues the run in that directory with the options of its run.json, and
  /// --stop-after. Only --steps, --threads and the options in `may_change` may then have another value.
  void resumable(std::vector<std::string> may_change = {});

  /// Reads the command line and sets the number of threads. --help prints the help and ends the process with code 0,
  /// or 1 if it could not be printed. If
  /// an option is given twice, the last value is used. Throws UsageError with a message of one line, and FileError if
  /// the run to resume cannot be read; nothing is changed then.
  void parse(int argc, const char* const* argv);

  const std::string& program() const { return program_; }
  bool parsed() const { return parsed_; }
  std::uint64_t seed() const { return static_cast<std::uint64_t>(*seed_); }
  /// The value of --steps; with --quick alone, the number of steps of a quick run.
  index_t steps() const { return steps_; }
  bool quick() const { return quick_; }
  /// The value of --detect-anomaly: find the first op that produces NaN or infinity.
  bool detect_anomaly() const { return detect_anomaly_; }
  /// The value of --on-trouble: "warn", "skip" or "stop".
  const std::string& on_trouble() const { return on_trouble_; }
  /// The value of --out; "" if not given.
  const std::string& out() const { return out_; }

  /// The value of --resume; "" if not given.
  const std::string& resume() const;

  /// The value of --stop-after: the number of steps after which the run stops, to be resumed later; 0: never.
  index_t stop_after() const { return stop_after_ ? **stop_after_ : 0; }

  /// All options with their values, in order of declaration, the common ones first.
  std::vector<std::pair<std::string, ArgValue>> values() const;
  /// What RunLog needs to know. Throws UsageError before parse().
  operator RunDescription() const;
  /// The text of --help.
  std::string help() const;

 private:
  struct Entry {
    std::string name, help;
    ArgValue value;
    std::string placeholder = {};  // of the value in --help, empty for a flag
    std::string takes = {};        // "a whole number from 1 to 4096"
    std::string limits = {};       // "1 to 4096", empty for any
    std::function<std::optional<ArgValue>(std::string_view)> read = {};
    std::string group = {};
  };

  using Given = std::vector<std::pair<Entry*, std::string>>;

  const ArgValue* declare(Entry entry);
  void read_values(const Given& given);
  void add_values_of_run(Given& given, const std::string& run);
  [[noreturn]] void fail_unknown(const std::string& argument) const;

  std::string program_, about_;
  std::string group_ = "Run";
  bool parsed_ = false;
  index_t quick_steps_;
  std::deque<Entry> entries_;  // options point into it
  Option<index_t> steps_, seed_, threads_;
  Option<std::string> out_;
  Option<bool> quick_;
  std::optional<Option<std::string>> resume_;
  std::optional<Option<index_t>> stop_after_;
  std::vector<std::string> may_change_;
  Option<std::string> on_trouble_;
  Option<bool> detect_anomaly_;
};

template <class T>
const T& Option<T>::operator*() const {
  if (!args_->parsed()) throw UsageError(args_->program(), "an option is read before the arguments are parsed");
  return std::get<T>(*value_);
}

}  // namespace xtape
