// Fused attention against attention composed of single ops; masks, grouped heads and block boundaries.
#include "core/evaluate.hpp"

#include <limits>

using namespace xtape;
using namespace xtape::test;

namespace {

using Inputs = std::span<const Tensor>;

index_t axis(const Tensor& x, index_t i) { return x.size(i); }

/// Repeats every key head for each query head that reads it: [B, H', S, D] -> [B, H, S, D].
Tensor repeated(const Tensor& x, index_t heads) {
  const index_t group = heads / axis(x, 1);
  const Tensor ones = Tensor::ones({axis(x, 0), axis(x, 1), group, axis(x, 2), axis(x, 3)});
  const Tensor apart = reshape(x, {axis(x, 0), axis(x, 1), 1, axis(x, 2), axis(x, 3)});
  return reshape(apart * ones, {axis(x, 0), heads, axis(x, 2), axis(x, 3)});
}

/// The masks as an additive mask [B, 1, T, S]: 0 where a key is unmasked, minus infinity where it is masked.
Tensor additive(const AttentionOptions& o, index_t batches, index_t queries, index_t keys) {
  Array out = empty_array({batches, 1, queries, keys});
  const Mask causal = causal_mask(queries, keys);
  for (index_t b = 0; b < batches; ++b)
    for (index_t t = 0; t < queries; ++t)
      for (index_t s = 0; s < keys; ++s) {
        bool hidden = o.causal && causal(t, s);
        if (o.key_padding.dimension() > 0) hidden = hidden || o.key_padding(b, s);
        if (o.mask.dimension() == 2) hidden = hidden || o.mask(t, s);
        if (o.mask.dimension() == 3) hidden = hidden || o.mask(b, t, s);
        out(b, 0, t, s) = static_cast<real>(hidden ? -kInf : 0);
      }
  return out;
}

Tensor composed(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& o) {
  const double scale = o.scale > 0 ? o.scale : 1 / std::sqrt(static_cast<double>(axis(q, 3)));
  const Tensor scores = matmul(q, repeated(k, axis(q, 1)), {.transpose_b = true}) * static_cast<real>(scale);
  const Tensor hidden = additive(o, q.shape()[0], q.shape()[2], k.shape()[2]);
  return matmul(softmax(scores + hidden), repeated(v, axis(q, 1)));
}

void check_same(const Evaluated& got, const Evaluated& want, const Limits& limits) {
  check_near(got.value, want.value, limits);
  for (std::size_t i = 0; i < want.grads.size(); ++i) {
    INFO("input ", i);
    check_near(got.grads[i], want.grads[i], limits);
  }
}

struct Sizes {
  index_t batches, heads, key_heads, queries, keys, width, value_width;
};

Mask random_mask(const Shape& shape, std::uint64_t seed) {
  const Array numbers = sample(shape, seed);
  Mask out = empty_array<Mask>(shape);
  for (std::size_t i = 0; i < out.size(); ++i) out.data()[i] = numbers.data()[i] > real(0.4);
  return out;
}

const Limits kClose{tolerance(1e-11, 2e-5), tolerance(1e-13, 5e-6)};

}  // namespace

TEST_CASE("fused attention equals the composition of matmul, mask, softmax and matmul") {
  const Sizes all[] = {{2, 4, 2, 5, 7, 3, 4},    {1, 1, 1, 1, 1, 1, 1},     {2, 3, 3, 6, 6, 8, 8},
                       {1, 2, 1, 70, 70, 8, 16}, {1, 2, 2, 64, 64, 16, 16}, {1, 1, 1, 65, 200, 4, 5},
                       {2, 4, 1, 9, 33, 17, 6},  {1, 2, 2, 130, 20, 8, 8}};
  for (const Sizes& z : all) {
    const Array q = sample({z.batches, z.heads, z.queries, z.width}, 1, -2, 2);
    const Array k = sample({z.batches, z.key_heads, z.keys, z.width}, 2, -2, 2);
    const Array v = sample({z.batches, z.key_heads, z.keys, z.value_width}, 3);
    const Array up = sample({z.batches, z.heads, z.queries, z.value_width}, 4);
    const Mask padding = random_mask({z.batches, z.keys}, 5);
    const AttentionOptions variants[] = {
        {},
        {.causal = true},
        {.key_padding = padding},
        {.mask = random_mask({z.queries, z.keys}, 6)},
        {.causal = true, .key_padding = padding, .mask = random_mask({z.batches, z.queries, z.keys}, 7), .scale = 0.3},
    };
    for (const AttentionOptions& o : variants) {
      INFO("B ", z.batches, " H ", z.heads, "/", z.key_heads, " T ", z.queries, " S ", z.keys, " D ", z.width, " V ",
           z.value_width, " variant ", &o - variants);
      check_same(evaluate([&](Inputs x) { return scaled_dot_product_attention(x[0], x[1], x[2], o); }, {q, k, v}, up),
                 evaluate([&](Inputs x) { return composed(x[0], x[1], x[2], o); }, {q, k, v}, up), kClose);
    }
  }
}

