// Faults of how the parts are connected: cut graphs, unused layers, a forgotten backward pass, and what the library
// refuses.
#include "edits.hpp"

#include <memory>
#include <utility>

namespace xtape::faults {

namespace {

void add_cuts(Faults& out) {
  plant(out, "detached", {"mlp", "deep", "bn", "lstm"}, {.causes = {"no_gradient"}}, [](Fault& f) {
    const index_t place = f.recipe.name == "deep" ? 4 : f.recipe.name == "lstm" ? 1 : 0;
    f.recipe.middle = [place](const Tensor& x, index_t at, index_t) { return at == place ? x.detach() : x; };
    if (f.recipe.name == "lstm") f.expected.layers = {"embedding", "rnn"};
    else
      for (index_t i = 0; i <= place; ++i) f.expected.layers.push_back("layers." + std::to_string(i));
    since(f, 0);
    f.shows = [layer = f.expected.layers.front()](const Outcome& faulty, const Outcome&) {
      return moved(faulty, layer) == 0;
    };
  });
  plant(out, "unused_layer", {"mlp", "bn", "gru", "lm"}, {.causes = {"no_gradient"}, .layers = {"extra"}},
        [](Fault& f) {
          f.recipe.net.unused = true;
          since(f, 0);
          f.shows = [](const Outcome& faulty, const Outcome&) { return moved(faulty, "extra") == 0; };
        });
  plant(out, "no_backward", {"mlp", "lstm", "lm", "encoder"}, {.causes = {"no_gradient"}, .harmful = {kRaiseRate}},
        [](Fault& f) {
          f.recipe.runs_backward = false;
          since(f, 0);
        });
  plant(out, "second_layer_skipped", {"mlp", "deep_relu", "bn"}, {.causes = {"no_gradient"}}, [](Fault& f) {
    f.recipe.middle = [first = std::make_shared<Tensor>()](const Tensor& x, index_t at, index_t) {
      if (at == 0) *first = x;
      return at == 1 ? std::exchange(*first, Tensor()) : x;  // the third layer reads what the first gave
    };
    f.expected.layers = {"layers.1"};
    since(f, 0);
    f.shows = [](const Outcome& faulty, const Outcome&) { return moved(faulty, "layers.1") == 0; };
  });
}

void add_refused_trainings(Faults& out) {
  plant(out, "batch_of_one_in_norm", {"bn", "bn_sgd"}, {.causes = {}, .refusal = R"(batch_norm.*more than one value)"},
        [](Fault& f) {
          f.recipe.batch = 1;
          f.shows = [](const Outcome& faulty, const Outcome&) { return !faulty.refused.empty(); };
        });
  plant(out, "negative_rate", {"mlp", "lm"}, {.causes = {}, .refusal = R"(rate)"}, [](Fault& f) {
    f.recipe.rate = -f.recipe.rate;
    f.recipe.schedule = {};
    f.shows = [](const Outcome& faulty, const Outcome&) { return !faulty.refused.empty(); };
  });
  plant(out, "heads_do_not_divide", {"lm", "encoder"}, {.causes = {}, .refusal = R"(head)"}, [](Fault& f) {
    f.recipe.net.width = 33;
    f.shows = [](const Outcome& faulty, const Outcome&) { return !faulty.refused.empty(); };
  });
}

}  // namespace

void add_wiring_kinds(Faults& out) {
  add_cuts(out);
  add_refused_trainings(out);
}

}  // namespace xtape::faults
