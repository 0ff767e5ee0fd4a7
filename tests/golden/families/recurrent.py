"""Recurrent ops and layers. The values are PyTorch's if it has the form; other forms are loops over the formulas below.

Padded steps: outputs are zero, the last state is that after the last real step.
"""

import numpy as np
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

B, T, I, H = 3, 5, 4, 3
LENGTHS = {"lengths": np.array([3, 5, 1])}
GATES = {"rnn": 1, "lstm": 4, "gru": 3}
SIGMA = {"tanh": torch.tanh, "relu": torch.relu, "sigmoid": torch.sigmoid}


def weight_shapes(gates, inputs=I):
    rows = gates * H
    return {"weight_ih": (rows, inputs), "weight_hh": (rows, H), "bias_ih": (rows,), "bias_hh": (rows,)}


def rnn_step(sigma, place):
    def step(x, state, w):
        """inside: h' = s(U x + b + W h); outside: h' = U x + b + W s(h)."""
        (h,) = state
        from_state = (h if place == "inside" else sigma(h)) @ w["weight_hh"].T
        new = x @ w["weight_ih"].T + w["bias_ih"] + w["bias_hh"] + from_state
        return (sigma(new) if place == "inside" else new,)

    return step


def gru_step(reset):
    def step(x, state, w):
        """Cho et al. 2014, with PyTorch's z (1 keeps the state). The reset gate multiplies the product with the state
        (after), or the state before the product (before); then it does not multiply b_hn."""
        (h,) = state
        from_x = (x @ w["weight_ih"].T + w["bias_ih"]).chunk(3, -1)
        u, b = w["weight_hh"].chunk(3), w["bias_hh"].chunk(3)
        r = torch.sigmoid(from_x[0] + h @ u[0].T + b[0])
        z = torch.sigmoid(from_x[1] + h @ u[1].T + b[1])
        n = torch.tanh(from_x[2] + (r * (h @ u[2].T + b[2]) if reset == "after" else (r * h) @ u[2].T + b[2]))
        return ((1 - z) * n + z * h,)

    return step


def lstm_step(x, state, w):
    """Hochreiter and Schmidhuber 1997 with Gers et al.'s forget gate 1999; gates in the order i, f, g, o."""
    h, c = state
    i, f, g, o = (x @ w["weight_ih"].T + w["bias_ih"] + h @ w["weight_hh"].T + w["bias_hh"]).chunk(4, -1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def sequence(step, x, state, weights, lengths=None, reverse=False):
    """Outputs of all steps [B, T, H], zero at padding, and the state after the last unpadded step of each row."""
    time = x.shape[1]
    lengths = torch.full((x.shape[0],), time) if lengths is None else lengths
    outputs = [None] * time
    for t in reversed(range(time)) if reverse else range(time):
        real = (t < lengths)[:, None]
        new = step(x[:, t], state, weights)
        state = tuple(torch.where(real, a, b) for a, b in zip(new, state))
        outputs[t] = torch.where(real, new[0], torch.zeros_like(new[0]))
    return torch.stack(outputs, 1), state


def sequence_ops(g):
    def case(op, title, step, lengths=False, reverse=False, states=True):
        gates, names = GATES[op], ["h0", "c0"][: 2 if op == "lstm" else 1]

        def run(x, w_ih, w_hh, b_ih, b_hh, *rest):
            weights = {"weight_ih": w_ih, "weight_hh": w_hh, "bias_ih": b_ih, "bias_hh": b_hh}
            state = rest[: len(names)] if states else tuple(torch.zeros(B, H) for _ in names)
            y, last = sequence(step, x, state, weights, rest[-1] if lengths else None, reverse)
            return {"y": y, **dict(zip(["h", "c"], last))}

        g.op(f"{op}/{title}", run, ints=LENGTHS if lengths else None, x=(B, T, I), **weight_shapes(gates),
             **({name: (B, H) for name in names} if states else {}))

    for name, sigma in SIGMA.items():
        case("rnn", f"{name} inside", rnn_step(sigma, "inside"))
        case("rnn", f"{name} outside", rnn_step(sigma, "outside"))
    kinds = [("rnn", "tanh inside", rnn_step(torch.tanh, "inside")), ("lstm", "plain", lstm_step),
             ("gru", "reset after", gru_step("after")), ("gru", "reset before", gru_step("before"))]
    for op, title, step in kinds:
        if op != "rnn":
            case(op, title, step)
        case(op, f"{title}, lengths", step, lengths=True)
        case(op, f"{title}, lengths, reverse", step, lengths=True, reverse=True)
        case(op, f"{title}, no initial state", step, states=False)


def cell_ops(g):
    def cell(step):
        def run(x, h, w_ih, w_hh, b_ih, b_hh):
            return step(x, (h,), {"weight_ih": w_ih, "weight_hh": w_hh, "bias_ih": b_ih, "bias_hh": b_hh})[0]
        return run

    for name, sigma in SIGMA.items():
        for place in ("inside", "outside"):
            g.op(f"rnn_cell/{name} {place}", cell(rnn_step(sigma, place)), x=(B, I), h=(B, H), **weight_shapes(1))
    for reset in ("after", "before"):
        g.op(f"gru_cell/reset {reset}", cell(gru_step(reset)), x=(B, I), h=(B, H), **weight_shapes(3))

    def lstm(x, h, c, *w):
        return dict(zip("hc", torch.lstm_cell(x, (h, c), *w)))

    g.op("lstm_cell/plain", lstm, x=(B, I), h=(B, H), c=(B, H), **weight_shapes(4))


def run_module(m, x, *rest):
    """y, h_n (and c_n) of a PyTorch module; `rest` holds initial states, then lengths."""
    lengths = next((r for r in rest if r.dtype == torch.int64), None)
    states = [r for r in rest if r.dtype != torch.int64]
    state = (tuple(states) if isinstance(m, nn.LSTM) else states[0]) if states else None
    if lengths is None:
        y, last = m(x, state)
    else:
        y, last = m(pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False), state)
        y, _ = pad_packed_sequence(y, batch_first=True, total_length=x.shape[1])
    return {"y": y, **dict(zip(["h", "c"], last if isinstance(last, tuple) else (last,)))}


