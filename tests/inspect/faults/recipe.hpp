// A small training as data: the task, the network, the optimizer, and where a fault changes them.
#pragma once

#include <xtape/xtape.hpp>

#include "scoring.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace xtape::faults {

/// What a network must learn. All data are made by the program.
enum class Task {
  images,    ///< 8x8 pictures of ten digits
  text,      ///< the next letter of sentences of a small grammar
  recall,    ///< at the last step, the symbol that was shown at the first
  series,    ///< the next value of a noisy sine
  majority,  ///< the symbol that occurs most often in a sequence
};

struct TaskSizes {
  index_t features;  ///< of an input vector; 0: the inputs are ids
  index_t vocab;     ///< ids of the inputs
  index_t classes;   ///< of the answers; 0: the answers are numbers
};
TaskSizes sizes_of(Task task);

struct Batch {
  Array x;             ///< [B, 64] or [B, T, 1]
  IndexArray ids;      ///< [B, T]
  IndexArray targets;  ///< [B] or [B, T]
  Array values;        ///< [B, T, 1]
};

struct Data {
  Task task = Task::images;
  index_t time = 24;  ///< T
  index_t count = 0;  ///< number of different examples; 0: every batch is new
  std::uint64_t seed = 1;
};

/// The training batch of a step. It depends on the arguments only.
Batch train_batch(const Data& data, index_t step, index_t size);
/// Examples that no training batch holds.
Batch validation_batch(const Data& data, index_t size);

enum class Architecture { perceptron, rnn, gru, lstm, decoder, encoder };
enum class Activation { relu, tanh, sigmoid };

/// Called with a value inside of a network: of a perceptron after each hidden layer, of a recurrent network after the
/// embedding (0) and the recurrent layers (1), of all networks with the logits (kLogits). The step is -1 in validation.
using Middle = std::function<Tensor(const Tensor& x, index_t place, index_t step)>;
constexpr index_t kLogits = 100;

struct NetOptions {
  Architecture architecture = Architecture::perceptron;
  index_t width = 48, layers = 2;
  Activation activation = Activation::relu;
  bool batch_norm = false;
  BatchNormOptions norm = {};
  double dropout = 0;
  Init weight_init = {}, bias_init = {};  ///< of a perceptron's hidden layers
  RecurrentInit recurrent_init = {};
  Nonlinearity nonlinearity = Nonlinearity::tanh;  ///< of an rnn
  std::optional<double> forget_bias = {};
  AttentionConfig attention = {};
  bool cells = false;   ///< a loop over cells instead of a recurrent layer
  bool unused = false;  ///< a layer "extra" that the loss does not use
  index_t vocab = 0;    ///< rows of the embedding; 0: those of the task
  index_t classes = 0;  ///< outputs; 0: those of the task
};

class Net {
 public:
  virtual ~Net() = default;
  /// The logits or predictions for a batch.
  virtual Tensor operator()(const Batch& batch, const Middle& middle, index_t step) const = 0;
};
std::unique_ptr<Net> make_net(const Scope& scope, const NetOptions& options, const Data& data);

enum class Method { sgd, averaged_sgd, adam, adamw };

struct Recipe {
  std::string name;  ///< of the model
  Data data = {};
  NetOptions net = {};
  Method method = Method::adam;
  double rate = 3e-3, momentum = 0.9, beta2 = 0.999, decay = 0;
  std::function<double(index_t step, index_t steps)> schedule = {};  ///< factor of the rate
  index_t batch = 32, steps = 300, interval = 10;
  index_t validate = 50;            ///< steps from one validation to the next; 0: none
  std::optional<double> clip = {};  ///< of the joint norm
  std::uint64_t seed = 1;
  OnTrouble on_trouble = OnTrouble::warn;
  bool detect_anomaly = false;

  // Where faults go in.
  std::function<void(ParamStore& store)> prepare = {};  ///< after the weights are made
  std::function<std::vector<ParamGroup>(ParamStore& store)> groups = {};
  std::function<void(Batch& batch, index_t step)> change_batch = {};
  std::function<void(Batch& batch, index_t step)> change_validation = {};
  std::function<Tensor(const Tensor& logits, const Batch& batch, index_t step)> own_loss = {};
  Middle middle = {};
  std::optional<index_t> eval_from = {};  ///< from this step on the training is in evaluation mode
  bool same_batch = false, steps_optimizer = true, runs_backward = true, clears_gradients = true;
};

/// What the bench itself saw of a training, beside the log.
struct Outcome {
  std::string refused = {};                           ///< message of the exception that ended the training
  double first = 0, last = 0, best = 0, highest = 0;  ///< loss: median of the first and the last tenth; extremes
  double highest_norm = 0;                            ///< of the gradient
  index_t nonfinite = 0;                              ///< steps whose loss or gradient was not
  index_t updates = 0;                                ///< steps of the optimizer
  std::optional<double> validation_best = {}, validation_last = {};
  index_t validation_best_step = 0;
  std::map<std::string, double> moved = {};  ///< |last weight - first| / |first| of each parameter
};

/// Trains and writes the run folder.
Outcome train(const Recipe& recipe, const std::string& directory);

/// The recipe of a healthy model by its name.
Recipe base(const std::string& name);
const std::vector<std::string>& base_names();

/// A training with a planted fault.
struct Fault {
  std::string kind;
  Recipe recipe;  ///< a base whose name stays
  Expected expected;
  /// Whether the fault shows, beside the outcome of its healthy base. Default: the loss of training or validation ends
  /// clearly above the base's, or is not finite.
  std::function<bool(const Outcome& faulty, const Outcome& healthy)> shows = {};
  bool best_is_the_step = false;  ///< the step is that of the best validation loss

  std::string key() const { return kind + "/" + recipe.name; }
};

/// A training without a fault.
struct Healthy {
  std::string name;
  Recipe recipe;
  double good;  ///< the loss that it must reach
};

const std::vector<Fault>& all_faults();
std::vector<Healthy> all_healthy();

// The families of kinds.
using Faults = std::vector<Fault>;
void add_rate_kinds(Faults& out);
void add_optimizer_kinds(Faults& out);
void add_data_kinds(Faults& out);
void add_label_kinds(Faults& out);
void add_weight_kinds(Faults& out);
void add_flow_kinds(Faults& out);
void add_wiring_kinds(Faults& out);
void add_number_kinds(Faults& out);

/// Adds the kind on each of the models: `change` makes the faulty recipe, and may change what is expected.
void plant(Faults& out, const std::string& kind, const std::vector<std::string>& models, const Expected& expected,
           const std::function<void(Fault& fault)>& change);

}  // namespace xtape::faults
