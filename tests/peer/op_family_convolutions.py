"""Convolutions of sequences and volumes, transposed convolutions, conv_tbc, the general and the cuDNN entries, and images as columns. conv2d itself is among the
ops of op_generators.py; its padding by words is in tests/engine/ops/conv/convolution_test.cpp."""

import functools

import torch
import torch.nn.functional as F

from op_convolution_taps import each, flushing, without_padding
from op_draft import draft
from op_family import op

FAMILY = "convolutions"


def one_or_each(rng, dims, options):
    """One number for all spatial dimensions, or one for each."""
    if rng.chance(0.5):
        return rng.pick(options)
    return [rng.pick(options) for _ in range(dims)]


def normals(rng, *shapes):
    return [rng.normal(*shape, scale=rng.pick((1.0, 1.0, 1.0, 20.0, 1e-2))) for shape in shapes]


def options_of(rng, dims, kinds):
    return {name: one_or_each(rng, dims, values) for name, values in kinds.items() if rng.chance(0.6)}


def make_conv(rng, dims, batched=False, words=True, bias=True):
    groups = rng.pick((1, 1, 2, 3))
    channels, results = groups * rng.pick((1, 2, 3)), groups * rng.pick((1, 2))
    kernel = [rng.pick((1, 2, 3) if dims < 3 else (1, 2, 2, 3)) for _ in range(dims)]
    attrs = options_of(rng, dims, {"stride": (1, 2, 3), "padding": (0, 1, 2), "dilation": (1, 1, 2)})
    if words and rng.chance(0.25):
        attrs["padding"] = rng.pick(("same", "same", "valid"))
        if attrs["padding"] == "same":
            attrs.pop("stride", None)
    if groups > 1:
        attrs["groups"] = groups
    padding = attrs.get("padding", 0)
    spare = each(0 if isinstance(padding, str) else padding, dims)
    reach = [d * (k - 1) + 1 for d, k in zip(each(attrs.get("dilation", 1), dims), kernel)]
    space = [max(1, r - 2 * p) + rng.pick((0, 1, 2, 4) if dims < 3 else (0, 1, 2)) for r, p in zip(reach, spare)]
    lead = [] if not batched and rng.chance(0.15) else [rng.pick((1, 2, 3) if dims < 3 else (1, 2))]
    shapes = [[*lead, channels, *space], [results, channels // groups, *kernel]]
    if bias and rng.chance(0.6):
        shapes.append([results])
    return draft(normals(rng, *shapes), attrs)


def make_transposed(rng, dims, batched=False, bias=True):
    groups = rng.pick((1, 1, 2, 3))
    channels, results = groups * rng.pick((1, 2)), rng.pick((1, 2, 3))
    kernel = [rng.pick((1, 2, 3) if dims < 3 else (1, 2, 2, 3)) for _ in range(dims)]
    attrs = options_of(rng, dims, {"stride": (1, 2, 3), "padding": (0, 0, 1), "dilation": (1, 1, 2)})
    stride, dilation = each(attrs.get("stride", 1), dims), each(attrs.get("dilation", 1), dims)
    if rng.chance(0.6):
        attrs["output_padding"] = [int(rng.numpy.integers(max(s, d))) for s, d in zip(stride, dilation)]
    if groups > 1:
        attrs["groups"] = groups
    extra, padding = each(attrs.get("output_padding", 0), dims), each(attrs.get("padding", 0), dims)
    space = []
    for i in range(dims):
        least = 1
        while (least - 1) * stride[i] - 2 * padding[i] + dilation[i] * (kernel[i] - 1) + 1 + extra[i] < 1:
            least += 1
        space.append(least + rng.pick((0, 1, 2)))
    lead = [] if not batched and rng.chance(0.15) else [rng.pick((1, 2))]
    shapes = [[*lead, channels, *space], [channels, results, *kernel]]
    if bias and rng.chance(0.6):
        shapes.append([results * groups])
    return draft(normals(rng, *shapes), attrs)


def convolution(function, names):
    def compute(x, attrs):
        return function(x["0"], x["1"], x["2"], **{name: attrs[name] for name in names if name in attrs})
    return compute


def others(function, bare):
    """PyTorch's other kernels: without products of padding, and with bf16 subnormals as zeros."""
    return bare, flushing(function), flushing(bare)


FORWARD = ("stride", "padding", "dilation", "groups")
BACKWARD = ("stride", "padding", "output_padding", "dilation", "groups")

for dims, forward, transposed in ((1, F.conv1d, F.conv_transpose1d), (2, None, F.conv_transpose2d),
                                  (3, F.conv3d, F.conv_transpose3d)):
    if forward is not None:
        native = convolution(forward, FORWARD)
        op(f"conv{dims}d", FAMILY, "low", functools.partial(make_conv, dims=dims), native, multilinear=True,
           also=others(native, functools.partial(without_padding, dims=dims)))
    native = convolution(transposed, BACKWARD)
    op(f"conv_transpose{dims}d", FAMILY, "low", functools.partial(make_transposed, dims=dims), native, multilinear=True,
       also=others(native, functools.partial(without_padding, dims=dims, transposed=True)))


def make_tbc(rng):
    size, channels, results, pad = rng.pick((1, 2, 3)), rng.pick((1, 2, 3)), rng.pick((1, 2, 4)), rng.pick((0, 0, 1, 2))
    time = max(1, size - 2 * pad) + rng.pick((0, 1, 3))
    shapes = ([time, rng.pick((1, 2, 3)), channels], [size, channels, results], [results])
    return draft(normals(rng, *shapes), {"pad": pad} if pad or rng.chance(0.5) else {})


def by_time(x, attrs):
    return torch.conv_tbc(x["0"], x["1"], x["2"], attrs.get("pad", 0))


op("conv_tbc", FAMILY, "low", make_tbc, by_time, multilinear=True, also=(flushing(by_time),))


def make_general(rng):
    dims = rng.pick((1, 2, 3))
    if rng.chance(0.5):
        made = make_transposed(rng, dims, batched=True)
        made.attrs["transposed"] = True
        return made
    return make_conv(rng, dims, batched=True, words=False)


def general(x, attrs):
    dims = x["0"].dim() - 2
    return torch.convolution(x["0"], x["1"], x["2"], each(attrs.get("stride", 1), dims),
                             each(attrs.get("padding", 0), dims), each(attrs.get("dilation", 1), dims),
                             attrs.get("transposed", False), each(attrs.get("output_padding", 0), dims),
                             attrs.get("groups", 1))


def general_without_padding(x, attrs):
    return without_padding(x, attrs, x["0"].dim() - 2, attrs.get("transposed", False))


op("convolution", FAMILY, "low", make_general, general, multilinear=True,
   also=others(general, general_without_padding))


def cudnn(x, attrs, transposed):
    """PyTorch has these two only on GPUs, where the general entry calls them."""
    if not x["0"].is_cuda:
        return general(x, {**attrs, "transposed": transposed})
    dims = x["0"].dim() - 2
    names = ("padding", "output_padding", "stride", "dilation") if transposed else ("padding", "stride", "dilation")
    values = [each(attrs.get(name, 0 if "padding" in name else 1), dims) for name in names]
    function = torch.ops.aten.cudnn_convolution_transpose if transposed else torch.ops.aten.cudnn_convolution
    return function(x["0"], x["1"], *values, attrs.get("groups", 1), False, False, False)


def cudnn_op(name, generate, transposed):
    native = functools.partial(cudnn, transposed=transposed)
    op(name, FAMILY, "low", lambda rng: generate(rng, rng.pick((1, 2, 3)), batched=True, bias=False), native,
       multilinear=True, also=others(native, lambda x, attrs: without_padding(x, attrs, x["0"].dim() - 2, transposed)))


cudnn_op("cudnn_convolution", functools.partial(make_conv, words=False), False)
cudnn_op("cudnn_convolution_transpose", make_transposed, True)


def make_columns(rng, back):
    attrs = {"kernel_size": one_or_each(rng, 2, (1, 2, 3)),
             **options_of(rng, 2, {"stride": (1, 2, 3), "padding": (0, 1, 2), "dilation": (1, 1, 2)})}
    kernel, stride, padding, dilation = (each(attrs.get(name, least), 2) for name, least in
                                         (("kernel_size", 1), ("stride", 1), ("padding", 0), ("dilation", 1)))
    reach = [d * (k - 1) + 1 for d, k in zip(dilation, kernel)]
    space = [max(1, r - 2 * p) + rng.pick((0, 1, 2)) for r, p in zip(reach, padding)]
    lead, channels = [] if rng.chance(0.2) else [rng.pick((1, 2))], rng.pick((1, 2, 3))
    if not back:
        return draft(normals(rng, [*lead, channels, *space]), attrs)
    windows = [(n + 2 * p - r) // s + 1 for n, p, r, s in zip(space, padding, reach, stride)]
    attrs["output_size"] = space
    return draft(normals(rng, [*lead, channels * kernel[0] * kernel[1], windows[0] * windows[1]]), attrs)


def columns_of(attrs):
    return {name: each(attrs[name], 2) for name in ("kernel_size", "stride", "padding", "dilation") if name in attrs}


op("im2col", FAMILY, "none", functools.partial(make_columns, back=False),
   lambda x, attrs: F.unfold(x["0"], **columns_of(attrs)), multilinear=True)
op("col2im", FAMILY, "none", functools.partial(make_columns, back=True),
   lambda x, attrs: F.fold(x["0"], attrs["output_size"], **columns_of(attrs)), multilinear=True)
