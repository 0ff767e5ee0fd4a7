#include "workloads.hpp"

#include <algorithm>
#include <stdexcept>

namespace bench {

namespace {

struct Named {
  const char* name;
  Sizes full, tiny;
};

Named attention(const char* name, std::int64_t length, bool causal) {
  return {name, AttentionSizes{length, 4, 32, causal}, AttentionSizes{length / 128 + 6, 2, 4, causal}};
}

Named recurrent(const char* name, Cell cell, bool large) {
  return {name, RecurrentSizes{cell, 65, 64, large ? 512 : 128, large ? 2 : 1, 64, 32},
          RecurrentSizes{cell, 7, 3, 5, large ? 2 : 1, 4, 3}};
}

const std::vector<Named>& table() {
  static const std::vector<Named> named = {
      {"gpt_s", GptSizes{65, 64, 128, 4, 4, 16}, GptSizes{7, 5, 8, 2, 2, 3}},
      {"gpt_m", GptSizes{65, 256, 384, 6, 6, 8}, GptSizes{7, 6, 12, 3, 3, 2}},
      recurrent("lstm_s", Cell::lstm, false),
      recurrent("lstm_l", Cell::lstm, true),
      recurrent("gru_s", Cell::gru, false),
      recurrent("gru_l", Cell::gru, true),
      recurrent("rnn_s", Cell::rnn, false),
      {"mlp_bn", MlpSizes{784, 256, 10, 128}, MlpSizes{9, 6, 4, 5}},
      attention("attention_128", 128, false),
      attention("attention_128_causal", 128, true),
      attention("attention_512", 512, false),
      attention("attention_512_causal", 512, true),
      attention("attention_1024", 1024, false),
      attention("attention_1024_causal", 1024, true),
      attention("attention_2048", 2048, false),
      attention("attention_2048_causal", 2048, true),
      attention("attention_4096", 4096, false),
      attention("attention_4096_causal", 4096, true),
      {"layer_norm", LayerNormSizes{2048, 768}, LayerNormSizes{3, 5}},
      {"softmax_cross_entropy", CrossEntropySizes{2048, 1024}, CrossEntropySizes{3, 5}},
      {"adamw", AdamWSizes{10, 1000}, AdamWSizes{2, 3}},
      {"tiny_ops", ChainSizes{1000, 16}, ChainSizes{10, 4}},
  };
  return named;
}

class Products {
 public:
  /// y [rows, out] = x [rows, in] w^T, dw = dy^T x, and dx = dy w if `input_gradient`.
  void linear(std::int64_t rows, std::int64_t in, std::int64_t out, bool input_gradient = true) {
    add({rows, out, in, false, true});
    add({out, in, rows, true, false});
    if (input_gradient) add({rows, in, out, false, false});
  }

  /// Attention of all heads and sequences: scores and result, then the gradients of weights, v, q and k. Causal
  /// attention is counted in blocks of queries; each block uses the keys up to its last query.
  void attention(std::int64_t heads, std::int64_t length, std::int64_t width, bool causal) {
    constexpr std::int64_t block = 64;
    for (std::int64_t begin = 0; begin < length; begin += causal ? block : length) {
      const std::int64_t rows = causal ? std::min(block, length - begin) : length, keys = begin + rows;
      head({rows, keys, width, false, true}, heads);   // scores = q k^T
      head({rows, width, keys, false, false}, heads);  // result = weights v
      head({rows, keys, width, false, true}, heads);   // gradient of the weights = dy v^T
      head({keys, width, rows, true, false}, heads);   // dv = weights^T dy
      head({rows, width, keys, false, false}, heads);  // dq = dscores k
      head({keys, width, rows, true, false}, heads);   // dk = dscores^T q
    }
  }

  void add(Product p) { products_.push_back(p); }
  const std::vector<Product>& all() const { return products_; }

 private:
  void head(Product p, std::int64_t heads) {
    p.count = heads;
    p.independent = true;
    add(p);
  }

  std::vector<Product> products_;
};

void add_products(const GptSizes& s, Products& out) {
  const std::int64_t rows = s.batch * s.length;
  for (std::int64_t layer = 0; layer < s.layers; ++layer) {
    out.linear(rows, s.width, 3 * s.width);
    out.attention(s.batch * s.heads, s.length, s.width / s.heads, true);
    out.linear(rows, s.width, s.width);
    out.linear(rows, s.width, 4 * s.width);
    out.linear(rows, 4 * s.width, s.width);
  }
  out.linear(rows, s.width, s.vocab);
}

void add_products(const RecurrentSizes& s, Products& out) {
  const std::int64_t rows = s.batch * s.length;
  const std::int64_t gates = (s.cell == Cell::lstm ? 4 : s.cell == Cell::gru ? 3 : 1) * s.hidden;
  for (std::int64_t layer = 0; layer < s.layers; ++layer) {
    out.linear(rows, layer == 0 ? s.embedding : s.hidden, gates);
    for (std::int64_t step = 0; step < s.length; ++step) {
      out.add({s.batch, gates, s.hidden, false, true});   // gates += h w^T
      out.add({s.batch, s.hidden, gates, false, false});  // dh = dgates w
    }
    out.add({gates, s.hidden, rows, true, false});  // dw, summed over all steps in one product
  }
  out.linear(rows, s.hidden, s.vocab);
}

void add_products(const MlpSizes& s, Products& out) {
  out.linear(s.batch, s.inputs, s.hidden, false);
  out.linear(s.batch, s.hidden, s.hidden);
  out.linear(s.batch, s.hidden, s.classes);
}

void add_products(const AttentionSizes& s, Products& out) { out.attention(s.heads, s.length, s.head_width, s.causal); }

template <class NoProducts>
void add_products(const NoProducts&, Products&) {}

}  // namespace

std::vector<std::string> workload_names() {
  std::vector<std::string> names;
  for (const Named& entry : table()) names.emplace_back(entry.name);
  return names;
}

Sizes sizes_of(std::string_view name, bool tiny) {
  for (const Named& entry : table())
    if (name == entry.name) return tiny ? entry.tiny : entry.full;
  throw std::invalid_argument("there is no workload '" + std::string(name) + "'");
}

std::vector<Product> products_of(const Sizes& sizes) {
  Products out;
  std::visit([&](const auto& s) { add_products(s, out); }, sizes);
  return out.all();
}

double flops_of(const std::vector<Product>& products) {
  double flops = 0;
  for (const Product& p : products) flops += 2.0 * static_cast<double>(p.m * p.n * p.k * p.count);
  return flops;
}

}  // namespace bench
