"""The recommendation model (peer_models.Dlrm) with every rounding of mixed precision written out; the bound is that of
task_reference.py.

As the CUDA column has it: linear layers and the batched product take and give the low type; tables stay f32, so what they
give is joined with the bottom network's output in f32 and cast for the product; the loss is f32 and its gradient is rounded
to the logits' type. The gradient of a table is a sum in f32. Where two gradients meet they are added in their own type.
"""

import torch

from rounded_layers import Linear, Rounded
from task_reference import Arithmetic, _finished, _leaves, function_of


class Fork(torch.autograd.Function):
    """x with two readers, whose gradients are added in its type."""

    @staticmethod
    def forward(ctx, x, a):
        ctx.arithmetic = a
        return x.clone(), x.clone()

    @staticmethod
    def backward(ctx, g, h):
        return ctx.arithmetic.store(g + h, 1), None


class Rows(torch.autograd.Function):
    """Rows of a table. The sums of the gradient are f32."""

    @staticmethod
    def forward(ctx, weight, ids, a):
        ctx.save_for_backward(weight, ids)
        ctx.arithmetic = a
        return weight[ids]

    @staticmethod
    def backward(ctx, g):
        weight, ids = ctx.saved_tensors
        gw = torch.zeros_like(weight).index_add_(0, ids, g)
        counts = torch.bincount(ids, minlength=len(weight))
        there = counts > 0
        gw[there] = ctx.arithmetic.store(gw[there], int(counts.max()), low=False)
        return gw, None, None


class Products(torch.autograd.Function):
    """All products of a sample's vectors; each side is cast for itself, and the two gradients are added in f32."""

    @staticmethod
    def forward(ctx, x, a):
        low = a.round(x)
        ctx.save_for_backward(low)
        ctx.arithmetic = a
        return a.store(low @ low.transpose(1, 2), x.shape[2])

    @staticmethod
    def backward(ctx, g):
        low, = ctx.saved_tensors
        a, terms = ctx.arithmetic, low.shape[1]
        left = a.store(g @ low, terms)
        right = a.store(g.transpose(1, 2) @ low, terms)
        return a.store(left + right, 1, low=False), None


class CrossEntropy(torch.autograd.Function):
    """Mean binary cross entropy of logits in f32; the gradient is rounded to the logits' type once."""

    @staticmethod
    def forward(ctx, z, y, a):
        ctx.save_for_backward(z, y)
        ctx.arithmetic = a
        losses = z.clamp(min=0) - z * y + function_of(torch.log1p(torch.exp(-z.abs())), a, 4.0)
        return a.store(losses, 2, low=False).mean()

    @staticmethod
    def backward(ctx, g):
        z, y = ctx.saved_tensors
        a = ctx.arithmetic
        d = function_of(torch.sigmoid(z), a) - y
        return a.store(d * (g / z.numel()), 1), None, None


def dlrm_step(weights, dense, ids, label, precision, noise=None):
    """One step; dense (rows, F), ids (rows, T), label (rows)."""
    a = Arithmetic(precision.low, noise)
    p = _leaves(weights, precision, a)
    x = a.round(dense.to(precision.dtype))

    def layers(x, name):
        numbers = sorted(int(n.split(".")[1]) for n in p if n.startswith(name) and n.endswith("weight"))
        for number in numbers:
            x = Linear.apply(x, p[f"{name}.{number}.weight"], p[f"{name}.{number}.bias"], a)
            if name == "bot_l" or number != numbers[-1]:
                x = torch.relu(x)
        return x

    x, own = Fork.apply(layers(x, "bot_l"), a)
    vectors = [Rows.apply(p[f"emb_l.{t}.weight"], ids[:, t], a) for t in range(ids.shape[1])]
    joined = torch.stack([Rounded.apply(own, a), *vectors], 1)
    products = Products.apply(joined, a)
    i, j = torch.tril_indices(joined.shape[1], joined.shape[1], -1)
    logits = layers(torch.cat([x, products[:, i, j]], 1), "top_l")
    loss = CrossEntropy.apply(logits, label.to(precision.dtype)[:, None], a)
    return _finished(loss, p, precision, a, [], logits)
