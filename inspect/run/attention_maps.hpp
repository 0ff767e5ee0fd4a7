// The attention weights of one sentence at some steps, written and read: attention/ of a run folder.
#pragma once

#include <xtape/core/config.hpp>
#include <xtape/data/stored_tensor.hpp>

#include <string>
#include <vector>

namespace xtape {

/// Writes weights [layers, heads, queries, keys] as attention/step_N.npy, and the text at each position as
/// attention/tokens.json. Throws FileError.
void save_attention(const std::string& directory, index_t step, const std::vector<std::string>& tokens,
                    const StoredTensor& weights);

/// Weights of one step, [layers, heads, queries, keys] row-major.
struct AttentionMap {
  index_t step;
  std::vector<double> weights;
};

struct AttentionMaps {
  std::vector<std::string> tokens;  ///< the text at each position
  index_t layers = 0, heads = 0, queries = 0, keys = 0;
  std::vector<AttentionMap> steps = {};    ///< in order of steps
  std::vector<std::string> warnings = {};  ///< one sentence for each file that cannot be read

  bool any() const { return !steps.empty(); }
};

/// At most `most` steps, evenly chosen, with the first and the last. Empty if the run has none.
AttentionMaps read_attention(const std::string& directory, std::size_t most = 5);

/// For each layer and head, the mean over queries of entropy / ln(n), where n is the number of keys that the query
/// sees. If no query attends to later keys, the map is taken as causal and query i sees i + 1 keys. Queries that see
/// one key are left out. 0: one key has all the weight; 1: all keys have the same.
std::vector<double> entropy_shares(const AttentionMaps& maps, const AttentionMap& map);

}  // namespace xtape
