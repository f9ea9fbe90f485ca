"""Settings of a run of another program: its origin, and those of Halftone's settings that
it has."""

from __future__ import annotations

import contextlib
import json
from typing import Any, Dict, Mapping, NamedTuple, Optional, Sequence, Tuple

from .torch_probe import is_enabled

PRECISIONS = ("fp32", "tf32", "amp-fp16", "amp-bf16", "o2-fp16", "pure-fp16")
_LONGEST = 400  # letters of a value in the list of settings
_MOST_SETTINGS = 200


class Origin(NamedTuple):
    """The arguments of Watch's constructor."""

    model: Any
    dataset: str
    config: Mapping[str, Any]
    precision: Optional[str]
    batch_size: int
    epochs: int
    shares_every: int


def _program() -> str:
    import sys

    torch = sys.modules.get("torch")
    return f"PyTorch {torch.__version__}" if torch is not None else "Python"


def _plain(value: Any) -> Any:
    """A value as JSON holds it; what JSON has no word for, as its text."""
    if isinstance(value, (bool, int, str)) or value is None:
        return value[:_LONGEST] if isinstance(value, str) else value
    try:
        text = json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return str(value)[:_LONGEST]
    return value if len(text) <= _LONGEST else text[:_LONGEST]


def _precision(given: Optional[str], scaled: bool, dtype: str, autocast: str) -> Dict[str, Any]:
    if given is not None:
        preset = given
    elif autocast == "torch.bfloat16":
        preset = "amp-bf16"
    elif autocast == "torch.float16" or scaled:
        preset = "amp-fp16"
    else:
        preset = "pure-fp16" if dtype == "torch.float16" else "fp32"
    usual = preset in ("amp-fp16", "o2-fp16")
    out: Dict[str, Any] = {"preset": preset}
    if scaled != usual:
        out["scaler"] = "dynamic" if scaled else "off"
    return out


def _rule(scaler: Any) -> Dict[str, Any]:
    """Settings of an enabled scaler. Its public calls wait for the device; none is under way yet."""
    rule = {}
    for name, call in (("init_scale", "get_scale"), ("growth_factor", "get_growth_factor"),
                       ("backoff_factor", "get_backoff_factor"),
                       ("growth_interval", "get_growth_interval")):
        with contextlib.suppress(Exception):  # another library's scaler may lack some
            told = getattr(scaler, "_" + name, None)
            value = getattr(scaler, call)() if told is None else told
            rule[name] = int(value) if name == "growth_interval" else float(value)
    return rule


def settings_of(told: Origin, optimizers: Sequence[Any], scaler: Any, dtype: str,
                autocast: str) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    """Halftone's settings as far as the training has them, and its origin."""
    scaled = is_enabled(scaler)
    settings: Dict[str, Any] = {
        "precision": _precision(told.precision, scaled, dtype, autocast)}
    if scaled:
        settings["scaler"] = _rule(scaler)
    listed = dict(told.config)
    if told.batch_size > 0:
        listed.setdefault("batch_size", told.batch_size)
    model = told.model if isinstance(told.model, str) else type(told.model).__name__
    origin: Dict[str, Any] = {
        "program": _program(), "model": model, "dataset": told.dataset,
        "optimizer": type(optimizers[0]).__name__ if optimizers else "",
        "epochs": told.epochs, "shares_every": told.shares_every,
        "settings": {str(key)[:_LONGEST]: _plain(value)
                     for key, value in list(listed.items())[:_MOST_SETTINGS]}}
    return settings, origin
