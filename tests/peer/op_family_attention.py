"""scaled_dot_product_attention with masks, causal, grouped heads and broadcast batches, and the flash entry.

The reference is the formula in f64, held against PyTorch's function in each call. Its taps are the terms of the scores
(large ones may cancel, or shift all scores of a row and with them no weight), the parts of the softmax, and what is
stored in the op's own type, once each: the weights before their product with v, the scores' gradient before its products
(`low_steps` 1), and the gradients of heads and batches that stand for several, each stored before they are added up.
A GPU's fused kernel keeps no weights: it rounds exp of the scores for the product with v, divides by the row's sum then,
and takes the row's sum of dy y, which its gradient subtracts, from the stored y. Without a mask its steps count as well.
"""

import math

import torch
import torch.nn.functional as F

from op_draft import draft
from op_family import agreed, op, tap

INFINITE = float("inf")


def softmax(s):
    """0 for a row of -infinity only."""
    dead = (s == -INFINITE).all(-1, keepdim=True)
    s = torch.where(dead, torch.zeros_like(s), s)
    e = torch.exp(s - s.detach().amax(-1, keepdim=True))
    p = tap(e) / tap(tap(e).sum(-1, keepdim=True))
    return torch.where(dead, torch.zeros_like(p), p)


def by_kernel(s, v, step):
    """softmax(s) v in the fused kernel's order. The gradient that arrives at an element of `sums` is dy y over the sum:
    what of the row's sum of dy y belongs to that element of y."""
    e = torch.exp(s - s.detach().amax(-1, keepdim=True))
    sums = step(step(e).sum(-1, keepdim=True).expand(*e.shape[:-1], v.shape[-1]))
    return (step(e) @ v) / sums


def either(s, v, is_causal):
    """softmax(s) v by products or by the kernel: the value and the derivatives of one of them, and the taps of both."""
    numbers = s.numel() > 0 and bool(s.isfinite().all() and v.isfinite().all())
    if is_causal:
        s = s.masked_fill(~torch.ones(s.shape[-2:], dtype=torch.bool).tril(), -INFINITE)
    y = tap(softmax(s)) @ v
    return y + (by_kernel(s, v, tap) - by_kernel(s, v, lambda t: t)) if numbers else y


def scores(q, k, attrs):
    terms = tap(q.unsqueeze(-2) * k.unsqueeze(-3))
    return tap(terms.sum(-1) * attrs.get("scale", 1 / math.sqrt(q.shape[-1])))


