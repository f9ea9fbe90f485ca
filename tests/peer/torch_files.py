#!/usr/bin/env python3
"""Writes golden/torch.tar.xz: state dicts as torch.save writes them, for `pickle_test` and `models_test`, and files that must be
refused. NAME.pt holds what NAME.safetensors does; bad_NAME.pt is refused, bad.json says with which words.

torch.save cannot write big-endian numbers here, so that file is turned by hand and then read by torch.load, which must give
the same tensors.
"""

import argparse
import collections
import datetime
import enum
import io
import json
import pathlib
import pickle
import shutil
import struct
import tempfile
import zipfile

import golden_file
import numpy
import safetensors.torch
import torch

FOLDER = pathlib.Path(tempfile.mkdtemp()) / "torch"
TYPES = (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.uint8, torch.bool)
SEED = 19


def numbers(*shape):
    return torch.randn(*shape, generator=GENERATOR)


def every_type():
    out = collections.OrderedDict()
    for dtype in TYPES:
        values = numbers(3, 5) * 8
        out[str(dtype).removeprefix("torch.")] = values.abs().to(dtype) if dtype == torch.uint8 else values.to(dtype)
    out["scalar"] = torch.tensor(7)
    out["empty"] = torch.empty(0, 4)
    return out


def every_walk():
    base = numbers(4, 6)
    shared = numbers(12)
    return {"transposed": base.t(), "sliced": base[1:3, 2:6:2], "narrowed": base[2], "channels_last": numbers(2, 3, 4, 5).to(
        memory_format=torch.channels_last), "first": shared[:6].view(2, 3), "second": shared[6:], "whole": shared,
            "expanded": numbers(3, 1).expand(3, 7), "one": numbers(1)[0]}


class LanguageModel(torch.nn.Module):
    """The tied model of PyTorch's word language model example: 11 words, 4 numbers each."""

    def __init__(self):
        super().__init__()
        self.encoder = torch.nn.Embedding(11, 4)
        self.rnn = torch.nn.LSTM(4, 4)
        self.decoder = torch.nn.Linear(4, 11)
        self.decoder.weight = self.encoder.weight


def save(name, value, tensors, **options):
    torch.save(value, FOLDER / f"{name}.pt", **options)
    expect(name, tensors)


def expect(name, tensors):
    safetensors.torch.save_file({k: v.detach().clone().contiguous() for k, v in tensors.items()},
                                FOLDER / f"{name}.safetensors")


def entries(path):
    with zipfile.ZipFile(path) as archive:
        return [(info.filename, archive.read(info)) for info in archive.infolist()]


def write_zip(path, parts, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in parts:
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data, compression)


def big_endian(tensors):
    """A file of f32 tensors with the bytes of each number turned."""
    torch.save(tensors, FOLDER / "big_endian.pt")
    parts = []
    for name, data in entries(FOLDER / "big_endian.pt"):
        if "/data/" in name:
            data = b"".join(data[i:i + 4][::-1] for i in range(0, len(data), 4))
        parts.append((name, b"big" if name.endswith("byteorder") else data))
    write_zip(FOLDER / "big_endian.pt", parts)
    read = torch.load(FOLDER / "big_endian.pt", weights_only=True)
    assert all(torch.equal(read[name], tensor) for name, tensor in tensors.items())
    expect("big_endian", tensors)


class Pickled:
    """A pickle written by hand, protocol 2."""

    def __init__(self):
        self.data = b"\x80\x02"

    def put(self, value):
        if isinstance(value, int):
            size = (value.bit_length() + 8) // 8
            self.data += b"\x8a" + bytes([size]) + value.to_bytes(size, "little", signed=True)
        elif isinstance(value, str):
            self.data += b"X" + struct.pack("<I", len(value.encode())) + value.encode()
        elif isinstance(value, tuple):
            self.data += b"("
            for item in value:
                self.put(item)
            self.data += b"t"
        else:
            value(self)
        return self

    def name(self, module, name):
        self.data += b"c" + module.encode() + b"\n" + name.encode() + b"\n"
        return self

    def call(self, module, name, arguments):
        self.name(module, name).put(arguments)
        self.data += b"R"
        return self

    def storage(self, numel, key="0", kind="FloatStorage"):
        self.put(("storage", lambda p: p.name("torch", kind), key, "cpu", numel))
        self.data += b"Q"

    def tensor(self, shape, strides, numel, offset=0, key="0"):
        self.call("torch._utils", "_rebuild_tensor_v2",
                  (lambda p: p.storage(numel, key), offset, shape, strides, lambda p: p.false(), ()))

    def false(self):
        self.data += b"\x89"

    def dict_of(self, name, value):
        self.data += b"}"
        self.put(name).put(value)
        self.data += b"s."
        return self.data


def archive(pickled, storages=(b"\0" * 16,), compression=zipfile.ZIP_STORED):
    parts = [("x/data.pkl", pickled), ("x/byteorder", b"little")]
    parts += [(f"x/data/{i}", data) for i, data in enumerate(storages)]
    return parts, compression


