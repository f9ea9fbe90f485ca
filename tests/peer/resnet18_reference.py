"""ResNet-18 with the roundings of the CUDA column written out: every op computes in f32 or f64 by PyTorch, adds a chosen
perturbation, and rounds its result to the low type where mixed precision stores one.

Without a low type and in f64 it is the exact network; with one it is what f16 or bf16 training computes when products
are summed in f32 and rounded once. The perturbation stands for another order of summation: a sum of n terms makes n
roundings of partial sums about as large as its result, so it differs by about sqrt(n) u rms(y), plus u |y| for the store.
"""

import math

import torch
from torch.nn import functional as F

U32 = 2.0**-24


class Arithmetic:
    """low: torch.float16, torch.bfloat16 or None. noise: a generator of perturbations, or None."""

    def __init__(self, low=None, noise=None):
        self.low = low
        self.noise = noise

    def round(self, t):
        return t if self.low is None else t.to(self.low).to(t.dtype)

    def store(self, t, terms, low=True):
        """t as another order of summation over `terms` would give it, rounded to the low type."""
        if self.noise is not None:
            unit = torch.rand(t.shape, generator=self.noise, dtype=t.dtype) * 2 - 1
            scale = math.sqrt(terms) * U32 * float(t.square().mean().sqrt())
            t = t + unit * (scale + U32 * t.abs())
        return self.round(t) if low else t


class Conv(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, stride, padding, arithmetic):
        low = arithmetic.round(weight)
        ctx.save_for_backward(x, low)
        ctx.rest = stride, padding, arithmetic
        return arithmetic.store(F.conv2d(x, low, None, stride, padding), low[0].numel())

    @staticmethod
    def backward(ctx, g):
        x, weight = ctx.saved_tensors
        stride, padding, arithmetic = ctx.rest
        wanted = ctx.needs_input_grad
        gx, gw, _ = torch.ops.aten.convolution_backward(
            g, x, weight, None, [stride] * 2, [padding] * 2, [1, 1], False, [0, 0], 1, [wanted[0], True, False])
        gx = arithmetic.store(gx, weight[:, 0].numel()) if wanted[0] else None
        return gx, arithmetic.store(gw, g[:, 0].numel()), None, None, None


class Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, arithmetic):
        low = arithmetic.round(weight)
        ctx.save_for_backward(x, low)
        ctx.arithmetic = arithmetic
        return arithmetic.store(F.linear(x, low, arithmetic.round(bias)), x.shape[1])

    @staticmethod
    def backward(ctx, g):
        x, weight = ctx.saved_tensors
        a = ctx.arithmetic
        return a.store(g @ weight, g.shape[1]), a.store(g.t() @ x, g.shape[0]), a.store(g.sum(0), g.shape[0]), None


class BatchNorm(torch.autograd.Function):
    """Statistics and parameter gradients in f32, what flows in the low type. The running statistics are not needed."""

    @staticmethod
    def forward(ctx, x, weight, bias, arithmetic):
        y, mean, invstd = torch.native_batch_norm(x, weight, bias, None, None, True, 0.1, 1e-5)
        ctx.save_for_backward(x, weight, mean, invstd)
        ctx.arithmetic = arithmetic
        return arithmetic.store(y, 4)

    @staticmethod
    def backward(ctx, g):
        x, weight, mean, invstd = ctx.saved_tensors
        gx, gw, gb = torch.ops.aten.native_batch_norm_backward(g, x, weight, None, None, mean, invstd, True, 1e-5,
                                                               [True, True, True])
        a, terms = ctx.arithmetic, x[:, 0].numel()
        return a.store(gx, 8), a.store(gw, terms, low=False), a.store(gb, terms, low=False), None


class Add(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y, arithmetic):
        return arithmetic.store(x + y, 1)

    @staticmethod
    def backward(ctx, g):
        return g, g, None


class Fork(torch.autograd.Function):
    """One tensor used twice: its two gradients meet in the low type."""

    @staticmethod
    def forward(ctx, x, arithmetic):
        ctx.arithmetic = arithmetic
        return x.view_as(x), x.view_as(x)

    @staticmethod
    def backward(ctx, first, second):
        return ctx.arithmetic.store(first + second, 1), None


class Pool(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, arithmetic):
        ctx.shape, ctx.arithmetic = x.shape, arithmetic
        return arithmetic.store(x.mean((2, 3)), x.shape[2] * x.shape[3])

    @staticmethod
    def backward(ctx, g):
        area = ctx.shape[2] * ctx.shape[3]
        return ctx.arithmetic.store((g / area)[:, :, None, None].expand(ctx.shape).contiguous(), 1), None


class Rounded(torch.autograd.Function):
    """A cast to the low type and back: rounds the value going in and the gradient coming out."""

    @staticmethod
    def forward(ctx, x, arithmetic):
        ctx.arithmetic = arithmetic
        return arithmetic.round(x)

    @staticmethod
    def backward(ctx, g):
        return ctx.arithmetic.store(g, 1), None


def _bn(x, p, name, a):
    return BatchNorm.apply(x, p[f"{name}.weight"], p[f"{name}.bias"], a)


def _block(x, p, name, stride, a):
    main, shortcut = Fork.apply(x, a)
    y = F.relu(_bn(Conv.apply(main, p[f"{name}.conv1.weight"], stride, 1, a), p, f"{name}.bn1", a))
    y = _bn(Conv.apply(y, p[f"{name}.conv2.weight"], 1, 1, a), p, f"{name}.bn2", a)
    if f"{name}.downsample.0.weight" in p:
        shortcut = _bn(Conv.apply(shortcut, p[f"{name}.downsample.0.weight"], stride, 0, a), p,
                       f"{name}.downsample.1", a)
    return F.relu(Add.apply(y, shortcut, a))


def step(parameters, images, labels, arithmetic, dtype, loss_scale=1.0):
    """(loss, {name: gradient}, rms of the logits) of one batch, in training mode; gradients unscaled."""
    a = arithmetic
    p = {name: t.to(dtype).requires_grad_(True) for name, t in parameters.items()}
    x = a.round(images.to(dtype))
    if dtype == torch.float32:
        x = x.contiguous(memory_format=torch.channels_last)
    x = F.relu(_bn(Conv.apply(x, p["conv1.weight"], 1, 1, a), p, "bn1", a))
    for stage in range(1, 5):
        for block in range(2):
            x = _block(x, p, f"layer{stage}.{block}", 2 if stage > 1 and block == 0 else 1, a)
    logits = Linear.apply(Pool.apply(x, a), p["fc.weight"], p["fc.bias"], a)
    loss = F.cross_entropy(Rounded.apply(logits, a), labels)
    (loss * loss_scale).backward()
    gradients = {name: t.grad / loss_scale for name, t in p.items()}
    return float(loss.detach()), gradients, float(logits.detach().square().mean().sqrt())
