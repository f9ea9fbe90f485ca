"""Ops that resample: padding, upsampling, sampling at a grid's places, shuffles of pixels."""

import math

import torch
import torch.nn.functional as F

import op_cuda_sampling as cuda
from op_draft import draft
from op_family import op

SIZES = (1, 2, 3, 4, 5, 7)
MODES, PADDINGS = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")


def image(rng, dims, limit=60, low=1):
    while True:
        shape = [rng.pick((1, 2)), rng.pick((1, 2, 3)), *(rng.pick([n for n in SIZES if n >= low]) for _ in range(dims))]
        if math.prod(shape) <= limit:
            return shape


def values_of(rng, *shape):
    return rng.normal(*shape, scale=rng.pick((1.0, 1.0, 1.0, 0.01, 100.0)))


def signed(rng, low, high):
    return int(rng.numpy.integers(low, high + 1))


def constant_padding(rng, shape, dims):
    """Amounts for the last `dims` dimensions, last first. Sizes stay positive."""
    amounts = []
    for n in reversed(shape[len(shape) - dims:]):
        before, after = signed(rng, -1, 3), signed(rng, -1, 3)
        if n + min(before, 0) + min(after, 0) < 1:
            before, after = max(before, 0), max(after, 0)
        amounts += [before, after]
    return amounts


def inside_padding(rng, shape, dims, most):
    """`most(size)`: the largest padding of a side."""
    return [signed(rng, 0, min(most(n), 3)) for n in reversed(shape[len(shape) - dims:]) for _ in range(2)]


def constant_pad_case(rng):
    shape = image(rng, 2, 40)[:signed(rng, 1, 4)]
    attrs = {"pad": constant_padding(rng, shape, signed(rng, 0, len(shape)))}
    return draft([values_of(rng, *shape)], attrs | ({"value": rng.pick((0.5, -2))} if rng.chance(0.5) else {}))


op("constant_pad_nd", "sampling", "none", constant_pad_case,
   lambda x, a: torch.constant_pad_nd(x["0"], a["pad"], a.get("value", 0)))

REACH = {"reflect": lambda n: n - 1, "replicate": lambda n: 3, "circular": lambda n: n}


def pad_case(rng):
    mode = rng.pick(("constant", "reflect", "replicate", "circular"))
    if mode == "constant":
        made = constant_pad_case(rng)
        return made
    dims = rng.pick((1, 2, 3))
    shape = image(rng, dims, 30)
    return draft([values_of(rng, *shape)], {"pad": inside_padding(rng, shape, dims, REACH[mode]), "mode": mode})


op("pad", "sampling", "none", pad_case,
   lambda x, a: F.pad(x["0"], a["pad"], a.get("mode", "constant"), a.get("value")))


def border_case(mode, dims):
    def case(rng):
        shape = image(rng, dims, 30)
        return draft([values_of(rng, *shape[0 if rng.chance(0.7) else 1:])],
                     {"padding": inside_padding(rng, shape, dims, REACH[mode])})
    return case


def border(mode, batched):
    def function(x, a):
        y = x["0"] if x["0"].dim() == batched else x["0"][None]
        y = F.pad(y, a["padding"], mode)
        return y if x["0"].dim() == batched else y[0]
    return function


for _kind, _mode in (("reflection", "reflect"), ("replication", "replicate")):
    for _dims in (1, 2, 3):
        op(f"{_kind}_pad{_dims}d", "sampling", "none", border_case(_mode, _dims), border(_mode, _dims + 2))


def even_steps(size, out, scale, exact):
    """Whether the nearest modes, which compute in f32, choose as they would without rounding."""
    step = torch.tensor(1 / scale if scale else size / out, dtype=torch.float64)
    at = torch.arange(out, dtype=torch.float64) + (0.5 if exact else 0)
    return bool((((at * step) - (at * step).round()).abs() > 1e-5).logical_or(step.float().double() == step).all())


def target(rng, shape, nearest, exact, smooth):
    """Sizes, or factors. With antialiasing a result one element wide is left out: there the forward pass of PyTorch 2.15
    on a CPU is not the linear function whose gradient its backward pass gives."""
    while True:
        sizes = shape[2:]
        if rng.chance(0.6):
            attrs, out = {"output_size": [rng.pick((1, 2, 3, 4, 6, 7)) for _ in sizes]}, None
            out, scales = attrs["output_size"], [None] * len(sizes)
        else:
            scales = [rng.pick((0.6, 1.0, 1.5, 2.0, 2.7)) for _ in sizes]
            attrs, out = {"scale_factors": scales}, [math.floor(n * s) for n, s in zip(sizes, scales)]
        if min(out) < 1 or math.prod(out) * math.prod(shape[:2]) > 90:
            continue
        if smooth and out[-1] == 1:
            continue
        if nearest and not all(even_steps(n, o, s, exact) for n, o, s in zip(sizes, out, scales)):
            continue
        return attrs


def upsample_case(dims, corners, nearest, exact, smooth=False):
    def case(rng):
        shape = image(rng, dims, 40)
        attrs = target(rng, shape, nearest, exact, smooth)
        return draft([values_of(rng, *shape)], attrs | ({"align_corners": True} if corners and rng.chance(0.5) else {}))
    return case


def upsample(name, corners):
    function = getattr(torch.ops.aten, name).vec

    def call(x, a):
        more = [a.get("align_corners", False)] if corners else []
        return function(x["0"], a.get("output_size"), *more, a.get("scale_factors"))
    return call