TEST_CASE("one tensor may be query, key and value, over many blocks of queries") {
  for (const index_t length : {3, 64, 150}) {
    for (const bool causal : {false, true}) {
      INFO(length, causal ? " causal" : "");
      const Array x = sample({2, 2, length, 4}, 1);
      const Array up = sample({2, 2, length, 4}, 2);
      const AttentionOptions o{.causal = causal};
      check_same(evaluate([&](Inputs a) { return scaled_dot_product_attention(a[0], a[0], a[0], o); }, {x}, up),
                 evaluate([&](Inputs a) { return composed(a[0], a[0], a[0], o); }, {x}, up), kClose);
      const Array other = sample({2, 2, length, 4}, 3);
      check_same(evaluate([&](Inputs a) { return scaled_dot_product_attention(a[0], a[1], a[0], o); }, {x, other}, up),
                 evaluate([&](Inputs a) { return composed(a[0], a[1], a[0], o); }, {x, other}, up), kClose);
      check_same(evaluate([&](Inputs a) { return scaled_dot_product_attention(a[1], a[0], a[0], o); }, {x, other}, up),
                 evaluate([&](Inputs a) { return composed(a[1], a[0], a[0], o); }, {x, other}, up), kClose);
    }
  }
}

TEST_CASE("packed self-attention equals attention over separate heads") {
  for (const index_t length : {1, 5, 70}) {
    constexpr index_t heads = 3;
    constexpr index_t width = 4, batches = 2;
    const Array qkv = sample({batches, length, 3 * heads * width}, 1);
    const Array up = sample({batches, length, heads * width}, 2);
    const AttentionOptions variants[] = {
        {}, {.causal = true}, {.key_padding = random_mask({batches, length}, 3)}, {.causal = true, .scale = 0.9}};
    for (const AttentionOptions& o : variants) {
      INFO(length, " variant ", &o - variants);
      const auto apart = [&](Inputs x) {
        const auto part = [&](index_t which) {
          const Tensor columns = slice(x[0], 2, which * heads * 4, (which + 1) * heads * 4);
          return transpose(reshape(columns, {batches, -1, heads, 4}), 1, 2);
        };
        const Tensor y = scaled_dot_product_attention(part(0), part(1), part(2), o);
        return reshape(transpose(y, 1, 2), {batches, -1, heads * 4});
      };
      check_same(evaluate([&](Inputs x) { return self_attention(x[0], heads, o); }, {qkv}, up),
                 evaluate(apart, {qkv}, up), kClose);
    }
  }
}

