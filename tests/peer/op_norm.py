"""p-norms by their formula, for the references of ops that are built on one; see op_family.py on `tap`."""

import math

import torch

from op_family import tap


def norm(t, p, dim, keepdim=True):
    """torch.linalg.vector_norm of t over the dimensions `dim` (None: all). Where the norm is 0 its gradient is too.
    PyTorch's own has the same values; its second derivative cannot say where terms cancel."""
    dim = tuple(range(t.dim())) if dim is None else dim
    if p == 0:
        return (t != 0).double().sum(dim, keepdim)
    if p == 1:
        return t.abs().sum(dim, keepdim)
    if math.isinf(p):
        return (torch.amax if p > 0 else torch.amin)(t.abs(), dim, keepdim)
    zero = t == 0
    if p == 2:
        powers = t * t
    else:
        powers = torch.where(zero, torch.zeros_like(t), torch.where(zero, torch.ones_like(t), t).abs() ** p)
        if p < 0:
            powers = torch.where(zero, torch.full_like(t, math.inf), powers)
    total = tap(powers.sum(dim, keepdim))
    none = total == 0
    return torch.where(none, torch.zeros_like(total), torch.where(none, torch.ones_like(total), total) ** (1 / p))
