"""Random numbers, shapes and the draft of a case, shared by the generators of `halftone op` cases."""

import dataclasses
import math

import numpy
import torch

SIZES = (1, 2, 3, 5, 7, 16, 31, 33)


@dataclasses.dataclass
class Draft:
    """Arguments in order: names in the case file, f64 values (rounded to their types later), attributes."""
    names: list
    values: list
    attrs: dict
    differentiable: list
    fixed: dict = dataclasses.field(default_factory=dict)  # index -> dtype that the mode does not choose


class Random:
    """Draws of one seed. With `digits`, floating numbers keep so many binary digits, the others 0: they pack smaller."""

    def __init__(self, seed, digits=None):
        self.digits = digits
        self.numpy = numpy.random.default_rng(seed)
        self.torch = torch.Generator().manual_seed(int(self.numpy.integers(1 << 60)))

    def pick(self, options):
        return options[int(self.numpy.integers(len(options)))]

    def chance(self, probability):
        return self.numpy.random() < probability

    def normal(self, *shape, scale=1.0):
        return self.shortened(torch.randn(shape, generator=self.torch, dtype=torch.float64) * scale)

    def shortened(self, x):
        """Towards 0, so that no number leaves a range that has 0 in it."""
        if self.digits is None or not x.is_floating_point():
            return x
        fraction, exponent = torch.frexp(x)
        return torch.ldexp((fraction * 2**self.digits).trunc() / 2**self.digits, exponent)

    def uniform(self, low, high, *shape):
        return self.shortened(torch.rand(shape, generator=self.torch, dtype=torch.float64) * (high - low) + low)

    def shape(self, low_rank=0, high_rank=4, limit=4000):
        while True:
            shape = [self.pick(SIZES) for _ in range(int(self.numpy.integers(low_rank, high_rank + 1)))]
            if math.prod(shape) <= limit:
                return shape

    def broadcast(self, shape):
        """A shape that broadcasts to `shape`."""
        kept = shape[int(self.numpy.integers(len(shape) + 1)):] if self.chance(0.3) else list(shape)
        return [1 if self.chance(0.25) else n for n in kept]


def draft(values, attrs=None, differentiable=None, names=None, fixed=None):
    names = names or [str(i) for i in range(len(values))]
    if differentiable is None:
        differentiable = list(range(len(values)))
    return Draft(names, values, attrs or {}, differentiable, fixed or {})


def away_from_zero(x, distance=0.1):
    return torch.where(x < 0, x - distance, x + distance)
