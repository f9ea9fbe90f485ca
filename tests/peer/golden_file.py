"""The files of golden/: packed by gzip, and the same bytes for the same numbers (no time, metadata in order)."""
import gzip
import json
import pathlib
import struct

GOLDEN = pathlib.Path(__file__).resolve().parent / "golden"


def write(name, data):
    """Writes golden/NAME.gz; returns its path."""
    path = GOLDEN / f"{name}.gz"
    path.write_bytes(gzip.compress(data, mtime=0))
    return path


def with_ordered_metadata(data):
    """A safetensors file whose metadata are in order: the library's change from run to run."""
    length, = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    if "__metadata__" in header:
        header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data[8 + length:]


def write_tensors(name, tensors, metadata=None):
    """Writes golden/NAME.safetensors.gz; returns its path."""
    import safetensors.torch

    return write(f"{name}.safetensors", with_ordered_metadata(safetensors.torch.save(tensors, metadata)))