def one_tensor(shape, strides, numel, **where):
    return Pickled().dict_of("weight", lambda p: p.tensor(shape, strides, numel, **where))


def hostile():
    """{name: (archive, the words of its rejection)}."""
    call = b"\x80\x02cos\nsystem\nX\x0b\x00\x00\x00touch gotcha\x85R."
    stacked = pickle.dumps(None, 4)[:-2] + b"\x8c\x08builtins\x8c\x04eval\x93\x8c\x013\x85R."
    fine = one_tensor((4,), (1,), 4)
    deep = b"\x80\x02" + b"]" * 200000 + b"a" * 199999 + b"."
    return {
        "call": (archive(call), "it names os.system, which is neither a tensor nor a plain value"),
        "popen": (archive(call.replace(b"cos\nsystem", b"csubprocess\nPopen")), "it names subprocess.Popen, which is neither"),
        "object": (archive(b"\x80\x02cnet\x1b[2J\nNet\n)\x81}b."), "it holds an object of net?[2J.Net, not a dict of tensors"),
        "call_by_text": (archive(stacked), "it names builtins.eval, which is neither a tensor nor a plain value"),
        "instance": (archive(b"\x80\x02(cbuiltins\nlist\no."), "it has an instruction (111) that torch.save does not write"),
        "odd_instruction": (archive(b"\x80\x02(ibuiltins\nlist\n."), "it has an instruction (105) that torch.save does not write"),
        "newobj_of_size": (archive(b"\x80\x02ctorch\nSize\n)\x81."), "is not described the way PyTorch does it"),
        "escape": (archive(b"\x80\x02cos\nsys\x1b[2Jtem\n."), "it names os.sys?[2Jtem, which is neither"),
        "deep": (archive(deep, compression=zipfile.ZIP_DEFLATED), "it holds no tensors"),
        "beyond": (archive(one_tensor((5,), (1,), 4)), "a tensor in it reads beyond its storage 0"),
        "beyond_by_stride": (archive(one_tensor((2, 2), (2**62, 1), 4)), "a tensor in it reads beyond its storage 0"),
        "beyond_by_offset": (archive(one_tensor((4,), (1,), 4, offset=1)), "a tensor in it reads beyond its storage 0"),
        "negative": (archive(one_tensor((-1,), (1,), 4)), "a tensor or storage in it has a negative size"),
        "large_by_stride": (archive(one_tensor((2**20, 2**20), (0, 0), 4)), "its tensors would take more than 16 MiB"),
        "endless_by_stride": (archive(one_tensor((2**40, 2**40), (0, 0), 4)),
                              "a tensor in it has more elements than any machine can hold"),
        "huge_storage": (archive(one_tensor((4,), (1,), 2**60)), "a tensor in it has more elements than any machine can hold"),
        "short_storage": (archive(one_tensor((4,), (1,), 8)), "its storage 0 does not have the stated length"),
        "absent_storage": (archive(one_tensor((4,), (1,), 4, key="7")), "its storage 7 is missing"),
        "bomb": (archive(one_tensor((2**22,), (1,), 2**22), [b"\0" * 2**24], zipfile.ZIP_DEFLATED),
                 "its tensors are larger than the file"),
        "cut_pickle": (archive(fine[:-9]), "it ends too early"),
        "no_tensors": (archive(pickle.dumps({"epoch": 3}, 2)), "it holds no tensors"),
        "empty": (archive(pickle.dumps({}, 2)), "it holds no tensors"),
        "number": (archive(pickle.dumps(3, 2)), "its value is not a dict of tensors"),
        "old_pickle": (archive(pickle.dumps({}, 0)), "its pickle is not of protocol 2 to 5"),
        "no_pickle": (([("x/data/0", b"")], zipfile.ZIP_STORED), "the zip archive holds no data.pkl"),
        "storage_alone": (archive(Pickled().dict_of("w", lambda p: p.storage(4, kind="CharStorage"))), "it holds no tensors"),
        "complex": (archive(pickle_of({"w": torch.zeros(2, dtype=torch.complex64)})), "it holds no tensors"),
        "several": (archive(pickle_of({"net": {"a.w": torch.zeros(4)}, "ema": {"a.w": torch.zeros(4)}})),
                    "it holds several dicts of tensors: net, ema"),
    }


def pickle_of(value):
    """The pickle within what torch.save writes."""
    data = io.BytesIO()
    torch.save(value, data)
    with zipfile.ZipFile(data) as made:
        return made.read(next(name for name in made.namelist() if name.endswith("data.pkl")))


class Phase(enum.Enum):
    TRAIN = "train"


class Attributes(dict):
    """As Lightning's AttributeDict: a dict of a class of its own."""


