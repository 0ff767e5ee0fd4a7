"""The golden files: cases with arrays that are drawn from fixed seeds and computed by PyTorch in float64.

A file is one JSON object with one case per line. A case has sections, each an object of named arrays:

  in          tracked inputs, whose gradients are compared
  fixed       float arrays that are not tracked
  int         integer arrays (ids, lengths; masks as 0 and 1)
  state       parameters and buffers of a layer, named as in PyTorch
  out, up     outputs in the order in which the call returns them, and their upstream gradients
  grad        gradients of sum(up * out) with respect to each of `in`
  state_grad  and of each parameter
  state_out   buffers after the call

An array is {"shape": [...]} with "f64" or "f32" (base64 of little-endian numbers; "f32" if it is exact) or "int" (a
list). Inputs, states and upstream gradients are exact in float, so that both dtypes start from the same numbers.
"""

import base64
import json
import zlib

import numpy as np
import torch

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)


class Uniform:
    """A random input in [low, high)."""

    def __init__(self, *shape, low=-1.0, high=1.0):
        self.shape, self.low, self.high = shape, low, high

    def draw(self, rng):
        return rng.uniform(self.low, self.high, self.shape)


def positive(*shape):
    return Uniform(*shape, low=0.5, high=2.0)


def away_from(points, *shape, low=-2.0, high=2.0, gap=0.05):
    """A random input with no element within `gap` of a kink of the function."""

    class Drawn(Uniform):
        def draw(self, rng):
            x = super().draw(rng)
            for point in points:
                near = np.abs(x - point) < gap
                x = np.where(near, point + np.where(x < point, -2 * gap, 2 * gap), x)
            return x

    return Drawn(*shape, low=low, high=high)


def in_float(values):
    """Rounds to float32; returns float64."""
    return np.asarray(values, dtype=np.float32).astype(np.float64)


def encoded(array):
    """The JSON form of an array; see above."""
    if isinstance(array, torch.Tensor):
        array = array.detach().numpy()
    array = np.ascontiguousarray(array).reshape(np.shape(array))
    out = {"shape": list(array.shape)}
    if array.dtype.kind in "iub":
        out["int"] = array.astype(np.int64).ravel().tolist()
    elif np.array_equal(in_float(array), array, equal_nan=True):
        out["f32"] = base64.b64encode(array.astype("<f4").tobytes()).decode()
    else:
        out["f64"] = base64.b64encode(array.astype("<f8").tobytes()).decode()
    return out


def random_of(name):
    """The random generator of a case. It depends on the name only, so that a new case changes no other."""
    return np.random.RandomState(zlib.crc32(name.encode()))


def randomize(module, rng):
    """Draws every parameter from U(-0.6, 0.6), exact in float32; leaves buffers as they are."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.from_numpy(in_float(rng.uniform(-0.6, 0.6, parameter.shape))))


class GoldenFile:
    """The cases of one family."""

    def __init__(self):
        self.cases = {}

    def raw(self, name, **sections):
        """Adds a case from complete sections."""
        if name in self.cases:
            raise ValueError(f"two cases are named {name}")
        self.cases[name] = {
            section: {key: encoded(array) for key, array in arrays.items()}
            for section, arrays in sections.items() if arrays
        }

    def op(self, name, function, ints=None, fixed=None, **inputs):
        """Adds a case of function(*inputs, *fixed, *ints), which returns a tensor or a dict of tensors.

        An input is a shape, a Uniform, or values.
        """
        self._run(name, None, function, inputs, fixed, ints)

    def layer(self, name, module, function=None, ints=None, fixed=None, fill=True, **inputs):
        """Adds a case of function(module, ...), or of the module itself. Its parameters are drawn at random."""
        self._run(name, module, function or (lambda m, *arguments: m(*arguments)), inputs, fixed, ints, fill)

    def _run(self, name, module, function, inputs, fixed, ints, fill=True):
        rng = random_of(name)

        def drawn(value):
            if isinstance(value, tuple):
                value = Uniform(*value)
            return torch.from_numpy(np.array(in_float(value.draw(rng) if isinstance(value, Uniform) else value)))

        tracked = {key: drawn(value).requires_grad_() for key, value in inputs.items()}
        constant = {key: drawn(value) for key, value in (fixed or {}).items()}
        integers = {key: torch.from_numpy(np.asarray(value)) for key, value in (ints or {}).items()}
        state = {}
        if module is not None:
            if fill:
                randomize(module, rng)
            state = {key: value.clone() for key, value in module.state_dict().items() if value.dtype == torch.float64}
        owner = () if module is None else (module,)
        outputs = function(*owner, *tracked.values(), *constant.values(), *integers.values())
        if isinstance(outputs, torch.Tensor):
            outputs = {"y": outputs}
        upstream = {key: torch.from_numpy(in_float(rng.uniform(-1, 1, y.shape))) for key, y in outputs.items()}
        sum((outputs[key] * upstream[key]).sum() for key in outputs).backward()

        def gradients(tensors):
            return {key: torch.zeros_like(x) if x.grad is None else x.grad for key, x in tensors.items()}

        parameters = {} if module is None else dict(module.named_parameters())
        buffers = {} if module is None else {k: v for k, v in module.named_buffers() if v.dtype == torch.float64}
        self.raw(name, **{"in": tracked}, fixed=constant, int=integers, state=state, out=outputs, up=upstream,
                 grad=gradients(tracked), state_grad=gradients(parameters), state_out=buffers)

    def text(self):
        lines = [f"{json.dumps(name)}: {json.dumps(case, separators=(',', ':'))}" for name, case in self.cases.items()]
        return "{\n" + ",\n".join(lines) + "\n}\n"
