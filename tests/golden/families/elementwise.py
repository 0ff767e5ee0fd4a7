"""Arithmetic and activations."""

import numpy as np
import torch
import torch.nn.functional as F

from golden_file import Uniform, away_from, positive

WIDE = np.concatenate([np.linspace(-30, 30, 61), np.linspace(-1, 1, 21)])  # contains the kinks at 0


def arithmetic(g):
    def both(op, function, first, second):
        """Cases with equal shapes and with every way to broadcast."""
        g.op(f"{op}/same shape", function, a=first(2, 3), b=second(2, 3))
        g.op(f"{op}/row", function, a=first(2, 3), b=second(3))
        g.op(f"{op}/column on the left", function, a=first(2, 1), b=second(2, 3))
        g.op(f"{op}/both broadcast", function, a=first(4, 1, 3), b=second(2, 1))
        g.op(f"{op}/scalar", function, a=first(2, 3), b=second())

    both("add", lambda a, b: a + b, Uniform, Uniform)
    both("sub", lambda a, b: a - b, Uniform, Uniform)
    both("mul", lambda a, b: a * b, Uniform, Uniform)
    both("div", lambda a, b: a / b, Uniform, positive)
    both("pow", lambda a, b: a**b, positive, Uniform)
    both("minimum", torch.minimum, Uniform, Uniform)
    both("maximum", torch.maximum, Uniform, Uniform)
    g.op("pow/scalar exponent", lambda x: x ** (-1.75), x=positive(2, 3))
    g.op("pow/negative base", lambda x: x**3.0, x=Uniform(2, 3))
    g.op("neg/matrix", lambda x: -x, x=(2, 3))
    g.op("affine/scale and shift", lambda x: -0.375 * x + 1.25, x=(2, 3))
    g.op("affine/shift", lambda x: x + 2.0, x=(2, 3))
    g.op("div/number over tensor", lambda x: 2.0 / x, x=positive(2, 3))
    g.op("clamp/both sides", lambda x: x.clamp(-0.5, 0.75), x=away_from([-0.5, 0.75], 4, 5))
    g.op("clamp/below", lambda x: x.clamp(min=0.25), x=away_from([0.25], 4, 5))
    g.op("clamp/above", lambda x: x.clamp(max=0.25), x=away_from([0.25], 4, 5))
    g.op("minimum/ties", torch.minimum, a=np.array([1.0, 2.0, 3.0]), b=np.array([1.0, 3.0, 3.0]))
    g.op("maximum/ties", torch.maximum, a=np.array([1.0, 2.0, 3.0]), b=np.array([1.0, 3.0, 3.0]))
    condition = np.array([[1, 0, 0], [0, 1, 1]])
    g.op("where/same shape", lambda a, b, c: torch.where(c.bool(), a, b), a=(2, 3), b=(2, 3), ints={"c": condition})
    g.op("where/broadcast", lambda a, b, c: torch.where(c.bool(), a, b), a=(4, 1, 3), b=(2, 1), ints={"c": condition})
    g.op("masked_fill/same shape", lambda x, mask: x.masked_fill(mask.bool(), -2.5), x=(2, 3), ints={"mask": condition})
    g.op("masked_fill/row", lambda x, mask: x.masked_fill(mask.bool(), 0.0), x=(2, 3), ints={"mask": condition[0]})


def functions(g):
    def unary(op, function, spec, **more):
        g.op(f"{op}/matrix", function, x=spec)
        for title, values in more.items():
            g.op(f"{op}/{title}", function, x=values)

    unary("exp", torch.exp, Uniform(3, 5), wide=WIDE)
    unary("expm1", torch.expm1, Uniform(3, 5), small=10.0 ** np.linspace(-12, 0, 13), wide=WIDE)
    unary("log", torch.log, positive(3, 5), wide=10.0 ** np.linspace(-20, 20, 41))
    unary("log1p", torch.log1p, positive(3, 5), small=10.0 ** np.linspace(-12, 0, 13))
    unary("sqrt", torch.sqrt, positive(3, 5), wide=10.0 ** np.linspace(-20, 20, 41))
    unary("abs", torch.abs, away_from([0], 3, 5))
    unary("sin", torch.sin, Uniform(3, 5), wide=WIDE)
    unary("cos", torch.cos, Uniform(3, 5), wide=WIDE)


def activations(g):
    def activation(op, function):
        g.op(f"{op}/matrix", function, x=away_from([0], 3, 5, low=-3, high=3))
        g.op(f"{op}/wide", function, x=WIDE)

    activation("tanh", torch.tanh)
    activation("sigmoid", torch.sigmoid)
    activation("relu", torch.relu)
    activation("leaky_relu", lambda x: F.leaky_relu(x, 0.125))
    activation("elu", F.elu)
    g.op("elu/alpha", lambda x: F.elu(x, 1.5), x=away_from([0], 3, 5))
    activation("silu", F.silu)
    activation("softplus", F.softplus)
    g.op("softplus/beta", lambda x: F.softplus(x, beta=2.0, threshold=3.0), x=away_from([1.5], 3, 5, low=-3, high=3))
    activation("softsign", F.softsign)
    activation("gelu", F.gelu)
    activation("gelu_tanh", lambda x: F.gelu(x, approximate="tanh"))


def write(g):
    arithmetic(g)
    functions(g)
    activations(g)
