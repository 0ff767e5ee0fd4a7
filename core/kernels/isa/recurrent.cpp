#include <xtape/core/kernels/isa/tables.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE {
namespace {

#include <xtape/core/kernels/isa/math.hpp>

// Nonlinearities, with the gradient as a function of the value.

struct Tanh {
  static real value(real x) { return hyperbolic_tangent(x); }
  static real gradient(real dy, real y) { return dy * (1 - y * y); }
};

struct Relu {
  static real value(real x) { return x < 0 ? 0 : x; }  // a NaN stays a NaN
  static real gradient(real dy, real y) { return y > 0 ? dy : 0; }
};

struct Sigmoid {
  static real value(real x) { return sigmoid(x); }
  static real gradient(real dy, real y) { return dy * (y * (1 - y)); }
};

/// Calls body with the nonlinearity as a type, so that loops over it are vectorized.
template <class F>
void with(Nonlinearity f, const F& body) {
  switch (f) {
    case Nonlinearity::tanh:
      return body(Tanh());
    case Nonlinearity::relu:
      return body(Relu());
    case Nonlinearity::sigmoid:
      return body(Sigmoid());
  }
}

/// gates += bias, h = f(gates).
void rnn(const GateRows& p, Nonlinearity f) {
  with(f, [&p](auto function) {
    for (index_t row = 0; row < p.rows; ++row) {
      real* a = p.gates + row * p.hidden;
      real* h = p.h + row * p.hidden;
#pragma GCC ivdep
      for (index_t j = 0; j < p.hidden; ++j) {
        a[j] += p.bias[j];
        h[j] = function.value(a[j]);
      }
    }
  });
}

/// dx = dh f' where h = f(x); dx may be dh.
void rnn_backward(Nonlinearity f, const real* h, const real* dh, real* dx, index_t n) {
  with(f, [=](auto function) {
#pragma GCC ivdep
    for (index_t i = 0; i < n; ++i) dx[i] = function.gradient(dh[i], h[i]);
  });
}

/// The four gate columns of a row, H apart.
template <class T>
struct Gates {
  T* a;
  T* b;
  T* c;
  T* d;
  Gates(T* gates, index_t row, index_t hidden)
      : a(gates + row * 4 * hidden), b(a + hidden), c(b + hidden), d(c + hidden) {}
};

void lstm(const GateRows& p) {
  const index_t n = p.hidden;
  const Gates bias(p.bias, 0, n);
  for (index_t row = 0; row < p.rows; ++row) {
    const Gates at(p.gates, row, n);
    const real* before = p.c_before + row * n;
    real* c = p.c + row * n;
    real* h = p.h + row * n;
#pragma GCC ivdep
    for (index_t j = 0; j < n; ++j) {
      const real i = sigmoid(at.a[j] + bias.a[j]);
      const real f = sigmoid(at.b[j] + bias.b[j]);
      const real g = hyperbolic_tangent(at.c[j] + bias.c[j]);
      const real o = sigmoid(at.d[j] + bias.d[j]);
      const real state = f * before[j] + i * g;
      at.a[j] = i;
      at.b[j] = f;
      at.c[j] = g;
      at.d[j] = o;
      c[j] = state;
      h[j] = o * hyperbolic_tangent(state);
    }
  }
}

/// dc becomes the gradient of the state before the step; `keep_dc` also stores that of the state after it.
template <bool keep_dc>
void lstm_rows_backward(const GateRows& p, const GateGrads& grads) {
  const index_t n = p.hidden;
  for (index_t row = 0; row < p.rows; ++row) {
    const Gates at(p.gates, row, n), to(grads.dgates, row, n);
    const real* before = p.c_before + row * n;
    const real* c = p.c + row * n;
    const real* dh = grads.dh + row * n;
    real* dc = grads.dc + row * n;
    real* dc_step = keep_dc ? grads.dc_step + row * n : nullptr;
#pragma GCC ivdep
    for (index_t j = 0; j < n; ++j) {
      const real i = at.a[j], f = at.b[j], g = at.c[j], o = at.d[j];
      const real t = hyperbolic_tangent(c[j]);
      const real dc_total = dc[j] + dh[j] * o * (1 - t * t);
      to.a[j] = dc_total * g * i * (1 - i);
      to.b[j] = dc_total * before[j] * f * (1 - f);
      to.c[j] = dc_total * i * (1 - g * g);
      to.d[j] = dh[j] * t * o * (1 - o);
      if (keep_dc) dc_step[j] = dc_total;
      dc[j] = dc_total * f;
    }
  }
}

void lstm_backward(const GateRows& p, const GateGrads& grads) {
  if (grads.dc_step) lstm_rows_backward<true>(p, grads);
  else lstm_rows_backward<false>(p, grads);
}

// GRU, reset after the product: columns r, z, m = W_n h + b_m, n.

void gru(const GateRows& p) {
  const index_t n = p.hidden;
  const Gates bias(p.bias, 0, n);
  for (index_t row = 0; row < p.rows; ++row) {
    const Gates at(p.gates, row, n);
    const real* before = p.h_before + row * n;
    real* h = p.h + row * n;
#pragma GCC ivdep
    for (index_t j = 0; j < n; ++j) {
      const real r = sigmoid(at.a[j] + bias.a[j]);
      const real z = sigmoid(at.b[j] + bias.b[j]);
      const real m = at.c[j] + bias.c[j];
      const real candidate = hyperbolic_tangent(at.d[j] + bias.d[j] + r * m);
      at.a[j] = r;
      at.b[j] = z;
      at.c[j] = m;
      at.d[j] = candidate;
      h[j] = (1 - z) * candidate + z * before[j];
    }
  }
}

/// dh becomes the direct part of the gradient of the state before the step; the product with the weights adds the rest.
void gru_backward(const GateRows& p, const GateGrads& grads) {
  const index_t n = p.hidden;
  for (index_t row = 0; row < p.rows; ++row) {
    const Gates at(p.gates, row, n), to(grads.dgates, row, n);
    const real* before = p.h_before + row * n;
    real* dh = grads.dh + row * n;
#pragma GCC ivdep
    for (index_t j = 0; j < n; ++j) {
      const real r = at.a[j], z = at.b[j], m = at.c[j], candidate = at.d[j];
      const real dn = dh[j] * (1 - z) * (1 - candidate * candidate);
      to.a[j] = dn * m * r * (1 - r);
      to.b[j] = dh[j] * (before[j] - candidate) * z * (1 - z);
      to.c[j] = dn * r;
      to.d[j] = dn;
      dh[j] = dh[j] * z;
    }
  }
}

// GRU, reset before the product, in two passes around the second product: columns r, z, m = r h, n.

void gru_reset(const GateRows& p) {
  const index_t n = p.hidden;
  const Gates bias(p.bias, 0, n);
  for (index_t row = 0; row < p.rows; ++row) {
    const Gates at(p.gates, row, n);
    const real* before = p.h_before + row * n;
#pragma GCC ivdep
    for (index_t j = 0; j < n; ++j) {
      const real r = sigmoid(at.a[j] + bias.a[j]);
      at.a[j] = r;
      at.b[j] = sigmoid(at.b[j] + bias.b[j]);
      at.c[j] = r * before[j];
    }
  }
}

void gru_update(const GateRows& p) {
  const index_t n = p.hidden;
  const Gates bias(p.bias, 0, n);
  for (index_t row = 0; row < p.rows; ++row) {
    const Gates at(p.gates, row, n);
    const real* before = p.h_before + row * n;
    real* h = p.h + row * n;
#pragma GCC ivdep
    for (index_t j = 0; j < n; ++j) {
      const real candidate = hyperbolic_tangent(at.d[j] + bias.d[j]);
      at.d[j] = candidate;
      h[j] = (1 - at.b[j]) * candidate + at.b[j] * before[j];
    }
  }
}

void gru_update_backward(const GateRows& p, const GateGrads& grads) {
  const index_t n = p.hidden;
  for (index_t row = 0; row < p.rows; ++row) {
    const Gates at(p.gates, row, n), to(grads.dgates, row, n);
    const real* before = p.h_before + row * n;
    real* dh = grads.dh + row * n;
#pragma GCC ivdep
    for (index_t j = 0; j < n; ++j) {
      const real z = at.b[j], candidate = at.d[j];
      to.b[j] = dh[j] * (before[j] - candidate) * z * (1 - z);
      to.d[j] = dh[j] * (1 - z) * (1 - candidate * candidate);
      dh[j] = dh[j] * z;
    }
  }
}

/// On entry the third column of dgates is the gradient of m.
void gru_reset_backward(const GateRows& p, const GateGrads& grads) {
  const index_t n = p.hidden;
  for (index_t row = 0; row < p.rows; ++row) {
    const Gates at(p.gates, row, n), to(grads.dgates, row, n);
    const real* before = p.h_before + row * n;
    real* dh = grads.dh + row * n;
#pragma GCC ivdep
    for (index_t j = 0; j < n; ++j) {
      const real r = at.a[j], dm = to.c[j];
      to.a[j] = dm * before[j] * r * (1 - r);
      dh[j] += dm * r;
    }
  }
}

}  // namespace

extern const RecurrentTable recurrent_table;
const RecurrentTable recurrent_table = {
    rnn,          rnn_backward, lstm,       lstm_backward,       gru,
    gru_backward, gru_reset,    gru_update, gru_update_backward, gru_reset_backward};

}  // namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE
