// Reading the attention of a chosen sentence, attention/step_N.npy of a run directory.
#pragma once

#include <xtape/core/config.hpp>

#include <string>
#include <vector>

namespace xtape {

/// Weights of one step, [layers, heads, queries, keys] row-major.
struct AttentionMap {
  index_t step;
  std::vector<double> weights;
};

struct AttentionMaps {
  std::vector<std::string> tokens;  ///< what stands at each place
  index_t layers = 0, heads = 0, queries = 0, keys = 0;
  std::vector<AttentionMap> steps = {};    ///< by rising step; at most `most` of them, the first and the last too
  std::vector<std::string> warnings = {};  ///< files that cannot be read, a sentence each

  bool any() const { return !steps.empty(); }
};

/// Empty if the run has none.
AttentionMaps read_attention(const std::string& directory, std::size_t most = 5);

/// By layer and head: the mean over queries of entropy / ln(n), n the keys that the query may see (1 to its own place
/// if no query looks ahead), over the queries that see several. 0 looks at one key, 1 at all alike.
std::vector<double> entropy_shares(const AttentionMaps& maps, const AttentionMap& map);

}  // namespace xtape
