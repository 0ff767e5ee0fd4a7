"""Twenty steps of every optimizer under given gradients, clipping, and learning-rate schedules.

A trajectory has the parameters `weight` and `bias` ([20, ...], values after each step) from `weight0` and `bias0` under
`weight_grad` and `bias_grad`. The gradient of step 7 is absent (None) for the bias: it is then not stepped.
"""

import math

import numpy as np
import torch

from golden_file import in_float, random_of

STEPS = 20
LR = 0.0625
SHAPES = {"weight": (2, 3), "bias": (3,)}


class FormulaOptimizer(torch.optim.Optimizer):
    """Optimizer of a formula below: `move(w, g, state, t, lr, decay)` updates w in place."""

    def __init__(self, params, move, lr=LR, weight_decay=0.0):
        super().__init__(params, {"lr": lr, "weight_decay": weight_decay})
        self.move = move

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for w in group["params"]:
                if w.grad is not None:
                    state = self.state[w]
                    state["t"] = state.get("t", 0) + 1
                    self.move(w, w.grad, state, state["t"], group["lr"], group["weight_decay"])


def momentum_decoupled(momentum, nesterov=False):
    """v = momentum v + g; w -= lr (v + decay w): decay is outside the velocity (Loshchilov, Hutter 2019, alg. 1).
    Nesterov steps along g + momentum v, as torch.optim.SGD."""

    def move(w, g, state, t, lr, decay):
        v = state["v"] = momentum * state.get("v", 0) + g
        w.sub_(lr * decay * w + lr * (g + momentum * v if nesterov else v))

    return move


def averaged(beta, corrected, decoupled):
    """v = beta v + (1 - beta) g; w -= lr v, or lr v / (1 - beta^t): the step is a running mean of the gradients."""

    def move(w, g, state, t, lr, decay):
        v = state["v"] = beta * state.get("v", 0) + (1 - beta) * (g if decoupled else g + decay * w)
        w.sub_(lr * (v / (1 - beta**t) if corrected else v) + (lr * decay * w if decoupled else 0))

    return move


def trajectory(g, name, make, rates=None, skip=True):
    """make(groups) returns an optimizer. `rates` gives the learning rate of each step, if it changes."""
    rng = random_of(name)
    start = {key: in_float(rng.uniform(-1, 1, shape)) for key, shape in SHAPES.items()}
    grads = {key: in_float(rng.uniform(-1, 1, (STEPS, *shape)) + 0.25) for key, shape in SHAPES.items()}
    weights = {key: torch.nn.Parameter(torch.from_numpy(value.copy())) for key, value in start.items()}
    optimizer = make(weights)
    scales = [group["lr"] / optimizer.param_groups[0]["lr"] for group in optimizer.param_groups]
    path = {key: [] for key in SHAPES}
    for t in range(STEPS):
        for key, w in weights.items():
            w.grad = None if skip and t == 7 and key == "bias" else torch.from_numpy(grads[key][t].copy())
        if rates is not None:
            for group, scale in zip(optimizer.param_groups, scales):
                group["lr"] = rates[t] * scale
        optimizer.step()
        for key, w in weights.items():
            path[key].append(w.detach().clone())
    g.raw(name, fixed={"weight0": start["weight"], "bias0": start["bias"], "weight_grad": grads["weight"],
                       "bias_grad": grads["bias"], **({"rates": np.array(rates)} if rates is not None else {})},
          out={key: torch.stack(values) for key, values in path.items()})