def attention(x, attrs):
    q, k, v, mask = x["0"], x["1"], x["2"], x["3"]
    theirs = F.scaled_dot_product_attention(q, k, v, mask, 0.0, attrs.get("is_causal", False),
                                            scale=attrs.get("scale"), enable_gqa=attrs.get("enable_gqa", False))
    if attrs.get("enable_gqa"):
        k, v = (tap(t.repeat_interleave(q.shape[-3] // t.shape[-3], -3)) for t in (k, v))
    lead = torch.broadcast_shapes(q.shape[:-2], k.shape[:-2], v.shape[:-2])
    q, k, v = (tap(t.expand(*lead, *t.shape[-2:])) for t in (q, k, v))
    s = scores(q, k, attrs)
    if mask is None:
        return agreed(either(s, v, attrs.get("is_causal")), theirs)
    s = s.masked_fill(~mask, -INFINITE) if mask.dtype == torch.bool else tap(s + mask)
    return agreed(tap(softmax(s)) @ v, theirs)


def lead_shapes(rng):
    """Leading dimensions of q, of k and of v."""
    lead = rng.pick(((), (2,), (1, 2), (2, 1)))
    if lead and rng.chance(0.25):
        return [rng.broadcast(list(lead)) for _ in range(3)]
    return [list(lead)] * 3


def mask_for(rng, shape):
    """A mask of rank 2 or more, as PyTorch requires."""
    shape = rng.broadcast(shape)
    shape = [1] * (2 - len(shape)) + shape
    if rng.chance(0.5):
        return rng.uniform(0, 1, *shape) > rng.pick((0.3, 0.6))
    mask = rng.normal(*shape)
    if rng.chance(0.3):
        mask = torch.where(rng.uniform(0, 1, *shape) > 0.6, torch.full_like(mask, -INFINITE), mask)
    return mask


def generate(rng):
    queries, keys = rng.pick((1, 2, 3)), rng.pick((1, 2, 4))
    inner, outer = rng.pick((1, 2, 3)), rng.pick((1, 2, 3))
    if rng.chance(0.4):
        inner, outer = rng.pick((8, 16)), 8  # sizes that fused kernels support
    attrs = {}
    if rng.chance(0.25):
        heads = rng.pick((1, 2))
        attrs["enable_gqa"] = True
        leads = [[heads * rng.pick((1, 2))], [heads], [heads]]
    else:
        leads = lead_shapes(rng)
    scale = rng.pick((1.0, 1.0, 3.0))
    values = [rng.normal(*leads[0], queries, inner, scale=scale), rng.normal(*leads[1], keys, inner, scale=scale),
              rng.normal(*leads[2], keys, outer)]
    if rng.chance(0.3):
        attrs["scale"] = rng.pick((0.5, 2.0, -1.0))
    if rng.chance(0.25):
        attrs["is_causal"] = True
        # PyTorch 2.15 on a CPU multiplies the causal mask's -infinity by the scale too: NaN for a negative one.
        if "scale" in attrs:
            attrs["scale"] = abs(attrs["scale"])
    elif rng.chance(0.5):
        lead = leads[0] if attrs.get("enable_gqa") else torch.broadcast_shapes(tuple(leads[0]), tuple(leads[1]))
        values.append(mask_for(rng, [*lead, queries, keys]))
    return draft(values, attrs, [i for i, t in enumerate(values) if t.is_floating_point()])


class FusedAttention(torch.autograd.Function):
    """The arithmetic of the fused kernels on PyTorch's GPUs: scores and sums in f32, weights and the gradient of the scores
    rounded to the type of the operands for their products, a causal mask written over the scores."""

    @staticmethod
    def forward(ctx, q, k, v, mask, is_causal, scale):
        s = wide(q) @ wide(k).mT * scale
        if is_causal:
            s = s.masked_fill(~torch.ones(s.shape[-2:], dtype=torch.bool).tril(), -INFINITE)
        elif mask is not None:
            s = s + (torch.zeros(mask.shape).masked_fill(~mask, -INFINITE) if mask.dtype == torch.bool else wide(mask))
        dead = (s == -INFINITE).all(-1, keepdim=True)
        p = torch.softmax(s, -1).masked_fill(dead, 0.0)
        ctx.save_for_backward(q, k, v, p)
        ctx.scale, ctx.mask_shape = scale, None if mask is None else mask.shape
        return (wide(p.to(q.dtype)) @ wide(v)).to(q.dtype)

    @staticmethod
    def backward(ctx, dy):
        q, k, v, p = ctx.saved_tensors
        dp = wide(dy) @ wide(v).mT
        ds = p * (dp - (p * dp).sum(-1, keepdim=True))
        low = wide(ds.to(q.dtype))
        dq, dk = low @ wide(k) * ctx.scale, low.mT @ wide(q) * ctx.scale
        dmask = None if ctx.mask_shape is None else ds.sum_to_size(ctx.mask_shape).to(q.dtype)
        return dq.to(q.dtype), dk.to(q.dtype), (wide(p.to(q.dtype)).mT @ wide(dy)).to(q.dtype), dmask, None, None


def wide(t):
    return t if t.dtype == torch.float64 else t.float()


def by_fused(x, attrs):
    q, k, v, mask = x["0"], x["1"], x["2"], x["3"]
    if attrs.get("enable_gqa"):
        k, v = (t.repeat_interleave(q.shape[-3] // t.shape[-3], -3) for t in (k, v))
    lead = torch.broadcast_shapes(q.shape[:-2], k.shape[:-2], v.shape[:-2])
    q, k, v = (t.expand(*lead, *t.shape[-2:]) for t in (q, k, v))
    return FusedAttention.apply(q, k, v, mask, attrs.get("is_causal", False),
                                attrs.get("scale", 1 / math.sqrt(q.shape[-1])))


def by_products(x, attrs):
    """PyTorch's kernel of two products and a softmax. The fused one of its CPU makes 0 of a row of scores that are NaN."""
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        return attention(x, attrs)


op("scaled_dot_product_attention", "attention", "low", generate, attention, low_steps=1, also=(by_products, by_fused))


def logsumexp(s):
    top = s.detach().amax(-1, keepdim=True)
    return (torch.log(tap(tap(torch.exp(s - top)).sum(-1, keepdim=True))) + top).squeeze(-1)


def flash(x, attrs):
    """PyTorch has the entry on its GPUs, and a twin of it on its CPU."""
    q, k, v, is_causal = x["0"], x["1"], x["2"], attrs.get("is_causal", False)
    if q.is_cuda:
        return torch.ops.aten._scaled_dot_product_flash_attention(q, k, v, 0.0, is_causal, scale=attrs.get("scale"))[:2]
    theirs = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0, is_causal, scale=attrs.get("scale"))
    s = scores(q, k, attrs)
    y = either(s, v, is_causal)
    if is_causal:
        s = s.masked_fill(~torch.ones(s.shape[-2:], dtype=torch.bool).tril(), -INFINITE)
    return agreed((y, logsumexp(s)), theirs)


def flash_case(rng):
    lead = [rng.pick((1, 2)), rng.pick((1, 2, 3))]
    queries, keys, inner = rng.pick((1, 2, 3)), rng.pick((1, 2, 4)), rng.pick((1, 2, 3, 8, 16))
    attrs = {}
    if rng.chance(0.3):
        attrs["scale"] = rng.pick((0.5, 2.0, -1.0))
    if rng.chance(0.4):
        attrs["is_causal"] = True
        keys = queries
        if "scale" in attrs:
            attrs["scale"] = abs(attrs["scale"])  # as above
    scale = rng.pick((1.0, 1.0, 3.0))
    return draft([rng.normal(*lead, queries, inner, scale=scale), rng.normal(*lead, keys, inner, scale=scale),
                  rng.normal(*lead, keys, inner)], attrs)


def flash_types(types, run):
    """The output's, and that of the sums."""
    return [run, torch.float64 if run == torch.float64 else torch.float32]


def flash_by_fused(x, attrs):
    """The GPU's kernel writes infinity where a row's sum is 0 or not a number."""
    s = wide(x["0"]) @ wide(x["1"]).mT * attrs.get("scale", 1 / math.sqrt(x["0"].shape[-1]))
    if attrs.get("is_causal"):
        s = s.masked_fill(~torch.ones(s.shape[-2:], dtype=torch.bool).tril(), -INFINITE)
    sums = torch.logsumexp(s, -1).detach()
    return by_fused(x, attrs), torch.where(sums > -INFINITE, sums, INFINITE)


op("_scaled_dot_product_flash_attention", "attention", "low", flash_case, flash, low_steps=1, result=flash_types, flat=(1,),
   also=(flash_by_fused,))