def layers(g):
    for name, module, states in [("RNN", nn.RNN, 1), ("GRU", nn.GRU, 1), ("LSTM", nn.LSTM, 2)]:
        def case(title, lengths=False, initial=False, **options):
            layer = module(I, H, batch_first=True, **options)
            rows = options.get("num_layers", 1) * (2 if options.get("bidirectional") else 1)
            more = {key: (rows, B, H) for key in ["h0", "c0"][:states]} if initial else {}
            g.layer(f"{name}/{title}", layer, run_module, ints=LENGTHS if lengths else None, x=(B, T, I), **more)

        case("one layer")
        case("initial state", initial=True)
        case("two layers", num_layers=2, initial=True)
        case("bidirectional", bidirectional=True, initial=True)
        case("lengths", lengths=True)
        case("two layers, bidirectional, lengths", num_layers=2, bidirectional=True, lengths=True, initial=True)
        case("no bias", bias=False)
    g.layer("RNN/relu", nn.RNN(I, H, nonlinearity="relu", batch_first=True), run_module, x=(B, T, I))
    g.layer("RNNCell/tanh", nn.RNNCell(I, H), x=(B, I), h=(B, H))
    g.layer("RNNCell/relu", nn.RNNCell(I, H, nonlinearity="relu"), x=(B, I), h=(B, H))
    g.layer("GRUCell/reset after", nn.GRUCell(I, H), x=(B, I), h=(B, H))
    g.layer("LSTMCell/plain", nn.LSTMCell(I, H), lambda m, x, h, c: dict(zip("hc", m(x, (h, c)))),
            x=(B, I), h=(B, H), c=(B, H))


class Formed(nn.Module):
    """Two layers of a form that PyTorch does not have, with PyTorch's parameter names."""

    def __init__(self, gates, step):
        super().__init__()
        self.step = step
        for layer, inputs in enumerate([I, H]):
            for name, shape in weight_shapes(gates, inputs).items():
                self.register_parameter(f"{name}_l{layer}", nn.Parameter(torch.zeros(shape)))

    def forward(self, x, h0, lengths):
        last = []
        for layer in range(2):
            weights = {name[:-3]: p for name, p in self.named_parameters() if name.endswith(f"_l{layer}")}
            x, (h,) = sequence(self.step, x, (h0[layer],), weights, lengths)
            last.append(h)
        return {"y": x, "h": torch.stack(last)}


def other_forms(g):
    for name, sigma in SIGMA.items():
        for place in ("inside", "outside"):
            if (name, place) != ("tanh", "inside"):
                g.layer(f"RNN/{name} {place}, two layers", Formed(1, rnn_step(sigma, place)), ints=LENGTHS,
                        x=(B, T, I), h0=(2, B, H))
    g.layer("GRU/reset before, two layers", Formed(3, gru_step("before")), x=(B, T, I), h0=(2, B, H), ints=LENGTHS)


def write(g):
    sequence_ops(g)
    cell_ops(g)
    layers(g)
    other_forms(g)
