#include <xtape/core/kernels/gemm.hpp>
#include <xtape/core/kernels/isa.hpp>
#include <xtape/core/kernels/parallel.hpp>
#include <xtape/core/kernels/recurrent.hpp>

#include <algorithm>

namespace xtape::inline XTAPE_DTYPE::kernels {

namespace {

constexpr index_t kRows = 16;  // sequences in a range, whatever the number of threads

const RecurrentTable& table() { return isa().recurrent; }

/// The rows of one step that fall into one range of sequences.
struct Part {
  index_t begin;      // the first sequence, in sorted order
  index_t rows;       // how many of the range have this step
  index_t row;        // packed row of the first
  index_t next;       // packed row of the first in the next step
  index_t continued;  // how many of the rows have a next step
};

Part part_of(const PackedSteps& s, index_t step, index_t begin, index_t end) {
  const auto rows = [&](index_t of) {
    if (of >= s.steps) return index_t{0};
    return std::clamp(s.offset[of + 1] - s.offset[of] - begin, index_t{0}, end - begin);
  };
  return {begin, rows(step), s.offset[step] + begin, s.offset[step + 1] + begin, rows(step + 1)};
}

template <class Body>
void forward_steps(const PackedSteps& s, const Body& body) {
  parallel_ranges(s.batch, kRows, [&](index_t begin, index_t end) {
    for (index_t step = 0; step < s.steps; ++step)
      if (const Part p = part_of(s, step, begin, end); p.rows > 0) body(p);
  });
}

template <class Body>
void backward_steps(const PackedSteps& s, const Body& body) {
  parallel_ranges(s.batch, kRows, [&](index_t begin, index_t end) {
    for (index_t step = s.steps; step-- > 0;)
      if (const Part p = part_of(s, step, begin, end); p.rows > 0) body(p);
  });
}

/// body(first, count, ends) for the rows of a part that have a next step, and for those that end, if there are any.
template <class Body>
void continued_then_ended(const Part& p, const Body& body) {
  if (p.continued > 0) body(index_t{0}, p.continued, false);
  if (p.rows > p.continued) body(p.continued, p.rows - p.continued, true);
}

/// Where the state after this step is stored, for the rows from `first` on.
real* after(const States& states, const Part& p, index_t first, bool ends, index_t hidden) {
  return ends ? states.last + (p.begin + first) * hidden : states.before + (p.next + first) * hidden;
}

/// Copies x [rows, H], rows `stride` apart, to the rows of y that belong to a part.
void write_outputs(const RecurrentArrays& r, const Part& p, index_t first, index_t rows, const real* x,
                   index_t stride) {
  const index_t* place = r.steps.place + p.row + first;
  for (index_t i = 0; i < rows; ++i) std::copy_n(x + i * stride, r.hidden, r.y + place[i] * r.hidden);
}

/// dh += dy for the rows of a part, which completes the gradient of h_t.
void complete_state(const RecurrentArrays& r, const RecurrentGrads& g, const Part& p) {
  const index_t* place = r.steps.place + p.row;
  real* dh = g.dh + p.begin * r.hidden;
  for (index_t i = 0; i < p.rows; ++i)
    isa().arithmetic.scaled(g.dy + place[i] * r.hidden, 1, {dh + i * r.hidden, true}, r.hidden);
  if (g.dh_steps) std::copy_n(dh, p.rows * r.hidden, g.dh_steps + p.row * r.hidden);
}

/// The weights of `count` gates from gate `first` on, packed once for all steps: W^T for the gates, W for the gradient
/// of the states.
PackedMatrix to_gates(const RecurrentArrays& r, index_t first, index_t count) {
  const index_t h = r.hidden;
  return PackedMatrix({r.weight + first * h * h, h, true}, h, count * h);
}
PackedMatrix to_states(const RecurrentArrays& r, index_t first, index_t count) {
  const index_t h = r.hidden;
  return PackedMatrix({r.weight + first * h * h, h}, count * h, h);
}

/// c = beta c + a w.
void multiply(index_t rows, MatrixView a, const PackedMatrix& w, real beta, MatrixOut c) {
  gemm({rows, w.n(), w.k()}, a, w, c, {.beta = beta});
}

/// `rows` rows of a part from `first` on, without the state after the step.
GateRows gate_rows(const RecurrentArrays& r, index_t columns, const Part& p, index_t first, index_t rows) {
  const index_t h = r.hidden, row = p.row + first;
  GateRows out = {rows, h, r.gates + row * columns * h, r.bias, r.h.before + row * h};
  if (r.c.before) out.c_before = r.c.before + row * h;
  return out;
}

/// `rows` rows of a part from `first` on, with the state after the step.
GateRows step_rows(const RecurrentArrays& r, index_t columns, const Part& p, index_t first, index_t rows, bool ends) {
  GateRows out = gate_rows(r, columns, p, first, rows);
  out.h = after(r.h, p, first, ends, r.hidden);
  if (r.c.before) out.c = after(r.c, p, first, ends, r.hidden);
  return out;
}

GateGrads gate_grads(const RecurrentArrays& r, const RecurrentGrads& g, index_t columns, const Part& p, index_t first) {
  const index_t h = r.hidden, row = p.row + first, sequence = p.begin + first;
  GateGrads out = {g.dh + sequence * h, g.dgates + row * columns * h};
  if (g.dc) out.dc = g.dc + sequence * h;
  if (g.dc_steps) out.dc_step = g.dc_steps + row * h;
  return out;
}

}  // namespace

void rnn(const RecurrentArrays& r, Nonlinearity f, bool inside) {
  const index_t h = r.hidden;
  const PackedMatrix weight = to_gates(r, 0, 1);
  forward_steps(r.steps, [&](const Part& p) {
    multiply(p.rows, {r.h.before + p.row * h, h}, weight, 1, {r.gates + p.row * h, h});
    continued_then_ended(p, [&](index_t first, index_t rows, bool ends) {
      const GateRows at = step_rows(r, 1, p, first, rows, ends);
      table().rnn(at, f);
      if (!inside && ends) std::copy_n(at.gates, rows * h, at.h);  // the last state is h_t, not f(h_t)
      write_outputs(r, p, first, rows, inside ? at.h : at.gates, h);
    });
  });
}

void rnn_backward(const RecurrentArrays& r, Nonlinearity f, bool inside, const RecurrentGrads& g) {
  const index_t h = r.hidden;
  const PackedMatrix weight = to_states(r, 0, 1);
  backward_steps(r.steps, [&](const Part& p) {
    complete_state(r, g, p);
    real* dh = g.dh + p.begin * h;
    real* dgates = g.dgates + p.row * h;
    if (inside) {
      continued_then_ended(p, [&](index_t first, index_t rows, bool ends) {
        table().rnn_backward(f, after(r.h, p, first, ends, h), dh + first * h, dgates + first * h, rows * h);
      });
    } else {
      std::copy_n(dh, p.rows * h, dgates);
    }
    multiply(p.rows, {dgates, h}, weight, 0, {dh, h});
    if (!inside) table().rnn_backward(f, r.h.before + p.row * h, dh, dh, p.rows * h);
  });
}

void lstm(const RecurrentArrays& r) {
  const index_t h = r.hidden;
  const PackedMatrix weight = to_gates(r, 0, 4);
  forward_steps(r.steps, [&](const Part& p) {
    multiply(p.rows, {r.h.before + p.row * h, h}, weight, 1, {r.gates + p.row * 4 * h, 4 * h});
    continued_then_ended(p, [&](index_t first, index_t rows, bool ends) {
      const GateRows at = step_rows(r, 4, p, first, rows, ends);
      table().lstm(at);
      write_outputs(r, p, first, rows, at.h, h);
    });
  });
}

void lstm_backward(const RecurrentArrays& r, const RecurrentGrads& g) {
  const index_t h = r.hidden;
  const PackedMatrix weight = to_states(r, 0, 4);
  backward_steps(r.steps, [&](const Part& p) {
    complete_state(r, g, p);
    continued_then_ended(p, [&](index_t first, index_t rows, bool ends) {
      table().lstm_backward(step_rows(r, 4, p, first, rows, ends), gate_grads(r, g, 4, p, first));
    });
    multiply(p.rows, {g.dgates + p.row * 4 * h, 4 * h}, weight, 0, {g.dh + p.begin * h, h});
  });
}

void gru(const RecurrentArrays& r, bool reset_after) {
  const index_t h = r.hidden, stride = 4 * h;
  const PackedMatrix weight = to_gates(r, 0, reset_after ? 3 : 2), candidate = to_gates(r, 2, reset_after ? 0 : 1);
  forward_steps(r.steps, [&](const Part& p) {
    real* gates = r.gates + p.row * stride;
    multiply(p.rows, {r.h.before + p.row * h, h}, weight, 1, {gates, stride});
    if (!reset_after) {
      table().gru_reset(gate_rows(r, 4, p, 0, p.rows));
      multiply(p.rows, {gates + 2 * h, stride}, candidate, 1, {gates + 3 * h, stride});
    }
    continued_then_ended(p, [&](index_t first, index_t rows, bool ends) {
      const GateRows at = step_rows(r, 4, p, first, rows, ends);
      if (reset_after) table().gru(at);
      else table().gru_update(at);
      write_outputs(r, p, first, rows, at.h, h);
    });
  });
}

void gru_backward(const RecurrentArrays& r, bool reset_after, const RecurrentGrads& g) {
  const index_t h = r.hidden, stride = 4 * h;
  const PackedMatrix weight = to_states(r, 0, reset_after ? 3 : 2), candidate = to_states(r, 2, reset_after ? 0 : 1);
  backward_steps(r.steps, [&](const Part& p) {
    complete_state(r, g, p);
    const GateRows at = gate_rows(r, 4, p, 0, p.rows);
    const GateGrads grads = gate_grads(r, g, 4, p, 0);
    if (reset_after) {
      table().gru_backward(at, grads);
    } else {
      table().gru_update_backward(at, grads);
      multiply(p.rows, {grads.dgates + 3 * h, stride}, candidate, 0, {grads.dgates + 2 * h, stride});
      table().gru_reset_backward(at, grads);
    }
    multiply(p.rows, {grads.dgates, stride}, weight, 1, {grads.dh, h});
  });
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels
