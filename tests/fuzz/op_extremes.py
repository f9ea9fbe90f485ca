#!/usr/bin/env python3
"""Extreme arguments for every op of `halftone op`: each case starts from a golden one and changes one or two things, an
attribute, or the shape, the type, the values or the strides of a tensor. The program must answer each case with one line,
{"out": ...} or {"error": ...}, and must not die. Exit code 1 if it does. Needs only Python.

A case whose forward pass succeeds runs again with its first and second derivatives.
"""

import argparse
import json
import pathlib
import random
import re
import resource
import select
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "peer"))
import golden_file
from golden_file import ITEM

NUMBERS = (0, 1, -1, 2, -2, 3, 7, 8, 9, 31, 255, 2**15, 2**24, 2**31 - 1, 2**31, -2**31, 2**32, 2**33 + 1, 2**40, 2**48,
           2**61, 2**62, -2**62, 2**63 - 1, -2**63, 2**64 - 1, 2**70, 0.5, -0.5, 1.5, 1e-300, 1e30, 1e300, -1e300)
OTHERS = (None, True, False, "", "word", "inf", "-inf", "nan", "same", "fro", "sum", [], {})
SIZES = (0, 0, 1, 1, 2, 3, 5)
HUGE = (2**15, 2**20, 2**31 - 1, 2**31, 2**33, 2**40, 2**47, 2**48, 2**49, 2**62, 2**63 - 1)
STRIDES = (0, 1, 2, 3, 64, 2**15, 2**31, 2**32, 2**33, 2**62, 2**63 - 1, -1, 1.5)


def count_of(shape):
    count = 1
    for size in shape:
        count *= size
    return count


def golden_cases():
    """{op: [(line, tensors)]} of the arguments alone."""
    cases = {}
    for file in sorted(golden_file.GOLDEN.glob("*.jsonl.xz")):
        for line, tensors in golden_file.read_cases(file.name.removesuffix(".jsonl.xz")):
            line = {key: line[key] for key in ("op", "attrs", "autocast") if key in line}
            arguments = {name: tensor for name, tensor in tensors.items() if re.fullmatch(r"\d+(\.\d+)?", name)}
            cases.setdefault(line["op"], []).append((line, arguments))
    return cases


class Mutator:
    def __init__(self, rng, signature):
        self.rng = rng
        _, _, attributes = signature.partition(";")
        self.attributes = re.findall(r"(?:^|,)\s*(\w+)", attributes) + ["dtype"]

    def value(self):
        """An extreme value of an attribute: a number, a list of numbers, or something else."""
        kind = self.rng.random()
        if kind < 0.4:
            return self.rng.choice(NUMBERS)
        if kind < 0.5:
            return self.rng.choice(OTHERS)
        length = self.rng.choice((1, 1, 2, 2, 2, 3, 3, 4, 6, 8, 9, 21, 40))
        if self.rng.random() < 0.5:
            return [self.rng.choice(NUMBERS)] * length
        small = (0, 1, 1, 2, 3, -1)
        return [self.rng.choice(NUMBERS) if self.rng.random() < 0.4 else self.rng.choice(small) for _ in range(length)]

    def change_attribute(self, attrs):
        names = self.attributes + [n for n in attrs if n not in self.attributes]
        name = self.rng.choice(names)
        old = attrs.get(name)
        if isinstance(old, list) and old and self.rng.random() < 0.6:
            attrs[name] = list(old)
            attrs[name][self.rng.randrange(len(old))] = self.rng.choice(NUMBERS)
        else:
            attrs[name] = self.value()

    def data(self, dtype, size):
        """Bytes of extreme values, or of zeros."""
        patterns = {"F64": (0, 0x7ff0 << 48, 0xfff0 << 48, 0x7ff8 << 48, 0x7fef << 48, 1),
                    "F32": (0, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f7fffff, 1),
                    "F16": (0, 0x7c00, 0xfc00, 0x7e00, 0x7bff, 1), "BF16": (0, 0x7f80, 0xff80, 0x7fc0, 0x7f7f, 1),
                    "I64": (0, 1, 2**31, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 2**64 - 100),
                    "I32": (0, 1, 2**31 - 1, 2**31, 2**32 - 1), "U8": (0, 1, 255), "BOOL": (0, 1)}[dtype]
        bits = [self.rng.choice(patterns) for _ in range(size)]
        return b"".join(b.to_bytes(ITEM[dtype], "little") for b in bits)

    def change_tensor(self, tensors, strides):
        name = self.rng.choice(list(tensors))
        dtype, shape, data = tensors[name]
        shape = list(shape)
        kind = self.rng.random()
        if kind < 0.25:  # other values
            tensors[name] = (dtype, shape, self.data(dtype, count_of(shape)))
        elif kind < 0.35:  # another type
            dtype = self.rng.choice(list(ITEM))
            tensors[name] = (dtype, shape, self.data(dtype, count_of(shape)))
        elif kind < 0.55:  # other sizes
            shape = [self.rng.choice(SIZES) for _ in range(self.rng.choice((len(shape), len(shape), 0, 1, 2, 5, 8, 9, 40)))]
            if count_of(shape) > 2**16:
                shape = [min(size, 1) for size in shape]
            tensors[name] = (dtype, shape, self.data(dtype, count_of(shape)))
        elif kind < 0.75:  # no elements, but huge sizes
            shape = shape or [1]
            shape[self.rng.randrange(len(shape))] = 0
            for i, size in enumerate(shape):
                if size != 0 and self.rng.random() < 0.5:
                    shape[i] = self.rng.choice(HUGE)
            if 0 not in shape:
                shape[0] = 0
            tensors[name] = (dtype, shape, b"")
        elif kind < 0.8:
            del tensors[name]
        else:
            rank = len(shape) if self.rng.random() < 0.9 else self.rng.choice((0, 1, 8, 9, 40))
            strides[name] = [self.rng.choice(STRIDES) for _ in range(rank)]

    def case(self, line, tensors):
        line, tensors = json.loads(json.dumps(line)), dict(tensors)
        attrs, strides = line.setdefault("attrs", {}) or {}, {}
        for _ in range(self.rng.choice((1, 1, 2, 3))):
            if tensors and self.rng.random() < 0.4:
                self.change_tensor(tensors, strides)
            else:
                self.change_attribute(attrs)
        if strides:
            attrs["strides"] = strides
        line["attrs"] = attrs
        return line, tensors