TEST_CASE("a query with all keys masked gives zeros and zero gradients") {
  const Array x = array({1, 1, 2, 1}, {1, 2}), wq = array({1}, {1});
  const Array k = array({1, 1, 2, 1}, {0.5, -0.5}), v = array({1, 1, 2, 1}, {3, 7});
  const Mask hidden = {{false, false}, {true, true}};
  const AttentionOptions fused{.mask = hidden, .scale = 1};
  const auto of_mask = [&](Inputs a) { return scaled_dot_product_attention(a[0] * a[1], a[2], a[3], fused); };
  const auto of_additive = [&](Inputs a) { return composed(a[0] * a[1], a[2], a[3], fused); };
  for (const TensorFunction& f : {TensorFunction(of_mask), TensorFunction(of_additive)}) {
    const Evaluated got = evaluate(f, {x, wq, k, v});
    check_near(got.value, array({1, 1, 2, 1}, {4.0757656855, 0}));
    check_near(got.grads[0], array({1, 1, 2, 1}, {-0.786447733, 0}));
    check_near(got.grads[1], array({1}, {-0.786447733}));
    check_near(got.grads[2], array({1, 1, 2, 1}, {-0.786447733, 0.786447733}));
    check_near(got.grads[3], array({1, 1, 2, 1}, {0.7310585786, 0.2689414214}));
    const Evaluated first_row = evaluate(f, {x, wq, k, v}, array({1, 1, 2, 1}, {1, 0}));
    check_same(first_row, got, {0, 0});
  }
  const AttentionOptions dropped{.mask = hidden, .scale = 1, .dropout = 0.5, .dropout_key = {1, 2, 3}};
  const Evaluated got =
      evaluate([&](Inputs a) { return scaled_dot_product_attention(a[0] * a[1], a[2], a[3], dropped); }, {x, wq, k, v});
  CHECK(got.value(0, 0, 1, 0) == 0);
  CHECK(got.grads[0](0, 0, 1, 0) == 0);
  for (const Array& grad : got.grads)
    for (const real value : grad) CHECK(std::isfinite(static_cast<double>(value)));
}

TEST_CASE("causal masks are aligned at the last key") {
  const Array q = array({1, 1, 2, 1}, {1, -1}), k = array({1, 1, 5, 1}, {0.1, 0.2, 0.3, 0.4, 0.5});
  const Array v = array({1, 1, 5, 1}, {1, 2, 3, 4, 5});
  const Tensor y = scaled_dot_product_attention(Tensor(q), Tensor(k), Tensor(v), {.causal = true, .scale = 1});
  check_near(y.value(), array({1, 1, 2, 1}, {2.6246471821, 2.8008615321}));
  const Mask mask = causal_mask(2, 5);
  CHECK(mask == Mask{{false, false, false, false, true}, {false, false, false, false, false}});
}

TEST_CASE("the causal mask and key padding are combined by or") {
  const Array q = array({1, 1, 3, 1}, {1, 1, 1}), k = array({1, 1, 3, 1}, {9, 0.2, 0.6});
  const Array v = array({1, 1, 3, 1}, {100, 1, 2});
  const AttentionOptions o{.causal = true, .key_padding = {{true, false, false}}, .scale = 1};
  const Evaluated got =
      evaluate([&](Inputs a) { return scaled_dot_product_attention(a[0], a[1], a[2], o); }, {q, k, v});
  check_near(got.value, array({1, 1, 3, 1}, {0, 1, 1.5986876601}));
  check_near(got.grads[1], array({1, 1, 3, 1}, {0, -0.2402607457, 0.2402607457}));
  check_near(got.grads[2], array({1, 1, 3, 1}, {0, 1.4013123399, 0.5986876601}));
  check_near(got.grads[0], array({1, 1, 3, 1}, {0, 0, 0.0961042983}), {tolerance(1e-9, 1e-5), tolerance(1e-10, 1e-7)});
  CHECK(got.grads[1](0, 0, 0, 0) == 0);
  CHECK(got.grads[2](0, 0, 0, 0) == 0);
}

TEST_CASE("with more causal queries than keys, the first queries attend to nothing") {
  const Array q = sample({1, 1, 5, 2}, 1), kv = sample({1, 1, 2, 2}, 2);
  const Evaluated got =
      evaluate([](Inputs a) { return scaled_dot_product_attention(a[0], a[1], a[1], {.causal = true}); }, {q, kv});
  for (std::size_t t = 0; t < 3; ++t)
    for (std::size_t c = 0; c < 2; ++c) {
      CHECK(got.value(0, 0, t, c) == 0);
      CHECK(got.grads[0](0, 0, t, c) == 0);
    }
  for (std::size_t c = 0; c < 2; ++c) check_near(got.value(0, 0, 3, c), kv(0, 0, 0, c));
}

