"""Formulas of PyTorch's CUDA kernels when they resample, with their treatment of infinities and NaN: what is
multiplied and what is left out. From UpSampleLinear1d.cu, UpSampleBilinear2d.cu, UpSampleTrilinear3d.cu,
UpSampleBicubic2d.cu and GridSampler.cu with UpSample.cuh and GridSampler.cuh, the headers as PyTorch 2.15 installs them."""

import itertools
import math

import torch

from op_family import constant, tap


def wide(dtype):
    return torch.float64 if dtype == torch.float64 else torch.float32


def step_of(size, out, align, scale):
    if align:
        return (size - 1) / (out - 1) if out > 1 else 0.0
    return 1 / scale if scale else size / out


def places(size, out, align, scale, dtype, cubic):
    step = torch.tensor(step_of(size, out, align, scale), dtype=dtype)
    at = torch.arange(out, dtype=dtype)
    if align:
        return constant(at * step)
    at = constant((at + 0.5) * step) - 0.5
    return at if cubic else at.clamp(min=0)


def linear(size, out, align, scale, dtype):
    """[(index, weight)] of the taps of one axis. The second neighbour is multiplied even by 0; beyond the end it is the
    first one again."""
    at = places(size, out, align, scale, dtype, False)
    first = at.floor()
    return [(first.long(), 1 - (at - first)), ((first.long() + 1).clamp(max=size - 1), at - first)]


def cubic_weights(t, a=-0.75):
    """The polynomials cancel near a weight of 0: their errors are those of their terms."""
    def near(x):
        return tap(((a + 2) * x - (a + 3)) * x * x) + 1

    def far(x):
        return tap(((a * x - 5 * a) * x + 8 * a) * x) - 4 * a
    return [far(t + 1), near(t), near(1 - t), far(2 - t)]


def cubic_slopes(t, a=-0.75):
    """d weight / d t"""
    def near(x):
        return (3 * (a + 2) * x - 2 * (a + 3)) * x

    def far(x):
        return (3 * a * x - 10 * a) * x + 8 * a
    return [far(t + 1), near(t), -near(1 - t), -far(2 - t)]


def cubic(size, out, align, scale, dtype):
    at = places(size, out, align, scale, dtype, True)
    first = at.floor()
    return [((first.long() + k - 1).clamp(0, size - 1), w) for k, w in enumerate(cubic_weights(at - first))]


def triangle(x):
    return (1 - x.abs()).clamp(min=0)


def smooth_cubic(x, a=-0.5):
    x = x.abs()
    return torch.where(x < 1, tap(((a + 2) * x - (a + 3)) * x * x) + 1,
                       torch.where(x < 2, (tap(((x - 5) * x + 8) * x) - 4) * a, torch.zeros_like(x)))


def smooth(kernel, reach):
    """With antialiasing: every element from the first to the last of the kernel's width, those of weight 0 too; -1 beyond."""
    def taps(size, out, align, scale, dtype):
        step = step_of(size, out, align, scale)
        stretch = max(step, 1.0)
        support = reach * stretch
        center = constant((torch.arange(out, dtype=dtype) + 0.5) * step)
        first = (center - support + 0.5).trunc().clamp(min=0)
        last = (center + support + 0.5).trunc().clamp(max=size)
        index = [first + j for j in range(math.ceil(support) * 2 + 1)]
        weights = [torch.where(i < last, kernel((i - center + 0.5) / stretch), torch.zeros_like(i)) for i in index]
        total = sum(weights)
        return [(torch.where(i < last, i, -1).long(), w / total) for i, w in zip(index, weights)]
    return taps


def upsample(taps_of, copies):
    """`copies`: where all sizes stay as they are, whatever the factor. Otherwise each axis is weighted, one whose size stays
    too, while the CPU kernels leave such an axis out, or read its element twice, with weights of 1 and 0."""
    def function(x, a):
        x = x["0"]
        scales = a.get("scale_factors") or [None] * (x.dim() - 2)
        sizes = a.get("output_size") or [math.floor(n * s) for n, s in zip(x.shape[2:], scales)]
        if copies and list(x.shape[2:]) == list(sizes):
            return x.clone()
        y = x.to(wide(x.dtype))
        for dim in reversed(range(2, x.dim())):
            total = None
            for index, weight in taps_of(x.shape[dim], sizes[dim - 2], a.get("align_corners", False), scales[dim - 2], y.dtype):
                shape = [-1 if d == dim else 1 for d in range(x.dim())]
                part = y.index_select(dim, index.clamp(min=0)) * weight.reshape(shape)
                part = torch.where((index >= 0).reshape(shape), part, torch.zeros_like(part))
                total = part if total is None else total + part
            y = total
        return y.to(x.dtype)
    return function


FAR = -100  # where no index reaches


def within_integers(c):
    return torch.where(c.isfinite() & (c.abs() < 2**31), c, FAR)


def mirrored(c, size, align):
    """(the place, its slope)"""
    low, span = (0.0, size - 1) if align else (-0.5, size)
    if span == 0:
        return torch.zeros_like(c), torch.zeros_like(c)
    c = c - low
    sign = torch.where(c < 0, -1.0, 1.0)
    c = c.abs()
    odd = (c / span).floor().nan_to_num(0, 2**31 - 1).clamp(max=2**31 - 1).long() % 2 == 1
    extra = c.fmod(span)
    return torch.where(odd, span - extra, extra) + low, torch.where(odd, -sign, sign)


