// Weights and data that both libraries start from. They are a function of (name, index), so no files are exchanged.
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

namespace bench {

/// FNV-1a hash.
inline std::uint64_t hash(std::string_view name) {
  std::uint64_t h = 0xcbf29ce484222325;
  for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return h;
}

/// 64 random bits for element `index` of the stream `name` (splitmix64: Steele, Lea, Flood 2014).
inline std::uint64_t bits(std::uint64_t name, std::uint64_t index) {
  std::uint64_t x = name + (index + 1) * 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// Uniform in [-1, 1).
inline double uniform(std::uint64_t name, std::uint64_t index) {
  return static_cast<double>(bits(name, index) >> 11) * 0x1p-52 - 1;
}

/// Fills data with uniform numbers of the stream `name`, times `scale`.
inline void fill_uniform(std::string_view name, double scale, float* data, std::int64_t count) {
  const std::uint64_t stream = hash(name);
  for (std::int64_t i = 0; i < count; ++i)
    data[i] = static_cast<float>(scale * uniform(stream, static_cast<std::uint64_t>(i)));
}

/// Fills a parameter by its name: matrices uniform in [-a, a) with a = 1/sqrt(fan-in), weights of norm layers (one
/// axis, "...weight") near 1, biases near 0.
inline void fill_parameter(std::string_view name, std::int64_t rank, std::int64_t last_size, float* data,
                           std::int64_t count) {
  const bool matrix = rank >= 2;
  fill_uniform(name, matrix ? 1 / std::sqrt(static_cast<double>(last_size)) : 0.1, data, count);
  if (matrix || !name.ends_with("weight")) return;
  for (std::int64_t i = 0; i < count; ++i) data[i] += 1;
}

/// `count` class ids from 0 to bound-1.
inline std::vector<std::int64_t> classes(std::string_view name, std::int64_t bound, std::int64_t count) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<std::int64_t>(bits(hash(name), i) % static_cast<std::uint64_t>(bound));
  return out;
}

}  // namespace bench
