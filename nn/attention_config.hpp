// Which attention: the kinds, and the options that they share.
#pragma once

#include <xtape/core/ops/attention.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace xtape::inline XTAPE_DTYPE {

/// How query i weighs the value of key j among the keys that it sees. s is the scale, phi a feature map.
enum class AttentionKind {
  softmax,    ///< softmax over j of s q_i.k_j (Vaswani et al. 2017)
  additive,   ///< softmax over j of w.tanh(q_i + k_j) (Bahdanau et al. 2015)
  argmax,     ///< 1 for the largest q_i.k_j, 0 for the others: no gradient reaches queries and keys
  separable,  ///< softmax over features of q_i times softmax over keys of k_j (Shen et al. 2021): linear
  quadratic,  ///< (s q_i.k_j + 1)^2, normalised: linear, by (D+1)(D+2)/2 features
  elu,        ///< phi(q_i).phi(k_j) with phi = elu + 1, normalised (Katharopoulos et al. 2020): linear
  relu,       ///< the same with phi = relu
  rff,        ///< softmax approximated by random sines and cosines (Rahimi, Recht 2007): linear
  prf,        ///< softmax approximated by positive random features (Choromanski et al. 2021): linear
  custom,     ///< phi given as `feature_map`: linear
};

/// True for the kinds that cost time and memory linear in the number of keys.
bool is_linear(AttentionKind kind);

/// What attention itself knows about positions.
enum class AttentionPositions {
  none,
  rotary,  ///< queries and keys turned by their positions (Su et al. 2021)
  alibi,   ///< scores fall linearly with distance (Press et al. 2022); softmax and additive only
};

/// Rows of queries and keys [..., D] to features [..., F], all non-negative or at least of one sign in every product.
using FeatureMap = std::function<Tensor(const Tensor& x)>;

struct AttentionConfig {
  AttentionKind kind = AttentionKind::softmax;
  index_t key_heads = 0;    ///< H', a divisor of the heads H; 0 means H; 1 is multi-query attention
  index_t head_width = 0;   ///< D of queries and keys in a head; 0 means C/H
  index_t value_width = 0;  ///< V of the values in a head; 0 means D
  double scale = 0;         ///< of q.k; 0 means 1/sqrt(D), 1 plain dot products
  AttentionPositions positions = AttentionPositions::none;
  double rotary_base = 10000;
  index_t features = 0;             ///< rff, prf: random vectors m; 0 means 2D
  bool orthogonal_features = true;  ///< rff, prf: the vectors stand at right angles in groups of D
  FeatureMap feature_map = {};      ///< of kind custom
};

/// The names that `attention_config` knows.
const std::vector<std::string>& attention_config_names();

/// softmax, mqa (one key head), gqa (half as many key heads as heads), additive, separable, quadratic, elu, relu, rff,
/// prf, argmax. Throws ValueError for another name, and for gqa with an odd number of heads.
AttentionConfig attention_config(std::string_view name, index_t heads);

}  // namespace xtape::inline XTAPE_DTYPE
