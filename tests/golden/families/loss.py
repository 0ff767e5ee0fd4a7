"""Losses. Reductions are PyTorch's: the mean is over all elements, or over the targets that are not ignored."""

import numpy as np
import torch.nn.functional as F

from golden_file import Uniform, away_from

REDUCTIONS = ("mean", "sum", "none")


def cross_entropies(g):
    def loss(logits, targets, **options):
        """PyTorch expects the classes on axis 1."""
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
        # With probabilities as targets, PyTorch's mean divides by the number of rows.
        probabilities = np.random.RandomState(5).dirichlet(np.ones(5), 4)
        for title, smoothing in [("soft targets", 0.0), ("smoothed soft targets", 0.125)]:
            g.op(f"cross_entropy/{r}, {title}",
                 lambda logits, targets: F.cross_entropy(logits, targets, reduction=r, label_smoothing=smoothing),
                 logits=Uniform(4, 5, low=-2, high=2), targets=probabilities)
    g.op("cross_entropy/large", lambda logits, targets: loss(logits, targets),
         logits=np.array([[1000.0, 0.0], [0.0, 800.0]]), ints={"targets": np.array([1, 1])})
    g.op("cross_entropy/wide", lambda logits, targets: loss(logits, targets), logits=Uniform(3, 70, low=-4, high=4),
         ints={"targets": np.array([0, 69, 33])})


def reduced(losses, reduction):
    """batchmean, the sum divided by the first size, is PyTorch's for kl_div only."""
    return {"mean": losses.mean, "sum": losses.sum, "none": lambda: losses,
            "batchmean": lambda: losses.sum() / losses.shape[0]}[reduction]()


def pairs(g):
    """Losses between two tensors; the gradients of both are compared."""

    def case(op, title, loss, input, target, fixed=None):
        for r in (*REDUCTIONS, "batchmean"):
            g.op(f"{op}/{r}{title}", lambda *arguments: reduced(loss(*arguments), r), fixed=fixed,
                 input=input, target=target)

    case("mse_loss", "", lambda x, t: F.mse_loss(x, t, reduction="none"), (2, 3), (2, 3))
    case("l1_loss", "", lambda x, t: F.l1_loss(x, t, reduction="none"), (2, 3), (2, 3))
    case("huber_loss", "", lambda x, t: F.huber_loss(x, t, reduction="none", delta=0.75),
         away_from([-0.75, 0.75], 2, 3), np.zeros((2, 3)))

    def bce(x, t, weight=None, pos_weight=None):
        return F.binary_cross_entropy_with_logits(x, t, weight, reduction="none", pos_weight=pos_weight)

    logits, labels = Uniform(2, 3, low=-3, high=3), Uniform(2, 3, low=0, high=1)
    case("binary_cross_entropy_with_logits", "", bce, logits, labels)
    case("binary_cross_entropy_with_logits", ", weighted", bce, logits, labels,
         fixed={"weight": np.array([[0.5, 1.0, 2.0], [1.5, 0.25, 3.0]]), "pos_weight": np.array([2.0, 0.5, 1.25])})
    g.op("binary_cross_entropy_with_logits/large", bce, input=np.array([1000.0, -1000.0, 50.0, -50.0, 0.0]),
         target=np.array([0.0, 1.0, 1.0, 0.0, 0.5]))

    distribution = np.random.RandomState(6).dirichlet(np.ones(4), 2)
    case("kl_div", "", lambda x, t: F.kl_div(x, t, reduction="none"), Uniform(2, 4, low=-3, high=0), distribution)
    case("kl_div", ", log target", lambda x, t: F.kl_div(x, t, reduction="none", log_target=True),
         Uniform(2, 4, low=-3, high=0), np.log(distribution))


def write(g):
    cross_entropies(g)
    pairs(g)
