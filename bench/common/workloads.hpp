// The workloads: their names, their sizes, and the matrix products of one training step.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace bench {

/// Learning rate of AdamW in both libraries. It is small, so that thousands of steps on one batch keep the values in a
/// normal range.
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

/// Two hidden layers, each with linear, batch norm and relu; then a linear layer and cross-entropy.
struct MlpSizes {
  std::int64_t inputs, hidden, classes, batch;
};

/// Scaled dot-product attention of one sequence, with the gradients of q, k and v.
struct AttentionSizes {
  std::int64_t length, heads, head_width;
  bool causal;
};

/// Layer norm with weight and bias, and its gradients.
struct LayerNormSizes {
  std::int64_t rows, width;
};

/// Cross-entropy of logits, and the gradient of the logits.
struct CrossEntropySizes {
  std::int64_t rows, classes;
};

/// A step of AdamW over square matrices, without forward and backward.
struct AdamWSizes {
  std::int64_t matrices, side;
};

/// x = x * w + b many times on a short vector: measures the overhead of an op. A step is one op forward and backward.
struct ChainSizes {
  std::int64_t links, width;
};

using Sizes = std::variant<GptSizes, RecurrentSizes, MlpSizes, AttentionSizes, LayerNormSizes, CrossEntropySizes,
                           AdamWSizes, ChainSizes>;

/// The names of all workloads, in the order of the table.
std::vector<std::string> workload_names();

/// The sizes of a workload; `tiny` gives small ones for tests of correctness. Throws std::invalid_argument for an
/// unknown name.
Sizes sizes_of(std::string_view name, bool tiny);

/// `count` products C [m, n] += A B with inner dimension k. The products of a step run one after the other and each may
/// use all threads, unless they are `independent` (the heads of attention).
struct Product {
  std::int64_t m, n, k;
  bool a_transposed = false, b_transposed = false;
  std::int64_t count = 1;
  bool independent = false;
};

/// The products of one step, backward included, that every implementation needs. Causal attention counts unmasked pairs
/// only, rounded to blocks of 64 positions.
std::vector<Product> products_of(const Sizes& sizes);

/// Number of multiplications and additions in the products.
double flops_of(const std::vector<Product>& products);

}  // namespace bench
