"""Learning rates at steps 0, 1, ... 24: from PyTorch's scheduler if there is one, else by formula."""

import math

import numpy as np
import torch

STEPS = 25


def by_torch(make, lr=0.5):
    """The rates of consecutive steps of a scheduler."""
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


def warmed(rate, warmup, peak):
    """Linear rise over the first steps, then rate(step)."""
    return lambda step: peak * (step + 1) / warmup if step < warmup else rate(step)


def write(g):
    def formula(name, rate):
        g.raw(name, out={"rate": np.array([rate(step) for step in range(STEPS)])})

    def pytorch(name, scheduler, *arguments, **options):
        g.raw(name, out={"rate": np.array(by_torch(lambda o: scheduler(o, *arguments, **options)))})

    schedulers = torch.optim.lr_scheduler
    formula("constant/warm-up", warmed(lambda step: 0.5, 4, 0.5))
    pytorch("linear_decay/no warm-up", schedulers.LinearLR, start_factor=1.0, end_factor=0.125, total_iters=20)
    formula("linear_decay/warm-up", warmed(lambda s: 0.0625 + 0.4375 * max(0, 20 - s) / 16, 4, 0.5))
    # After its end PyTorch's cosine rises again, and xtape's stays at the floor.
    half = by_torch(lambda o: schedulers.CosineAnnealingLR(o, 20))
    g.raw("cosine/no warm-up", out={"rate": np.array(half[:21] + [0.0] * 4)})
    formula("cosine/warm-up and floor", lambda step: cosine(step, 4, 20, 0.5, 0.0625))
    pytorch("step_decay/every six", schedulers.StepLR, 6, gamma=0.25)
    pytorch("exponential_decay/no warm-up", schedulers.ExponentialLR, 0.875)
    formula("exponential_decay/warm-up and floor", warmed(lambda s: max(0.125, 0.5 * 0.875 ** (s - 4)), 4, 0.5))
    g.raw("one_cycle/PyTorch's defaults",
          out={"rate": np.array(by_torch(lambda o: schedulers.OneCycleLR(o, 0.5, total_steps=STEPS + 1)))})
    g.raw("one_cycle/half up",
          out={"rate": np.array(by_torch(lambda o: schedulers.OneCycleLR(o, 0.5, total_steps=STEPS + 1, pct_start=0.5,
                                                                         div_factor=8, final_div_factor=2)))})
    # Hu et al. 2024 (MiniCPM), section 4: constant, then a decay, here a linear one.
    formula("warmup_stable_decay/five fall",
            warmed(lambda s: 0.0625 + 0.4375 * min(1, max(0, 20 - s) / 5), 4, 0.5))
    # Vaswani et al. 2017, section 5.3, equation 3, with the peak given.
    formula("inverse_sqrt/warm-up", lambda step: 0.5 * min((step + 1) / 4, math.sqrt(4 / (step + 1))))
    formula("inverse_sqrt/no warm-up", lambda step: 0.5 / math.sqrt(step + 1))
