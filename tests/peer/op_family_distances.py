"""Distances and similarities of `halftone op` against PyTorch; see op_family.py. An infinite p is written as "inf"."""

import math

import torch

from op_draft import away_from_zero, draft
from op_family import op, tap
from op_norm import norm

FAMILY = "distances"
ORDERS = (2, 2, 1, 0, 3, 0.5, 1.5, "inf")


def apart(rng, *shape):
    """Numbers whose differences are not small: near 0 a norm has a steep slope or none."""
    return rng.normal(*shape, scale=rng.pick((1.0, 1.0, 20.0)))


def make_dist(rng):
    shape = rng.shape(0, 3, 60)
    x = apart(rng, *shape)
    shift = away_from_zero(rng.normal(*shape), 0.3)
    if rng.chance(0.3):
        return draft([x, (x + shift).reshape(-1)[:1] + 50.0], {"p": rng.pick(ORDERS)})
    return draft([x, x + shift], {"p": rng.pick((*ORDERS, "-inf", -1))})


op("dist", FAMILY, "f32", make_dist, lambda x, a: norm(x["0"] - x["1"], float(a["p"]), None, False), types="free",
   native=lambda x, a: torch.linalg.vector_norm(x["0"] - x["1"], float(a["p"])))

MODES = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")


def make_cdist(rng):
    p, r, m = (rng.pick((1, 2, 3, 5)) for _ in range(3))
    lead = rng.pick(([], [], [2], [3, 1], [1, 2]))
    left, right = rng.broadcast(lead), rng.broadcast(lead)
    attrs = {"p": rng.pick(ORDERS)}
    if rng.chance(0.3):
        attrs["compute_mode"] = rng.pick(MODES)
    # The second set is shifted, so that no coordinates are equal.
    return draft([distinct(rng, *left, p, m), distinct(rng, *right, r, m) + 0.125], attrs)


