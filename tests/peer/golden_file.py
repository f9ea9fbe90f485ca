"""The files of golden/: packed by xz, and the same bytes for the same numbers (no time, metadata in order)."""
import collections
import io
import json
import lzma
import math
import pathlib
import struct
import tarfile

GOLDEN = pathlib.Path(__file__).resolve().parent / "golden"
ITEM = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "U8": 1, "BOOL": 1}


def packed(data):
    """The bytes packed by xz, as a text or as numbers of 4 or 8 bytes, whichever is shorter."""
    def attempt(lc, lp, pb):
        options = {"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 1 << 20, "lc": lc, "lp": lp, "pb": pb}
        return lzma.compress(data, check=lzma.CHECK_CRC32, filters=[options])

    return min((attempt(3, 0, 2), attempt(4, 0, 0), attempt(0, 2, 2), attempt(0, 3, 3)), key=len)


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


def read_tensors(data):
    """{name: (dtype, shape, bytes)} of a safetensors file."""
    length, = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    places = {name: [8 + length + offset for offset in entry["data_offsets"]] for name, entry in header.items()}
    return {name: (entry["dtype"], entry["shape"], data[slice(*places[name])]) for name, entry in header.items()}


def safetensors_file(tensors):
    """The file of {name: (dtype, shape, bytes)}."""
    header, at = {}, 0
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(data for _, _, data in tensors.values())


def write_cases(name, lines, data):
    """Writes golden/NAME.jsonl.xz and golden/NAME.safetensors.xz of cases in the form of make_golden.py.

    data is a safetensors file in which `N/INPUT`, `N/expect/RESULT` and `N/allowed/RESULT` belong to line N. Thousands of names
    and offsets would be a fifth of the packed file. So each line gets `tensors`, dtype and sizes by name, and the file written has
    the elements of each dtype, in the order of the lines and of the names in them, as one tensor, and those allowed as another.
    """
    joined, by_case = collections.defaultdict(bytes), collections.defaultdict(dict)
    for key, tensor in sorted(read_tensors(data).items()):
        case, _, rest = key.partition("/")
        by_case[int(case)][rest] = tensor
    text = ""
    for number, line in enumerate(lines):
        tensors = {}
        for key, (dtype, shape, content) in by_case[number].items():
            joined["allowed" if key.startswith("allowed/") else dtype] += content
            if not key.startswith("allowed/"):
                tensors[key] = " ".join(map(str, [dtype, *shape]))
        text += json.dumps({**line, "tensors": tensors}, separators=(",", ":")) + "\n"
    tensors = {}
    for key, content in sorted(joined.items()):
        dtype = "F32" if key == "allowed" else key
        tensors[key] = dtype, [len(content) // ITEM[dtype]], content
    write(f"{name}.jsonl", text.encode())
    return write(f"{name}.safetensors", safetensors_file(tensors))


def read_cases(name):
    """[(line, {name: (dtype, shape, bytes)})] of write_cases(): `expect/RESULT` and `allowed/RESULT` with the inputs."""
    joined = {key: io.BytesIO(content) for key, (_, _, content) in read_tensors(lzma.decompress(
        (GOLDEN / f"{name}.safetensors.xz").read_bytes())).items()}
    cases = []
    for text in lzma.decompress((GOLDEN / f"{name}.jsonl.xz").read_bytes()).splitlines():
        line, tensors = json.loads(text), {}
        sizes = {key: words.split() for key, words in line.pop("tensors").items()}
        floating = [key for key, words in sizes.items() if key.startswith("expect/") and words[0] in ("F32", "F64")]
        for key in sorted([*sizes, *(key.replace("expect/", "allowed/", 1) for key in floating)]):
            dtype, *shape = sizes[key.replace("allowed/", "expect/", 1)]
            dtype = "F32" if key.startswith("allowed/") else dtype
            shape = list(map(int, shape))
            tensors[key] = dtype, shape, joined["allowed" if key.startswith("allowed/") else dtype].read(ITEM[dtype] * math.prod(shape))
        cases.append((line, tensors))
    return cases
