"""The file of a run's step record, as Halftone's engine defines it (`record_layout.h`).

A header page, then chunks. A chunk holds N rows column by column, padded to a page; N starts at
`FIRST_CHUNK_ROWS` and doubles up to `FULL_CHUNK_ROWS`.
"""

from __future__ import annotations

import struct
import sys
from array import array
from typing import Any, List, NamedTuple, Sequence, Tuple

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

COLUMN_CODES = {"<i8": 1, "<f8": 2, "<i4": 3, "<f4": 4, "u1": 5}
_ARRAY_TYPES = {"<i8": "q", "<f8": "d", "<i4": "i", "<f4": "f", "u1": "B"}
_MOST_COLUMNS = 128
_NAME_BYTES = 23
HEADER = struct.Struct("<8sIIQqII")
TABLE_BYTES = _MOST_COLUMNS * (_NAME_BYTES + 1)


def columns(metrics: int) -> Tuple[Tuple[str, str], ...]:
    """The columns of a file with this many metrics beside accuracy."""
    return tuple((name, kind) for name, kind in COLUMNS
                 if not name.startswith(_METRIC) or int(name[len(_METRIC):]) <= metrics)


def packed(kind: str, values: Sequence[Any]) -> bytes:
    """Values as a column holds them. A number that is too large for f32 becomes infinite."""
    column = array(_ARRAY_TYPES[kind], values)
    if sys.byteorder == "big":
        column.byteswap()
    return column.tobytes()


def size_of(kind: str) -> int:
    """Bytes of a value."""
    return 1 if kind == "u1" else int(kind[2:])


def _fnv1a(data: bytes) -> int:
    value = 0xCBF29CE484222325
    for byte in data:
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value


def _whole(checksum: int, count: int, first: int, full: int, table: bytes) -> bytes:
    return HEADER.pack(MAGIC, VERSION, count, checksum, 0, first, full) + table


def checksum_of(count: int, first: int, full: int, table: bytes) -> int:
    """The checksum of a header with this many columns, rows of the first and of a full chunk."""
    return _fnv1a(_whole(0, count, first, full, table))


def header(metrics: int) -> bytes:
    """A header page with nothing published."""
    names = columns(metrics)
    table = b"".join(name.encode().ljust(_NAME_BYTES, b"\0") + bytes([COLUMN_CODES[kind]])
                     for name, kind in names)
    shape = (len(names), FIRST_CHUNK_ROWS, FULL_CHUNK_ROWS, table.ljust(TABLE_BYTES, b"\0"))
    return _whole(checksum_of(*shape), *shape).ljust(PAGE_BYTES, b"\0")


class Chunk(NamedTuple):
    """Where a chunk lies and which rows it holds."""

    first_row: int
    rows: int
    offset: int
    size: int  # bytes, a multiple of PAGE_BYTES


class Layout:
    """Geometry of a file."""

    def __init__(self, listed: Sequence[Tuple[str, str]], first: int = FIRST_CHUNK_ROWS,
                 full: int = FULL_CHUNK_ROWS) -> None:
        """`listed`: names and types of the columns; rows of the first and of a full chunk."""
        self.kinds: List[str] = [kind for _, kind in listed]
        self._sizes = [size_of(kind) for kind in self.kinds]
        self._starts = [sum(self._sizes[:i]) for i in range(len(self._sizes) + 1)]
        self._first, self._full = first, full

    def first_chunk(self) -> Chunk:
        """The chunk that holds row 0."""
        return self._chunk(0, self._first, PAGE_BYTES)

    def next_chunk(self, chunk: Chunk) -> Chunk:
        """The chunk behind this one."""
        return self._chunk(chunk.first_row + chunk.rows, min(chunk.rows * 2, self._full),
                           chunk.offset + chunk.size)

    def _chunk(self, first_row: int, rows: int, offset: int) -> Chunk:
        size = -(-rows * self._starts[-1] // PAGE_BYTES) * PAGE_BYTES
        return Chunk(first_row, rows, offset, size)

    def offset_of(self, column: int, chunk: Chunk, row: int) -> int:
        """Offset of a value in the file; `row` counts within the chunk."""
        return chunk.offset + self._starts[column] * chunk.rows + row * self._sizes[column]
