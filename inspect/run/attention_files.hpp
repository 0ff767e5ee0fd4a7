// attention/ in the run directory: how heads attended to a chosen sentence at some steps.
#pragma once

#include <xtape/data/stored_tensor.hpp>

#include <string>
#include <vector>

namespace xtape {

/// Writes attention/step_N.npy, and the text of each place as attention/tokens.json. Throws FileError.
void save_attention(const std::string& directory, index_t step, const std::vector<std::string>& tokens,
                    const StoredTensor& weights);

}  // namespace xtape
