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
  Gates(T* gates, index_t hidden)
      : a(gates), b(offset_pointer(a, hidden)), c(offset_pointer(b, hidden)), d(offset_pointer(c, hidden)) {}
};

/// One row of a step with four gates: its arrays, and their gradients `d..`. Those that are not given are null.
struct Row {
  Gates<real> gates, dgates;
  const real *h_before, *c_before;
  real *h, *c, *dh, *dc, *dc_step;

  Row(const GateRows& p, const GateGrads& g, index_t row)
      : gates(p.gates + row * 4 * p.hidden, p.hidden),
        dgates(offset_pointer(g.dgates, row * 4 * p.hidden), p.hidden),
        h_before(p.h_before + row * p.hidden),
        c_before(offset_pointer(p.c_before, row * p.hidden)),
        h(offset_pointer(p.h, row * p.hidden)),
        c(offset_pointer(p.c, row * p.hidden)),
        dh(offset_pointer(g.dh, row * p.hidden)),
        dc(offset_pointer(g.dc, row * p.hidden)),
        dc_step(offset_pointer(g.dc_step, row * p.hidden)) {}
};

/// body(row, j) for each unit j of each row.
template <class Body>
void for_units(const GateRows& p, const GateGrads& grads, Body body) {
  for (index_t r = 0; r < p.rows; ++r) {
    const Row row(p, grads, r);
#pragma GCC ivdep
    for (index_t j = 0; j < p.hidden; ++j) body(row, j);
  }
}

void lstm(const GateRows& p) {
  const Gates<const real> bias(p.bias, p.hidden);
  for_units(p, {}, [=](const Row& row, index_t j) {
    const Gates<real> at = row.gates;
    const real i = sigmoid(at.a[j] + bias.a[j]);
    const real f = sigmoid(at.b[j] + bias.b[j]);
    const real g = hyperbolic_tangent(at.c[j] + bias.c[j]);
    const real o = sigmoid(at.d[j] + bias.d[j]);
    const real state = f * row.c_before[j] + i * g;
    at.a[j] = i;
    at.b[j] = f;
    at.c[j] = g;
    at.d[j] = o;
    row.c[j] = state;
    row.h[j] = o * hyperbolic_tangent(state);
  });
}

/// dc becomes the gradient of the state before the step; `keep_dc` also stores that of the state after it.
template <bool keep_dc>
void lstm_rows_backward(const GateRows& p, const GateGrads& grads) {
  for_units(p, grads, [](const Row& row, index_t j) {
    const Gates<real> at = row.gates, to = row.dgates;
    const real i = at.a[j], f = at.b[j], g = at.c[j], o = at.d[j], dh = row.dh[j];
    const real t = hyperbolic_tangent(row.c[j]);
    const real dc = row.dc[j] + dh * o * (1 - t * t);
    to.a[j] = dc * g * i * (1 - i);
    to.b[j] = dc * row.c_before[j] * f * (1 - f);
    to.c[j] = dc * i * (1 - g * g);
    to.d[j] = dh * t * o * (1 - o);
    if constexpr (keep_dc) row.dc_step[j] = dc;
    row.dc[j] = dc * f;
  });
}

void lstm_backward(const GateRows& p, const GateGrads& grads) {
  if (grads.dc_step) lstm_rows_backward<true>(p, grads);
  else lstm_rows_backward<false>(p, grads);
}

// GRU, reset after the product: columns r, z, m = W_n h + b_m, n.

void gru(const GateRows& p) {
  const Gates<const real> bias(p.bias, p.hidden);
  for_units(p, {}, [=](const Row& row, index_t j) {
    const Gates<real> at = row.gates;
    const real r = sigmoid(at.a[j] + bias.a[j]);
    const real z = sigmoid(at.b[j] + bias.b[j]);
    const real m = at.c[j] + bias.c[j];
    const real candidate = hyperbolic_tangent(at.d[j] + bias.d[j] + r * m);
    at.a[j] = r;
    at.b[j] = z;
    at.c[j] = m;
    at.d[j] = candidate;
    row.h[j] = (1 - z) * candidate + z * row.h_before[j];
  });
}

/// dh becomes the direct part of the gradient of the state before the step; the product with the weights adds the rest.
void gru_backward(const GateRows& p, const GateGrads& grads) {
  for_units(p, grads, [](const Row& row, index_t j) {
    const Gates<real> at = row.gates, to = row.dgates;
    const real r = at.a[j], z = at.b[j], m = at.c[j], candidate = at.d[j], dh = row.dh[j];
    const real dn = dh * (1 - z) * (1 - candidate * candidate);
    to.a[j] = dn * m * r * (1 - r);
    to.b[j] = dh * (row.h_before[j] - candidate) * z * (1 - z);
    to.c[j] = dn * r;
    to.d[j] = dn;
    row.dh[j] = dh * z;
  });
}

// GRU, reset before the product, in two passes around the second product: columns r, z, m = r h, n.

void gru_reset(const GateRows& p) {
  const Gates<const real> bias(p.bias, p.hidden);
  for_units(p, {}, [=](const Row& row, index_t j) {
    const Gates<real> at = row.gates;
    const real r = sigmoid(at.a[j] + bias.a[j]);
    at.a[j] = r;
    at.b[j] = sigmoid(at.b[j] + bias.b[j]);
    at.c[j] = r * row.h_before[j];
  });
}

void gru_update(const GateRows& p) {
  const Gates<const real> bias(p.bias, p.hidden);
  for_units(p, {}, [=](const Row& row, index_t j) {
    const Gates<real> at = row.gates;
    const real candidate = hyperbolic_tangent(at.d[j] + bias.d[j]);
    at.d[j] = candidate;
    row.h[j] = (1 - at.b[j]) * candidate + at.b[j] * row.h_before[j];
  });
}

void gru_update_backward(const GateRows& p, const GateGrads& grads) {
  for_units(p, grads, [](const Row& row, index_t j) {
    const real z = row.gates.b[j], candidate = row.gates.d[j], dh = row.dh[j];
    row.dgates.b[j] = dh * (row.h_before[j] - candidate) * z * (1 - z);
    row.dgates.d[j] = dh * (1 - z) * (1 - candidate * candidate);
    row.dh[j] = dh * z;
  });
}

/// On entry the third column of dgates is the gradient of m.
void gru_reset_backward(const GateRows& p, const GateGrads& grads) {
  for_units(p, grads, [](const Row& row, index_t j) {
    const real r = row.gates.a[j], dm = row.dgates.c[j];
    row.dgates.a[j] = dm * row.h_before[j] * r * (1 - r);
    row.dh[j] += dm * r;
  });
}

}  // namespace

const RecurrentTable recurrent_table = {
    rnn,          rnn_backward, lstm,       lstm_backward,       gru,
    gru_backward, gru_reset,    gru_update, gru_update_backward, gru_reset_backward};

}  // namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE
