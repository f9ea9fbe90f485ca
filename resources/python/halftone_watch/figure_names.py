"""Names under which programs log figures, and what Halftone calls them."""

from __future__ import annotations

import re
from typing import Any, Dict, Mapping, NamedTuple, Tuple

_PARTS = {"train": "train", "training": "train", "val": "validation", "valid": "validation",
          "validation": "validation", "dev": "validation", "test": "test", "eval": "test",
          "evaluation": "test"}
_ENDS = ("epoch", "step")  # as Lightning ends the names of what is logged of both
_KEYS = {"acc": "accuracy", "ppl": "perplexity", "learning_rate": "lr", "scale": "loss_scale",
         "grad_scale": "loss_scale", "gradient_norm": "grad_norm", "total_norm": "grad_norm"}
#: Figures that Watch.step() has arguments for, and its other arguments.
ARGUMENTS = ("loss", "lr", "loss_scale", "grad_norm")
RESERVED = (*ARGUMENTS, "epoch", "samples", "found_inf", "step", "global_step")


class FigureName(NamedTuple):
    """part: "train", "validation", "test", or "" for none; key: "loss", "lr", "accuracy"..."""

    part: str
    key: str


def parsed(name: str) -> FigureName:
    """`val/acc`, `eval_accuracy`, `Loss/train` and their like. A name without letters has no key."""
    words = [word for word in re.split(r"[^a-z0-9]+", name.lower()) if word]
    # "train/epoch" and "global_step" are counts.
    least = 3 if words and words[0] in _PARTS else 2
    if len(words) >= least and words[-1] in _ENDS and words[-2] != "global":
        words.pop()
    part = ""
    for place in (0, -1):
        if len(words) > 1 and words[place] in _PARTS:
            part = _PARTS[words.pop(place)]
            break
    key = "_".join(words)
    return FigureName(part, _KEYS.get(key, key) if key[:1].isalpha() else "")


def parts_of(figures: Mapping[str, Any]) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    """Figures of training under their keys, and those of evaluations as Watch.epoch() takes them
    (`test_loss`, `validation_accuracy`)."""
    trained: Dict[str, Any] = {}
    evaluated: Dict[str, Any] = {}
    for name, value in figures.items():
        part, key = parsed(name)
        if part in ("", "train"):
            trained[key or name] = value
        elif key:
            evaluated[f"{part}_{key}"] = value
    return trained, evaluated