def optimizers(g):
    def own(move, **options):
        return lambda w: FormulaOptimizer(w.values(), move, **options)

    def torch_sgd(**options):
        return lambda w: torch.optim.SGD(w.values(), LR, **options)

    changing = [LR * (1 + math.sin(t)) for t in range(STEPS)]
    trajectory(g, "SGD/plain", torch_sgd())
    trajectory(g, "SGD/momentum", torch_sgd(momentum=0.875))
    trajectory(g, "SGD/momentum, changing rate", torch_sgd(momentum=0.875), changing)
    trajectory(g, "SGD/dampening", torch_sgd(momentum=0.875, dampening=0.25))
    trajectory(g, "SGD/nesterov", torch_sgd(momentum=0.875, nesterov=True))
    trajectory(g, "SGD/L2", torch_sgd(weight_decay=0.125))
    trajectory(g, "SGD/momentum and L2", torch_sgd(momentum=0.875, weight_decay=0.125))
    trajectory(g, "SGD/nesterov and L2", torch_sgd(momentum=0.875, nesterov=True, weight_decay=0.125))
    trajectory(g, "SGDW/plain", own(momentum_decoupled(0.0), weight_decay=0.125))
    trajectory(g, "SGDW/momentum", own(momentum_decoupled(0.875), weight_decay=0.125))
    trajectory(g, "SGDW/nesterov", own(momentum_decoupled(0.875, nesterov=True), weight_decay=0.125))
    trajectory(g, "AveragedSGD/plain", own(averaged(0.875, False, False)))
    trajectory(g, "AveragedSGD/corrected", own(averaged(0.875, True, False)))
    trajectory(g, "AveragedSGD/corrected, changing rate", own(averaged(0.875, True, False)), changing)
    trajectory(g, "AveragedSGD/L2", own(averaged(0.875, True, False), weight_decay=0.125))
    trajectory(g, "AveragedSGDW/corrected", own(averaged(0.875, True, True), weight_decay=0.125))
    trajectory(g, "Adam/plain", lambda w: torch.optim.Adam(w.values(), LR))
    trajectory(g, "Adam/L2", lambda w: torch.optim.Adam(w.values(), LR, weight_decay=0.125))
    trajectory(g, "Adam/betas and eps", lambda w: torch.optim.Adam(w.values(), LR, betas=(0.75, 0.9375), eps=0.0625))
    trajectory(g, "AdamW/plain", lambda w: torch.optim.AdamW(w.values(), LR, weight_decay=0.125))
    trajectory(g, "AdamW/changing rate", lambda w: torch.optim.AdamW(w.values(), LR, weight_decay=0.125), changing)
    trajectory(g, "AdamW/two groups", lambda w: torch.optim.AdamW(
        [{"params": [w["weight"]], "weight_decay": 0.125},
         {"params": [w["bias"]], "lr": LR / 4, "weight_decay": 0.0}], LR))


def clipping(g):
    def case(name, limit, clip):
        rng = random_of(name)
        parameters = {key: torch.nn.Parameter(torch.zeros(shape)) for key, shape in SHAPES.items()}
        for key, p in parameters.items():
            p.grad = torch.from_numpy(in_float(rng.uniform(-2, 2, p.shape)))
        before = {key: p.grad.clone() for key, p in parameters.items()}
        norm = clip(list(parameters.values()), limit)
        g.raw(name, fixed={**before, "limit": np.array(limit)},
              out={"norm": norm, **{key: p.grad for key, p in parameters.items()}})

    def norm_of(parameters):
        return torch.sqrt(sum(p.grad.pow(2).sum() for p in parameters))

    def clip_norm(parameters, limit):
        """Scales by limit / norm. (PyTorch's clip_grad_norm_ divides by norm + 1e-6.)"""
        norm = norm_of(parameters)
        for p in parameters:
            p.grad.mul_(torch.clamp(limit / norm, max=1.0))
        return norm

    def clip_value(parameters, limit):
        norm = norm_of(parameters)
        torch.nn.utils.clip_grad_value_(parameters, limit)
        return norm

    case("clip_grad_norm/over the limit", 1.0, clip_norm)
    case("clip_grad_norm/under the limit", 100.0, clip_norm)
    case("clip_grad_value/half", 0.5, clip_value)


def write(g):
    optimizers(g)
    clipping(g)