TEST_CASE("gradients of shared key heads are summed over their query heads") {
  const Array q = array({1, 2, 2, 1}, {1, 2, -1, 0.5}), k = array({1, 1, 2, 1}, {0.3, -0.2});
  const Array v = array({1, 1, 2, 1}, {2, -1});
  const AttentionOptions o{.scale = 1};
  const Evaluated got = evaluate([&](Inputs a) { return scaled_dot_product_attention(a[0], a[1], a[2], o); }, {q, k, v},
                                 array({1, 2, 2, 1}, {1, 2, 3, 4}));
  check_near(got.value, array({1, 2, 2, 1}, {0.8673779936, 1.1931757359, 0.1326220064, 0.6865295027}));
  check_near(got.grads[0], array({1, 2, 2, 1}, {0.3525055683, 0.5898357997, 1.0575167049, 1.4768044964}));
  check_near(got.grads[1], array({1, 1, 2, 1}, {2.4261254221, -2.4261254221}));
  check_near(got.grads[2], array({1, 1, 2, 1}, {5.4659044984, 4.5340955016}));
}

TEST_CASE("consecutive query heads share a key head, as with copied keys") {
  const Array q = sample({2, 4, 3, 2}, 1), k = sample({2, 2, 5, 2}, 2), v = sample({2, 2, 5, 3}, 3);
  const Array up = sample({2, 4, 3, 3}, 4);
  const Array k_copied = repeated(k, 4).value(), v_copied = repeated(v, 4).value();
  for (std::size_t h = 0; h < 4; ++h) CHECK(k_copied(0, h, 0, 0) == k(0, h / 2, 0, 0));  // 0, 0, 1, 1
  const auto f = [](Inputs a) { return scaled_dot_product_attention(a[0], a[1], a[2]); };
  const Evaluated grouped = evaluate(f, {q, k, v}, up), copied = evaluate(f, {q, k_copied, v_copied}, up);
  const auto summed = [](const Array& grad) {
    const Tensor x = grad;
    return sum(reshape(x, {2, 2, 2, axis(x, 2), axis(x, 3)}), {2}).value();
  };
  check_near(grouped.value, copied.value, kClose);
  check_near(grouped.grads[0], copied.grads[0], kClose);
  check_near(grouped.grads[1], summed(copied.grads[1]), kClose);
  check_near(grouped.grads[2], summed(copied.grads[2]), kClose);
}

TEST_CASE("masked keys and values have exactly no influence, even NaN and infinity") {
  for (const index_t length : {4, 80}) {
    for (const double poison : {kNaN, kInf, 1e30, 0.5}) {
      INFO(length, " ", poison);
      const std::size_t bad = length - 2;
      const Array q = sample({1, 2, length, 3}, 1), clean_k = sample({1, 2, length, 3}, 2);
      const Array clean_v = sample({1, 2, length, 3}, 3), up = sample({1, 2, length, 3}, 4);
      Array k = clean_k, v = clean_v;
      for (std::size_t h = 0; h < 2; ++h)
        for (std::size_t c = 0; c < 3; ++c) k(0, h, bad, c) = v(0, h, bad, c) = static_cast<real>(poison);
      Mask padding = empty_array<Mask>({1, length});
      padding.fill(false);
      padding(0, bad) = true;
      const AttentionOptions o{.key_padding = padding};
      const auto f = [&](Inputs a) { return scaled_dot_product_attention(a[0], a[1], a[2], o); };
      const Evaluated got = evaluate(f, {q, k, v}, up), want = evaluate(f, {q, clean_k, clean_v}, up);
      check_same(got, want, {tolerance(1e-13, 1e-5), tolerance(1e-14, 1e-6)});
      for (std::size_t h = 0; h < 2; ++h)
        for (std::size_t c = 0; c < 3; ++c) {
          CHECK(got.grads[1](0, h, bad, c) == 0);
          CHECK(got.grads[2](0, h, bad, c) == 0);
        }
    }
  }
}

TEST_CASE("a finite change of masked keys and values changes no bit") {
  const Array q = sample({2, 2, 70, 8}, 1), up = sample({2, 2, 70, 8}, 2);
  const IndexArray lengths = {50, 70};
  const AttentionOptions o{.causal = true, .key_padding = padding_mask(lengths, 70)};
  const auto run = [&](double filling) {
    Array k = sample({2, 2, 70, 8}, 3), v = sample({2, 2, 70, 8}, 4);
    for (std::size_t h = 0; h < 2; ++h)
      for (std::size_t s = 50; s < 70; ++s)
        for (std::size_t c = 0; c < 8; ++c) k(0, h, s, c) = v(0, h, s, c) = static_cast<real>(filling);
    return evaluate([&](Inputs a) { return scaled_dot_product_attention(a[0], a[1], a[2], o); }, {q, k, v}, up);
  };
  check_same(run(1e6), run(-3), {0, 0});
}

