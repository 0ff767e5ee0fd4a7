"""Scaled dot-product attention (Vaswani et al. 2017, equation 1), composed, because PyTorch 1.13 has no public one."""

import numpy as np
import torch

from philox import kept


def scaled_dot_product_attention(q, k, v, hidden=None, causal=False, scale=None):
    """softmax(scale q k^T) v over [B, H, T, D]. hidden: booleans that broadcast to [B, H, T, S]; true means masked.
    Causality is aligned at the end: the last query sees every key. A query that sees nothing gives zeros. With fewer
    key heads than query heads, head h reads key head h / (H / H')."""
    group = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
    queries, keys = q.shape[2], k.shape[2]
    mask = torch.zeros(q.shape[0], q.shape[1], queries, keys, dtype=torch.bool)
    if hidden is not None:
        mask = mask | hidden
    if causal:
        mask = mask | torch.ones(queries, keys, dtype=torch.bool).triu(1 + keys - queries)
    scores = (q @ k.mT) * (q.shape[-1] ** -0.5 if scale is None else scale)
    weights = torch.softmax(scores.masked_fill(mask, -1e300), -1).masked_fill(mask, 0.0)
    return weights @ v


def padding(lengths, keys):
    """Padding mask [B, 1, 1, S]: true from each length on."""
    return (torch.arange(keys)[None, :] >= lengths[:, None])[:, None, None, :]


def separate(qkv, heads):
    """Splits [B, T, 3C] into q, k and v [B, H, T, D]."""
    batch, time, columns = qkv.shape
    return qkv.reshape(batch, time, 3, heads, columns // (3 * heads)).permute(2, 0, 3, 1, 4)


def joined(y):
    return y.permute(0, 2, 1, 3).reshape(y.shape[0], y.shape[2], -1)


def write(g):
    def sdpa(title, ints=None, heads=(4, 2), queries=3, keys=5, **options):
        """q [2, heads, queries, 2], k [2, ., keys, 2], v [2, ., keys, 3]."""

        def run(q, k, v, *masks):
            hidden = None
            for name, mask in zip(ints or {}, masks):
                part = padding(mask, keys) if name == "lengths" else mask.bool().reshape(-1, 1, queries, keys)
                hidden = part if hidden is None else hidden | part
            return scaled_dot_product_attention(q, k, v, hidden, **options)

        g.op(f"scaled_dot_product_attention/{title}", run, ints=ints,
             q=(2, heads[0], queries, 2), k=(2, heads[1], keys, 2), v=(2, heads[1], keys, 3))

    lengths = {"lengths": np.array([4, 2])}
    seen = np.random.RandomState(3).rand(3, 5) < 0.6
    seen[1] = False  # a row in which all keys are masked
    each = np.random.RandomState(4).rand(2, 3, 5) < 0.6
    sdpa("one key head for each", heads=(2, 2))
    sdpa("grouped heads")
    sdpa("one key head for all", heads=(4, 1))
    sdpa("causal", causal=True, queries=5)
    sdpa("causal, more keys than queries", causal=True)
    sdpa("causal, more queries than keys", causal=True, queries=5, keys=3)
    sdpa("key padding", lengths)
    sdpa("mask with an empty row", {"mask": ~seen})
    sdpa("mask for each sequence", {"mask": ~each})
    sdpa("everything", {**lengths, "mask": ~each}, causal=True, scale=0.75)
    sdpa("more than one block", heads=(2, 1), queries=150, keys=150, causal=True)

    def dropped(q, k, v):
        """Weight (row, s) is kept if word s of the row's stream is at least p 2^32. Rows number [B, H, T]."""
        words = [kept(1, 2, 3, k.shape[2], 0.25, row=row) for row in range(q.shape[0] * q.shape[1] * q.shape[2])]
        mask = torch.from_numpy(np.array(words)).reshape(*q.shape[:3], k.shape[2])
        weights = torch.softmax(q @ k.mT * q.shape[-1] ** -0.5, -1)
        return (weights * mask / 0.75) @ v

    g.op("scaled_dot_product_attention/dropout", dropped, q=(2, 2, 3, 2), k=(2, 2, 5, 2), v=(2, 2, 5, 3))

    def packed(title, ints=None, heads=2, causal=False):
        def run(qkv, *masks):
            q, k, v = separate(qkv, heads)
            hidden = padding(masks[0], qkv.shape[1]) if masks else None
            return joined(scaled_dot_product_attention(q, k, v, hidden, causal))

        g.op(f"self_attention/{title}", run, ints=ints, qkv=(2, 4, 18))

    packed("plain")
    packed("causal", causal=True)
    packed("key padding", {"lengths": np.array([4, 2])}, heads=3)
    packed("causal and key padding", {"lengths": np.array([3, 1])}, causal=True)