# A second derivative is zero, and PyTorch says so.
for _name, _dims in (("upsample_nearest", (1, 2, 3)), ("_upsample_nearest_exact", (1, 2, 3))):
    for _d in _dims:
        op(f"{_name}{_d}d", "sampling", "f32", upsample_case(_d, False, True, "exact" in _name),
           upsample(f"{_name}{_d}d", False))
for _name, _d, _taps in (("upsample_linear1d", 1, cuda.linear), ("upsample_bilinear2d", 2, cuda.linear),
                         ("upsample_trilinear3d", 3, cuda.linear), ("upsample_bicubic2d", 2, cuda.cubic),
                         ("_upsample_bilinear2d_aa", 2, cuda.smooth(cuda.triangle, 1)),
                         ("_upsample_bicubic2d_aa", 2, cuda.smooth(cuda.smooth_cubic, 2))):
    _smooth = _name.endswith("aa")
    # By the formula of the weights: where one is near 0 its rounding, and that of the place it is computed for, is not
    # small beside it, while the element that it weighs may be large.
    _formula = cuda.upsample(_taps, not _smooth)
    op(_name, "sampling", "f32", upsample_case(_d, True, False, False, _smooth), _formula,
       native=upsample(_name, True), also=(_formula,))


def apart(places, size, align, distance=0.05):
    """Places in [-1.6, 1.6], moved away from the elements' middles and edges, where the slope jumps."""
    element = (places + 1) / 2 * (size - 1) if align else ((places + 1) * size - 1) / 2
    element = torch.floor(element * 2) / 2 + 0.25 + (element * 2 - torch.floor(element * 2) - 0.5) * (0.5 - 2 * distance)
    return element / (size - 1) * 2 - 1 if align and size > 1 else (element * 2 + 1) / size - 1


def grid_case(numbers):
    def case(rng):
        dims = 2 if rng.chance(0.7) else 3
        shape = image(rng, dims, 40, low=2)
        align = rng.chance(0.5)
        out = [rng.pick((1, 2, 3)) for _ in range(dims)]
        places = rng.uniform(-1.6, 1.6, shape[0], *out, dims)
        for k in range(dims):
            places[..., k] = apart(places[..., k], shape[-1 - k], align)
        places = (places * 1024).round() / 1024
        mode = rng.pick(MODES if dims == 2 else MODES[:2])
        padding = rng.pick(PADDINGS)
        if numbers:
            attrs = {"interpolation_mode": MODES.index(mode), "padding_mode": PADDINGS.index(padding)}
        else:
            attrs = {"mode": mode, "padding_mode": padding}
        # Where the padding reads one element for several taps of a bicubic, their slopes cancel; the bound is of the
        # element and cannot see that. EveryOp holds the grid's gradient there against finite differences.
        alone = mode == "bicubic" and padding != "zeros"
        return draft([values_of(rng, *shape), places], attrs | {"align_corners": align}, [0] if alone else [0, 1])
    return case


def readable(y, x, a):
    """For a place that is NaN, the gradient of PyTorch 2.15 on a CPU reads and writes outside the image, so it is not
    called."""
    if y.requires_grad and not x["1"].isfinite().all():
        def refuse(_):
            raise RuntimeError("a place without a number")
        y.register_hook(refuse)
    return y


def grid_sampler(x, a):
    return readable(torch.grid_sampler(x["0"], x["1"], a["interpolation_mode"], a["padding_mode"], a["align_corners"]), x, a)


def grid_sample(x, a):
    return readable(F.grid_sample(x["0"], x["1"], a["mode"], a["padding_mode"], a["align_corners"]), x, a)


def cuda_grid_sampler(x, a):
    return cuda.grid_sampler(x["0"], x["1"], a["interpolation_mode"], a["padding_mode"], a["align_corners"])


def cuda_grid_sample(x, a):
    return cuda.grid_sampler(x["0"], x["1"], MODES.index(a["mode"]), PADDINGS.index(a["padding_mode"]), a["align_corners"])


# PyTorch has no second derivative of it: EveryOp holds ours against finite differences.
op("grid_sampler", "sampling", "promote", grid_case(True), grid_sampler, second=False, also=(cuda_grid_sampler,))
op("grid_sample", "sampling", "promote", grid_case(False), grid_sample, second=False, also=(cuda_grid_sample,))


def shuffle_case(name):
    def case(rng):
        r = rng.pick((1, 2, 3))
        lead = [rng.pick((1, 2)) for _ in range(signed(rng, 0, 2))]
        small = [rng.pick((1, 2)), rng.pick((1, 2)), rng.pick((1, 3))]
        if name == "upscale_factor":
            small[0] *= r * r
        else:
            small[1:] = [n * r for n in small[1:]]
        return draft([values_of(rng, *lead, *small)], {name: r})
    return case


op("pixel_shuffle", "sampling", "none", shuffle_case("upscale_factor"),
   lambda x, a: F.pixel_shuffle(x["0"], a["upscale_factor"]))
op("pixel_unshuffle", "sampling", "none", shuffle_case("downscale_factor"),
   lambda x, a: F.pixel_unshuffle(x["0"], a["downscale_factor"]))


def channel_case(rng):
    groups = rng.pick((1, 2, 3))
    return draft([values_of(rng, rng.pick((1, 2)), groups * rng.pick((1, 2)), *(rng.pick((1, 2, 3)) for _ in range(rng.pick((1, 2)))))],
                 {"groups": groups})


op("channel_shuffle", "sampling", "none", channel_case, lambda x, a: torch.channel_shuffle(x["0"], a["groups"]))