TEST_CASE("a query with all keys masked may hold NaN") {
  Array q = sample({1, 1, 3, 2}, 1);
  const Array kv = sample({1, 1, 4, 2}, 2);
  Mask mask = empty_array<Mask>({3, 4});
  mask.fill(false);
  for (std::size_t s = 0; s < 4; ++s) mask(1, s) = true;
  const AttentionOptions o{.mask = mask};
  const auto f = [&](Inputs a) { return scaled_dot_product_attention(a[0], a[1], a[1], o); };
  const Evaluated want = evaluate(f, {q, kv});
  for (std::size_t c = 0; c < 2; ++c) q(0, 0, 1, c) = static_cast<real>(kNaN);
  check_same(evaluate(f, {q, kv}), want, {tolerance(1e-13, 1e-5), tolerance(1e-14, 1e-6)});
  const Evaluated upstream_nan = evaluate(f, {q, kv}, array({1, 1, 3, 2}, {1, 1, kNaN, kNaN, 1, 1}));
  check_same(upstream_nan, want, {tolerance(1e-13, 1e-5), tolerance(1e-14, 1e-6)});
}

TEST_CASE("a sequence of length one attends to its own value") {
  const Tensor q = sample({2, 3, 1, 4}, 1), k = sample({2, 3, 1, 4}, 2), v = sample({2, 3, 1, 4}, 3);
  check_near(scaled_dot_product_attention(q, k, v).value(), v.value());
  check_near(scaled_dot_product_attention(q, k, v, {.causal = true}).value(), v.value());
  const Tensor packed = sample({2, 1, 12}, 4);
  check_near(self_attention(packed, 2, {.causal = true}).value(), slice(packed, 2, 8).value());
}

TEST_CASE("attention with no batch, no queries or no keys") {
  const auto shape_of = [](const Shape& q, const Shape& kv) {
    const Evaluated got = evaluate([](Inputs a) { return scaled_dot_product_attention(a[0], a[1], a[1]); },
                                   {Tensor::zeros(q).value(), Tensor::zeros(kv).value()});
    for (const real value : got.value) CHECK(value == 0);
    for (const Array& grad : got.grads)
      for (const real value : grad) CHECK(value == 0);
    return shape_text(got.value.shape());
  };
  CHECK(shape_of({0, 2, 3, 4}, {0, 2, 5, 4}) == "(0,2,3,4)");
  CHECK(shape_of({1, 2, 0, 4}, {1, 2, 5, 4}) == "(1,2,0,4)");
  CHECK(shape_of({1, 2, 3, 4}, {1, 2, 0, 4}) == "(1,2,3,4)");
}

TEST_CASE("attention with dropout") {
  const Tensor q = sample({1, 2, 70, 4}, 1), k = sample({1, 2, 70, 4}, 2);
  const Tensor v = Tensor::ones({1, 2, 70, 4});
  const auto run = [&](double p, const RandomKey& key) {
    return scaled_dot_product_attention(q, k, v, {.dropout = p, .dropout_key = key}).value();
  };
  check_equal(run(0.5, {1, 2, 3}), run(0.5, {1, 2, 3}));
  CHECK_FALSE(run(0.5, {1, 2, 3}) == run(0.5, {1, 2, 4}));
  check_equal(run(1, {1, 2, 3}), Tensor::zeros({1, 2, 70, 4}).value());
  check_equal(run(0, {1, 2, 3}), scaled_dot_product_attention(q, k, v).value());
  check_near(static_cast<double>(mean(Tensor(run(0.3, {5, 6, 7}))).item()), 1,
             {0, 0.02});  // the weights sum to 1 on average
}

