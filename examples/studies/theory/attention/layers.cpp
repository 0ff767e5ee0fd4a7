// Widths of heads, masks and positions.
#include "groups.hpp"

namespace xtape::theory {

namespace {

/// A11. Values of width 2 d_model: heads of d_v = 2 d_model/h, and W_o from 2 d_model to d_model.
void wide_values(Report& report) {
  Claim claim(report, {"A11", "A wider value projection changes W_o and how heads are split and joined.",
                       "d_v = 2 d_model / h; W_o [d_model, 2 d_model]", "Vaswani et al. 2017, section 3.2.2"});
  const index_t width = 8, heads = 2, n = 5;
  ParamStore store(81);
  const MultiHeadAttention layer(
      store.root(), {.width = width, .heads = heads, .attention = {.value_width = 2 * width / heads}, .bias = false});
  claim.equal("columns of W_o", 2 * width, static_cast<double>(layer.out_proj.weight.shape()[1]));
  claim.equal("rows of W_q, W_k and W_v together", 4 * width, static_cast<double>(layer.in_proj_weight.shape()[0]));
  const Tensor x = sample({1, n, width}, 82);
  const Tensor projected = linear(x, layer.in_proj_weight);
  const auto split_as = [&](index_t value_heads, index_t value_width) {
    const Tensor q = split_heads(projected, 0, heads, width / heads),
                 k = split_heads(projected, width, heads, width / heads);
    const Tensor v = split_heads(projected, 2 * width, value_heads, value_width);
    return linear(join_heads(scaled_dot_product_attention(q, k, v)), layer.out_proj.weight);
  };
  claim.near("by hand with d_v = 2 d_model/h: largest difference", 0,
             largest_difference(split_as(heads, 2 * width / heads).value(), layer(x).value()), 1e-13);
  claim.wrong_statement(
      "\"only W_o changes\" (heads stay of width d_model/h): heads of values", heads,
      static_cast<double>(projected.size(-1) - 2 * static_cast<index_t>(width)) / static_cast<double>(width / heads), 0,
      "then there are 2 h heads of values for h of queries; d_v = 2 d_model/h");
}

/// The number of elements, in the first `positions` positions of both [1, T, C], that differ in any bit.
double changed_elements(const Array& a, const Array& b, std::size_t positions) {
  double out = 0;
  for (std::size_t t = 0; t < positions; ++t)
    for (std::size_t c = 0; c < a.shape(2); ++c) out += a(0, t, c) != b(0, t, c);
  return out;
}

IndexArray row_of(std::vector<index_t> ids) {
  IndexArray out = empty_array<IndexArray>({1, std::ssize(ids)});
  std::copy(ids.begin(), ids.end(), out.begin());
  return out;
}

/// A12. Hidden positions have no influence: equal bits at fixed shapes.
void masks(Report& report) {
  Claim claim(report, {"A12", "Each architecture hides what it must: padding, the future, or both in their places.",
                       "encoder: key padding; decoder: causal; encoder-decoder: padding twice, causal once",
                       "Vaswani et al. 2017, section 3.2.3"});
  ParamStore store(83);
  const TransformerClassifier encoder(store.root() / "encoder",
                                      {.vocab = 9, .classes = 3, .context = 8, .width = 16, .heads = 2});
  const Mask padding = padding_mask(IndexArray{5}, 8);
  const IndexArray one = row_of({1, 2, 3, 4, 5, 0, 0, 0}), other = row_of({1, 2, 3, 4, 5, 6, 7, 8});
  claim.equal("classifier: logits changed by other padding", 0,
              nonzeros((encoder(one, padding) - encoder(other, padding)).value()));
  claim.at_least("without its mask: logits changed", 1, nonzeros((encoder(one) - encoder(other)).value()));
  const TransformerLM decoder(store.root() / "decoder",
                              {.vocab = 9, .context = 8, .width = 16, .heads = 2, .layers = 2});
  claim.equal("language model: earlier logits changed by future tokens", 0,
              changed_elements(decoder(one).value(), decoder(other).value(), 5));
  const Seq2SeqTransformer both(store.root() / "both",
                                {.source_vocab = 9, .target_vocab = 9, .context = 8, .width = 16, .heads = 2});
  const IndexArray target = row_of({1, 2, 3, 4, 5, 6, 7, 8});
  claim.equal("encoder-decoder: logits changed by other padding of the source", 0,
              changed_elements(both(one, padding, target).value(), both(other, padding, target).value(), 8));
  claim.equal("encoder-decoder: earlier logits changed by future targets", 0,
              changed_elements(both(one, padding, one).value(), both(one, padding, target).value(), 5));
  const MultiHeadAttention layer(store.root() / "layer", {.width = 4, .heads = 2});
  const Array x = sample({1, 6, 4}, 84);
  const Mask hidden = padding_mask(IndexArray{4}, 6);
  const Array j = jacobian([&](const Tensor& in) { return slice(layer(in, {.key_padding = hidden}), 1, 0, 4); }, x);
  double through_padding = 0;
  for (std::size_t o = 0; o < j.shape(0); ++o)
    for (std::size_t i = 16; i < 24; ++i) through_padding += j(o, i) != 0;
  claim.equal("one layer: nonzero gradients of padded positions", 0, through_padding);
}

/// Rows of x in another order.
Array rows_in(const Array& x, const std::vector<std::size_t>& order) {
  Array out = x;
  for (std::size_t i = 0; i < order.size(); ++i)
    for (std::size_t c = 0; c < x.shape(2); ++c) out(0, i, c) = x(0, order[i], c);
  return out;
}

/// A14. PE(pos, 2i) = sin(pos/10000^(2i/d)), PE(pos, 2i+1) = cos(pos/10000^(2i/d)).
void positions(Report& report) {
  Claim claim(report, {"A14", "Without positions unmasked self-attention does not know the order: it is equivariant.",
                       "f(P x) = P f(x); PE(p, 2i) = sin(p/10000^(2i/d)), PE(p, 2i+1) = cos of the same",
                       "Vaswani et al. 2017, section 3.5"});
  const Array table = sinusoidal_positions(40, 12);
  double worst = 0;
  for (std::size_t p = 0; p < 40; ++p)
    for (std::size_t c = 0; c < 12; ++c) {
      const double angle = static_cast<double>(p) / std::pow(10000, static_cast<double>(c / 2 * 2) / 12);
      worst = std::max(worst, std::abs(table(p, c) - (c % 2 ? std::cos(angle) : std::sin(angle))));
    }
  claim.near("the table and its formula, largest difference", 0, worst, 1e-12);
  ParamStore store(85);
  const MultiHeadAttention layer(store.root() / "attn", {.width = 8, .heads = 2});
  const Array x = sample({1, 6, 8}, 86);
  const std::vector<std::size_t> order = {3, 1, 5, 0, 4, 2};
  const Array straight = layer(x).value(), permuted = layer(rows_in(x, order)).value();
  claim.near("f(P x) - P f(x), largest", 0, largest_difference(permuted, rows_in(straight, order)), 1e-13);
  claim.wrong_statement("\"permutation-invariant\": f(P x) - f(x), largest", 0, largest_difference(permuted, straight),
                        1e-9, "equivariant; only pooling makes it invariant");
  const AttentionMasks causal{.causal = true};
  claim.at_least(
      "causal attention is not equivariant: f(P x) - P f(x)", 1e-3,
      largest_difference(layer(rows_in(x, order), causal).value(), rows_in(layer(x, causal).value(), order)));
  const Seq2SeqTransformer model(store.root() / "both",
                                 {.source_vocab = 9, .target_vocab = 9, .context = 8, .width = 16, .heads = 2});
  const IndexArray source = row_of({1, 2, 3, 4});
  const Array memory = model.encode(source, {}).value();
  const auto gradient_from = [&](const IndexArray& target) {
    Tape tape;
    tape.backward(cross_entropy(model(source, {}, target), target));
    Array grad = store.parameter("both.encoder.layers.0.linear1.weight").grad();
    store.zero_grad();
    return grad;
  };
  const Array first = gradient_from(row_of({1, 2, 3})), second = gradient_from(row_of({7, 8, 5}));
  claim.equal("encoder activations changed by what the decoder reads", 0,
              nonzeros((model.encode(source, {}) - Tensor(memory)).value()));
  claim.at_least("but the encoder's gradients depend on it: largest difference", 1e-6,
                 largest_difference(first, second));
}

}  // namespace

void layers(Report& report) {
  wide_values(report);
  masks(report);
  positions(report);
}

}  // namespace xtape::theory
