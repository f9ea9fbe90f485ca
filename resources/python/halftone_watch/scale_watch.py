"""Growths and skips of the loss scale, told as Halftone's engine tells them (`scale_watch.h`)."""

from __future__ import annotations

import math
from typing import Any, Dict, Optional

from .run_folder import number_json

_PERSISTENT_AFTER = 16  # a scale of 2^16 is then all used up


class ScaleWatch:
    """Turns steps into the events of a run's loss scale. A skip is calibrating until the scale has
    grown once, persistent where a lower scale cannot help, else normal."""

    def __init__(self) -> None:
        self._clean_steps = 0
        self._skips_in_a_row = 0
        self._has_grown = False

    def see(self, run: str, step: int, loss: float, scale: float, found_inf: bool,
            next_scale: float) -> Optional[Dict[str, Any]]:
        """The event of this step, if it is one."""
        if not found_inf:
            self._skips_in_a_row = 0
            self._clean_steps += 1
            if not next_scale > scale:
                return None
            self._has_grown = True
            kind = "grown"
        else:
            self._skips_in_a_row += 1
            kind = self._kind_of_skip(loss)
        event = {"event": "scale", "run": run, "step": step, "kind": kind,
                 "from": number_json(scale), "to": number_json(next_scale),
                 "clean_steps": self._clean_steps}
        self._clean_steps = 0
        if found_inf and not math.isfinite(loss):
            event["loss"] = number_json(loss)
        return event

    def _kind_of_skip(self, loss: float) -> str:
        # The skip that is being told counts among those in a row.
        if not math.isfinite(loss) or self._skips_in_a_row >= _PERSISTENT_AFTER:
            return "skipped_persistent"
        return "skipped_normal" if self._has_grown else "skipped_calibrating"