TEST_CASE("attention refuses operands and options that do not match") {
  const auto zeros = [](const Shape& shape) { return Tensor::zeros(shape); };
  const Tensor q = zeros({2, 4, 3, 2}), k = zeros({2, 2, 5, 2}), v = zeros({2, 2, 5, 3});
  const auto refused = [&](const Tensor& a, const Tensor& b, const Tensor& c, const std::string& got) {
    check_throws<ShapeError>([&] { (void)scaled_dot_product_attention(a, b, c); },
                             "[scaled_dot_product_attention] expected q [B, H, T, D], k [B, H', S, D] and v "
                             "[B, H', S, V] with H a multiple of H', got " +
                                 got);
  };
  refused(zeros({4, 3, 2}), k, v, "(4,3,2), (2,2,5,2) and (2,2,5,3)");
  refused(q, zeros({1, 2, 5, 2}), v, "(2,4,3,2), (1,2,5,2) and (2,2,5,3)");
  refused(q, zeros({2, 2, 5, 3}), v, "(2,4,3,2), (2,2,5,3) and (2,2,5,3)");
  refused(q, k, zeros({2, 2, 4, 3}), "(2,4,3,2), (2,2,5,2) and (2,2,4,3)");
  refused(q, zeros({2, 3, 5, 2}), zeros({2, 3, 5, 3}), "(2,4,3,2), (2,3,5,2) and (2,3,5,3)");
  refused(q, zeros({2, 0, 5, 2}), zeros({2, 0, 5, 3}), "(2,4,3,2), (2,0,5,2) and (2,0,5,3)");
  const auto with = [&](const AttentionOptions& o) {
    return [&, o] { (void)scaled_dot_product_attention(q, k, v, o); };
  };
  check_throws<ShapeError>(with({.key_padding = empty_array<Mask>({2, 4})}),
                           "[scaled_dot_product_attention] expected key_padding of shape (2,5), got (2,4)");
  check_throws<ShapeError>(with({.mask = empty_array<Mask>({5, 3})}),
                           "[scaled_dot_product_attention] expected a mask of shape (3,5) or (2,3,5), got (5,3)");
  check_throws<ShapeError>(with({.mask = empty_array<Mask>({1, 3, 5})}), "of shape (3,5) or (2,3,5), got (1,3,5)");
  check_throws<ValueError>(with({.scale = -1}),
                           "expected a scale that is positive and finite, or 0 for 1/sqrt(D), got -1");
  check_throws<ValueError>(with({.scale = kNaN}),
                           "expected a scale that is positive and finite, or 0 for 1/sqrt(D), got NaN");
  check_throws<ValueError>(with({.scale = kInf}),
                           "expected a scale that is positive and finite, or 0 for 1/sqrt(D), got Inf");
  check_throws<ValueError>(with({.dropout = 1.5}), "expected a dropout probability from 0 to 1, got");
  check_throws<ValueError>([] { (void)self_attention(Tensor::zeros({1, 2, 6}), 0); },
                           "[self_attention] expected at least 1 head, got 0");
  for (const index_t heads : {index_t{4}, index_t{1} << 62})
    check_throws<ShapeError>([&] { (void)self_attention(Tensor::zeros({1, 2, 6}), heads); },
                             "[self_attention] expected qkv [B, T, 3C] with C a multiple of the " +
                                 std::to_string(heads) + " heads, got (1,2,6)");
  check_throws<ShapeError>([] { (void)self_attention(Tensor::zeros({2, 7}), 1); },
                           "[self_attention] expected qkv [B, T, 3C] with C a multiple of the 1 heads, got (2,7)");
  check_throws<ShapeError>([] { (void)self_attention(Tensor::zeros({1, 2, 7}), 1); },
                           "a multiple of the 1 heads, got (1,2,7)");
  const Array keys = empty_array({2, 2, 5, cached_row_width(2)});
  const IndexArray lengths = {5, 5};
  const CachedKeys cached = {keys, keys, lengths, 2, 2};
  check_throws<ShapeError>([&] { cached_attention(zeros({2, 4, 1, 3}), cached, {}, 0); },
                           "[cached_attention] expected q [B, H, T, D], k [B, H', S, D] and v [B, H', S, V] with H a "
                           "multiple of H', got (2,4,1,3), (2,2,5,2) and (2,2,5,2)");
  check_throws<ShapeError>([&] { cached_attention(zeros({2, 3, 1, 2}), cached, {}, 0); }, "got (2,3,1,2)");
}
