// The workloads: their names, sizes, and the matrix products that one training step of each needs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace bench {

/// AdamW as both libraries run it. The rate is small so that thousands of steps on one batch change nothing that
/// matters to the clock.
inline constexpr double kRate = 1e-5;
inline constexpr double kDecay = 0.01;

/// Character transformer: pre-norm blocks, exact GELU, causal attention, cross-entropy over every position.
struct GptSizes {
  std::int64_t vocab, length, width, heads, layers, batch;
};

enum class Cell { rnn, gru, lstm };

/// Embedding, recurrent layers, linear layer, cross-entropy over every position.
struct RecurrentSizes {
  Cell cell;
  std::int64_t vocab, embedding, hidden, layers, length, batch;
};

/// Two hidden layers, each linear, batch norm, relu; linear layer, cross-entropy.
struct MlpSizes {
  std::int64_t inputs, hidden, classes, batch;
};

/// Scaled dot-product attention alone, one sequence, with the gradients of q, k and v.
struct AttentionSizes {
  std::int64_t length, heads, head_width;
  bool causal;
};

/// Layer norm with gain and bias, and its gradients.
struct LayerNormSizes {
  std::int64_t rows, width;
};

/// Softmax with cross-entropy, and the gradient of the logits.
struct CrossEntropySizes {
  std::int64_t rows, classes;
};

/// An AdamW step alone, over square matrices.
struct AdamWSizes {
  std::int64_t matrices, side;
};

/// x = x * w + b many times over on a short vector: the price of an op. A step is one op forward and backward.
struct ChainSizes {
  std::int64_t links, width;
};

using Sizes = std::variant<GptSizes, RecurrentSizes, MlpSizes, AttentionSizes, LayerNormSizes, CrossEntropySizes,
                           AdamWSizes, ChainSizes>;

/// Every workload's name, in the order of the table.
std::vector<std::string> workload_names();

/// `tiny`: sizes for a test that only asks whether the numbers are right. Throws std::invalid_argument for a name that
/// does not exist.
Sizes sizes_of(std::string_view name, bool tiny);

/// `count` products c [m, n] += a b over an inner size k. A step's products run one after the other and each may use
/// all threads, unless they are `independent` (the heads of attention).
struct Product {
  std::int64_t m, n, k;
  bool a_transposed = false, b_transposed = false;
  std::int64_t count = 1;
  bool independent = false;
};

/// The products of a step, backward included, that no implementation can do without. Of causal attention, what is
/// hidden is left out to within a block of 64 positions.
std::vector<Product> products_of(const Sizes& sizes);

/// Multiplications and additions of the products.
double flops_of(const std::vector<Product>& products);

}  // namespace bench
