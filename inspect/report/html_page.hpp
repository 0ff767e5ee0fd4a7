// The parts that every page is put together from.
#pragma once

#include <string>

namespace xtape {

struct PageParts {
  std::string title;  ///< plain text; what follows is HTML
  std::string facts = {}, headline = {}, lede = {};
  std::string before_charts = {}, after_charts = {}, footer = {};
  std::string data = {};  ///< JSON
};

/// The page with its style, its scripts and Chart.js in it. No text can end the script that holds the data.
std::string html_page(const PageParts& parts);

}  // namespace xtape
