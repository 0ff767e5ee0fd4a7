#include <xtape/core/error.hpp>
#include <xtape/data/files.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

namespace xtape {

namespace fs = std::filesystem;

namespace {

std::vector<fs::path> places_of(const std::string& path) {
  std::vector<fs::path> places = {path};
  if (fs::path(path).is_absolute()) return places;
  const char* shared = std::getenv("XTAPE_DATA");
  if (shared != nullptr && *shared != '\0') places.push_back(fs::path(shared) / path);
  places.push_back(fs::path("datasets") / path);
  return places;
}

}  // namespace

std::string find_data(const std::string& path) {
  if (path.empty()) throw FileError("find_data", "the path is empty");
  std::string searched;
  for (const fs::path& place : places_of(path)) {
    std::error_code error;
    const fs::file_status status = fs::status(place, error);
    if (status.type() == fs::file_type::none) throw FileError("find_data", place.string() + ": " + error.message());
    if (fs::exists(status)) return place.string();
    searched += (searched.empty() ? "" : ", ") + place.string();
  }
  throw FileError("find_data", "no such file: " + searched);
}

std::string read_file(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) throw FileError("read_file", path + ": " + error.message());
  if (fs::is_directory(status)) throw FileError("read_file", path + " is a directory");
  if (!fs::is_regular_file(status)) throw FileError("read_file", path + " is not a regular file");
  const std::uintmax_t size = fs::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  if (error || !file) throw FileError("read_file", path + " cannot be opened for reading");
  std::string content(static_cast<std::size_t>(size), '\0');
  file.read(content.data(), static_cast<std::streamsize>(content.size()));
  if (static_cast<std::size_t>(file.gcount()) != content.size())
    throw FileError("read_file", path + " gave " + std::to_string(file.gcount()) + " of its " +
                                     std::to_string(content.size()) + " bytes");
  return content;
}

}  // namespace xtape
