// The workloads in xtape.
#pragma once

#include "common/numbers.hpp"
#include "common/worker.hpp"

#include <xtape/xtape.hpp>

namespace bench {

std::unique_ptr<Workload> make(const GptSizes& sizes);
std::unique_ptr<Workload> make(const RecurrentSizes& sizes);
std::unique_ptr<Workload> make(const MlpSizes& sizes);
std::unique_ptr<Workload> make(const AttentionSizes& sizes);
std::unique_ptr<Workload> make(const LayerNormSizes& sizes);
std::unique_ptr<Workload> make(const CrossEntropySizes& sizes);
std::unique_ptr<Workload> make(const AdamWSizes& sizes);
std::unique_ptr<Workload> make(const ChainSizes& sizes);

/// Uniform numbers of the stream `name`, times `scale`.
inline xtape::Array numbers(std::string_view name, const xtape::Shape& shape, double scale = 1) {
  xtape::Array out = xtape::empty_array(shape);
  fill_uniform(name, scale, out.data(), static_cast<std::int64_t>(out.size()));
  return out;
}

inline xtape::IndexArray class_numbers(std::string_view name, std::int64_t bound, const xtape::Shape& shape) {
  xtape::IndexArray out = xtape::empty_array<xtape::IndexArray>(shape);
  const std::vector<std::int64_t> values = classes(name, bound, static_cast<std::int64_t>(out.size()));
  std::copy(values.begin(), values.end(), out.data());
  return out;
}

}  // namespace bench
