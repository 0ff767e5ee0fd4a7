// The tasks of the comparison of regularization: models that are too large for their small data sets.
#pragma once

#include <xtape/xtape.hpp>

#include <functional>
#include <string>

namespace xtape::examples {

enum class Part { train, validation, test };

/// A model, whose parameters are in a store, and its data.
struct OverfitTask {
  std::function<Tensor(index_t step)> train_loss;  ///< of the batch of a step, in nats; the mean over its targets
  std::function<double(Part part)> loss;           ///< over a part of the data, without a tape
  index_t tokens = 0;                              ///< targets of a training batch
};

struct OverfitOptions {
  index_t batch = 16;
  index_t width = 64;             ///< of the model
  index_t context = 32;           ///< symbols of a window
  index_t train_symbols = 16000;  ///< of the text, from its start; validation and test follow
  index_t other_symbols = 8000;   ///< of the validation text, and of the test text
};

/// "transformer" (two blocks), "lstm" (one layer of twice the width) over the symbols of a text file, or "digits" (two
/// hidden layers of four times the width, over the images of a CSV file). The split is the same for every seed; the
/// order of the batches depends on the store's. Throws ValueError for another name or a text that is too short, and
/// FileError.
OverfitTask overfit_task(const std::string& name, ParamStore& store, const std::string& file,
                         const OverfitOptions& options = {});

}  // namespace xtape::examples
