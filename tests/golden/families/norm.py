"""Normalization ops."""

import numpy as np
import torch
import torch.nn.functional as F

from golden_file import Uniform, positive


def rms_norm(x, weight=None, eps=1e-5):
    """x / sqrt(mean(x^2) + eps) * weight over the last axis (Zhang and Sennrich 2019, equation 4, with eps)."""
    y = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    return y if weight is None else y * weight


def batch_norm(x, mean, variance, weight, bias, training, eps=1e-5):
    """Over the last axis of [B, C] or [B, T, C]; PyTorch wants the channels on axis 1."""
    channels_second = x if x.dim() == 2 else x.transpose(1, 2)
    y = F.batch_norm(channels_second, mean, variance, weight, bias, training, 0.1, eps)
    return y if x.dim() == 2 else y.transpose(1, 2)


def write(g):
    g.op("layer_norm/no affine", lambda x: F.layer_norm(x, x.shape[-1:]), x=(2, 3, 5))
    g.op("layer_norm/gain and bias", lambda x, w, b: F.layer_norm(x, w.shape, w, b),
         x=(2, 3, 5), weight=positive(5), bias=(5,))
    g.op("layer_norm/gain only, wide", lambda x, w: F.layer_norm(x, w.shape, w), x=(3, 37), weight=positive(37))
    g.op("layer_norm/eps", lambda x, w, b: F.layer_norm(x, w.shape, w, b, 0.125),
         x=(4, 6), weight=positive(6), bias=(6,))
    g.op("layer_norm/large mean", lambda x: F.layer_norm(x, x.shape[-1:]), x=Uniform(2, 8, low=999, high=1001))
    g.op("rms_norm/no affine", rms_norm, x=(2, 3, 5))
    g.op("rms_norm/gain", rms_norm, x=(2, 3, 5), weight=positive(5))
    g.op("rms_norm/wide", rms_norm, x=(3, 37), weight=positive(37))
    g.op("rms_norm/eps", lambda x, w: rms_norm(x, w, 0.125), x=(4, 6), weight=positive(6))
    for title, shape in [("rows", (6, 4)), ("sequences", (3, 5, 4))]:
        g.op(f"batch_norm/{title}", lambda x, w, b: batch_norm(x, None, None, w, b, True),
             x=shape, weight=positive(4), bias=(4,))
        g.op(f"batch_norm_eval/{title}",
             lambda x, w, b, mean, variance: batch_norm(x, mean, variance, w, b, False),
             x=shape, weight=positive(4), bias=(4,),
             fixed={"mean": np.linspace(-0.5, 0.5, 4), "variance": np.linspace(0.5, 2, 4)})
    g.op("batch_norm/no affine", lambda x: batch_norm(x, None, None, None, None, True), x=(6, 4))
