"""Convolutions of any rank as sums over the kernel's taps, in which a place of padding is no factor: no 0 * inf there.

So computes oneDNN's direct code, which PyTorch runs on a CPU in f32 and bf16 for some sizes (its loops over the taps
end at the borders); on a GPU PyTorch's depthwise kernels do (conv_depthwise2d_* test each place). Its other CPU
kernels, always those of f64 and f16, and its CUDA kernels that go through im2col write the padding out as zeros and
multiply it. 2.15 on a CPU gives for one infinite operand exactly the one or the other (but for oneDNN's bf16, which
pairs odd channels with their neighbours). Neither has padding in the gradient with respect to x, or in the values of a
transposed convolution.
"""

import itertools

import torch
import torch.nn.functional as F


def each(value, dims):
    return list(value) if isinstance(value, (list, tuple)) else [value] * dims


def spans(size, out, taps, stride, padding, dilation):
    """Per tap of one dimension the slices (of the output, of the input) that it joins; None for none."""
    found = []
    for tap in range(taps):
        inside = [o for o in range(out) if 0 <= o * stride + tap * dilation - padding < size]
        first, last = (inside[0], inside[-1]) if inside else (0, -1)
        start = first * stride + tap * dilation - padding
        found.append((slice(first, last + 1), slice(start, start + (last - first) * stride + 1, stride))
                     if inside else None)
    return found


def joined(kernel, sizes, outs, options):
    """(tap, slices of the output, slices of the input) of all taps that join any."""
    per_dim = [spans(*numbers) for numbers in zip(sizes, outs, kernel, *options)]
    for tap in itertools.product(*(range(k) for k in kernel)):
        pairs = [found[t] for found, t in zip(per_dim, tap)]
        if None not in pairs:
            yield tap, tuple(p[0] for p in pairs), tuple(p[1] for p in pairs)


def add_at(y, place, part):
    """y with a part added at a place, and nothing elsewhere."""
    values = torch.zeros_like(y)
    values[place] = part
    return y + values


def convolve(x, weight, outs, options, groups, transposed):
    """The sum; `outs` are the sizes of its result, `options` stride, padding and dilation."""
    lead, channels, sizes = x.shape[0], x.shape[1] // groups, x.shape[2:]
    x = x.reshape(lead, groups, channels, *sizes)
    weight = weight.reshape(groups, weight.shape[0] // groups, *weight.shape[1:])
    kernel, results = weight.shape[3:], weight.shape[2 if transposed else 1]
    y = x.new_zeros(lead, groups, results, *outs)
    everything = (slice(None),) * 3
    around = (outs, sizes) if transposed else (sizes, outs)
    for tap, far, near in joined(kernel, *around, options):
        here, there = (far, near) if transposed else (near, far)
        product = "ngc...,gck->ngk..." if transposed else "ngc...,gkc->ngk..."
        y = add_at(y, everything + there, torch.einsum(product, x[everything + here], weight[everything + tap]))
    return y.reshape(lead, groups * results, *outs)


class Flush(torch.autograd.Function):
    """x with zeros for subnormal numbers; the gradient passes."""

    @staticmethod
    def forward(_, x):
        return torch.where(x.abs() < torch.finfo(x.dtype).smallest_normal, 0.0, x)

    @staticmethod
    def backward(_, grad):
        return grad


def flushing(function):
    """In bf16 the function with subnormal operands as zeros: the processor's bf16 products (AVX-512's and AMX's), by
    which oneDNN computes PyTorch's convolutions, take them so. An infinite weight times one is NaN there. Other types
    as they are."""
    def compute(x, attrs):
        return function(type(x)((k, Flush.apply(v) if v is not None and v.dtype == torch.bfloat16 else v)
                                for k, v in x.items()), attrs)
    return compute


def without_padding(x, attrs, dims, transposed=False):
    """A convolution of op_family_convolutions.py."""
    images, weight, bias = x["0"], x["1"], x["2"]
    batched = images.dim() == dims + 2
    images = images if batched else images[None]
    kernel = weight.shape[2:]
    stride, dilation = each(attrs.get("stride", 1), dims), each(attrs.get("dilation", 1), dims)
    padding = attrs.get("padding", 0)
    if padding == "same":  # PyTorch puts the odd zero into the input
        total = [d * (k - 1) for d, k in zip(dilation, kernel)]
        images = F.pad(images, [n for t in reversed(total) for n in (0, t % 2)])
        padding = [t // 2 for t in total]
    padding = each(0 if padding == "valid" else padding, dims)
    extra = each(attrs.get("output_padding", 0), dims)
    outs = [(n - 1) * s - 2 * p + d * (k - 1) + 1 + more if transposed else (n + 2 * p - d * (k - 1) - 1) // s + 1
            for n, k, s, p, d, more in zip(images.shape[2:], kernel, stride, padding, dilation, extra)]
    y = convolve(images, weight, outs, (stride, padding, dilation), attrs.get("groups", 1), transposed)
    y = y if bias is None else y + bias.reshape(-1, *[1] * dims)
    return y if batched else y[0]
