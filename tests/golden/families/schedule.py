"""Learning rates at steps 0, 1, ... 24: PyTorch's schedulers where they have the form, else the formula."""

import math

import numpy as np
import torch

STEPS = 25


def by_torch(make, lr=0.5):
    """The rates that a scheduler gives to consecutive steps."""
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr)
    scheduler, rates = make(optimizer), []
    for _ in range(STEPS):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return rates


def cosine(step, warmup, total, peak, floor):
    """Linear rise over `warmup` steps, then half a cosine from peak to floor (Loshchilov and Hutter 2017)."""
    if step < warmup:
        return peak * (step + 1) / warmup
    if step >= total:
        return floor
    return floor + (peak - floor) * 0.5 * (1 + math.cos(math.pi * (step - warmup) / (total - warmup)))


def write(g):
    def formula(name, rate):
        g.raw(name, out={"rate": np.array([rate(step) for step in range(STEPS)])})

    # Past its end PyTorch's cosine rises again; ours stays at the floor.
    half = by_torch(lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, 20))
    g.raw("cosine/no warm-up", out={"rate": np.array(half[:21] + [0.0] * 4)})
    formula("cosine/warm-up and floor", lambda step: cosine(step, 4, 20, 0.5, 0.0625))
