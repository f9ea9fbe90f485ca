"""Reads a run folder, of Halftone itself or of this package, also while it is being written."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Dict, List, Mapping, NamedTuple, Tuple, Union

from . import record_layout as layout
from .run_folder import CONFIG_FILE, EVENTS_FILE, default_store

_TYPES = {code: kind for kind, code in layout.COLUMN_CODES.items()}
_WORDS = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}
_OF_STEPS = ("epoch", "scale")

Json = Dict[str, Any]


class Run(NamedTuple):
    """The contents of a run folder.

    folder    of the run
    settings  config.json; of a run of another program with its `origin`
    events    in their order, numbers as floats; those of steps that a resumed run took back are
              left out
    columns   the step record: a NumPy array for each column, metrics under their keys. A figure
              that was not measured is NaN
    """

    folder: Path
    settings: Json
    events: List[Json]
    columns: Mapping[str, Any]

    @property
    def epochs(self) -> List[Json]:
        """The epoch events: `epoch`, `step`, `train_loss`, `test_loss`, `test_accuracy`..."""
        return [event for event in self.events if event.get("event") == "epoch"]

    @property
    def skipped(self) -> Any:
        """The numbers of the skipped steps, as an array."""
        return self.columns["step"][self.columns["found_inf"] != 0]

    def frame(self) -> Any:
        """The step record as a pandas.DataFrame with the step as its index. Needs pandas."""
        import pandas

        rows = pandas.DataFrame(dict(self.columns))
        rows["found_inf"] = rows["found_inf"] != 0
        return rows.set_index("step")


def read(run: Union[int, str, "os.PathLike[str]"]) -> Run:
    """Reads a run: its folder, or its number in Halftone's own history. Needs NumPy. Raises
    OSError for a folder that is not there, ValueError for one that holds no run or a damaged
    record."""
    folder = Path(run) if not isinstance(run, int) else default_store() / str(run)
    if isinstance(run, str) and run.isdigit() and not folder.is_dir():
        folder = default_store() / run
    settings = json.loads((folder / CONFIG_FILE).read_text(encoding="utf-8"))
    events = _events_of(folder / EVENTS_FILE)
    return Run(folder, settings, events, _columns_of(folder / layout.FILE_NAME, _keys_of(events)))


def _events_of(path: Path) -> List[Json]:
    out: List[Json] = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            event = json.loads(line)
        except ValueError:  # cut short by a crash, or not whole yet
            continue
        if not isinstance(event, dict):
            continue
        event = {key: _WORDS.get(value, value) if isinstance(value, str) else value
                 for key, value in event.items()}
        if event.get("event") == "resumed":
            last = event.get("step", 0)
            out = [each for each in out
                   if each.get("event") not in _OF_STEPS or each.get("step", 0) <= last]
        out.append(event)
    return out


def _keys_of(events: List[Json]) -> List[str]:
    """The keys of the columns metric_1, metric_2, ..., by the last start."""
    for event in reversed(events):
        if event.get("event") == "start":
            keys = [metric["key"] for metric in event.get("step_metrics", [])]
            return [key for key in keys if key != "accuracy"]
    return []


def _listed(page: bytes, path: Path) -> Tuple[int, List[Tuple[str, str]], int, int]:
    """Published rows, names and types of the columns, and the rows of the first and of a full
    chunk, of the header page."""
    if len(page) < layout.PAGE_BYTES or page[:8] != layout.MAGIC:
        raise ValueError(f"{path}: not a step record")
    _, version, count, checksum, published, first, full = layout.HEADER.unpack_from(page)
    if version != layout.VERSION:
        raise ValueError(f"{path}: a record of version {version}; this package reads "
                         f"{layout.VERSION}")
    table = page[layout.HEADER.size:layout.HEADER.size + layout.TABLE_BYTES]
    if checksum != layout.checksum_of(count, first, full, table) or full < first or first < 1:
        raise ValueError(f"{path}: the header is damaged")
    out = []
    for i in range(count):
        entry = table[i * 24:i * 24 + 24]
        out.append((entry[:23].rstrip(b"\0").decode("ascii"), _TYPES[entry[23]]))
    return published, out, first, full


def _columns_of(path: Path, keys: List[str]) -> Dict[str, Any]:
    import numpy as np

    with open(path, "rb") as file:
        published, listed, first, full = _listed(file.read(layout.PAGE_BYTES), path)
        names = {f"metric_{i}": key for i, key in enumerate(keys, start=1)}
        parts: List[List[Any]] = [[] for _ in listed]
        geometry = layout.Layout(listed, first, full)
        chunk = geometry.first_chunk()
        while chunk.first_row < published:
            rows = min(chunk.rows, published - chunk.first_row)
            for column, (_, kind) in enumerate(listed):
                file.seek(geometry.offset_of(column, chunk, 0))
                data = file.read(rows * layout.size_of(kind))
                if len(data) < rows * layout.size_of(kind):
                    raise ValueError(f"{path}: the record ends early")
                parts[column].append(np.frombuffer(data, np.dtype(kind)))
            chunk = geometry.next_chunk(chunk)
    return {names.get(name, name):
            np.concatenate(parts[i]) if parts[i] else np.empty(0, np.dtype(kind))
            for i, (name, kind) in enumerate(listed)}
