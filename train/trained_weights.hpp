// TrainedWeights: weights from a file and what is needed to evaluate them.
#pragma once

#include <xtape/data/vocabulary.hpp>
#include <xtape/train/args.hpp>
#include <xtape/train/weights_file.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// The options --weights, --evaluate, --vocab and --names of a program.
class TrainedWeightsArgs {
 public:
  explicit TrainedWeightsArgs(Args& args);

  /// Whether weights are evaluated instead of trained. Throws UsageError if only one of --weights and --evaluate is
  /// given.
  bool given() const;

  Option<std::string> weights, evaluate, vocab, names;

 private:
  const Args& args_;
};

/// A file of weights, translated to our names.
class TrainedWeights {
 public:
  /// Reads the files named by the options. Throws FileError.
  explicit TrainedWeights(const TrainedWeightsArgs& args);

  /// Shapes by our names, for char_rnn_config_from and transformer_lm_config_from.
  const std::map<std::string, Shape>& shapes() const { return shapes_; }
  /// The vocabulary from --vocab or from the file's metadata. Throws FileError if neither has one.
  Vocabulary vocabulary() const;
  /// Returns `given`. Throws ValueError if the file's metadata has another number of heads.
  index_t heads(index_t given) const;
  /// Loads the values into a model. Throws MismatchError with all differences.
  void load(ParamStore& store) const;

 private:
  SafetensorsFile file_;
  NameMap names_;
  std::string vocab_path_;
  std::map<std::string, Shape> shapes_;
};

/// "1.320312 nats per character over 20000 characters".
std::string format_evaluation(double nats, const IndexArray& ids);

}  // namespace xtape::inline XTAPE_DTYPE
