"""Growths and skips of the loss scale, told as Halftone's engine tells them (`run_alerts.h`)."""

from __future__ import annotations

import math
from typing import Any, Dict, Optional

from .run_folder import number_json

_PERSISTENT_AFTER = 16
_USED_UP = 2.0 ** -16
_USUAL_SCALE = 65536.0


class ScaleWatch:
    """Turns steps into the events of a run's loss scale. A skip is calibrating until the scale has
    grown once, persistent where a lower scale cannot help, else normal."""

    def __init__(self) -> None:
        self._clean_steps = 0
        self._skips_in_a_row = 0
        self._has_grown = False
        self._fitting_scale = _USUAL_SCALE

    def see(self, run: str, step: int, loss: float, scale: float, found_inf: bool,
            next_scale: float) -> Optional[Dict[str, Any]]:
        """The event of this step, if it is one."""
        if not found_inf:
            self._skips_in_a_row = 0
            self._clean_steps += 1
            self._fitting_scale = scale
            if not next_scale > scale:
                return None
            self._has_grown = True
            kind = "grown"
        else:
            self._skips_in_a_row += 1
            kind = self._kind_of_skip(loss, scale, next_scale)
        event = {"event": "scale", "run": run, "step": step, "kind": kind,
                 "from": number_json(scale), "to": number_json(next_scale),
                 "clean_steps": self._clean_steps}
        self._clean_steps = 0
        if found_inf and not math.isfinite(loss):
            event["loss"] = number_json(loss)
        return event

    def _kind_of_skip(self, loss: float, scale: float, next_scale: float) -> str:
        if not self._lower_scale_helps(loss, scale, next_scale):
            return "skipped_persistent"
        return "skipped_normal" if self._has_grown else "skipped_calibrating"

    def _lower_scale_helps(self, loss: float, scale: float, next_scale: float) -> bool:
        if not math.isfinite(loss):
            return False
        # The skip that is being told counts among those in a row.
        if self._skips_in_a_row < _PERSISTENT_AFTER:
            return True
        return scale > next_scale > self._fitting_scale * _USED_UP