def distinct(rng, *shape):
    """Multiples of 1/4 in random order: no two equal, in 16 bits as well."""
    n = math.prod(shape)
    return (torch.from_numpy(rng.numpy.permutation(n)).double() - n // 2).div(4).reshape(shape)


def cdist(x, attrs):
    """By subtraction whatever the mode: PyTorch's matrix product loses half the digits of a short distance. At an
    infinite p each of equal largest differences gets the whole gradient, as nowhere else."""
    p = float(attrs["p"])
    if math.isinf(p):
        return torch.cdist(x["0"], x["1"], p)
    return norm(x["0"].unsqueeze(-2) - x["1"].unsqueeze(-3), p, -1, False)


def own_cdist(x, attrs):
    """With an infinite p PyTorch's cdist passes NaN on or not, depending on its place. Here it is the norm of the
    differences."""
    p = float(attrs["p"])
    if math.isinf(p):
        return torch.linalg.vector_norm(x["0"].unsqueeze(-2) - x["1"].unsqueeze(-3), p, -1)
    return torch.cdist(x["0"], x["1"], p, "donot_use_mm_for_euclid_dist")


class CudaDistance(torch.autograd.Function):
    """PyTorch's DistanceKernel.cu for p = 0 and 1 along the last dimension: it counts what is not equal to 0, as a NaN is
    not, and the sign of a NaN, being neither below nor above 0, is 0. On a CPU both stay NaN."""

    @staticmethod
    def forward(ctx, d, p):
        ctx.save_for_backward(d)
        ctx.p = p
        return (d != 0).to(d.dtype).sum(-1) if p == 0 else d.abs().sum(-1)

    @staticmethod
    def backward(ctx, dy):
        d, = ctx.saved_tensors
        sign = (d > 0).to(d.dtype) - (d < 0).to(d.dtype)
        return (0.0 if ctx.p == 0 else 1.0) * dy[..., None] * sign, None


def cuda_cdist(x, attrs):
    p = float(attrs["p"])
    if p not in (0, 1):
        return own_cdist(x, attrs)
    return CudaDistance.apply(x["0"].unsqueeze(-2) - x["1"].unsqueeze(-3), p)


op("cdist", FAMILY, "f32", make_cdist, cdist, native=own_cdist, also=(cuda_cdist,))


def make_pdist(rng):
    n, m = rng.pick((1, 2, 3, 5, 7)), rng.pick((1, 2, 3, 7))
    return draft([distinct(rng, n, m)], {"p": rng.pick(ORDERS)})


def pdist(x, attrs):
    p = float(attrs["p"])
    if math.isinf(p):
        return torch.pdist(x["0"], p)
    first, second = torch.triu_indices(len(x["0"]), len(x["0"]), 1)
    return norm(x["0"][first] - x["0"][second], p, -1, False)


def own_pdist(x, attrs):
    first, second = torch.triu_indices(len(x["0"]), len(x["0"]), 1)
    p = float(attrs["p"])
    return torch.linalg.vector_norm(x["0"][first] - x["0"][second], p, -1) if math.isinf(p) else torch.pdist(x["0"], p)


def cuda_pdist(x, attrs):
    p = float(attrs["p"])
    if p not in (0, 1):
        return own_pdist(x, attrs)
    first, second = torch.triu_indices(len(x["0"]), len(x["0"]), 1)
    return CudaDistance.apply(x["0"][first] - x["0"][second], p)


op("pdist", FAMILY, "f32", make_pdist, pdist, native=own_pdist, also=(cuda_pdist,))


def make_renorm(rng):
    shape = rng.shape(2, 4, 60)
    dim = int(rng.numpy.integers(len(shape)))
    attrs = {"p": rng.pick((2, 2, 1, 3, 0.5, 1.5, "inf")), "dim": dim - len(shape) if rng.chance(0.3) else dim,
             "maxnorm": rng.pick((1.0, 0.5, 5.0, 0.0, 1000.0))}
    return draft([away_from_zero(rng.normal(*shape), 0.2)], attrs)


def renorm(x, attrs):
    t, limit = x["0"], attrs["maxnorm"]
    others = tuple(d for d in range(t.dim()) if d != attrs["dim"] % t.dim())
    n = tap(norm(t, float(attrs["p"]), others))
    return t * tap(torch.where(n > limit, limit / (n + 1e-7), torch.ones_like(n)))


op("renorm", FAMILY, "f32", make_renorm, renorm,
   native=lambda x, a: torch.renorm(x["0"], float(a["p"]), a["dim"], a["maxnorm"]))


def make_cosine(rng):
    shape = rng.shape(1, 4, 60)
    dim = int(rng.numpy.integers(len(shape)))
    attrs = {"dim": dim - len(shape) if rng.chance(0.3) else dim}
    if rng.chance(0.3):
        attrs["eps"] = rng.pick((1e-8, 1e-3, 2.0))
    x = away_from_zero(rng.normal(*shape, scale=rng.pick((1.0, 1.0, 30.0))), 0.1)
    y = away_from_zero(rng.normal(*rng.broadcast(shape)), 0.1)
    return draft([x, y] if rng.chance(0.7) or y.dim() < len(shape) else [y, x], attrs)


def cosine(x, attrs):
    # Tapped, since the gradient of each element is rounded before those of a broadcast operand are added and cancel.
    left, right = map(tap, torch.broadcast_tensors(x["0"], x["1"]))
    dim, eps = attrs["dim"], attrs.get("eps", 1e-8)

    def direction(t):
        n = tap(norm(t, 2, dim))
        return tap(t / (n + (n.clamp_min(eps) - n).detach()))  # the gradient passes by eps

    return (direction(left) * direction(right)).sum(dim)


op("cosine_similarity", FAMILY, "f32", make_cosine, cosine, types="free",
   native=lambda x, a: torch.cosine_similarity(x["0"], x["1"], a["dim"], a.get("eps", 1e-8)))


def make_normalize(rng):
    shape = rng.shape(1, 4, 60)
    attrs = {"p": rng.pick((2, 2, 1, 3, 0.5, 1.5, "inf"))}
    attrs["dim"] = int(rng.numpy.integers(len(shape))) - (len(shape) if rng.chance(0.3) else 0)
    if rng.chance(0.3):
        attrs["eps"] = rng.pick((1e-12, 1e-3, 3.0))
    return draft([away_from_zero(rng.normal(*shape), 0.2)], attrs)


def normalize(x, attrs):
    p, dim, eps = float(attrs["p"]), attrs["dim"], attrs.get("eps", 1e-12)
    return x["0"] / tap(norm(x["0"], p, dim)).clamp_min(eps)


op("normalize", FAMILY, "none", make_normalize, normalize, acts="f32_dtype",
   native=lambda x, a: torch.nn.functional.normalize(x["0"], float(a["p"]), a["dim"], a.get("eps", 1e-12)))
