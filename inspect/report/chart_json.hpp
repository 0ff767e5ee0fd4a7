// A chart as JSON for the scripts of the page. Templates over the JSON type keep this header light.
#pragma once

#include <xtape/inspect/report/downsample.hpp>

#include <string>
#include <utility>
#include <vector>

namespace xtape {

/// The axis of steps.
template <class Json>
Json axis_json(const Buckets& b) {
  return {{"start", b.center()}, {"width", b.width()}, {"count", b.count()},
          {"first", b.first()},  {"last", b.last()},   {"logged", b.logged()}};
}

/// A chart of lines over steps. `scale` is "linear", "log", "share" (0 to 100 %) or "auto" (log if the values span
/// more than a factor of 20) or "weights" (log if they span more than a factor of 5).
template <class Json>
Json chart_json(const std::string& id, const std::string& title, const std::string& text, const std::string& unit,
                const std::string& scale, const std::vector<std::string>& names, const Envelope& bands) {
  return Json{{"id", id},
              {"title", title},
              {"text", text},
              {"unit", unit},
              {"scale", scale},
              {"names", names},
              {"guides", Json::array()},
              {"data", Json::parse(envelope_json(bands))}};
}

template <class Json>
void add_guide(Json& chart, double at, const std::string& text, bool limit = false) {
  chart["guides"].push_back({{"at", at}, {"text", text}, {"limit", limit}});
}

}  // namespace xtape
