// Scalar mathematics, written without branches and calls so that loops over it become vector code. Included only by the
// .cpp files here, inside the unnamed namespace of an instruction set.
//
// Float: polynomials, with errors of a few units in the last place, correct at infinities and NaN. Double: the C
// library.

constexpr real kLargest = static_cast<real>(sizeof(real) == 4 ? __FLT_MAX__ : __DBL_MAX__);  // largest finite

/// A double as high + low, so that (x - high) - low keeps its digits when both are large. low of an infinity is 0.
struct Split {
  real high;
  real low;
};
inline Split split(double number) {
  const real high = static_cast<real>(number);
  return {high, high - high == 0 ? static_cast<real>(number - static_cast<double>(high)) : 0};
}

/// split(shift), but of 0 for minus infinity: the shift of a row of minus infinities, which has no finite element.
inline Split finite_split(double shift) { return split(shift == -__builtin_inf() ? 0 : shift); }

inline float absolute(float x) { return __builtin_fabsf(x); }
inline double absolute(double x) { return __builtin_fabs(x); }
inline float with_bits(std::int32_t bits) { return __builtin_bit_cast(float, bits); }

/// 2^k for k in -252..254 as a product, so that results may be subnormal or overflow.
inline float scale_by_power(float x, std::int32_t k) {
  const std::int32_t half = k >> 1;
  return x * with_bits((half + 127) << 23) * with_bits((k - half + 127) << 23);
}

/// x as k ln 2 + rest with |rest| at most ln 2 / 2, by ln 2 in two parts (Cody and Waite 1980), for |x| under 2^20.
struct Reduced {
  float rest;
  std::uint32_t bits;  ///< k in the lowest bits of a float
};
constexpr std::uint32_t kBitsOfZero = 0x4b400000;
inline Reduced reduced(float x) {
  const float shifted = x * 1.44269504088896341f + 12582912.0f;  // 1.5 * 2^23: the sum rounds to an integer
  const float k = shifted - 12582912.0f;
  const float r = x - k * 0.693359375f;
  return {r - k * -2.12194440e-4f, __builtin_bit_cast(std::uint32_t, shifted)};
}
inline std::int32_t exponent(Reduced x) { return static_cast<std::int32_t>(x.bits - kBitsOfZero); }

/// exp(x): polynomial of degree 6 (Moshier, Cephes expf).
inline float exponential(float x) {
  const float c = x < -104.0f ? -104.0f : x;  // a NaN passes through both selections
  const Reduced parts = reduced(c > 89.0f ? 89.0f : c);
  const float r = parts.rest;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.0f;
  return scale_by_power(p, exponent(parts));
}

/// exp(x) of what is not above 0, such as the weights of a softmax beside its largest; exactly 0 where it would be
/// below 2^-126. A minimax polynomial; the relative error is under 2^-23.
inline float exp_of_nonpositive(float x) {
  const Reduced parts = reduced(x < -88.02f ? -88.02f : x);  // k = -127 makes the power 0; a NaN passes
  const float r = parts.rest;
  float p = 1.384364441037178e-3f;
  p = p * r + 8.374162949621677e-3f;
  p = p * r + 4.166800156235695e-2f;
  p = p * r + 0.16666431725025177f;
  p = p * r + 0.4999999403953552f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  return p * __builtin_bit_cast(float, (parts.bits << 23) + 0x3f800000u);  // the shift drops all but k
}

/// exp(x) - 1: the same polynomial without its 1, times 2^k, plus 2^k - 1. Past exp(18) the 1 is lost in rounding.
inline float exponential_minus_1(float x) {
  const float c = x < -20.0f ? -20.0f : x;
  const Reduced parts = reduced(c > 20.0f ? 20.0f : c);
  const float r = parts.rest;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r;
  const float power = with_bits((exponent(parts) + 127) << 23);
  return x > 18.0f ? exponential(x) : p * power + (power - 1.0f);
}

/// log(x) for positive normal x: x = 2^k m with m in [sqrt(1/2), sqrt(2)), polynomial in m - 1 (Moshier, Cephes logf).
inline float logarithm_of_normal(float x) {
  const std::uint32_t bits = __builtin_bit_cast(std::uint32_t, x) - 0x3f3504f3u;
  const float k = static_cast<float>(static_cast<std::int32_t>(bits) >> 23);
  const float f = with_bits(static_cast<std::int32_t>(bits & 0x7fffff) + 0x3f3504f3) - 1.0f;
  const float z = f * f;
  float p = 7.0376836292e-2f;
  p = p * f - 1.1514610310e-1f;
  p = p * f + 1.1676998740e-1f;
  p = p * f - 1.2420140846e-1f;
  p = p * f + 1.4249322787e-1f;
  p = p * f - 1.6668057665e-1f;
  p = p * f + 2.0000714765e-1f;
  p = p * f - 2.4999993993e-1f;
  p = p * f + 3.3333331174e-1f;
  p = p * f * z - 2.12194440e-4f * k - 0.5f * z;
  return f + p + 0.693359375f * k;
}

inline float logarithm(float x) {
  const bool small = x < 1.17549435e-38f;  // subnormal: scaled by 2^23 first
  const float finite = logarithm_of_normal(small ? x * 8388608.0f : x) - (small ? 15.9423847f : 0.0f);
  const float infinity = __builtin_inff();
  const float special = x == 0 ? -infinity : (x < 0 ? __builtin_nanf("") : x);  // 0, negative, infinite, NaN
  return ((x > 0) & (x < infinity)) ? finite : special;
}

