// Claims of theory beside measurements: printed as a table, and written as JSON for scripts/theory.sh.
//
//   Claim claim(report, {"M2", "A running average is a weighted sum.", "v_t = ...", "its source"});
//   claim.near("largest difference over 50 steps", 0, difference, 1e-12);
//
// A comparison of two numbers with a tolerance decides each verdict. docs/theory.md lists all claims by their ids.
#pragma once

#include <xtape/train/args.hpp>

#include <memory>
#include <string>
#include <vector>

namespace xtape::theory {

/// A line, or points if `points`; predicted curves are dashed.
struct Curve {
  std::string name;
  std::vector<double> x, y;
  bool predicted = false;
  bool points = false;
};

struct Plot {
  std::string title, x_label, y_label;
  bool log_x = false, log_y = false;
  std::vector<Curve> curves;
};

/// A heat map of shares from 0 to 1, row by row from the top; the page colors their square roots.
struct Picture {
  std::string title, x_label, y_label;
  std::vector<std::vector<double>> rows;
};

/// How a measured value is compared with the predicted one.
enum class Rule {
  near,      ///< at most the tolerance apart
  relative,  ///< at most tolerance |predicted| apart, and at most the tolerance if 0 is predicted
  factor,    ///< their ratio is between 1/tolerance and tolerance
  at_most,   ///< measured <= predicted
  at_least,  ///< measured >= predicted
};

struct Check {
  std::string what;
  Rule rule;
  double predicted, measured, tolerance;
  bool judged;             ///< false: times and memory of this machine
  std::string correction;  ///< of a wrong statement: what is right; then `predicted` is the statement's value
  bool agrees() const;
  /// "holds", "fails", "the statement is wrong: ...", "the statement is not refuted", or of what is not judged "as
  /// predicted" and "not as predicted".
  std::string verdict() const;
};

struct ClaimText {
  std::string row;        ///< id of the claim in docs/theory.md: "R2"
  std::string statement;  ///< a sentence
  std::string formula;
  std::string source;  ///< who published it, or how it follows
};

class Claim;

/// The frame of a program of claims. Its options: --quick, --seed, --steps (of each training), --json FILE.
class Report {
 public:
  /// Reads the command line as Args does; `program` also names the results.
  Report(const std::string& program, const std::string& about, const ArgsDefaults& defaults, int argc, char** argv);
  ~Report();
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;

  bool quick() const { return args_.quick(); }
  index_t steps() const { return args_.steps(); }
  std::uint64_t seed() const { return args_.seed(); }
  /// The content of the file given as --text, or a made-up text of words from a vocabulary of 300.
  std::string text() const;

  /// Prints how many claims hold and writes the JSON. Throws FileError.
  void finish();

 private:
  friend class Claim;
  struct Record;
  void print_heading(const ClaimText& text);
  void print(const Check& check);

  Args args_;
  Option<std::string> json_, text_;
  std::vector<std::unique_ptr<Record>> records_;
};

class Claim {
 public:
  Claim(Report& report, ClaimText text);

  void near(const std::string& what, double predicted, double measured, double tolerance);
  void relative(const std::string& what, double predicted, double measured, double tolerance);
  void factor(const std::string& what, double predicted, double measured, double tolerance);
  void at_most(const std::string& what, double limit, double measured);
  void at_least(const std::string& what, double limit, double measured);
  /// For counts: no tolerance.
  void equal(const std::string& what, double predicted, double measured) { near(what, predicted, measured, 0); }
  /// A common but wrong statement with the value `stated`. It is refuted only if the measured value is further away
  /// from it than `tolerance`, relative to the stated value. `right` says what is right.
  void wrong_statement(const std::string& what, double stated, double measured, double tolerance,
                       const std::string& right);
  /// For times and memory, which depend on the machine: shown, never judged.
  void shown(const std::string& what, double predicted, double measured, Rule rule, double tolerance);
  void plot(Plot plot);
  void picture(Picture picture);
  void remark(const std::string& sentence);

 private:
  void add(Check check);

  Report& report_;
  Report::Record& record_;
};

}  // namespace xtape::theory
