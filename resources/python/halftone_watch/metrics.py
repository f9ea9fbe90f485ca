"""Figures of merit beside the loss, and what a part of the data came to."""

from __future__ import annotations

import re
from typing import Any, Dict, List, NamedTuple, Sequence, Union

from .record_layout import MOST_METRIC_COLUMNS

_KEY = re.compile(r"[a-z][a-z0-9_]{0,47}")


class Metric(NamedTuple):
    """One figure of merit. `is_share`: from 0 to 1, shown in per cent."""

    key: str
    title: str = ""
    higher_is_better: bool = True
    is_share: bool = False

    def to_json(self) -> Dict[str, Any]:
        """As a start event holds it."""
        return {"key": self.key, "title": self.title or self.key.replace("_", " ").capitalize(),
                "higher_is_better": self.higher_is_better, "is_share": self.is_share}


_KNOWN = {metric.key: metric for metric in (
    Metric("accuracy", "Accuracy", True, True),
    Metric("perplexity", "Perplexity", False),
    Metric("rmse", "RMSE", False),
    Metric("r2", "R²"),
    Metric("auc", "AUC", True),
)}


def described(metrics: Sequence[Union[str, Metric]]) -> List[Metric]:
    """Descriptors of metrics, some of which are given by their keys alone. Raises ValueError."""
    out = [_KNOWN.get(each, Metric(each)) if isinstance(each, str) else each for each in metrics]
    for metric in out:
        if _KEY.fullmatch(metric.key) is None or metric.key == "loss":
            raise ValueError(f"{metric.key!r}: a metric's key is a lower-case word, and not loss")
    if len({metric.key for metric in out}) != len(out):
        raise ValueError("two metrics have the same key")
    if sum(metric.key != "accuracy" for metric in out) > MOST_METRIC_COLUMNS:
        raise ValueError(f"at most {MOST_METRIC_COLUMNS} metrics beside accuracy")
    return out


def columns_of(metrics: Sequence[Metric]) -> Dict[str, str]:
    """For each key its column in the record: accuracy has one of its own."""
    names: Dict[str, str] = {}
    for metric in metrics:
        others = sum(name != "accuracy" for name in names.values())
        names[metric.key] = "accuracy" if metric.key == "accuracy" else f"metric_{others + 1}"
    return names
