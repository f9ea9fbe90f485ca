"""Writes the step record by `pwrite`, which also works where a mapping would not (NFS)."""

from __future__ import annotations

import errno
import os
import struct
from pathlib import Path
from typing import Any, Sequence

from . import record_layout as layout
from .file_modes import make_file


def _reserve(file: int, offset: int, size: int) -> None:
    """Takes room on the disk now. A file system that cannot reserve gets a longer file."""
    try:
        os.posix_fallocate(file, offset, size)
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS):
            raise
        os.ftruncate(file, offset + size)


def _write(file: int, data: bytes, offset: int) -> None:
    while data:
        written = os.pwrite(file, data, offset)
        data, offset = data[written:], offset + written


class RecordWriter:
    """The record of one run. Rows are written first and counted in the header after that, so that
    a reader never meets half a row and a killed program loses none that were counted."""

    def __init__(self, folder: Path, metrics: int, synced: bool) -> None:
        """`metrics`: columns beside accuracy. `synced`: rows reach the server before their count
        does, which a network file system would not promise otherwise."""
        self.published = 0
        self._layout = layout.Layout(layout.columns(metrics))
        self._chunk = self._layout.first_chunk()
        self._synced = synced
        path = folder / layout.FILE_NAME
        if path.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
        part = Path(str(path) + ".part")
        self._file = make_file(part, os.O_RDWR | os.O_TRUNC)
        try:
            _write(self._file, layout.header(metrics), 0)
            _reserve(self._file, self._chunk.offset, self._chunk.size)
            os.rename(part, path)
        except OSError:
            self.close()
            part.unlink(missing_ok=True)
            raise

    def append(self, rows: Sequence[Sequence[Any]]) -> None:
        """Writes rows, each with its values in the order of the columns, and publishes them.
        Raises OSError where the disk is full; the rows before stay whole."""
        while len(rows) > 0:
            first = self.published - self._chunk.first_row
            if first == self._chunk.rows:
                following = self._layout.next_chunk(self._chunk)
                _reserve(self._file, following.offset, following.size)
                self._chunk, first = following, 0
            piece = rows[:self._chunk.rows - first]
            for column, values in enumerate(zip(*piece)):
                offset = self._layout.offset_of(column, self._chunk, first)
                _write(self._file, layout.packed(self._layout.kinds[column], values), offset)
            self._publish(self.published + len(piece))
            rows = rows[len(piece):]

    def _publish(self, count: int) -> None:
        if self._synced:
            os.fdatasync(self._file)
        _write(self._file, struct.pack("<q", count), layout.PUBLISHED_OFFSET)
        if self._synced:
            os.fdatasync(self._file)
        self.published = count

    def close(self) -> None:
        """Closes the file; harmless if it is closed."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
