"""The file of a run's step record, as Halftone's engine defines it (`record_layout.h`).

A header page, then chunks. A chunk holds N rows column by column, padded to a page; N starts at
`FIRST_CHUNK_ROWS` and doubles up to `FULL_CHUNK_ROWS`.
"""

from __future__ import annotations

import struct
from typing import List, NamedTuple, Sequence, Tuple

import numpy as np

from .record_columns import COLUMNS

FILE_NAME = "steps.rec"
MAGIC = b"HTSTEPS\n"
VERSION = 1
PAGE_BYTES = 4096
FIRST_CHUNK_ROWS = 512
FULL_CHUNK_ROWS = 16384
_METRIC = "metric_"
MOST_METRIC_COLUMNS = sum(name.startswith(_METRIC) for name, _ in COLUMNS)
PUBLISHED_OFFSET = 24  # of the count of whole rows: eight aligned bytes

_COLUMN_TYPES = {"<i8": 1, "<f8": 2, "<i4": 3, "<f4": 4, "u1": 5}
_MOST_COLUMNS = 128
_NAME_BYTES = 23
_HEADER = struct.Struct("<8sIIQqII")


def columns(metrics: int) -> Tuple[Tuple[str, str], ...]:
    """The columns of a file with this many metrics beside accuracy."""
    return tuple((name, kind) for name, kind in COLUMNS
                 if not name.startswith(_METRIC) or int(name[len(_METRIC):]) <= metrics)


def row_type(metrics: int) -> np.dtype:
    """A row in memory."""
    return np.dtype(list(columns(metrics)))


def _fnv1a(data: bytes) -> int:
    value = 0xCBF29CE484222325
    for byte in data:
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value


def header(metrics: int) -> bytes:
    """A header page with nothing published."""
    names = columns(metrics)
    table = b"".join(name.encode().ljust(_NAME_BYTES, b"\0") + bytes([_COLUMN_TYPES[kind]])
                     for name, kind in names)
    table = table.ljust(_MOST_COLUMNS * (_NAME_BYTES + 1), b"\0")

    def whole(checksum: int) -> bytes:
        return _HEADER.pack(MAGIC, VERSION, len(names), checksum, 0, FIRST_CHUNK_ROWS,
                            FULL_CHUNK_ROWS) + table

    return whole(_fnv1a(whole(0))).ljust(PAGE_BYTES, b"\0")


class Chunk(NamedTuple):
    """Where a chunk lies and which rows it holds."""

    first_row: int
    rows: int
    offset: int
    size: int  # bytes, a multiple of PAGE_BYTES


class Layout:
    """Geometry of a file."""

    def __init__(self, metrics: int) -> None:
        sizes = [np.dtype(kind).itemsize for _, kind in columns(metrics)]
        self.names: List[str] = [name for name, _ in columns(metrics)]
        self._starts = np.cumsum([0] + sizes)
        self._sizes: Sequence[int] = sizes

    def first_chunk(self) -> Chunk:
        """The chunk that holds row 0."""
        return self._chunk(0, FIRST_CHUNK_ROWS, PAGE_BYTES)

    def next_chunk(self, chunk: Chunk) -> Chunk:
        """The chunk behind this one."""
        return self._chunk(chunk.first_row + chunk.rows, min(chunk.rows * 2, FULL_CHUNK_ROWS),
                           chunk.offset + chunk.size)

    def _chunk(self, first_row: int, rows: int, offset: int) -> Chunk:
        size = -(-rows * int(self._starts[-1]) // PAGE_BYTES) * PAGE_BYTES
        return Chunk(first_row, rows, offset, size)

    def offset_of(self, column: int, chunk: Chunk, row: int) -> int:
        """Offset of a value in the file; `row` counts within the chunk."""
        return chunk.offset + int(self._starts[column]) * chunk.rows + row * self._sizes[column]
