"""How gradients would fare as f16 values: counts over all of them in one pass."""

from __future__ import annotations

from typing import Any, Dict, Iterator, List

# Bits of f32 magnitudes, which are ordered as the magnitudes are; a NaN is above them all.
_LAST_FLUSHED = 0x33000000   # 2^-25: rounds to 0 in f16
_FIRST_NORMAL = 0x387FE000   # the smallest that rounds to 2^-14
_FIRST_INFINITE = 0x477FF000  # 65520: rounds to infinity
_BOUNDS = (0, _LAST_FLUSHED, _FIRST_NORMAL - 1, _FIRST_INFINITE - 1)
_HOST_PIECE = 1 << 18    # 1 MiB, which stays in a cache
_DEVICE_PIECE = 1 << 24  # bounds what the counting takes beside the gradients


def _pieces(grads: List[Any], size: int) -> Iterator[Any]:
    """The elements of all gradients as flat f32 tensors of at most `size` elements each."""
    import torch

    small: List[Any] = []
    held = 0
    for grad in grads:
        flat = grad.reshape(-1)
        if flat.dtype != torch.float32:
            flat = flat.float()
        if flat.numel() >= size:
            yield from flat.split(size)
            continue
        if held + flat.numel() > size:
            yield torch.cat(small)
            small, held = [], 0
        small.append(flat)
        held += flat.numel()
    if small:
        yield torch.cat(small) if len(small) > 1 else small[0]


def _count_on_host(grads: List[Any]) -> Dict[str, float]:
    import numpy as np

    above = [0] * len(_BOUNDS)
    total = largest = 0
    for piece in _pieces(grads, _HOST_PIECE):
        bits = piece.numpy().view(np.int32) & 0x7FFFFFFF
        for i, bound in enumerate(_BOUNDS):
            above[i] += int(np.count_nonzero(bits > bound))
        total += bits.size
        largest = max(largest, int(bits.max(initial=0)))
    nonzero = max(above[0], 1)
    return {"scaled_max": float(np.array(largest, np.int32).view(np.float32)),
            "zero_share": (above[0] - above[1]) / nonzero,
            "subnormal_share": (above[1] - above[2]) / nonzero,
            "overflow_share": above[3] / nonzero,
            "grad_zero_share": 1 - above[0] / total if total > 0 else float("nan")}


def _count_on_device(grads: List[Any]) -> Dict[str, Any]:
    import torch

    above: Any = None
    largest: Any = None
    total = 0
    for piece in _pieces(grads, _DEVICE_PIECE):
        bits = piece.view(torch.int32) & 0x7FFFFFFF
        counts = torch.stack([torch.count_nonzero(bits > bound) for bound in _BOUNDS])
        above = counts if above is None else above + counts
        largest = bits.max() if largest is None else torch.maximum(largest, bits.max())
        total += bits.numel()
    counted = above.double()
    nonzero = counted[0].clamp(min=1)
    return {"scaled_max": largest.view(torch.float32),
            "zero_share": (counted[0] - counted[1]) / nonzero,
            "subnormal_share": (counted[1] - counted[2]) / nonzero,
            "overflow_share": counted[3] / nonzero,
            "grad_zero_share": 1 - counted[0] / total}


def census(grads: List[Any]) -> Dict[str, Any]:
    """Figures of dense gradients on one device, as they are (scaled): the largest magnitude, the share of
    non-zero values that f16 would flush to 0, hold as subnormals or not hold, and the share of
    values that are 0. Numbers on the CPU; elsewhere 0-d tensors, and nothing waits for the
    device."""
    grads = [grad for grad in grads if grad.numel() > 0]
    if not grads:
        return {}
    if grads[0].device.type == "cpu" and _has_numpy():
        return _count_on_host(grads)
    return _count_on_device(grads)


def _has_numpy() -> bool:
    """NumPy counts a CPU's gradients faster than PyTorch does, but PyTorch can be without it."""
    try:
        import numpy  # noqa: F401
    except ImportError:
        return False
    return True
