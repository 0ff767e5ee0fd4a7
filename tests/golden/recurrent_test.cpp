// Recurrent ops, over sequences and over one step, against golden values.
#include "tables.hpp"

#include <xtape/core/ops/recurrent.hpp>

namespace xtape::test {

namespace {

RecurrentWeights weights(Golden& g) { return {g.in("weight_ih"), g.in("weight_hh"), g.in("bias_ih"), g.in("bias_hh")}; }

/// The variants of each kind of op, named by the words in a case's title.
struct Variant {
  std::string suffix;
  bool lengths = false;
  bool reverse = false;
  bool states = true;

  SequenceOptions options(const Golden& g) const {
    return {.lengths = lengths ? g.integers("lengths") : IndexArray(), .reverse = reverse};
  }
  Tensor state(Golden& g, const char* name) const { return states ? g.in(name) : Tensor(); }
};

const std::vector<Variant> kVariants = {
    {""},
    {", lengths", true},
    {", lengths, reverse", true, true},
    {", no initial state", false, false, false},
};

Outputs both(const RecurrentSequence& s) { return Outputs({s.y, s.h}); }

const std::pair<const char*, Nonlinearity> kNonlinearities[] = {
    {"tanh", Nonlinearity::tanh}, {"relu", Nonlinearity::relu}, {"sigmoid", Nonlinearity::sigmoid}};
const std::pair<const char*, NonlinearityPlace> kPlaces[] = {{"inside", NonlinearityPlace::inside},
                                                             {"outside", NonlinearityPlace::outside}};
const std::pair<const char*, GruReset> kResets[] = {{"after", GruReset::after}, {"before", GruReset::before}};

GoldenTable rnns() {
  GoldenTable table;
  for (const auto& [function, nonlinearity] : kNonlinearities) {
    for (const auto& [where, place] : kPlaces) {
      const RnnForm form = {nonlinearity, place};
      const std::string title = std::string(function) + " " + where;
      table.push_back(
          {"rnn_cell/" + title, [form](Golden& g) { return rnn_cell(g.in("x"), g.in("h"), weights(g), form); }});
      for (const Variant& v : kVariants)
        if (v.suffix.empty() || title == "tanh inside")
          table.push_back({"rnn/" + title + v.suffix, [form, v](Golden& g) {
                             return both(rnn(g.in("x"), v.state(g, "h0"), weights(g), form, v.options(g)));
                           }});
    }
  }
  return table;
}

GoldenTable lstms() {
  GoldenTable table = {{"lstm_cell/plain", [](Golden& g) {
                          const LstmStep next = lstm_cell(g.in("x"), g.in("h"), g.in("c"), weights(g));
                          return Outputs({next.h, next.c});
                        }}};
  for (const Variant& v : kVariants)
    table.push_back({"lstm/plain" + v.suffix, [v](Golden& g) {
                       const RecurrentSequence s =
                           lstm(g.in("x"), v.state(g, "h0"), v.state(g, "c0"), weights(g), v.options(g));
                       return Outputs({s.y, s.h, s.c});
                     }});
  return table;
}

GoldenTable grus() {
  GoldenTable table;
  for (const auto& [where, reset] : kResets) {
    table.push_back({std::string("gru_cell/reset ") + where,
                     [reset = reset](Golden& g) { return gru_cell(g.in("x"), g.in("h"), weights(g), reset); }});
    for (const Variant& v : kVariants)
      table.push_back({std::string("gru/reset ") + where + v.suffix, [reset = reset, v](Golden& g) {
                         return both(gru(g.in("x"), v.state(g, "h0"), weights(g), reset, v.options(g)));
                       }});
  }
  return table;
}

}  // namespace

GoldenTable recurrent_golden_cases() { return joined({rnns(), lstms(), grus()}); }

TEST_CASE("recurrent ops agree with golden values") { check_golden(recurrent_golden_cases()); }

}  // namespace xtape::test
