#include "claims.hpp"

#include <xtape/core/number_text.hpp>
#include <xtape/core/random.hpp>
#include <xtape/data/durable_file.hpp>
#include <xtape/data/files.hpp>
#include <xtape/data/json.hpp>
#include <xtape/data/text.hpp>

#include <nlohmann/json.hpp>

#include <cmath>
#include <iomanip>
#include <iostream>

namespace xtape::theory {

using Json = nlohmann::ordered_json;

namespace {

constexpr const char* kRuleNames[] = {"near", "relative", "factor", "at_most", "at_least"};

/// "within 1e-12", "at most"
std::string tolerance_text(const Check& check) {
  const std::string number = number_text(check.tolerance, "%.3g");
  switch (check.rule) {
    case Rule::near:
      return check.tolerance == 0 ? "exactly" : "+- " + number;
    case Rule::relative:
      return "+- " + number_text(100 * check.tolerance, "%.3g") + " %";
    case Rule::factor:
      return "factor " + number;
    case Rule::at_most:
      return "at most";
    case Rule::at_least:
      return "at least";
  }
  return "";
}

/// Words drawn with the frequencies 1/rank from 300 made-up ones.
std::string made_up_text() {
  Random random(0, "made-up text");
  std::vector<std::string> words(300);
  for (std::string& word : words)
    for (index_t left = 2 + random.below(3); left > 0; --left) {
      word += "bdfgklmnprstvz"[random.below(14)];
      word += "aeiou"[random.below(5)];
    }
  std::string out;
  while (out.size() < 100'000)
    out += words[static_cast<std::size_t>(std::pow(300, random.uniform())) - 1] + (random.below(9) ? " " : ".\n");
  return out;
}

Json json_of(const Check& check) {
  return {{"what", check.what},
          {"rule", kRuleNames[static_cast<std::size_t>(check.rule)]},
          {"predicted", json_number<Json>(check.predicted)},
          {"measured", json_number<Json>(check.measured)},
          {"tolerance", json_number<Json>(check.tolerance)},
          {"judged", check.judged},
          {"verdict", check.verdict()}};
}

Json json_of(const Plot& plot) {
  Json curves = Json::array();
  for (const Curve& curve : plot.curves) {
    Json x = Json::array(), y = Json::array();
    for (double value : curve.x) x.push_back(json_number<Json>(value));
    for (double value : curve.y) y.push_back(json_number<Json>(value));
    curves.push_back(
        {{"name", curve.name}, {"predicted", curve.predicted}, {"points", curve.points}, {"x", x}, {"y", y}});
  }
  return {{"title", plot.title}, {"x_label", plot.x_label}, {"y_label", plot.y_label},
          {"log_x", plot.log_x}, {"log_y", plot.log_y},     {"curves", curves}};
}

Json json_of(const Picture& picture) {
  return {{"title", picture.title}, {"x_label", picture.x_label}, {"y_label", picture.y_label}, {"rows", picture.rows}};
}

}  // namespace

struct Report::Record {
  ClaimText text;
  std::vector<Check> checks = {};
  std::vector<Plot> plots = {};
  std::vector<Picture> pictures = {};
  std::vector<std::string> remarks = {};
};

bool Check::agrees() const {
  switch (rule) {
    case Rule::near:
      return std::abs(measured - predicted) <= tolerance;
    case Rule::relative:
      return std::abs(measured - predicted) <= tolerance * (predicted == 0 ? 1 : std::abs(predicted));
    case Rule::factor:
      return (measured < 0) == (predicted < 0) && std::abs(measured) <= std::abs(predicted) * tolerance &&
             std::abs(measured) >= std::abs(predicted) / tolerance;
    case Rule::at_most:
      return measured <= predicted;
    case Rule::at_least:
      return measured >= predicted;
  }
  return false;
}

std::string Check::verdict() const {
  if (!correction.empty())
    return agrees() || std::isnan(measured) ? "the statement is not refuted" : "the statement is wrong: " + correction;
  if (!judged) return agrees() ? "as predicted" : "not as predicted";
  return agrees() ? "holds" : "fails";
}

Report::Report(const std::string& program, const std::string& about, const ArgsDefaults& defaults, int argc,
               char** argv)
    : args_(program, about, defaults),
      json_(args_.text("json", "", "file for the results as JSON")),
      text_(args_.text("text", "", "text for the trainings on text; without it one of made-up words")) {
  args_.parse(argc, argv);
}

Report::~Report() = default;

std::string Report::text() const {
  const std::string& file = text_;
  return file.empty() ? made_up_text() : read_text(find_data(file));
}

void Report::print_heading(const ClaimText& text) {
  std::cout << '\n' << text.row << "  " << text.statement << "\n    " << text.formula << "  [" << text.source << "]\n";
}

void Report::print(const Check& check) {
  std::cout << "    " << std::left << std::setw(74) << check.what << std::right << std::setw(12)
            << number_text(check.predicted, "%.6g") << std::setw(13) << number_text(check.measured, "%.6g") << "  "
            << std::left << std::setw(13) << tolerance_text(check) << ' ' << check.verdict() << std::right << std::endl;
}

void Report::finish() {
  std::size_t holding = 0, judged = 0;
  Json claims = Json::array();
  for (const auto& record : records_) {
    Json checks = Json::array(), plots = Json::array(), pictures = Json::array();
    for (const Check& check : record->checks) {
      checks.push_back(json_of(check));
      judged += check.judged;
      holding += check.judged && (check.verdict() == "holds" || check.verdict().starts_with("the statement is wrong"));
    }
    for (const Plot& plot : record->plots) plots.push_back(json_of(plot));
    for (const Picture& picture : record->pictures) pictures.push_back(json_of(picture));
    const ClaimText& text = record->text;
    claims.push_back({{"row", text.row},
                      {"statement", text.statement},
                      {"formula", text.formula},
                      {"source", text.source},
                      {"checks", checks},
                      {"remarks", record->remarks},
                      {"plots", plots},
                      {"pictures", pictures}});
  }
  std::cout << '\n' << holding << " of " << judged << " verdicts are as they should be" << std::endl;
  const std::string& file = json_;
  if (file.empty()) return;
  const Json json = {{"program", args_.program()}, {"quick", quick()}, {"seed", seed()}, {"claims", claims}};
  write_file(file, json_text(json, 1) + "\n");
}

Claim::Claim(Report& report, ClaimText text)
    : report_(report),
      record_(*report.records_.emplace_back(std::make_unique<Report::Record>(Report::Record{std::move(text)}))) {
  report.print_heading(record_.text);
}

void Claim::add(Check check) {
  report_.print(check);
  record_.checks.push_back(std::move(check));
}

void Claim::near(const std::string& what, double predicted, double measured, double tolerance) {
  add({what, Rule::near, predicted, measured, tolerance, true, ""});
}
void Claim::relative(const std::string& what, double predicted, double measured, double tolerance) {
  add({what, Rule::relative, predicted, measured, tolerance, true, ""});
}
void Claim::factor(const std::string& what, double predicted, double measured, double tolerance) {
  add({what, Rule::factor, predicted, measured, tolerance, true, ""});
}
void Claim::at_most(const std::string& what, double limit, double measured) {
  add({what, Rule::at_most, limit, measured, 0, true, ""});
}
void Claim::at_least(const std::string& what, double limit, double measured) {
  add({what, Rule::at_least, limit, measured, 0, true, ""});
}
void Claim::wrong_statement(const std::string& what, double stated, double measured, double tolerance,
                            const std::string& right) {
  add({what, Rule::relative, stated, measured, tolerance, true, right});
}
void Claim::shown(const std::string& what, double predicted, double measured, Rule rule, double tolerance) {
  add({what, rule, predicted, measured, tolerance, false, ""});
}
void Claim::plot(Plot plot) { record_.plots.push_back(std::move(plot)); }
void Claim::picture(Picture picture) { record_.pictures.push_back(std::move(picture)); }
void Claim::remark(const std::string& sentence) {
  std::cout << "    " << sentence << '\n';
  record_.remarks.push_back(sentence);
}

}  // namespace xtape::theory
