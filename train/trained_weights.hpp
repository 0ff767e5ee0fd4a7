// Weights trained before, here or elsewhere, and what is needed to use them.
#pragma once

#include <xtape/data/vocabulary.hpp>
#include <xtape/train/args.hpp>
#include <xtape/train/weights.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// A program's options --weights, --evaluate, --vocab and --names.
class TrainedWeightsArgs {
 public:
  explicit TrainedWeightsArgs(Args& args);

  /// True if a text is to be evaluated. Throws UsageError if only one of --weights and --evaluate is given.
  bool given() const;

  Option<std::string> weights, evaluate, vocab, names;

 private:
  const Args& args_;
};

/// A file of weights under our names.
class TrainedWeights {
 public:
  /// Reads the files that the options name. Throws FileError.
  explicit TrainedWeights(const TrainedWeightsArgs& args);

  /// Shapes by our names, for char_rnn_config_from and transformer_lm_config_from.
  const std::map<std::string, Shape>& shapes() const { return shapes_; }
  /// From --vocab, or from the file's metadata. Throws FileError if neither has one.
  Vocabulary vocabulary() const;
  /// The number of heads given, if the file's metadata do not say another. Throws ValueError if they do.
  index_t heads(index_t given) const;
  /// Puts the values into a model. Throws MismatchError with all differences.
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
