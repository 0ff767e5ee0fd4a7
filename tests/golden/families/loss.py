"""Losses. Reductions are PyTorch's: the mean is over all elements, or over the targets that count."""

import numpy as np
import torch.nn.functional as F

from golden_file import Uniform, away_from

REDUCTIONS = ("mean", "sum", "none")


def cross_entropies(g):
    def loss(logits, targets, **options):
        """PyTorch wants the classes on axis 1."""
        y = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1), **options)
        return y.reshape(targets.shape) if y.dim() else y

    logits = Uniform(2, 3, 5, low=-2, high=2)
    targets = np.array([[0, 4, 3], [2, 2, 1]])
    some_ignored = np.array([[0, 4, -100], [-100, 2, 1]])
    for r in REDUCTIONS:
        g.op(f"cross_entropy/{r}", lambda logits, targets: loss(logits, targets, reduction=r),
             logits=logits, ints={"targets": targets})
        g.op(f"cross_entropy/{r}, some ignored", lambda logits, targets: loss(logits, targets, reduction=r),
             logits=logits, ints={"targets": some_ignored})
        g.op(f"cross_entropy/{r}, smoothed",
             lambda logits, targets: loss(logits, targets, reduction=r, label_smoothing=0.125),
             logits=logits, ints={"targets": some_ignored})
        # Probabilities as targets: PyTorch's mean divides by the number of rows.
        g.op(f"cross_entropy/{r}, soft targets",
             lambda logits, probabilities: F.cross_entropy(logits, probabilities, reduction=r),
             logits=Uniform(4, 5, low=-2, high=2),
             fixed={"probabilities": np.random.RandomState(5).dirichlet(np.ones(5), 4)})
    g.op("cross_entropy/large", lambda logits, targets: loss(logits, targets),
         logits=np.array([[1000.0, 0.0], [0.0, 800.0]]), ints={"targets": np.array([1, 1])})
    g.op("cross_entropy/wide", lambda logits, targets: loss(logits, targets), logits=Uniform(3, 70, low=-4, high=4),
         ints={"targets": np.array([0, 69, 33])})


def pairs(g):
    """Losses between two tensors; the gradient to both is compared."""
    far = {"input": away_from([-0.75, 0.75], 2, 3, low=-2, high=2), "target": np.zeros((2, 3))}
    for r in REDUCTIONS:
        g.op(f"mse_loss/{r}", lambda input, target: F.mse_loss(input, target, reduction=r), input=(2, 3), target=(2, 3))
        g.op(f"l1_loss/{r}", lambda input, target: F.l1_loss(input, target, reduction=r), input=(2, 3), target=(2, 3))
        g.op(f"huber_loss/{r}", lambda input, target: F.huber_loss(input, target, reduction=r, delta=0.75), **far)
        g.op(f"binary_cross_entropy_with_logits/{r}",
             lambda input, target: F.binary_cross_entropy_with_logits(input, target, reduction=r),
             input=Uniform(2, 3, low=-3, high=3), target=Uniform(2, 3, low=0, high=1))
    for r in ("batchmean", "sum", "none"):
        # PyTorch's arguments: log-probabilities, then the target distribution. batchmean is the mean over rows.
        g.op(f"kl_div/{r}", lambda input, target: F.kl_div(F.log_softmax(input, -1), target, reduction=r),
             input=(2, 4), fixed={"target": np.random.RandomState(6).dirichlet(np.ones(4), 2)})
    g.op("binary_cross_entropy_with_logits/large",
         lambda input, target: F.binary_cross_entropy_with_logits(input, target, reduction="none"),
         input=np.array([1000.0, -1000.0, 50.0, -50.0, 0.0]), target=np.array([0.0, 1.0, 1.0, 0.0, 0.5]))


def write(g):
    cross_entropies(g)
    pairs(g)
