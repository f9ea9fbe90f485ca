"""The folder of a run: its lock, lease, settings and events, as Halftone's run store keeps them."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import math
import os
import time
import weakref
from pathlib import Path
from typing import Any, Dict, Iterator, Mapping, Optional, Union

from .file_modes import make_file, make_folder, make_folders
from .lease import Lease

CONFIG_FILE = "config.json"
EVENTS_FILE = "events.jsonl"
LOCK_FILE = "lock"
_INDEX_LOCK = "index.lock"
_NETWORK_TYPES = ("nfs", "cifs", "smb", "9p", "afs", "ceph", "lustre", "gpfs", "beegfs", "fuse.")

Json = Dict[str, Any]


def default_store() -> Path:
    """The folder in which Halftone keeps its runs."""
    data = os.environ.get("XDG_DATA_HOME", "")
    root = Path(data) if data.startswith("/") else Path.home() / ".local" / "share"
    return root / "halftone" / "runs"


def is_on_network(folder: Path) -> bool:
    """Whether another machine may see the folder too, by the type of its file system."""
    try:
        mounts = Path("/proc/self/mounts").read_text(errors="replace").splitlines()
    except OSError:
        return False
    path = str(folder.resolve())
    best, kind = "", ""
    for line in mounts:
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        point = fields[1].replace("\\040", " ")
        inside = path == point or path.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, kind = point, fields[2]
    return kind.startswith(_NETWORK_TYPES)


def number_json(value: Optional[float]) -> Union[float, str]:
    """A number as events hold it; unknown is "nan"."""
    if value is None or math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return float(value)


def number_of(folder: Path) -> int:
    """The number that the name of a folder is; 0 if it is none."""
    name = folder.name
    number = int(name) if name.isascii() and name.isdigit() and len(name) <= 12 else 0
    return number if str(number) == name else 0


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[int]:
    file = make_file(path, os.O_RDWR)
    try:
        _lock(file)
        yield file
    finally:
        os.close(file)


def _lock(file: int) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
    except OSError as error:
        # A file system without locks refuses: the runs work there all the same.
        if error.errno not in (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL):
            raise


def make_numbered_folder(store: Path) -> "RunFolder":
    """Makes a folder in the store under a number that no run has had. It is taken before another
    program can sweep it as the leftover of one that was killed."""
    make_folders(store)
    with _locked(store / _INDEX_LOCK) as lock:
        last = os.pread(lock, 24, 0).split(b"\n")[0].decode("ascii", "replace")
        number = max([number_of(entry) for entry in store.iterdir()] + [number_of(Path(last))])
        while True:
            number += 1
            os.pwrite(lock, f"{number}\n".encode(), 0)
            with contextlib.suppress(FileExistsError):
                folder = store / str(number)
                make_folder(folder)
                return RunFolder(folder)


# A lock belongs to all processes that have its file open: a worker process must not keep that of a
# training which died.
_open: "weakref.WeakSet[RunFolder]" = weakref.WeakSet()


def _leave_locks() -> None:
    for folder in list(_open):
        folder.forget()


os.register_at_fork(after_in_child=_leave_locks)


class RunFolder:
    """The folder of a run that this process writes. Its lock and its lease are held until close(),
    or until the process dies: that is how Halftone tells a run that goes on from one that was cut
    off."""

    def __init__(self, folder: Path) -> None:
        """`folder` must be absent or empty. Raises OSError."""
        make_folders(folder)
        if any(folder.iterdir()):
            raise FileExistsError(errno.ENOTEMPTY, "the folder for the run is not empty",
                                  str(folder))
        self.path = folder.resolve()
        self.on_network = is_on_network(self.path)
        self.run = self.path.name
        self._events = -1
        self._lock = make_file(self.path / LOCK_FILE, os.O_RDWR)
        try:
            _lock(self._lock)
            self._lease = Lease(self.path)
        except OSError:
            os.close(self._lock)
            raise
        _open.add(self)

    def forget(self) -> None:
        """In a child process: closes the files without a word."""
        self._lease.forget()
        for file in (self._lock, self._events):
            if file >= 0:
                os.close(file)
        self._lock = self._events = -1

    def write_settings(self, settings: Mapping[str, Any]) -> None:
        """Writes config.json whole, and the first line of the events."""
        part = self.path / (CONFIG_FILE + ".part")
        file = make_file(part, os.O_WRONLY | os.O_TRUNC)
        with open(file, "w", encoding="utf-8") as text:
            text.write(json.dumps(settings, indent=2) + "\n")
        os.rename(part, self.path / CONFIG_FILE)
        self._events = make_file(self.path / EVENTS_FILE, os.O_WRONLY | os.O_APPEND)
        now = time.time()
        local = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(now))
        self.append({"event": "created", "run": self.run, "time": local,
                     "microseconds": int(now * 1e6)})

    def check(self) -> None:
        """Raises OSError where another program has taken over this run. Before each row."""
        self._lease.check()

    def append(self, event: Mapping[str, Any]) -> None:
        """Appends an event as one line, in one write."""
        self._lease.check()
        line = json.dumps(event, ensure_ascii=True, allow_nan=False) + "\n"
        os.write(self._events, line.encode())
        if self.on_network:
            os.fdatasync(self._events)

    def close(self) -> None:
        """Frees lease and lock. A folder in which nothing was written goes."""
        if self._lock < 0:
            return
        with contextlib.suppress(OSError):
            self._lease.release()
        empty = self._events < 0
        if not empty:
            os.close(self._events)
        if empty:
            (self.path / LOCK_FILE).unlink(missing_ok=True)
            with contextlib.suppress(OSError):
                self.path.rmdir()
        os.close(self._lock)
        self._lock = self._events = -1
        _open.discard(self)