/// log(1 + x): log(u) + (x - (u - 1)) / u for u = 1 + x, which restores what the sum rounded away (Kahan).
inline float logarithm_1_plus(float x) {
  const float u = 1.0f + x;
  const float lost = (x - (u - 1.0f)) / u;
  return logarithm(u) + (((u > 0) & (u < __builtin_inff())) ? lost : 0.0f);
}

/// log(1 + exp(-a)) for a >= 0.
inline float softplus_of_negative(float a) {
  const float x = exponential(-a), u = 1.0f + x;
  return logarithm_of_normal(u) + (x - (u - 1.0f)) / u;
}

/// The multiple of pi/2 next to an angle, modulo 4, and the rest in [-pi/4, pi/4], for |x| up to kLargestAngle: in
/// double with pi/2 in two parts, the first so short that its multiples are exact.
constexpr real kLargestAngle = static_cast<real>(sizeof(real) == 4 ? 4e8 : __DBL_MAX__);
struct Angle {
  std::int32_t quarter;
  double rest;
};
inline Angle angle(float x) {
  constexpr double round = 6755399441055744.0;  // 1.5 * 2^52: the sum rounds to an integer
  const double shifted = static_cast<double>(x) * 0.63661977236758134308 + round;
  const double k = shifted - round;
  const double rest = (static_cast<double>(x) - k * 1.57079631090164184570) - k * 1.58932547735281966916e-8;
  return {static_cast<std::int32_t>(__builtin_bit_cast(std::int64_t, shifted)) & 3, rest};
}

/// sin(pi/2 quarter + rest), polynomials of FreeBSD's sinf and cosf.
inline float sine_of(Angle a, std::int32_t shift) {
  const std::int32_t quarter = (a.quarter + shift) & 3;
  const double r = a.rest, z = r * r;
  const double s =
      r + r * z *
              (-0.166666666416265235595 +
               z * (0.0083333293858894631756 + z * (-0.000198393348360966317347 + z * 0.0000027183114939898219064)));
  const double c =
      1 + z * (-0.499999997251031003120 +
               z * (0.0416666233237390631894 + z * (-0.00138867637746099294692 + z * 0.0000243904487962774090654)));
  const float value = static_cast<float>(quarter & 1 ? c : s);
  return quarter & 2 ? -value : value;
}
inline float sine(float x) { return sine_of(angle(x), 0); }
inline float cosine(float x) { return sine_of(angle(x), 1); }

/// tanh(x): odd polynomial near 0 (Cephes tanhf), 1 - 2/(exp(2|x|) + 1) elsewhere.
inline float hyperbolic_tangent(float x) {
  const float a = absolute(x);
  const float z = x * x;
  float p = -5.70498872745e-3f;
  p = p * z + 2.06390887954e-2f;
  p = p * z - 5.37397155531e-2f;
  p = p * z + 1.33314422036e-1f;
  p = p * z - 3.33332819422e-1f;
  const float near = p * z * x + x;
  const float far = 1.0f - 2.0f / (exponential(2.0f * a) + 1.0f);
  return a < 0.625f ? near : (x < 0 ? -far : far);
}

inline float sigmoid(float x) {
  const float e = exponential(-absolute(x));
  return (x < 0 ? e : (x == x ? 1.0f : x)) / (1.0f + e);
}

/// Phi(x) and phi(x) of the standard normal. For a = |x|: Phi(-a) = exp(-a^2/2) q(t), t = 1/(1 + a/4), where q was
/// fitted to erfcx(a/sqrt 2)/2 on [0, 15] with a relative error under 2e-8.
struct Normal {
  real cumulative;
  real density;
};
inline Normal normal(float x) {
  const float a = absolute(x) > 14.5f ? 14.5f : absolute(x);
  const float t = 1.0f / (1.0f + 0.25f * a);
  float q = 0.032915819279106515f;
  q = q * t - 0.19065486502104545f;
  q = q * t + 0.38219088218524955f;
  q = q * t - 0.3166087556605017f;
  q = q * t + 0.290635377692166f;
  q = q * t - 0.013029711880968678f;
  q = q * t + 0.11904796706757804f;
  q = q * t + 0.09535699461307076f;
  q = q * t + 0.10016456149000591f;
  q = q * t - 1.827904846434513e-05f;
  const float root = exp_of_nonpositive(-0.25f * a * a);  // its square may be subnormal, it may not
  const float e = root * root;
  const float tail = e * q;
  return {x < 0 ? tail : 1.0f - tail, e * 0.3989422804014327f};
}

inline double exponential(double x) { return __builtin_exp(x); }
inline double exp_of_nonpositive(double x) { return __builtin_exp(x); }
inline double exponential_minus_1(double x) { return __builtin_expm1(x); }
inline double logarithm(double x) { return __builtin_log(x); }
inline double logarithm_1_plus(double x) { return __builtin_log1p(x); }
inline double softplus_of_negative(double a) { return __builtin_log1p(__builtin_exp(-a)); }
inline double sine(double x) { return __builtin_sin(x); }
inline double cosine(double x) { return __builtin_cos(x); }
inline double hyperbolic_tangent(double x) { return __builtin_tanh(x); }
inline double sigmoid(double x) {
  const double e = __builtin_exp(-absolute(x));
  return (x < 0 ? e : (x == x ? 1.0 : x)) / (1.0 + e);
}
inline Normal normal(double x) {
  return {static_cast<real>(0.5 * __builtin_erfc(-x * 0.70710678118654752440)),
          static_cast<real>(__builtin_exp(-0.5 * x * x) * 0.39894228040143267794)};
}

inline float power(float a, float b) { return __builtin_powf(a, b); }
inline double power(double a, double b) { return __builtin_pow(a, b); }
inline float square_root(float x) { return __builtin_sqrtf(x); }
inline double square_root(double x) { return __builtin_sqrt(x); }
