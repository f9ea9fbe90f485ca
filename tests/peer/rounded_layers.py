"""Layers with the roundings of the CUDA column written out: every op computes in f32 or f64 by PyTorch, adds a chosen
perturbation, and rounds its result to the low type where mixed precision stores one.

Without a low type and in f64 it is the exact network; with one it is what f16 or bf16 training computes when products
are summed in f32 and rounded once. The perturbation stands for another order of summation: a sum of n terms makes n
roundings of partial sums about as large as its result, so it differs by about sqrt(n) u rms(y), plus u |y| for the store.
"""

import math

import torch
from torch.nn import functional as F

U32 = 2.0**-24


class Branches:
    """Which way an activation or a max pool goes decides about whole elements of the gradients, and perturbed runs seldom differ
    in it where sums are in f32. So the exact run keeps what these ops read, a perturbed run measures how far that moves, and
    two runs more decide as if it had moved by `reach` times as much, up and down."""

    def __init__(self, reach):
        self.reach, self.inputs, self.moved, self.sign, self.at = reach, [], [], 0, 0

    def begin(self, sign=0):
        """Starts the next run; sign 1 or -1 for the runs that decide otherwise."""
        self.sign, self.at = sign, 0
        return self

    def visit(self, x):
        """How far x of this op may differ."""
        i, self.at = self.at, self.at + 1
        if i == len(self.inputs):
            self.inputs.append(x.detach().clone())
            return 0.0
        if i == len(self.moved):
            self.moved.append(self.reach * float((x.detach() - self.inputs[i]).square().mean().sqrt()))
            return 0.0
        return self.sign * self.moved[i]


class Arithmetic:
    """low: torch.float16, torch.bfloat16 or None. noise: a generator of perturbations, or None."""

    def __init__(self, low=None, noise=None, branches=None):
        self.low = low
        self.noise = noise
        self.branches = branches

    def activate(self, x, top=math.inf):
        """relu, or with a top relu6."""
        return Activation.apply(x, top, self.branches.visit(x) if self.branches else 0.0)

    def round(self, t):
        return t if self.low is None else t.to(self.low).to(t.dtype)

    def store(self, t, terms, low=True):
        """t as another order of summation over `terms` would give it, rounded to the low type."""
        if self.noise is not None:
            unit = torch.rand(t.shape, generator=self.noise, dtype=t.dtype) * 2 - 1
            scale = math.sqrt(terms) * U32 * float(t.square().mean().sqrt())
            t = t + unit * (scale + U32 * t.abs())
        return self.round(t) if low else t


class Activation(torch.autograd.Function):
    """x between 0 and top. The gradient passes if x is more than `shift` inside."""

    @staticmethod
    def forward(ctx, x, top, shift):
        ctx.save_for_backward((x > shift) & (x < top - shift))
        return x.clamp(0, top)

    @staticmethod
    def backward(ctx, g):
        return torch.where(ctx.saved_tensors[0], g, 0), None, None


class Conv(torch.autograd.Function):
    """Groups follow from the shapes."""

    @staticmethod
    def forward(ctx, x, weight, stride, padding, arithmetic):
        low = arithmetic.round(weight)
        groups = x.shape[1] // weight.shape[1]
        ctx.save_for_backward(x, low)
        ctx.rest = stride, padding, groups, arithmetic
        return arithmetic.store(F.conv2d(x, low, None, stride, padding, 1, groups), low[0].numel())

    @staticmethod
    def backward(ctx, g):
        x, weight = ctx.saved_tensors
        stride, padding, groups, arithmetic = ctx.rest
        wanted = ctx.needs_input_grad
        gx, gw, _ = torch.ops.aten.convolution_backward(
            g, x, weight, None, [stride] * 2, [padding] * 2, [1, 1], False, [0, 0], groups, [wanted[0], True, False])
        gx = arithmetic.store(gx, weight[:, 0].numel() // groups) if wanted[0] else None
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
    """Statistics and parameter gradients in f32; activations and their gradients in the low type. Running statistics
    are not needed."""

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


class BatchNormAdd(torch.autograd.Function):
    """BatchNorm and the shortcut's sum, rounded once, as one pass over memory does it."""

    @staticmethod
    def forward(ctx, x, weight, bias, shortcut, arithmetic):
        y, mean, invstd = torch.native_batch_norm(x, weight, bias, None, None, True, 0.1, 1e-5)
        ctx.save_for_backward(x, weight, mean, invstd)
        ctx.arithmetic = arithmetic
        return arithmetic.store(y + shortcut, 4)

    @staticmethod
    def backward(ctx, g):
        gx, gw, gb, _ = BatchNorm.backward(ctx, g)
        return gx, gw, gb, g, None


class Add(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y, arithmetic):
        return arithmetic.store(x + y, 1)

    @staticmethod
    def backward(ctx, g):
        return g, g, None


class Fork(torch.autograd.Function):
    """One tensor used twice: its two gradients are added in the low type."""

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


class MaxPool(torch.autograd.Function):
    """3x3 windows of stride 2: up to four of them send a gradient to one pixel, added before the one rounding."""

    @staticmethod
    def forward(ctx, x, arithmetic):
        shift = arithmetic.branches.visit(x) if arithmetic.branches else 0.0
        moved = x + shift * (torch.rand(x.shape, generator=torch.Generator().manual_seed(1), dtype=x.dtype) * 2 - 1) if shift else x
        _, index = F.max_pool2d(moved, 3, 2, 1, return_indices=True)
        ctx.save_for_backward(x, index)
        ctx.arithmetic = arithmetic
        return x.flatten(2).gather(2, index.flatten(2)).view(index.shape)

    @staticmethod
    def backward(ctx, g):
        x, index = ctx.saved_tensors
        gx = torch.ops.aten.max_pool2d_with_indices_backward(g, x, [3, 3], [2, 2], [1, 1], [1, 1], False, index)
        return ctx.arithmetic.store(gx, 4), None


class Rounded(torch.autograd.Function):
    """A cast to the low type and back: rounds the value going in and the gradient coming out."""

    @staticmethod
    def forward(ctx, x, arithmetic):
        ctx.arithmetic = arithmetic
        return arithmetic.round(x)

    @staticmethod
    def backward(ctx, g):
        return ctx.arithmetic.store(g, 1), None
