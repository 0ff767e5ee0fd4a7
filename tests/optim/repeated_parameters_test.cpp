// Functions of a list of parameters, of which some are named twice: tied weights under both of their handles.
#include "optimizers.hpp"

using namespace xtape;
using namespace xtape::test;

namespace {

using List = std::vector<Parameter>;

struct ListFunction {
  const char* name;
  std::function<double(const List&)> call;
};

std::vector<ListFunction> list_functions() {
  return {
      {"clip_grad_norm", [](const List& list) { return clip_grad_norm(list, 1); }},
      {"clip_grad_norm to 0", [](const List& list) { return clip_grad_norm(list, 0); }},
      {"clip_grad_norm without effect", [](const List& list) { return clip_grad_norm(list, 100); }},
      {"clip_grad_value", [](const List& list) { return clip_grad_value(list, 1); }},
      {"divide_grads",
       [](const List& list) {
         divide_grads(list, 2);
         return 0.0;
       }},
      {"distinct", [](const List& list) { return static_cast<double>(distinct(list).size()); }},
  };
}

struct Outcome {
  double result;
  Array p, q;
  double p_norm, p_factor;
};

/// `arrange` makes the list from two parameters; the handles it puts there are copies.
Outcome outcome(const ListFunction& f, const std::function<List(const Parameter&, const Parameter&)>& arrange) {
  Parameter p("p", row({0, 0})), q("q", row({0}));
  p.set_grad(row({3, 4}));
  q.set_grad(row({-12}));
  const double result = f.call(arrange(p, q));
  return {result, p.grad(), q.grad(), p.grad_norm(), p.clip_factor()};
}

}  // namespace

TEST_CASE("a parameter that is listed twice counts once in every function of a list") {
  using P = const Parameter&;
  for (const ListFunction& f : list_functions()) {
    const Outcome want = outcome(f, [](P p, P q) { return List{p, q}; });
    for (const auto& arrange : std::vector<std::function<List(P, P)>>{[](P p, P q) { return List{p, p, q}; },
                                                                      [](P p, P q) { return List{p, q, p, q}; },
                                                                      [](P p, P q) { return List{p, q, q, q, p}; }}) {
      INFO(std::string(f.name));
      const Outcome got = outcome(f, arrange);
      CHECK(got.result == want.result);
      check_equal(got.p, want.p);
      check_equal(got.q, want.q);
      CHECK(got.p_norm == want.p_norm);
      CHECK(got.p_factor == want.p_factor);
    }
  }
}

TEST_CASE("a tied parameter under both of its handles is clipped and divided once") {
  Parameter p("w", row({0, 0}));
  const List two = {p, p};
  p.set_grad(row({3, 4}));
  CHECK(clip_grad_norm(two, 1) == 5);
  check_near(p.grad(), row({0.6, 0.8}), {tolerance(1e-12, 1e-6), 0});
  p.set_grad(row({3, 4}));
  divide_grads(two, 2);
  check_equal(p.grad(), row({1.5, 2}));
  CHECK(clip_grad_value(two, 1) == 2.5);
  check_equal(p.grad(), row({1, 1}));
}

TEST_CASE("groups of optimizers refuse a parameter that is listed twice") {
  Parameter p("w", row({0, 0}));
  for (const NamedOptimizer& one : every_optimizer())
    check_throws<NameError>([&] { one.make({{.name = "all", .parameters = {p, p}}}); }, "twice in one group");
}

TEST_CASE("an empty handle in a list is refused before any gradient changes") {
  Parameter p("w", row({0, 0}));
  p.set_grad(row({3, 4}));
  for (const ListFunction& f : list_functions())
    check_throws<ValueError>([&] { f.call({p, Parameter()}); }, "[parameter] this handle is empty");
  check_equal(p.grad(), row({3, 4}));
}

TEST_CASE("clipping works where its factor or the joint norm is no number of the dtype") {
  const double most = kDouble ? 1.5e308 : 3e38, limit = kDouble ? 1e-10 : 1e-5;
  Parameter p("p", row({0, 0})), q("q", row({0, 0}));
  p.set_grad(row({most, -most}));
  q.set_grad(row({most, 0}));
  const double norm = clip_grad_norm({p, q}, limit);
  if (kDouble) CHECK(std::isinf(norm));
  else check_near(norm, most * std::sqrt(3.0), {1e-6, 0});
  const double each = limit / std::sqrt(3.0);
  check_near(p.grad(), row({each, -each}), {1e-6, 0});
  check_near(q.grad(), row({each, 0}), {1e-6, 0});
  p.set_grad(row({most, -most}));
  q.set_grad(row({most, 0.5}));
  clip_grad_value({p, q}, 1);
  check_equal(p.grad(), row({1, -1}));
  check_equal(q.grad(), row({1, 0.5}));
}

TEST_CASE("clipping follows the scale of gradient and limit over the whole range") {
  for (const double factor : kDouble ? std::vector<double>{1e-300, 1e-200, 1e-100, 1, 1e100, 1e200, 1e300}
                                     : std::vector<double>{1e-30, 1e-20, 1e-10, 1, 1e10, 1e20, 1e30}) {
    INFO(factor);
    Parameter p("p", row({0, 0}));
    const Array grad = row({3 * factor, -4 * factor});
    p.set_grad(grad);
    check_near(clip_grad_norm({p}, factor), 5 * factor, {1e-6, 0});
    check_near(p.grad(), row({0.6 * factor, -0.8 * factor}), {1e-6, 0});
    p.set_grad(grad);
    check_near(clip_grad_value({p}, 3.5 * factor), 5 * factor, {1e-6, 0});
    check_near(p.grad(), row({3 * factor, -3.5 * factor}), {1e-6, 0});
    check_near(p.clip_factor(), std::sqrt(9 + 3.5 * 3.5) / 5, {1e-6, 0});
  }
}