def plain_values():
    """Values that people keep beside weights."""
    return {"epoch": 3, "acc": numpy.float64(91.2), "when": datetime.datetime(2024, 5, 1), "args": argparse.Namespace(lr=0.1),
            "path": pathlib.PurePosixPath("a/b"), "phase": Phase.TRAIN, "hyper": Attributes(lr=0.1), "table": numpy.arange(3),
            "device": torch.device("cpu"), "dtype": torch.float16, "counts": collections.Counter("aab"), "set": {1, 2}, "none": None,
            "complex": torch.zeros(2, dtype=torch.complex64)}


def choices():
    """Files with weights under other keys: {name: (value, weights as they are named in the file)}."""
    state = collections.OrderedDict((name, numbers(2, 3)) for name in ("fc1.weight", "fc2.weight"))
    other = {name: tensor + 1 for name, tensor in state.items()}
    adam = {"state": {0: {"exp_avg": numbers(3)}}, "param_groups": [{"lr": 0.1}]}
    by_name = {"state": {"fc1.weight": {"exp_avg": numbers(3)}}}
    wrapped = {"model." + name: tensor for name, tensor in state.items()}
    averaged = {"n_averaged": torch.tensor(3), **{"module." + name: tensor for name, tensor in state.items()}}
    lightning = {"epoch": 1, "pytorch-lightning_version": "2.4.0", "state_dict": wrapped, "optimizer_states": [adam], "loops": {
        "fit_loop": {"state_dict": {}}}, "callbacks": {"ModelCheckpoint": {"scores": numbers(3), "best_model_score": torch.tensor(0.5)}},
                 "hyper_parameters": Attributes(net=Attributes(width=8)), "hparams_name": "hparams"}
    nested = Attributes(checkpoint=Attributes(models=["x", state]), **adam)
    beside = {"class_weights": numbers(3), "best": torch.tensor(0.5), "rng": torch.zeros(8, dtype=torch.uint8), "net": state}
    small = {"i8": torch.tensor([-128, 5, 127], dtype=torch.int8), "i16": torch.tensor([[-32768], [7]], dtype=torch.int16),
             "u16": torch.tensor([65535, 1], dtype=torch.uint16), "u32": torch.tensor([2**32 - 1], dtype=torch.uint32)}
    return {"under_net": ({"net": state, **plain_values()}, state), "flat": ({**state, **plain_values()}, state),
            "nested_deep": (nested, state), "with_optimizer": ({"params": state, "optimizer": adam, "optim_by_name": by_name}, state),
            "with_tensors_beside": (beside, state), "lightning": (lightning, wrapped), "averaged": (averaged, averaged),
            "usual_and_other": ({"ema": other, "model": state}, state), "several": ({"net": state, "ema": other}, other),
            "default_dict": ({"weights": collections.defaultdict(list, state)}, state),
            "small_integers": (small, {name: tensor.to(torch.int64 if name == "u32" else torch.int32) for name, tensor in small.items()})}


def write_hostile():
    words = {}
    for name, ((parts, compression), rejection) in hostile().items():
        write_zip(FOLDER / f"bad_{name}.pt", parts, compression)
        words[f"bad_{name}.pt"] = rejection
    torch.save({"weight": torch.zeros(3)}, FOLDER / "bad_older_form.pt", _use_new_zipfile_serialization=False)
    words["bad_older_form.pt"] = "it has the form that PyTorch wrote before version 1.6"
    data = (FOLDER / "every_type.pt").read_bytes()
    (FOLDER / "bad_cut.pt").write_bytes(data[:len(data) // 2])
    words["bad_cut.pt"] = "not a valid zip archive"
    (FOLDER / "bad.json").write_text(json.dumps(words, indent=1, sort_keys=True) + "\n")


def main():
    global GENERATOR
    GENERATOR = torch.Generator().manual_seed(SEED)
    torch.manual_seed(SEED)
    FOLDER.mkdir()
    types, walks = every_type(), every_walk()
    save("every_type", types, types)
    save("every_walk", walks, walks)
    for protocol in range(2, 6):
        save(f"protocol_{protocol}", types, types, pickle_protocol=protocol)
    model = LanguageModel()
    state = model.state_dict()
    save("language_model", state, state)
    wrapped = torch.nn.DataParallel(model).state_dict()
    parameters = {name: p for name, p in torch.nn.Linear(3, 2).named_parameters()}
    save("nested", {"epoch": 3, "best": 0.5, "state_dict": wrapped, "optimizer": torch.optim.SGD(
        model.parameters(), 0.1, momentum=0.9).state_dict(), "notes": ["a", None, (1, 2**70)]}, wrapped)
    compiled = {"_orig_mod.module." + k: p for k, p in parameters.items()}
    save("parameters", {"model": compiled}, compiled)
    big_endian({"a": numbers(3, 4), "b": numbers(5)})
    for name, (value, tensors) in choices().items():
        save(name, value, tensors)
    write_hostile()
    golden_file.write_folder(FOLDER)
    shutil.rmtree(FOLDER.parent)


if __name__ == "__main__":
    main()
