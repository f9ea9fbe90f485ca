"""The files of golden/: packed by xz, and the same bytes for the same numbers (no time, metadata in order)."""
import io
import json
import lzma
import pathlib
import struct
import tarfile

GOLDEN = pathlib.Path(__file__).resolve().parent / "golden"


def packed(data):
    """The bytes packed by xz, as a text or as numbers of 4 or 8 bytes, whichever is shorter."""
    def attempt(lc, lp, pb):
        options = {"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 1 << 20, "lc": lc, "lp": lp, "pb": pb}
        return lzma.compress(data, check=lzma.CHECK_CRC32, filters=[options])

    return min((attempt(3, 0, 2), attempt(0, 2, 2), attempt(0, 3, 3)), key=len)


def write(name, data):
    """Writes golden/NAME.xz; returns its path."""
    path = GOLDEN / f"{name}.xz"
    path.write_bytes(packed(data))
    return path


def write_folder(folder):
    """Writes the files of a folder, which NAME.tar.xz holds in a folder of its name; returns its path."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for file in sorted(folder.iterdir()):
            entry = tarfile.TarInfo(f"{folder.name}/{file.name}")
            entry.size = file.stat().st_size
            archive.addfile(entry, io.BytesIO(file.read_bytes()))
    return write(f"{folder.name}.tar", data.getvalue())


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
    """Writes golden/NAME.safetensors.xz; returns its path."""
    import safetensors.torch

    return write(f"{name}.safetensors", with_ordered_metadata(safetensors.torch.save(tensors, metadata)))