def clip(c, size):
    """fmax turns NaN into 0."""
    return torch.where(c > 0, c, 0.0).clamp(max=size - 1)


def unnormalized(c, size, align):
    return (c + 1) / 2 * (size - 1) if align else ((c + 1) * size - 1) / 2


def moved(c, size, padding, align):
    """compute_coordinates"""
    if padding == 2:
        c, _ = mirrored(c, size, align)
    return within_integers(clip(c, size) if padding else c)


def moved_backward(c, size, padding, align):
    """As in the backward kernel, with the slope. NaN is not turned into 0 there, and so reads nothing."""
    slope = torch.ones_like(c)
    if padding == 2:
        c, slope = mirrored(c, size, align)
    if padding:
        inside = ~(c <= 0) & ~(c >= size - 1)
        slope = torch.where(inside, slope, 0 * slope)
        c = torch.where(c <= 0, 0.0, torch.where(c >= size - 1, size - 1.0, c))
    return within_integers(c), slope


class CudaGridSampler(torch.autograd.Function):
    """Corners outside are not read. In mode bicubic they are zeros times the weights."""

    @staticmethod
    def taps(c, mode, size, padding, align, backward):
        """Taps of one axis: [(place, weight, its slope)] and the slope of the places."""
        c = unnormalized(c, size, align)
        slope = torch.full_like(c, (size - 1) / 2 if align else size / 2)
        if mode == 2:
            t = c - c.floor()
            return [(moved(c.floor() + k - 1, size, padding, align), w, s)
                    for k, (w, s) in enumerate(zip(cubic_weights(t), cubic_slopes(t)))], slope
        at, more = moved_backward(c, size, padding, align) if backward else (moved(c, size, padding, align), 1)
        if mode == 1:
            return [(at.round(), torch.ones_like(c), torch.zeros_like(c))], 0 * slope
        below = at.floor()
        return [(below, below + 1 - at, -torch.ones_like(c)), (below + 1, at - below, torch.ones_like(c))], slope * more

    @staticmethod
    def corners(x, grid, mode, padding, align, backward):
        """For each combination of taps: (which elements of each image, which of them are inside, weights, slopes), with the
        slopes of the places; all (N, places), axes as in x."""
        dims = x.dim() - 2
        axes, slopes = zip(*(CudaGridSampler.taps(grid[..., dims - 1 - d].flatten(1), mode, x.shape[d + 2], padding, align,
                                                  backward) for d in range(dims)))
        found = []
        for taps in itertools.product(*axes):
            inside, index = True, 0
            for d, (at, _, _) in enumerate(taps):
                inside = inside & (at >= 0) & (at < x.shape[d + 2])
                index = index * x.shape[d + 2] + at.clamp(0, x.shape[d + 2] - 1).long()
            found.append((index, inside, [w for _, w, _ in taps], [s for _, _, s in taps]))
        return found, slopes

    @staticmethod
    def read(x, index, inside):
        picked = x.flatten(2).gather(2, index[:, None].expand(-1, x.shape[1], -1))
        return torch.where(inside[:, None], picked, torch.zeros_like(picked))

    @staticmethod
    def forward(ctx, x, grid, mode, padding, align):
        ctx.save_for_backward(x, grid)
        ctx.rest = mode, padding, align
        dtype = x.dtype
        x, grid = x.detach().to(wide(dtype)), grid.detach().to(wide(dtype))
        found, _ = CudaGridSampler.corners(x, grid, mode, padding, align, False)
        total = 0
        for index, inside, weights, _ in found:
            total = total + CudaGridSampler.read(x, index, inside) * math.prod(weights)[:, None]
        return total.reshape(*x.shape[:2], *grid.shape[1:-1]).to(dtype)

    @staticmethod
    def backward(ctx, dy):
        x, grid = ctx.saved_tensors
        mode, padding, align = ctx.rest
        dy = dy.flatten(2)
        found, slopes = CudaGridSampler.corners(x, grid, mode, padding, align, True)
        dx, dgrid = torch.zeros_like(x).flatten(2), [torch.zeros_like(s) for s in slopes]
        for index, inside, weights, tap_slopes in found:
            part = dy * math.prod(weights)[:, None]
            part = torch.where(inside[:, None], part, torch.zeros_like(part))
            dx.scatter_add_(2, index[:, None].expand_as(part), part)
            value = CudaGridSampler.read(x, index, inside)
            for d in range(len(weights)):
                others = math.prod(tap_slopes[k] if k == d else w for k, w in enumerate(weights))
                dgrid[d] = dgrid[d] + (value * others[:, None] * dy).sum(1)
        if mode == 1:
            return dx.reshape(x.shape), torch.zeros_like(grid), None, None, None
        dgrid = torch.stack([g * s for g, s in zip(reversed(dgrid), reversed(slopes))], -1)
        return dx.reshape(x.shape), dgrid.reshape(grid.shape), None, None, None


def grid_sampler(x, grid, mode, padding, align):
    return CudaGridSampler.apply(x, grid, mode, padding, align)
