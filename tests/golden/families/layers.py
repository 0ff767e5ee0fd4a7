"""Layers, with parameters named as in PyTorch's modules."""

import numpy as np
import torch
from torch import nn

from families.norm import rms_norm
from philox import kept, mix


def hidden_by(lengths, keys):
    return torch.arange(keys)[None, :] >= lengths[:, None]


def causal_mask(time):
    return torch.ones(time, time, dtype=torch.bool).triu(1)


def simple_layers(g):
    g.layer("Linear/bias", nn.Linear(5, 3), x=(2, 4, 5))
    g.layer("Linear/no bias", nn.Linear(5, 3, bias=False), x=(4, 5))
    ids = {"ids": np.array([[0, 1, 1, 4], [2, 1, 0, 0]])}
    g.layer("Embedding/plain", nn.Embedding(5, 3), ints=ids)
    g.layer("Embedding/padding row", nn.Embedding(5, 3, padding_idx=1), ints=ids)
    g.layer("LayerNorm/affine", nn.LayerNorm(6), x=(2, 3, 6))
    g.layer("LayerNorm/no affine", nn.LayerNorm(6, elementwise_affine=False), x=(2, 3, 6))
    g.layer("LayerNorm/eps", nn.LayerNorm(6, eps=0.125), x=(2, 6))


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return rms_norm(x, self.weight)


def norms(g):
    g.layer("RMSNorm/rows", RMSNorm(6), x=(2, 3, 6))

    def twice(m, first, second):
        """Two batches, so that the running statistics change twice."""
        return {"y": over_last(m, first), "z": over_last(m, second)}

    def over_last(m, x):
        return m(x) if x.dim() == 2 else m(x.transpose(1, 2)).transpose(1, 2)

    def evaluated(m, x):
        return over_last(m.eval(), x)

    def used(m):
        with torch.no_grad():
            m.running_mean.copy_(torch.linspace(-0.5, 0.5, 4))
            m.running_var.copy_(torch.tensor([0.5, 1.0, 1.5, 2.0]))
        return m

    g.layer("BatchNorm/training, rows", nn.BatchNorm1d(4), twice, first=(6, 4), second=(3, 4))
    g.layer("BatchNorm/training, sequences", nn.BatchNorm1d(4), twice, first=(2, 3, 4), second=(3, 5, 4))
    g.layer("BatchNorm/momentum", nn.BatchNorm1d(4, momentum=0.25), twice, first=(6, 4), second=(3, 4))
    g.layer("BatchNorm/cumulative average", nn.BatchNorm1d(4, momentum=None), twice, first=(6, 4), second=(3, 4))
    g.layer("BatchNorm/no affine", nn.BatchNorm1d(4, affine=False), twice, first=(6, 4), second=(3, 4))
    g.layer("BatchNorm/evaluation, rows", used(nn.BatchNorm1d(4)), evaluated, x=(5, 4))
    g.layer("BatchNorm/evaluation, sequences", used(nn.BatchNorm1d(4)), evaluated, x=(2, 3, 4))
    g.layer("BatchNorm/eps", nn.BatchNorm1d(4, eps=0.125), twice, first=(6, 4), second=(3, 4))


def attention(g):
    def run(causal):
        def function(m, x, *lengths):
            y, _ = m(x, x, x, attn_mask=causal_mask(x.shape[1]) if causal else None,
                     key_padding_mask=hidden_by(lengths[0], x.shape[1]) if lengths else None, need_weights=False)
            return y
        return function

    lengths = {"lengths": np.array([4, 2, 3])}
    def make(**options):
        return nn.MultiheadAttention(6, 2, batch_first=True, **options)

    g.layer("MultiHeadAttention/plain", make(), run(False), x=(3, 4, 6))
    g.layer("MultiHeadAttention/causal", make(), run(True), x=(3, 4, 6))
    g.layer("MultiHeadAttention/key padding", make(), run(False), x=(3, 4, 6), ints=lengths)
    g.layer("MultiHeadAttention/causal and key padding", make(), run(True), x=(3, 4, 6), ints=lengths)
    g.layer("MultiHeadAttention/no bias", make(bias=False), run(True), x=(3, 4, 6))


def blocks(g):
    def run(causal):
        def function(m, x, *lengths):
            return m(x, src_mask=causal_mask(x.shape[1]) if causal else None,
                     src_key_padding_mask=hidden_by(lengths[0], x.shape[1]) if lengths else None)
        return function

    def make():
        return nn.TransformerEncoderLayer(6, 2, 10, 0.0, "gelu", batch_first=True, norm_first=True)

    g.layer("TransformerBlock/plain", make(), run(False), x=(2, 4, 6))
    g.layer("TransformerBlock/causal", make(), run(True), x=(2, 4, 6))
    g.layer("TransformerBlock/causal and key padding", make(), run(True), x=(2, 4, 6),
            ints={"lengths": np.array([4, 2])})


def stream_id(name):
    """The FNV-1a hash of the name (Fowler, Noll, Vo), mixed by the finalizer of SplitMix64."""
    h = 0xCBF29CE484222325
    for byte in name.encode():
        h = ((h ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return mix(h)


def dropout(g):
    """The nth call of the layer in training takes the nth mask of the stream mask/NAME under the store's seed."""

    def masked(x, call):
        mask = kept(7, stream_id("mask/drop"), call, x.numel(), 0.25)
        return x * torch.from_numpy(mask).reshape(x.shape) / 0.75

    g.op("Dropout/two calls in training", lambda a, b: {"y": masked(a, 0), "z": masked(b, 1)}, a=(4, 5), b=(4, 5))
    g.op("Dropout/evaluation", lambda x: x * 1, x=(4, 5))


def write(g):
    simple_layers(g)
    norms(g)
    attention(g)
    blocks(g)
    dropout(g)
