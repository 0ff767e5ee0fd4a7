"""Matrix products."""


import torch
import torch.nn.functional as F


def write(g):
    g.op("matmul/matrices", torch.matmul, a=(3, 4), b=(4, 5))
    g.op("matmul/batches", torch.matmul, a=(2, 3, 4), b=(2, 4, 5))
    g.op("matmul/batches broadcast", torch.matmul, a=(2, 1, 3, 4), b=(3, 4, 5))
    g.op("matmul/one matrix for all", torch.matmul, a=(2, 3, 4), b=(4, 5))
    g.op("matmul/row on the left", torch.matmul, a=(4,), b=(2, 4, 3))
    g.op("matmul/column on the right", torch.matmul, a=(2, 3, 4), b=(4,))
    g.op("matmul/two vectors", torch.matmul, a=(4,), b=(4,))
    g.op("matmul/transpose a", lambda a, b: a.mT @ b, a=(2, 4, 3), b=(2, 4, 5))
    g.op("matmul/transpose b", lambda a, b: a @ b.mT, a=(2, 3, 4), b=(2, 5, 4))
    g.op("matmul/transpose both", lambda a, b: a.mT @ b.mT, a=(4, 3), b=(5, 4))
    g.op("matmul/larger than a tile", torch.matmul, a=(37, 70), b=(70, 45))
    g.op("linear/matrix", F.linear, x=(3, 4), weight=(5, 4), bias=(5,))
    g.op("linear/batch", F.linear, x=(2, 3, 4), weight=(5, 4), bias=(5,))
    g.op("linear/no bias", F.linear, x=(2, 3, 4), weight=(5, 4))
    g.op("linear/vector", F.linear, x=(4,), weight=(5, 4), bias=(5,))
    g.op("outer/vectors", torch.outer, a=(3,), b=(4,))
    g.op("dot/vectors", torch.dot, a=(5,), b=(5,))
    for equation, a, b in [
        ("ij,jk->ik", (3, 4), (4, 5)),
        ("ij,kj->ik", (3, 4), (5, 4)),
        ("ji,jk->ki", (4, 3), (4, 5)),
        ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)),
        ("btc,oc->bto", (2, 3, 4), (5, 4)),
        ("bthd,bshd->bhts", (2, 3, 2, 4), (2, 5, 2, 4)),
        ("bhts,bshd->bthd", (2, 2, 3, 5), (2, 5, 2, 4)),
        ("ij,j->i", (3, 4), (4,)),
        ("i,j->ij", (3,), (4,)),
        ("i,i->", (5,), (5,)),
        ("bi,bi->b", (3, 4), (3, 4)),
        ("ij,ij->", (3, 4), (3, 4)),
        ("ij,ij->ij", (3, 4), (3, 4)),
        ("ijk,j->k", (2, 3, 4), (3,)),
    ]:
        g.op(f"einsum/{equation}", lambda a, b, equation=equation: torch.einsum(equation, a, b), a=a, b=b)
