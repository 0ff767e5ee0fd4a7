"""Reductions, running sums and softmax."""

import numpy as np
import torch
import torch.nn.functional as F

from golden_file import Uniform


def over_axes(g, op, function, spec=Uniform):
    """function(x, dims, keepdim), over all axes, one, and two that are not neighbors."""
    g.op(f"{op}/all", lambda x: function(x, (0, 1, 2), False), x=spec(2, 3, 4))
    g.op(f"{op}/first axis", lambda x: function(x, (0,), False), x=spec(5, 3))
    g.op(f"{op}/last axis, kept", lambda x: function(x, (2,), True), x=spec(2, 3, 4))
    g.op(f"{op}/first and last", lambda x: function(x, (0, 2), False), x=spec(2, 3, 4))
    g.op(f"{op}/long rows", lambda x: function(x, (1,), False), x=spec(3, 300))


def write(g):
    over_axes(g, "sum", lambda x, dims, keep: x.sum(dims, keep))
    over_axes(g, "mean", lambda x, dims, keep: x.mean(dims, keep))
    over_axes(g, "max", lambda x, dims, keep: x.amax(dims, keep))
    over_axes(g, "min", lambda x, dims, keep: x.amin(dims, keep))
    over_axes(g, "var", lambda x, dims, keep: x.var(dims, unbiased=True, keepdim=keep))
    over_axes(g, "stddev", lambda x, dims, keep: x.std(dims, unbiased=True, keepdim=keep))
    g.op("var/biased", lambda x: x.var(1, unbiased=False), x=(3, 5))
    g.op("stddev/biased", lambda x: x.std(1, unbiased=False), x=(3, 5))
    over_axes(g, "norm", lambda x, dims, keep: torch.linalg.vector_norm(x, 2, dims, keep))
    over_axes(g, "logsumexp", lambda x, dims, keep: x.logsumexp(dims, keep))
    large = np.array([[1000.0, 1000.5, -1000.0], [-800.0, -800.25, -799.5]])
    g.op("logsumexp/large", lambda x: x.logsumexp(1), x=large)
    g.op("cumsum/first axis", lambda x: x.cumsum(0), x=(4, 3))
    g.op("cumsum/last axis", lambda x: x.cumsum(-1), x=(2, 3, 5))
    for op, function in [("softmax", F.softmax), ("log_softmax", F.log_softmax)]:
        g.op(f"{op}/last axis", lambda x: function(x, -1), x=Uniform(2, 3, 4, low=-2, high=2))
        g.op(f"{op}/first axis", lambda x: function(x, 0), x=Uniform(4, 3, low=-2, high=2))
        g.op(f"{op}/middle axis", lambda x: function(x, 1), x=Uniform(2, 3, 4, low=-2, high=2))
        g.op(f"{op}/wider than the lanes", lambda x: function(x, -1), x=Uniform(3, 37, low=-5, high=5))
        g.op(f"{op}/large", lambda x: function(x, -1), x=large)
