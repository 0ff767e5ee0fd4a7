// Scalar mathematics for the per-level kernels, written so that loops over it become vector code: no branches, no
// calls. Included only by *_level.cpp, inside the unnamed namespace of a level.
//
// Float: polynomials, errors of a few units in the last place, right at infinities and NaN. Double: the C library.

inline real absolute(real x) { return x < 0 ? -x : x; }
inline float with_bits(std::int32_t bits) { return __builtin_bit_cast(float, bits); }

/// 2^k for k in -252..254 as a product, so that results may be subnormal or overflow.
inline float scale_by_power(float x, std::int32_t k) {
  const std::int32_t half = k >> 1;
  return x * with_bits((half + 127) << 23) * with_bits((k - half + 127) << 23);
}

/// exp(x): range reduction by ln 2 in two parts (Cody and Waite 1980), polynomial of degree 6 (Moshier, Cephes expf).
inline float exponential(float x) {
  float c = x < -104.0f ? -104.0f : x;  // a NaN passes through both selections
  c = c > 89.0f ? 89.0f : c;
  const float shifted = c * 1.44269504088896341f + 12582912.0f;  // 1.5 * 2^23: the sum rounds to an integer
  const float k = shifted - 12582912.0f;
  float r = c - k * 0.693359375f;
  r = r - k * -2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.0f;
  return scale_by_power(p, __builtin_bit_cast(std::int32_t, shifted) - 0x4b400000);
}

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
  const float e = exponential(-0.5f * a * a);
  const float tail = e * q;
  const float nan_or_zero = x - x == 0 || x * x > 200.0f ? 0.0f : x;  // keeps NaN, drops infinities
  return {(x < 0 ? tail : 1.0f - tail) + nan_or_zero, e * 0.3989422804014327f + nan_or_zero};
}

inline double exponential(double x) { return __builtin_exp(x); }
inline double hyperbolic_tangent(double x) { return __builtin_tanh(x); }
inline double sigmoid(double x) {
  const double e = __builtin_exp(-absolute(static_cast<real>(x)));
  return (x < 0 ? e : (x == x ? 1.0 : x)) / (1.0 + e);
}
inline Normal normal(double x) {
  return {static_cast<real>(0.5 * __builtin_erfc(-x * 0.70710678118654752440)),
          static_cast<real>(__builtin_exp(-0.5 * x * x) * 0.39894228040143267794)};
}

inline float power(float a, float b) { return __builtin_powf(a, b); }
inline double power(double a, double b) { return __builtin_pow(a, b); }
inline float logarithm(float x) { return __builtin_logf(x); }
inline double logarithm(double x) { return __builtin_log(x); }
inline float square_root(float x) { return __builtin_sqrtf(x); }
inline double square_root(double x) { return __builtin_sqrt(x); }
