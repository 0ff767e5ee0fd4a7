// PackedOptional: a number that may be missing, in the memory of the number.
#pragma once

#include <xtape/core/config.hpp>

#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

namespace xtape {

/// Like std::optional<T> for double and index_t, in half of its memory. One value stands for a missing number: a NaN of
/// unusual bits, or the least integer; that integer cannot be held.
template <class T>
class PackedOptional {
  static_assert(std::is_same_v<T, double> || std::is_same_v<T, index_t>);

 public:
  PackedOptional() = default;
  PackedOptional(std::nullopt_t) {}
  PackedOptional(T value) : value_(value) {
    if (!has_value()) value_ = usual_nan(value);
  }
  PackedOptional(std::optional<T> value) : PackedOptional(value ? PackedOptional(*value) : PackedOptional()) {}

  bool has_value() const { return std::bit_cast<std::uint64_t>(value_) != kMissing; }
  explicit operator bool() const { return has_value(); }
  T operator*() const { return value_; }
  T value_or(T other) const { return has_value() ? value_ : other; }
  operator std::optional<T>() const { return has_value() ? std::optional<T>(value_) : std::nullopt; }

  friend bool operator==(const PackedOptional& a, const PackedOptional& b) {
    return a.has_value() == b.has_value() && (!a.has_value() || a.value_ == b.value_);
  }
  friend bool operator==(const PackedOptional& a, T b) { return a.has_value() && a.value_ == b; }

 private:
  static constexpr bool kReal = std::is_same_v<T, double>;
  static constexpr std::uint64_t kMissing = kReal ? 0x7ff8'7461'7065'0001 : 0x8000'0000'0000'0000;
  static T usual_nan(T least) {
    if constexpr (kReal) return std::numeric_limits<double>::quiet_NaN();
    else return least;
  }

  T value_ = std::bit_cast<T>(kMissing);
};

}  // namespace xtape
