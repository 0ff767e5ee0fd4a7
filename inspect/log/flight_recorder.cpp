#include <xtape/core/error.hpp>
#include <xtape/data/durable_file.hpp>
#include <xtape/data/json.hpp>
#include <xtape/inspect/log/flight_recorder.hpp>
#include <xtape/inspect/run/run_folder.hpp>

#include <filesystem>
#include <nlohmann/json.hpp>

namespace xtape {

using Json = nlohmann::ordered_json;

void FlightRecorder::add(FlightStep step) {
  steps_.push_back(std::move(step));
  if (steps_.size() > capacity_) steps_.pop_front();
}

std::string FlightRecorder::dump(const std::string& directory, const std::string& reason) {
  if (steps_.empty() || steps_.back().step == dumped_) return "";
  Json json = {{"format_version", 1}, {"reason", reason}, {"parameters", parameters_}, {"steps", Json::array()}};
  const auto numbers = [](const std::vector<double>& values) {
    Json out = Json::array();
    for (double x : values) out.push_back(json_number<Json>(x));
    return out;
  };
  for (const FlightStep& s : steps_)
    json["steps"].push_back({{"step", s.step},
                             {"batch", s.batch},
                             {"loss", json_number<Json>(s.loss)},
                             {"lr", json_number<Json>(s.lr)},
                             {"grad_norm_preclip", json_number<Json>(s.grad_norm)},
                             {"clip_factor", json_number<Json>(s.clip_factor)},
                             {"grad_norms_preclip", numbers(s.grad_norms)},
                             {"update_norms", numbers(s.update_norms)}});
  std::string name = std::string(run_folder::kFlight) + "/" + run_folder::step_file(steps_.back().step, ".json");
  std::error_code error;
  std::filesystem::create_directory(directory + "/" + run_folder::kFlight, error);  // write_file reports an error
  write_file(directory + "/" + name, json_text(json) + "\n");
  dumped_ = steps_.back().step;
  return name;
}

}  // namespace xtape
