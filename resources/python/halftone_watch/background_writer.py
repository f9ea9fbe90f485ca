"""A thread that writes rows and events, so that a slow disk does not slow a training."""

from __future__ import annotations

import threading
import weakref
from typing import Any, Dict, List, Optional, Tuple, Union

from .record_writer import RecordWriter
from .run_folder import RunFolder

Row = Tuple[Any, ...]
Item = Union[Row, Dict[str, Any]]

LOCAL_INTERVAL = 0.2    # seconds; the window draws four times a second
NETWORK_INTERVAL = 1.0  # each turn waits for the server twice


class BackgroundWriter:
    """Writes what it is given in its order, a few times a second. After an error it writes no
    more, and `error` says why."""

    def __init__(self, folder: RunFolder, record: RecordWriter) -> None:
        self.error: Optional[OSError] = None
        self._folder = folder
        self._record = record
        self._interval = NETWORK_INTERVAL if folder.on_network else LOCAL_INTERVAL
        self._items: List[Item] = []
        self._mutex = threading.Lock()
        self._stop = threading.Event()
        # Held weakly: a watch that nobody closes can still be collected.
        self._thread = threading.Thread(target=_run, args=(weakref.ref(self), self._stop,
                                                           self._interval),
                                        name="halftone_watch", daemon=True)
        self._thread.start()

    def put(self, item: Item) -> None:
        """A row in the order of the record's columns, or an event."""
        with self._mutex:
            self._items.append(item)

    def flush(self) -> None:
        """Writes all that was put so far."""
        with self._mutex:
            items, self._items = self._items, []
            # Under the lock, so that close() and the thread keep the order.
            self._write(items)

    def close(self) -> None:
        """Writes what is left and ends the thread."""
        self._stop.set()
        self._thread.join()
        self.flush()
        self._record.close()

    def _write(self, items: List[Item]) -> None:
        if self.error is not None:
            return
        try:
            rows: List[Row] = []
            for item in items:
                if isinstance(item, dict):
                    self._append(rows)
                    rows = []
                    self._folder.append(item)
                else:
                    rows.append(item)
            self._append(rows)
        except OSError as error:
            self.error = error

    def _append(self, rows: List[Row]) -> None:
        if rows:
            self._folder.check()
            self._record.append(rows)


def _run(writer: "weakref.ref[BackgroundWriter]", stop: threading.Event, interval: float) -> None:
    while not stop.wait(interval):
        alive = writer()
        if alive is None:
            return
        alive.flush()
        del alive
