"""Inverted dropout (Srivastava et al. 2014), with masks drawn here by Philox4x32-10 (philox.py)."""

import torch

from philox import kept


def write(g):
    def dropped(p, key):
        def run(x):
            mask = torch.from_numpy(kept(*key, x.numel(), p)).reshape(x.shape)
            return x * mask / (1 - p) if p < 1 else x * 0
        return run

    g.op("dropout/a quarter", dropped(0.25, (1, 2, 3)), x=(7, 9))
    g.op("dropout/half, large key", dropped(0.5, (2**63 + 12345, 2**62 + 987654321, 2**40)), x=(3, 5))
    g.op("dropout/nothing", dropped(0.0, (1, 2, 3)), x=(3, 5))
    g.op("dropout/everything", dropped(1.0, (1, 2, 3)), x=(3, 5))
