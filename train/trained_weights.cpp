#include <xtape/core/error.hpp>
#include <xtape/core/number_text.hpp>
#include <xtape/train/trained_weights.hpp>

namespace xtape::inline XTAPE_DTYPE {

TrainedWeightsArgs::TrainedWeightsArgs(Args& args)
    : weights(args.text("weights", "", "safetensors file of a model to evaluate instead of training one")),
      evaluate(args.text("evaluate", "", "text that it reads, for the nats that a character costs it")),
      vocab(args.text("vocab", "", "JSON file {\"character\": id}, if the weights have none in their metadata")),
      names(args.text("names", "", "JSON file {\"foreign name\": \"our name\"}, see docs/weights.md")),
      args_(args) {}

bool TrainedWeightsArgs::given() const {
  if ((*weights).empty() != (*evaluate).empty())
    throw UsageError(args_.program(), "--weights and --evaluate belong together");
  return !(*weights).empty();
}

TrainedWeights::TrainedWeights(const TrainedWeightsArgs& args)
    : file_(*args.weights),
      names_((*args.names).empty() ? NameMap() : NameMap::load(args.names)),
      vocab_path_(args.vocab),
      shapes_(shapes_of(named_weights(file_, names_))) {}

Vocabulary TrainedWeights::vocabulary() const {
  if (!vocab_path_.empty()) return Vocabulary::load(vocab_path_);
  const auto found = file_.metadata().find("vocabulary");
  if (found == file_.metadata().end())
    throw FileError("weights", file_.path() + " does not say which characters its ids are; give --vocab FILE");
  return Vocabulary::from_symbols(found->second);
}

index_t TrainedWeights::heads(index_t given) const {
  const auto found = file_.metadata().find("heads");
  if (found != file_.metadata().end() && found->second != std::to_string(given))
    throw ValueError("weights", "--heads " + found->second + " for the model of " + file_.path(), given);
  return given;
}

void TrainedWeights::load(ParamStore& store) const { load_weights(file_, store, names_); }

std::string format_evaluation(double nats, const IndexArray& ids) {
  return number_text(nats, "%.6f nats per character over ") + std::to_string(ids.size() - 1) + " characters";
}

}  // namespace xtape::inline XTAPE_DTYPE