class Program:
    """One `halftone op` process, restarted after it died or was stopped."""

    def __init__(self, binary, memory):
        self.command, self.memory, self.process = [binary, "op", "--script", "/dev/stdin"], memory, None

    def start(self):
        def limit():
            if self.memory:
                resource.setrlimit(resource.RLIMIT_AS, (self.memory << 20, self.memory << 20))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
                                        preexec_fn=limit)

    def stop(self):
        """How it ended, with the end of its error output."""
        self.process.kill()
        code = self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self.process = None
        self.errors.seek(0)
        return code, self.errors.read().decode(errors="replace")[-3000:]

    def ask(self, text, patience):
        """(answer, None), or (None, what happened)."""
        if not self.process:
            self.start()
        try:
            self.process.stdin.write(text.encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return None, "died"
        answer = b""
        end = time.monotonic() + patience
        while not answer.endswith(b"\n"):
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))
            if not ready:
                return None, "slow"
            piece = self.process.stdout.read1()
            if not piece:
                self.process.wait()
                return None, "died"
            answer += piece
        return json.loads(answer), None


class Run:
    def __init__(self, options, folder):
        self.program, self.folder, self.options = Program(options.halftone, options.memory), folder, options
        self.asked, self.refused, self.deaths, self.slow = 0, 0, [], []

    def ask(self, line, tensors, note):
        (self.folder / "in").write_bytes(golden_file.safetensors_file(tensors))
        line = {**line, "in": str(self.folder / "in"), "out": str(self.folder / "out")}
        self.asked += 1
        answer, trouble = self.program.ask(json.dumps(line), self.options.patience)
        if trouble:
            code, words = self.program.stop()
            self.report(trouble, code, words, line, tensors, note)
            return None
        if ("out" in answer) == ("error" in answer):
            self.report("odd answer", 0, str(answer), line, tensors, note)
        self.refused += "error" in answer
        return answer if "out" in answer else None

    def report(self, trouble, code, words, line, tensors, note):
        found = self.slow if trouble == "slow" else self.deaths
        found.append(line["op"])
        shapes = {name: (dtype, shape) for name, (dtype, shape, _) in tensors.items()}
        print(f"{trouble.upper()} ({code}) {note} {json.dumps(line)} {shapes}\n{words}", flush=True)
        if self.options.keep:
            place = pathlib.Path(self.options.keep) / f"{trouble}_{len(self.deaths)}_{len(self.slow)}"
            place.with_suffix(".safetensors").write_bytes(golden_file.safetensors_file(tensors))
            place.with_suffix(".jsonl").write_text(json.dumps({**line, "in": str(place.with_suffix(".safetensors"))}))

    def case(self, line, tensors, note):
        if not self.ask(line, tensors, note):
            return
        try:
            outputs = golden_file.read_tensors((self.folder / "out").read_bytes())
        except (OSError, ValueError, struct.error, MemoryError):
            return
        if any(dtype in ("F64", "F32", "F16", "BF16") and len(data) > 2**20 for dtype, _, data in outputs.values()):
            return
        more = dict(tensors)
        for name, (dtype, shape, data) in outputs.items():
            more["grad_" + name] = (dtype, shape, data)
        for name, tensor in tensors.items():
            more["v." + name] = tensor
        self.ask({**line, "grad": True, "grad_grad": True}, more, note)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--halftone", required=True, help="the program")
    parser.add_argument("--cases", type=int, default=100, help="cases an op (default 100)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--op", action="append", help="only this op (repeatable)")
    parser.add_argument("--share", default="1/1", help="of the ops: 2/4 is the second of four shares")
    parser.add_argument("--memory", type=int, default=4096,
                        help="address space of the program in MiB (default 4096); 0: no limit, for a sanitizer build")
    parser.add_argument("--patience", type=float, default=20, help="seconds a case may take (default 20)")
    parser.add_argument("--keep", help="a folder for the cases that it died of")
    options = parser.parse_args()
    catalog = json.loads(subprocess.run([options.halftone, "ops", "--json"], capture_output=True, check=True).stdout)
    golden = golden_cases()
    number, count = map(int, options.share.split("/"))
    ops = [entry for entry in catalog if not options.op or entry["name"] in options.op][number - 1::count]
    if options.keep:
        pathlib.Path(options.keep).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        run = Run(options, pathlib.Path(folder))
        for entry in ops:
            if entry["name"] not in golden:
                print("no golden case of", entry["name"])
                continue
            for i in range(options.cases):
                rng = random.Random(f"{options.seed} {entry['name']} {i}")
                line, tensors = rng.choice(golden[entry["name"]])
                run.case(*Mutator(rng, entry["signature"]).case(line, tensors), f"{entry['name']} {i}")
        if run.program.process:
            run.program.stop()
    print(f"{run.asked} cases of {len(ops)} ops, {run.refused} refused, {len(run.slow)} slow, {len(run.deaths)} deaths")
    return 1 if run.deaths else 0


if __name__ == "__main__":
    sys.exit(main())
