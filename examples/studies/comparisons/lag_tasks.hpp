// The tasks of the comparison of architectures with one interface: examples, loss, right answers.
#pragma once

#include <xtape/data/long_lag.hpp>
#include <xtape/xtape.hpp>

#include <functional>
#include <string>
#include <vector>

namespace xtape::examples {

/// A batch of any task.
struct Example {
  IndexArray ids = {};             ///< symbols [B, T]; empty for the adding problem
  Tensor values = {};              ///< [B, T, 2] of the adding problem
  IndexArray targets = {};         ///< symbols [B, T]
  Tensor sums = {};                ///< [B] of the adding problem
  std::vector<index_t> lags = {};  ///< [B]; empty for text
};

struct LagTask {
  index_t vocab = 0, inputs = 0, outputs = 1;  ///< see SequenceNetworkConfig
  index_t steps = 0;                           ///< T
  double know_nothing = 0;                     ///< the loss of the best guess that ignores the input
  std::function<Example(index_t step, index_t batch)> train = {};
  std::vector<Example> validation = {};
};

/// "adding", "copy", "recall" with sequences of `steps`, or "text", windows of `steps` of the text in a file. Throws
/// ValueError for another name, and what load_text throws.
LagTask lag_task(const std::string& name, index_t steps, std::uint64_t seed, const std::string& text_file);

/// Loss of outputs [B, T, outputs]: cross-entropy of what is asked, in nats, or mean squared error.
Tensor loss_of(const Tensor& outputs, const Example& example);
/// The loss of the last step alone.
Tensor last_loss_of(const Tensor& outputs, const Example& example);

/// The share of right answers in each sequence: of the symbols asked for, or 1 if the sum is off by less than 0.1.
std::vector<double> right_answers(const Tensor& outputs, const Example& example);

/// The means of the values whose lag lies in each of `parts` equal parts of 1..longest, shortest lags first; NaN for a
/// part without any.
std::vector<double> means_by_lag(const std::vector<double>& values, const std::vector<index_t>& lags, index_t longest,
                                 index_t parts);

}  // namespace xtape::examples
