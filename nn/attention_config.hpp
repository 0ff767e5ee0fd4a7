// Options of an attention layer: the kind of attention and the sizes of its heads.
#pragma once

#include <xtape/core/ops/attention.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace xtape::inline XTAPE_DTYPE {

/// How query i weights the values of the keys j that its masks allow. s is the scale, phi a feature map. "Linear" kinds
/// take time and memory linear in the number of keys.
enum class AttentionKind {
  softmax,    ///< softmax over j of s q_i.k_j (Vaswani et al. 2017)
  additive,   ///< softmax over j of w.tanh(q_i + k_j) (Bahdanau et al. 2015)
  argmax,     ///< weight 1 for the key with the largest q_i.k_j, 0 for the others; queries and keys get no gradient
  separable,  ///< softmax over the features of q_i times softmax over the keys of k_j (Shen et al. 2021); linear
  quadratic,  ///< (s q_i.k_j + 1)^2, normalized over j; linear, with (D+1)(D+2)/2 features
  elu,        ///< phi(q_i).phi(k_j), normalized over j, with phi = elu + 1 (Katharopoulos et al. 2020); linear
  relu,       ///< phi(q_i).phi(k_j), normalized over j, with phi = relu; linear
  rff,        ///< softmax approximated by random Fourier features: sines and cosines (Rahimi, Recht 2007); linear
  prf,        ///< softmax approximated by positive random features (Choromanski et al. 2021); linear
  custom,     ///< phi(q_i).phi(k_j), normalized over j, with phi = AttentionConfig::feature_map; linear
};

/// Returns whether the kind takes time and memory linear in the number of keys.
bool is_linear(AttentionKind kind);

/// Position encodings that act inside attention.
enum class AttentionPositions {
  none,
  rotary,  ///< queries and keys are rotated by angles that depend on their positions (Su et al. 2021)
  alibi,   ///< a penalty linear in the distance is added to the scores (Press et al. 2022); softmax and additive only
};

/// Maps rows of queries or keys [..., D] to features [..., F]. The dot products phi(q).phi(k) must all have the same
/// sign, because the weights are divided by their sum; non-negative features ensure this.
using FeatureMap = std::function<Tensor(const Tensor& x)>;

/// Sizes: C is the width of the layer, H its number of heads.
struct AttentionConfig {
  AttentionKind kind = AttentionKind::softmax;
  index_t key_heads = 0;    ///< H', key and value heads; must divide H; 0 means H; 1 is multi-query attention
  index_t head_width = 0;   ///< D, the width of queries and keys in one head; 0 means C/H
  index_t value_width = 0;  ///< V, the width of values in one head; 0 means D
  double scale = 0;         ///< factor of q.k; 0 means 1/sqrt(D), 1 means plain dot products
  AttentionPositions positions = AttentionPositions::none;
  double rotary_base = 10000;
  index_t features = 0;             ///< rff, prf: number of random vectors m; 0 means 2D
  bool orthogonal_features = true;  ///< rff, prf: the vectors are orthogonal within groups of D
  FeatureMap feature_map = {};      ///< phi of kind custom
};

/// The names that attention_config accepts.
const std::vector<std::string>& attention_config_names();

/// The configuration of this name: softmax, mqa (one key head), gqa (half as many key heads as heads), additive,
/// separable, quadratic, elu, relu, rff, prf or argmax. Throws ValueError for another name, and for gqa with an odd
/// number of heads.
AttentionConfig attention_config(std::string_view name, index_t heads);

}  // namespace xtape::inline XTAPE_DTYPE
