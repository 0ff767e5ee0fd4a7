"""Ops that move elements, and ops that select them by index."""

import numpy as np
import torch
import torch.nn.functional as F


def moves(g):
    g.op("reshape/matrix", lambda x: x.reshape(3, 4), x=(2, 6))
    g.op("reshape/of a transpose", lambda x: x.mT.reshape(2, 6), x=(3, 4))
    g.op("permute/all axes", lambda x: x.permute(2, 0, 1), x=(2, 3, 4))
    g.op("permute/heads", lambda x: x.permute(0, 2, 1, 3), x=(2, 3, 2, 4))
    g.op("transpose/last two", lambda x: x.transpose(-2, -1), x=(2, 3, 4))
    g.op("transpose/outer", lambda x: x.transpose(0, 2), x=(2, 3, 4))
    g.op("slice/middle axis", lambda x: x[:, 1:3], x=(2, 4, 3))
    g.op("slice/step", lambda x: x[..., 1::2], x=(2, 3, 7))
    g.op("slice/from the end", lambda x: x[-3:-1], x=(5, 2))
    g.op("concat/middle axis", lambda a, b: torch.cat([a, b], 1), a=(2, 3, 4), b=(2, 2, 4))
    g.op("concat/three", lambda a, b, c: torch.cat([a, b, c], -1), a=(2, 3), b=(2, 1), c=(2, 4))
    g.op("concat/one part twice", lambda a: torch.cat([a, a], 0), a=(2, 3))
    g.op("stack/first axis", lambda a, b: torch.stack([a, b], 0), a=(2, 3), b=(2, 3))
    g.op("stack/last axis", lambda a, b, c: torch.stack([a, b, c], -1), a=(2, 3), b=(2, 3), c=(2, 3))
    g.op("split/equal", lambda x: dict(zip("abc", torch.split(x, 2, 1))), x=(2, 6, 3))
    g.op("split_with_sizes/last axis", lambda x: dict(zip("abc", torch.split(x, [1, 3, 2], -1))), x=(2, 6))
    g.op("split/shorter last piece", lambda x: dict(zip("abc", torch.split(x, 2, 0))), x=(5, 2))
    g.op("squeeze/all", lambda x: x.squeeze(), x=(1, 3, 1, 2))
    g.op("squeeze/one axis", lambda x: x.squeeze(1), x=(2, 1, 3))
    g.op("unsqueeze/middle", lambda x: x.unsqueeze(1), x=(2, 3))
    g.op("unsqueeze/end", lambda x: x.unsqueeze(-1), x=(2, 3))
    g.op("broadcast_to/rows and new axis", lambda x: x.broadcast_to(4, 2, 3), x=(2, 1))
    g.op("flip/one axis", lambda x: x.flip(1), x=(2, 3, 4))
    g.op("flip/all", lambda x: x.flip(0, 1), x=(2, 3))
    g.op("flip/two axes", lambda x: x.flip(0, -1), x=(2, 3, 4))


def picks(g):
    ids = np.array([[0, 1, 1, 4], [2, 1, 0, 0]])
    g.op("embedding/repeated rows", lambda weight, ids: F.embedding(ids, weight), weight=(5, 3), ints={"ids": ids})
    g.op("embedding/padding row", lambda weight, ids: F.embedding(ids, weight, padding_idx=0),
         weight=(5, 3), ints={"ids": ids})
    index = np.array([[[0, 2, 2], [1, 1, 0]], [[2, 0, 1], [2, 2, 2]]])  # [2, 2, 3]
    g.op("gather/middle axis", lambda x, index: x.gather(1, index), x=(2, 3, 3), ints={"index": index})
    g.op("gather/last axis", lambda x, index: x.gather(-1, index), x=(2, 2, 4), ints={"index": index})
    g.op("scatter_add/middle axis", lambda x, source, index: x.scatter_add(1, index, source),
         x=(2, 4, 3), source=(2, 2, 3), ints={"index": index})
    g.op("scatter_add/last axis", lambda x, source, index: x.scatter_add(2, index, source),
         x=(2, 2, 3), source=(2, 2, 3), ints={"index": index})


def write(g):
    moves(g)
    picks(g)
