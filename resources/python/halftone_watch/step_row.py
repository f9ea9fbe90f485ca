"""A row of the step record from the figures of a step."""

from __future__ import annotations

import math
import time
from typing import Any, Mapping, NamedTuple, Sequence, Tuple

from .record_layout import columns
from .torch_probe import finite

_UNKNOWN = float("nan")
_LARGEST_F16 = 65504.0


class StepTimes(NamedTuple):
    """Times of a step, and of the training up to its end, in seconds."""

    seconds: float
    elapsed: float


def _gradient_figures(figures: Mapping[str, float], scale: float) -> Mapping[str, float]:
    """Figures of a step whose gradients were counted."""
    if "scaled_max" not in figures:
        return {}
    scaled_max = figures["scaled_max"]
    grad_max = scaled_max / scale if scale > 0 else _UNKNOWN
    out = {"grad_max": grad_max,
           "grad_max_exponent":
               float(math.frexp(grad_max)[1] - 1) if finite(grad_max) else _UNKNOWN,
           "f16_zero_share": figures["zero_share"],
           "f16_subnormal_share": figures["subnormal_share"],
           "f16_overflow_share": figures["overflow_share"],
           "grad_zero_share": figures["grad_zero_share"]}
    if figures.get("f16", 0.0) != 0 and finite(scaled_max):
        out["scaled_f16_max"] = scaled_max
        out["scale_ceiling"] = _LARGEST_F16 * scale / scaled_max
    return out


def fill_row(figures: Mapping[str, float], metric_columns: Mapping[str, str], *, step: int,
             epoch: int, samples: int, updates: int, times: StepTimes, samples_now: int,
             memory: Sequence[int], skipped: bool) -> Tuple[Any, ...]:
    """The row in file order. What was not told is NaN, and 0 where a column holds whole numbers."""
    scale = figures.get("scale", 1.0)
    norm = figures.get("grad_norm", _UNKNOWN)
    if "scaled_norm" in figures and "grad_norm" not in figures:
        norm = figures["scaled_norm"] / scale if scale > 0 else _UNKNOWN
    known = {
        "step": step, "epoch": epoch, "samples": samples, "updates": updates,
        "elapsed_s": times.elapsed, "clock_s": round(time.time(), 3), "memory_bytes": memory[0], "peak_bytes": memory[1],
        "loss": figures.get("loss", _UNKNOWN), "lr": figures.get("lr", _UNKNOWN), "loss_scale": scale,
        "growth_tracker": int(figures.get("tracker", 0)), "found_inf": int(skipped),
        "grad_norm": norm, "step_ms": times.seconds * 1e3,
        "samples_per_s":
            samples_now / times.seconds if samples_now > 0 and times.seconds > 0 else _UNKNOWN,
        **_gradient_figures(figures, scale),
    }
    for key, column in metric_columns.items():
        known[column] = figures.get("metric " + key, _UNKNOWN)
    others = sum(column != "accuracy" for column in metric_columns.values())
    return tuple(known.get(name, _UNKNOWN if "f" in kind else 0) for name, kind in columns(others))
