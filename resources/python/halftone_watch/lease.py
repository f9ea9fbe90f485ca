"""Who writes a folder where no lock does, as Halftone's engine defines it (`io/file/lease.h`).

Over sshfs, Lustre and others flock holds within one machine alone, or not at all. A lease is the
file `lease.N` with the highest N. Its holder made it alone (O_EXCL) and renews it from time to time
by renaming another over it.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import socket
import threading
import time
import uuid
from pathlib import Path
from typing import Any, Dict, Optional, Tuple

from .file_modes import make_file

RENEWAL = 10.0   # seconds between two renewals
TRUST = 60.0     # after a renewal its holder writes for so long without another look
_LONGEST = 4096  # bytes of a lease's file
_NAME = re.compile(r"lease\.([1-9][0-9]{0,17})")


def clock() -> float:
    """Seconds, which go on while the machine sleeps."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def _started(process: int) -> Tuple[str, int]:
    """State and start of a process, from /proc; ("", 0) where they cannot be read."""
    fields = _text(Path(f"/proc/{process}/stat")).rpartition(")")[2].split()
    return (fields[0], int(fields[19])) if len(fields) > 19 else ("", 0)


def _self() -> Dict[str, Any]:
    try:
        link = os.readlink("/proc/self/ns/pid")
    except OSError:
        link = ""
    namespace = re.search(r"\[(\d+)\]", link)
    return {"host": socket.gethostname(),
            "boot": _text(Path("/proc/sys/kernel/random/boot_id")).strip(),
            "pid_namespace": int(namespace.group(1)) if namespace else 0,
            "process": os.getpid(), "started": _started(os.getpid())[1]}


def _newest(folder: Path) -> int:
    """The highest N of the folder's leases; 0: it has none."""
    matches = (_NAME.fullmatch(name) for name in os.listdir(folder))
    return max((int(match.group(1)) for match in matches if match), default=0)


def _read(path: Path) -> Dict[str, Any]:
    try:
        with open(path, "rb") as file:
            found = json.loads(file.read(_LONGEST))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


class LeaseTaken(OSError):
    """Another program writes the folder now."""


class Lease:
    """The lease of a folder that nobody has written before. A thread renews it until release()."""

    def __init__(self, folder: Path) -> None:
        """Raises OSError, FileExistsError where another program has the folder."""
        self._folder = folder
        self._id = uuid.uuid4().hex
        self._renewals = 0
        self._lost = False
        self._renewed_at = clock()
        if _newest(folder) > 0:
            raise FileExistsError(errno.EEXIST, "another program writes this folder", str(folder))
        self._number = 1
        self._write(self._file(), os.O_EXCL)
        if _newest(folder) != self._number:
            self._file().unlink()
            raise FileExistsError(errno.EEXIST, "another program writes this folder", str(folder))
        self._mutex = threading.Lock()
        self._stop = threading.Event()
        self._thread: Optional[threading.Thread] = threading.Thread(
            target=self._run, name="halftone_watch lease", daemon=True)
        self._thread.start()

    def check(self) -> None:
        """To be called before each write. Raises LeaseTaken where another program has taken the
        lease; looks at the file only where the last renewal is too long ago, as after a sleep."""
        if not self._lost and clock() - self._renewed_at > TRUST:
            with self._mutex:
                self._renew()
        if self._lost:
            raise LeaseTaken(errno.EBUSY, "another program has taken over this run",
                             str(self._folder))

    def release(self) -> None:
        """Frees it; harmless when it is free."""
        if self._thread is None:
            return
        self._stop.set()
        self._thread.join()
        self._thread = None
        if not self._lost and _read(self._file()).get("id") == self._id:
            self._file().unlink()

    def forget(self) -> None:
        """In a child process, which has no thread of this: the lease is the parent's."""
        self._thread = None

    def _file(self) -> Path:
        return self._folder / f"lease.{self._number}"

    def _write(self, path: Path, flags: int) -> None:
        text = json.dumps({"id": self._id, **_self(), "renewals": self._renewals}) + "\n"
        file = make_file(path, os.O_WRONLY | flags)
        try:
            os.write(file, text.encode())
        finally:
            os.close(file)

    def _run(self) -> None:
        while not self._stop.wait(RENEWAL):
            with self._mutex:
                with contextlib.suppress(OSError):  # the next write looks again
                    self._renew()

    def _renew(self) -> None:
        """With the mutex held. The file is looked at before it is replaced, and again where the
        program slept in between: the other program that took the lease would not find it then."""
        if self._lost:
            return
        began = clock()
        part = Path(str(self._file()) + ".part")
        self._renewals += 1
        written = True
        try:
            self._write(part, os.O_TRUNC)
        except OSError:
            written = False  # a full disk: it is ours as long as nobody takes it
        if _read(self._file()).get("id") != self._id or _newest(self._folder) > self._number:
            self._lost = True
        if self._lost or not written:
            with contextlib.suppress(OSError):
                part.unlink()
            return
        os.rename(part, self._file())
        if clock() - began > TRUST:
            self._lost = True
            self._file().unlink()
            return
        self._renewed_at = began
