"""Pools of sequences and volumes, adaptive maxima, indices, divisors of one's own, powers, fractional windows and unpooling.
max_pool2d, avg_pool2d and adaptive_avg_pool2d are among the ops of op_generators.py."""

import functools
import math

import numpy
import torch
import torch.nn.functional as F

from op_draft import away_from_zero, draft
from op_family import op, tap

FAMILY = "pooling"


def each(value, dims):
    sizes = list(value) if isinstance(value, (list, tuple)) else [value]
    return sizes * dims if len(sizes) == 1 else sizes


def one_or_each(rng, dims, options):
    if rng.chance(0.5):
        return rng.pick(options)
    return [rng.pick(options) for _ in range(dims)]


def windows(rng, dims, dilated):
    kernel = one_or_each(rng, dims, (1, 2, 3) if dims < 3 else (1, 2, 2, 3))
    attrs = {"kernel_size": kernel}
    if rng.chance(0.6):
        attrs["stride"] = one_or_each(rng, dims, (1, 2, 3))
    if rng.chance(0.5):
        attrs["padding"] = [int(rng.numpy.integers(k // 2 + 1)) for k in each(kernel, dims)]
    if dilated and rng.chance(0.3):
        attrs["dilation"] = one_or_each(rng, dims, (1, 2))
    if rng.chance(0.5):
        attrs["ceil_mode"] = True
    return attrs


def space_for(rng, dims, attrs):
    reach = [d * (k - 1) + 1 for d, k in zip(each(attrs.get("dilation", 1), dims), each(attrs["kernel_size"], dims))]
    return [r + rng.pick((0, 1, 2, 4) if dims == 1 else (0, 1, 2)) for r in reach]


def lead_of(rng):
    channels = rng.pick((1, 2, 3))
    return [channels] if rng.chance(0.2) else [rng.pick((1, 2)), channels]


def values_of(rng, shape):
    x = rng.normal(*shape, scale=rng.pick((1.0, 1.0, 100.0, 1e-2)))
    return torch.round(x) if rng.chance(0.2) else x  # many equal ones


def make_max(rng, dims):
    attrs = windows(rng, dims, dilated=True)
    shape = [*lead_of(rng), *space_for(rng, dims, attrs)]
    if rng.chance(0.5):
        attrs["return_indices"] = True
    return draft([values_of(rng, shape)], attrs)


def make_avg(rng, dims):
    attrs = windows(rng, dims, dilated=False)
    shape = [*lead_of(rng), *space_for(rng, dims, attrs)]
    if rng.chance(0.4):
        attrs["count_include_pad"] = False
    if dims == 3 and rng.chance(0.4):
        attrs["divisor_override"] = rng.pick((1, 2, 3, 7, -5))
    return draft([values_of(rng, shape)], attrs)


def make_adaptive(rng, dims, indices=False):
    shape = [*lead_of(rng), *(rng.pick((1, 2, 3, 4, 5) if dims < 3 else (1, 2, 3)) for _ in range(dims))]
    attrs = {"output_size": one_or_each(rng, dims, (1, 2, 3, 4) if dims < 3 else (1, 2, 3))}
    if indices and rng.chance(0.5):
        attrs["return_indices"] = True
    return draft([values_of(rng, shape)], attrs)


def pool(function, dims, names):
    def compute(x, attrs):
        given = {name: attrs[name] for name in names if name in attrs}
        for name in ("kernel_size", "stride", "padding", "dilation", "output_size"):
            if name in given:
                given[name] = each(given[name], dims)
        return function(x["0"], **given)
    return compute


MAX = ("kernel_size", "stride", "padding", "dilation", "ceil_mode", "return_indices")
AVG = ("kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override")

for dims, largest, mean in ((1, F.max_pool1d, F.avg_pool1d), (3, F.max_pool3d, F.avg_pool3d)):
    op(f"max_pool{dims}d", FAMILY, "none", functools.partial(make_max, dims=dims), pool(largest, dims, MAX))
    op(f"avg_pool{dims}d", FAMILY, "none", functools.partial(make_avg, dims=dims), pool(mean, dims, AVG))
for dims, mean in ((1, F.adaptive_avg_pool1d), (3, F.adaptive_avg_pool3d)):
    op(f"adaptive_avg_pool{dims}d", FAMILY, "none", functools.partial(make_adaptive, dims=dims),
       pool(mean, dims, ("output_size",)))
for dims, largest in ((1, F.adaptive_max_pool1d), (2, F.adaptive_max_pool2d), (3, F.adaptive_max_pool3d)):
    op(f"adaptive_max_pool{dims}d", FAMILY, "none", functools.partial(make_adaptive, dims=dims, indices=True),
       pool(largest, dims, ("output_size", "return_indices")))


def make_lp(rng, dims):
    attrs = {"norm_type": rng.pick((2.0, 2.0, 1.0, 3.0, 4.0, 1.5)),
             "kernel_size": one_or_each(rng, dims, (1, 2, 3) if dims < 3 else (1, 2))}
    if rng.chance(0.5):
        attrs["stride"] = one_or_each(rng, dims, (1, 2))
    if rng.chance(0.5):
        attrs["ceil_mode"] = True
    shape = [*lead_of(rng), *space_for(rng, dims, attrs)]
    x = away_from_zero(rng.normal(*shape), 0.3)
    return draft([x if attrs["norm_type"] in (2.0, 4.0) else x.abs()], attrs)


def lp_pool(mean, dims):
    """PyTorch's formula, with its steps marked: in the second derivative of a window of one element they cancel."""
    def compute(x, attrs):
        kernel = each(attrs["kernel_size"], dims)
        stride = each(attrs["stride"], dims) if "stride" in attrs else None
        p = attrs["norm_type"]
        means = tap(mean(tap(x["0"].pow(p)), kernel, stride, 0, attrs.get("ceil_mode", False)))
        return (means * math.prod(kernel)).pow(1 / p)
    return compute


def theirs(function, dims):
    """PyTorch's own: its gradient is 0 where a window is all zeros, and the formula's NaN."""
    def compute(x, attrs):
        kernel = each(attrs["kernel_size"], dims)
        stride = each(attrs["stride"], dims) if "stride" in attrs else None
        return function(x["0"], attrs["norm_type"], kernel[0] if dims == 1 else kernel, stride, attrs.get("ceil_mode", False))
    return compute


for dims, mean, own in ((1, F.avg_pool1d, F.lp_pool1d), (2, F.avg_pool2d, F.lp_pool2d), (3, F.avg_pool3d, F.lp_pool3d)):
    op(f"lp_pool{dims}d", FAMILY, "none", functools.partial(make_lp, dims=dims), lp_pool(mean, dims), acts="f32",
       native=theirs(own, dims))


def make_fractional(rng):
    kernel, size = [[rng.pick((1, 2, 3)) for _ in range(2)] for _ in range(2)]
    lead = lead_of(rng)
    shape = [*lead, *(k + n - 1 + rng.pick((0, 1, 2)) for k, n in zip(kernel, size))]
    samples = rng.uniform(0.01, 0.98, lead[0] if len(lead) == 2 else 1, lead[-1], 2)
    attrs = {"kernel_size": kernel, "output_size": size}
    if rng.chance(0.5):
        attrs["return_indices"] = True
    return draft([values_of(rng, shape), samples], attrs, [0])


def fractional(x, attrs):
    found = F.fractional_max_pool2d(x["0"], attrs["kernel_size"], output_size=attrs["output_size"], return_indices=True,
                                    _random_samples=x["1"].detach())
    return found if attrs.get("return_indices") else found[0]


op("fractional_max_pool2d", FAMILY, "none", make_fractional, fractional)


def make_unpool(rng, dims):
    lead = lead_of(rng)
    space = [rng.pick((1, 2, 3)) for _ in range(dims)]
    attrs = {"kernel_size": one_or_each(rng, dims, (1, 2, 3))}
    kernel = each(attrs["kernel_size"], dims)
    if rng.chance(0.5):
        attrs["stride"] = [max(k, s) for k, s in zip(kernel, (rng.pick((1, 2, 3)) for _ in range(dims)))]
    full = [(n - 1) * s + k for n, s, k in zip(space, each(attrs.get("stride", kernel), dims), kernel)]
    if rng.chance(0.4):
        full = [n + rng.pick((0, 1)) for n in full]
        attrs["output_size"] = full
    shape = [*lead, *space]
    count, room = math.prod(space), math.prod(full)
    # Each place once: PyTorch leaves open which of several stays.
    chosen = [rng.numpy.choice(room, count, replace=False) for _ in range(math.prod(lead))]
    indices = torch.tensor(numpy.stack(chosen), dtype=torch.int64).reshape(shape)
    return draft([values_of(rng, shape), indices], attrs, [0], fixed={1: torch.int64})


def unpool(function, dims):
    def compute(x, attrs):
        kernel = each(attrs["kernel_size"], dims)
        stride = each(attrs["stride"], dims) if "stride" in attrs else None
        # PyTorch's wrapper takes sizes near the one that fits only; its op takes any.
        size = attrs.get("output_size") or [(n - 1) * s + k for n, s, k in zip(x["0"].shape[-dims:], stride or kernel, kernel)]
        return function(x["0"], x["1"], size) if dims == 2 else function(x["0"], x["1"], size, stride or kernel, [0] * 3)
    return compute


op("max_unpool2d", FAMILY, "none", functools.partial(make_unpool, dims=2), unpool(torch.ops.aten.max_unpool2d, 2))
op("max_unpool3d", FAMILY, "none", functools.partial(make_unpool, dims=3), unpool(torch.ops.aten.max_unpool3d, 3))
