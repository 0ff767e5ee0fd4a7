#include <xtape/core/error.hpp>
#include <xtape/core/kernels/reduce.hpp>
#include <xtape/core/ops/dropout.hpp>
#include <xtape/core/ops/mask.hpp>
#include <xtape/core/ops/rotary.hpp>
#include <xtape/core/ops/shape.hpp>
#include <xtape/nn/attention_kinds.hpp>
#include <xtape/nn/init.hpp>
#include <xtape/nn/multi_head_attention.hpp>
#include <xtape/nn/random_features.hpp>

namespace xtape::inline XTAPE_DTYPE {

namespace {

bool has_random_features(AttentionKind kind) { return kind == AttentionKind::rff || kind == AttentionKind::prf; }

/// The configuration with every 0 replaced by its default. Throws ValueError.
AttentionConfig completed(const Scope& scope, const MultiHeadAttentionOptions& o) {
  const auto check = [&](bool fits, const std::string& expected, auto... got) {
    if (!fits) throw ValueError("attention " + scope.name(), expected, got...);
  };
  AttentionConfig f = o.attention;
  check(o.width >= 1 && o.heads >= 1 && (f.head_width != 0 || o.width % o.heads == 0),
        "heads that divide the width " + std::to_string(o.width), o.heads);
  if (f.key_heads == 0) f.key_heads = o.heads;
  check(f.key_heads >= 1 && o.heads % f.key_heads == 0,
        "key heads that divide the " + std::to_string(o.heads) + " heads", f.key_heads);
  if (f.head_width == 0) f.head_width = o.width / o.heads;
  if (f.value_width == 0) f.value_width = f.head_width;
  check(f.head_width >= 1 && f.value_width >= 1, "widths of a head of at least 1", f.head_width, f.value_width);
  check(f.scale >= 0, "a scale that is positive, or 0 for 1/sqrt(D)", f.scale);
  if (f.features == 0) f.features = 2 * f.head_width;
  check(f.features >= 1, "at least 1 random feature", f.features);
  check(f.kind != AttentionKind::custom || f.feature_map, "a feature_map for the custom kind", "none");
  check(f.positions != AttentionPositions::rotary || f.head_width % 2 == 0,
        "an even width of a head for rotary positions", f.head_width);
  check(
      f.positions != AttentionPositions::alibi || f.kind == AttentionKind::softmax || f.kind == AttentionKind::additive,
      "softmax or additive attention for ALiBi", "another kind");
  check_probability("attention", o.dropout);
  return f;
}

index_t projected_rows(const AttentionConfig& f, index_t heads) {
  return heads * f.head_width + f.key_heads * (f.head_width + f.value_width);
}

LinearOptions out_options(const MultiHeadAttentionOptions& o) {
  LinearOptions out = o.out_proj;
  out.bias = o.bias;
  if (!out.bias_init) out.bias_init = init::zeros();
  return out;
}

/// x [B, S, C] with zeros in place of padded rows that are not finite: a projection of them would reach the gradients
/// of its weights, as 0 times NaN.
Tensor without_bad_padding(const Tensor& x, const Mask& key_padding) {
  if (x.rank() != 3 || key_padding.shape() != Shape{x.size(0), x.size(1)}) return x;
  const index_t rows = x.size(0) * x.size(1), width = x.size(2);
  Mask bad = full_array<Mask>({x.size(0), x.size(1), 1}, false);
  bool any = false;
  for (index_t r = 0; r < rows; ++r) {
    if (!key_padding.data()[r]) continue;
    bad.data()[r] = !kernels::all_finite(x.data() + r * width, width);
    any = any || bad.data()[r];
  }
  return any ? masked_fill(x, bad, 0) : x;
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(const Scope& scope, const MultiHeadAttentionOptions& options)
    : in_proj_weight(scope.parameter("in_proj_weight",
                                     Shape{projected_rows(completed(scope, options), options.heads), options.width},
                                     options.in_proj_init ? options.in_proj_init : init::xavier_uniform())),
      in_proj_bias(options.bias
                       ? scope.parameter("in_proj_bias",
                                         Shape{projected_rows(completed(scope, options), options.heads)}, init::zeros())
                       : Parameter()),
      out_proj(scope / "out_proj", options.heads * completed(scope, options).value_width, options.width,
               out_options(options)),
      scope_(scope),
      layer_(scope.name_or("attention")),
      width_(options.width),
      heads_(options.heads),
      config_(completed(scope, options)),
      dropout_(options.dropout),
      dropout_masks_(scope.random_keys()) {
  if (config_.kind == AttentionKind::additive)
    score_weight =
        scope.parameter("score_weight", Shape{heads_, config_.head_width}, init::uniform_fan_in(config_.head_width));
  if (has_random_features(config_.kind)) {
    feature_draws_ = (scope / "features").random_keys();
    features = scope.buffer("features", random_features(config_.features, config_.head_width,
                                                        config_.orthogonal_features, feature_draws_.next()));
  }
}

void MultiHeadAttention::redraw_features() {
  if (has_random_features(config_.kind))
    features.set_value(
        random_features(config_.features, config_.head_width, config_.orthogonal_features, feature_draws_.next()));
}

/// Projects x by `rows` rows of the joint projection, from `first_row` on.
Tensor MultiHeadAttention::projected(const Tensor& x, index_t first_row, index_t rows) const {
  const Tensor bias = in_proj_bias.defined() ? in_proj_bias.tensor() : Tensor();
  if (rows == projected_rows(config_, heads_)) return linear(x, in_proj_weight, bias);
  return linear(x, slice(in_proj_weight, 0, first_row, first_row + rows),
                bias.defined() ? slice(bias, 0, first_row, first_row + rows) : bias);
}

AttentionOptions MultiHeadAttention::options_for(const AttentionMasks& masks) const {
  const bool drops = scope_.training() && dropout_ > 0;
  return {.causal = masks.causal,
          .key_padding = masks.key_padding,
          .mask = masks.mask,
          .scale = config_.scale,
          .dropout = drops ? dropout_ : 0,
          .dropout_key = drops ? dropout_masks_.next() : RandomKey{}};
}

AttentionWeights MultiHeadAttention::operands() const {
  return {.score_weight = score_weight.defined() ? score_weight.tensor() : Tensor(),
          .features = has_random_features(config_.kind) ? Tensor(features.value()) : Tensor()};
}

/// Attention by heads, with rotary positions. The queries are the last positions of the keys' sequence.
Tensor MultiHeadAttention::mixed(const Tensor& q, const Tensor& k, const Tensor& v,
                                 const AttentionOptions& options) const {
  if (config_.positions != AttentionPositions::rotary) return attend(config_, q, k, v, options, operands());
  const index_t ahead = k.size(2) - q.size(2);
  return attend(config_, rotary(q, {.offset = ahead, .base = config_.rotary_base}),
                rotary(k, {.base = config_.rotary_base}), v, options, operands());
}

Tensor MultiHeadAttention::operator()(const Tensor& sequence, const AttentionMasks& masks) const {
  const LayerScope here(layer_);
  const Tensor x = without_bad_padding(sequence, masks.key_padding);
  const index_t q_columns = heads_ * config_.head_width, k_columns = config_.key_heads * config_.head_width;
  const Tensor qkv = projected(x, 0, projected_rows(config_, heads_));
  if (config_.kind == AttentionKind::softmax && config_.key_heads == heads_ &&
      config_.value_width == config_.head_width &&
      config_.positions == AttentionPositions::none)  // the fused path copies no heads
    return here.output(out_proj(self_attention(qkv, heads_, options_for(masks))));
  return here.output(out_proj(join_heads(
      mixed(split_heads(qkv, 0, heads_, config_.head_width),
            split_heads(qkv, q_columns, config_.key_heads, config_.head_width),
            split_heads(qkv, q_columns + k_columns, config_.key_heads, config_.value_width), options_for(masks)))));
}

Tensor MultiHeadAttention::operator()(const Tensor& x, const Tensor& memory, const AttentionMasks& masks) const {
  const LayerScope here(layer_);
  const index_t q_columns = heads_ * config_.head_width, k_columns = config_.key_heads * config_.head_width;
  const Tensor q = projected(x, 0, q_columns);
  const Tensor kv =
      projected(without_bad_padding(memory, masks.key_padding), q_columns, projected_rows(config_, heads_) - q_columns);
  return here.output(out_proj(join_heads(
      mixed(split_heads(q, 0, heads_, config_.head_width), split_heads(kv, 0, config_.key_heads, config_.head_width),
            split_heads(kv, k_columns, config_.key_heads, config_.value_width), options_for(masks)))));
}

Tensor MultiHeadAttention::weights(const Tensor& x, const Tensor& memory, const AttentionMasks& masks) const {
  const index_t q_columns = heads_ * config_.head_width, keys = memory.size(1);
  const Tensor of_keys = without_bad_padding(memory.detach(), masks.key_padding);
  const Tensor q = projected(x.data() == memory.data() ? of_keys : x.detach(), 0, q_columns),
               k = projected(of_keys, q_columns, config_.key_heads * config_.head_width);
  // With the unit vectors as values, the result of attention is the weights.
  Array units = full_array({memory.size(0), config_.key_heads, keys, keys}, real(0));
  for (index_t i = 0; i < memory.size(0) * config_.key_heads * keys; ++i) units.data()[i * keys + i % keys] = 1;
  AttentionOptions options = {.causal = masks.causal, .key_padding = masks.key_padding, .mask = masks.mask};
  options.scale = config_.scale;
  return mixed(split_heads(q, 0, heads_, config_.head_width), split_heads(k, 0, config_.key_heads, config_.head_width),
               Tensor(std::move(units)), options)
      .detach();
}

void MultiHeadAttention::check_not_recorded(const Tensor& x) const {
  if (Tape::tracks({x, in_proj_weight.tensor()}))
    throw UnsupportedError("attention " + scope_.name(), "a cached step has no gradient; call it without a live tape");
}

AttentionCache MultiHeadAttention::cache(index_t batch, index_t limit) const {
  if (!is_linear(config_.kind))
    return AttentionCache(KVCache({.batch = batch,
                                   .key_heads = config_.key_heads,
                                   .width = config_.head_width,
                                   .value_width = config_.value_width,
                                   .limit = limit}));
  const Tensor one = Tensor::zeros({1, 1, 1, config_.head_width});
  const index_t count = attention_features(config_, one, one, {}, operands()).k.size(3);
  return AttentionCache(LinearAttentionCache(batch, config_.key_heads, count, config_.value_width));
}

Tensor MultiHeadAttention::step(const Tensor& x, AttentionCache& cache, const IndexArray& lengths) const {
  check_not_recorded(x);
  const index_t q_columns = heads_ * config_.head_width, k_columns = config_.key_heads * config_.head_width;
  const Tensor qkv = projected(x, 0, projected_rows(config_, heads_));
  Tensor q = split_heads(qkv, 0, heads_, config_.head_width);
  Tensor k = split_heads(qkv, q_columns, config_.key_heads, config_.head_width);
  const Tensor v = split_heads(qkv, q_columns + k_columns, config_.key_heads, config_.value_width);
  if (config_.positions == AttentionPositions::rotary) {
    const RotaryOptions turns = {.offsets = cache.lengths(), .base = config_.rotary_base};
    q = rotary(q, turns);
    k = rotary(k, turns);
  }
  if (LinearAttentionCache* sums = cache.sums()) {
    const Mask padding = sums->advance(x.size(1), lengths);
    const AttentionFeatures o = attention_features(config_, q, k, padding, operands());
    return out_proj(join_heads(linear_attention_step(o.q, o.k, v, o.log_key_weight, padding,
                                                     config_.kind == AttentionKind::separable, sums->state)));
  }
  KVCache& keys = *cache.keys();
  keys.append(k, v, lengths);
  if (config_.kind == AttentionKind::softmax && config_.positions != AttentionPositions::alibi)
    return out_proj(join_heads(cached_attention(q, keys.view(), lengths, config_.scale)));
  const CachedKeys view = keys.view();
  return out_proj(
      join_heads(attend(config_, q, cached_positions(view.keys, view.lengths, view.width),
                        cached_positions(view.values, view.lengths, view.value_width),
                        {.mask = cached_mask(view, lengths, x.size(1)), .scale = config_.scale}, operands())));
}

CrossAttentionCache MultiHeadAttention::memory_cache(const Tensor& memory, const Mask& key_padding) const {
  check_not_recorded(memory);
  const index_t q_columns = heads_ * config_.head_width, k_columns = config_.key_heads * config_.head_width;
  const Tensor kv = projected(memory, q_columns, projected_rows(config_, heads_) - q_columns);
  return {split_heads(kv, 0, config_.key_heads, config_.head_width),
          split_heads(kv, k_columns, config_.key_heads, config_.value_width), key_padding};
}

Tensor MultiHeadAttention::step(const Tensor& x, const CrossAttentionCache& memory) const {
  check_not_recorded(x);
  const Tensor q = projected(x, 0, heads_ * config_.head_width);
  return out_proj(join_heads(mixed(split_heads(q, 0, heads_, config_.head_width), memory.k, memory.v,
                                   options_for({.key_padding = memory.key_padding}))));
}

}  // namespace xtape::inline XTAPE_DTYPE
