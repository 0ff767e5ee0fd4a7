#include <xtape/core/error.hpp>
#include <xtape/core/kernels/array_statistics.hpp>
#include <xtape/core/kernels/reduce.hpp>
#include <xtape/core/number_text.hpp>
#include <xtape/data/durable_file.hpp>
#include <xtape/data/json.hpp>
#include <xtape/data/npy.hpp>
#include <xtape/inspect/log/anomaly.hpp>
#include <xtape/inspect/run/run_folder.hpp>

#include <filesystem>
#include <nlohmann/json.hpp>

namespace xtape::inline XTAPE_DTYPE {

namespace {

using Json = nlohmann::ordered_json;

bool finite(const Tensor& x) { return !x.defined() || kernels::all_finite(x.data(), x.numel()); }

/// "(32,64) from -1.2 to 3 with 4 NaN and 1 infinite".
std::string described(const Tensor& x) {
  const kernels::ValueRange e = kernels::value_range(x.data(), x.numel());
  std::string out = shape_text(x.shape());
  if (e.nan + e.infinite < x.numel())
    out += " from " + number_text(e.smallest, "%.4g") + " to " + number_text(e.largest, "%.4g");
  if (e.nan > 0) out += " with " + std::to_string(e.nan) + " NaN";
  if (e.infinite > 0) out += (e.nan > 0 ? " and " : " with ") + std::to_string(e.infinite) + " infinite";
  return out;
}

std::string joined(std::span<const Tensor> tensors) {
  std::string out;
  for (const Tensor& x : tensors)
    if (x.defined()) out += (out.empty() ? "" : ", ") + described(x);
  return out.empty() ? "none" : out;
}

std::string sentence(const OpEvent& e, index_t step) {
  std::string out = "step " + std::to_string(step) + ": the " + (e.backward ? "backward" : "forward") + " of " + e.op;
  if (!e.layer.empty()) out += " in layer " + std::string(e.layer);
  out += " is the first to produce NaN or infinity: " + joined(e.made);
  if (e.upstream) out += "; upstream gradient " + described(Tensor(*e.upstream));
  return out + "; inputs " + joined(e.inputs);
}

}  // namespace

void AnomalyFinder::see(const OpEvent& event) {
  if (found_) return;
  bool all_finite = true;
  for (const Tensor& x : event.made) all_finite = all_finite && finite(x);
  if (all_finite) return;
  found_ = Anomaly{event.op, std::string(event.layer), step_, event.backward, sentence(event, step_), ""};
  try {
    write_bundle(event);
    found_->file = std::string(run_folder::kAnomaly) + "/" + run_folder::kAnomalyRecord;
  } catch (const std::exception& error) {  // a full disk must not end the training
    found_->text += " (its arrays cannot be written: " + std::string(error.what()) + ")";
  }
}

void AnomalyFinder::write_bundle(const OpEvent& event) {
  const std::string folder = directory_ + "/" + run_folder::kAnomaly;
  std::filesystem::create_directories(folder);
  Json json = {{"format_version", 1},
               {"step", step_},
               {"op", event.op},
               {"layer", std::string(event.layer)},
               {"backward", event.backward},
               {"text", found_->text},
               {"arrays", Json::array()}};
  const auto keep = [&](const std::string& name, const Tensor& x) {
    if (!x.defined()) return;
    save_npy(folder + "/" + name + ".npy", x.value());
    json["arrays"].push_back({{"file", name + ".npy"}, {"shape", x.shape()}, {"range", described(x)}});
  };
  for (std::size_t i = 0; i < event.inputs.size(); ++i) keep("input_" + std::to_string(i), event.inputs[i]);
  if (event.upstream) keep("upstream", Tensor(*event.upstream));
  const std::string made = event.backward ? "gradient_" : "output_";
  for (std::size_t i = 0; i < event.made.size(); ++i) keep(made + std::to_string(i), event.made[i]);
  write_file(folder + "/" + run_folder::kAnomalyRecord, json_text(json, 2) + "\n");
}

}  // namespace xtape::inline XTAPE_DTYPE
