"""Who may read a run: its owner, or with HALFTONE_SHARED=group the group, too."""

from __future__ import annotations

import os
from pathlib import Path


def _shared() -> bool:
    return os.environ.get("HALFTONE_SHARED") == "group"


def make_file(path: Path, flags: int) -> int:
    """Opens a file of a run with the `flags` of os.open(), making it if absent: 0600 less umask,
    or 0660. One that is there keeps its mode."""
    if not flags & os.O_EXCL:
        try:
            return os.open(path, flags | os.O_CLOEXEC)
        except FileNotFoundError:
            pass
    file = os.open(path, flags | os.O_CREAT | os.O_CLOEXEC, 0o660 if _shared() else 0o600)
    if _shared():
        os.fchmod(file, 0o660)
    return file


def make_folder(path: Path) -> None:
    """Makes a folder of a run, 0700 less umask or 2770. Raises FileExistsError."""
    path.mkdir(mode=0o770 if _shared() else 0o700)
    if _shared():
        path.chmod(0o2770)


def make_folders(path: Path) -> None:
    """Makes a folder and those above it that are missing. One that is there is left alone."""
    if path.is_dir():
        return
    if path.parent != path:
        make_folders(path.parent)
    try:
        make_folder(path)
    except FileExistsError:
        if not path.is_dir():
            raise
