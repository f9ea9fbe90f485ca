#!/usr/bin/env python3
"""Damages files of every kind that Halftone reads and has the program read them: archives, runs, checkpoints, capsules,
weights, PyTorch's files, pictures, tables, texts, packed sets, clicks, settings, lists of a sweep, lessons, answers.

Each input is a valid file with some bytes turned, cleared, cut off, repeated, put in or swapped, or with a number of its
text replaced. The program must answer with an exit code of its own: no signal, no time beyond --patience, no memory beyond
--memory MiB, no control character and no text of a library on its output, and it must write nothing outside its home.
Exit code 1 if it does not; each such input is printed, and kept in the folder that --keep names. --kinds limits the kinds.

`--cases 12000` is the whole run. Needs only Python; foreign_json.py attacks single values of the JSON texts.
"""

import argparse
import base64
import collections
import gzip
import json
import lzma
import pathlib
import random
import re
import resource
import shutil
import struct
import sys
import tarfile
import tempfile
import zipfile

from foreign_json import SETTINGS, Program

TRAIN = ("model.kind=mlp", "model.options.hidden=[4]", "max_steps=2", "threads=1", "batch_size=4")
LONGER = ("max_steps=6", "epochs=100", "schedule.kind=constant")
GOLDEN = pathlib.Path(__file__).parent.parent / "peer" / "golden"
LESSONS = pathlib.Path(__file__).parent.parent.parent / "resources" / "lessons"
NUMBERS = (b"0", b"-1", b"1e308", b"nan", b"-9223372036854775808", b"18446744073709551616", b"99999999", b"0.5", b"")


def sets(*settings):
    return [word for each in settings for word in ("--set", each)]


def damaged(data, dice):
    """(what was done, the new bytes)."""
    out = bytearray(data)
    done = []
    for _ in range(dice.choice((1, 1, 1, 2, 4))):
        size = len(out)
        at = dice.randrange(size) if size else 0
        length = min(size - at, dice.choice((1, 2, 4, 8, 64, 1000)))
        how = dice.choice(("turn", "turn", "clear", "fill", "cut", "drop", "put in", "repeat", "swap", "number"))
        if how == "turn":
            for _ in range(dice.choice((1, 1, 3, 20))):
                if out:
                    out[dice.randrange(len(out))] ^= 1 << dice.randrange(8)
        elif how in ("clear", "fill"):
            out[at:at + length] = (b"\0" if how == "clear" else b"\xff") * length
        elif how == "cut":
            del out[at:]
        elif how == "drop":
            del out[at:at + length]
        elif how == "put in":
            out[at:at] = dice.randbytes(length)
        elif how == "repeat":
            out[at:at] = bytes(out[at:at + length]) * dice.choice((1, 2, 50))
        elif how == "swap":
            other = dice.randrange(size) if size else 0
            out[at:at + length], out[other:other + length] = out[other:other + length], out[at:at + length]
        else:
            places = list(re.finditer(rb"-?\d+(\.\d+)?", bytes(out[:1 << 16])))
            if places:
                place = dice.choice(places)
                out[place.start():place.end()] = dice.choice(NUMBERS)
        done.append(f"{how} at {at}")
    return ", ".join(done), bytes(out)


def png():
    """A small picture of the golden ones."""
    return base64.b64decode(json.loads(lzma.decompress((GOLDEN / "picture_kinds.json.xz").read_bytes()))[0]["file"])


def idx(dims, content):
    return struct.pack(">BBBB", 0, 0, 8, len(dims)) + b"".join(struct.pack(">I", d) for d in dims) + content


class Kinds:
    """Valid files by kind, and for each a function of the damaged one that puts it in its place and gives the commands."""

    def __init__(self, program, folder, home):
        self.program, self.folder, self.home = program, folder, home
        self.runs = home / "data" / "halftone" / "runs"
        self.kept = folder / "kept"
        self.expect("train", *sets(*SETTINGS, "checkpoint.every_steps=2"))
        self.expect("skips", "1", "1", "--capsule", folder / "capsule")
        self.expect("label", "1", "--title", "a title", "--notes", "a note")
        self.expect("export", "1", "--to", "run", "-o", folder / "archive")
        self.expect("export", "1", "--to", "safetensors", "-o", folder / "weights")
        shutil.copytree(self.runs / "1", self.kept)
        self.all = {name: each for name, *each in self.described()}

    def expect(self, *command):
        code, output, _, _ = self.program.run(*command)
        if code != 0:
            sys.exit(f"{command}: {code}\n{output}")

    def restore(self):
        """The home has the run and nothing else."""
        shutil.rmtree(self.home)
        shutil.copytree(self.kept, self.runs / "1")

    def described(self):
        """(kind, the valid bytes, place and commands)."""
        yield "archive", (self.folder / "archive").read_bytes(), self.beside("a.halftone", lambda file: [
            ("import", file), ("runs",), ("show", "2"), ("export", "2", "--to", "csv", "-o", self.home / "o.csv")])
        shown = [("runs",), ("show", "1", "--json"), ("export", "1", "--to", "json", "-o", self.home / "o.json"),
                 ("export", "1", "--to", "report.html", "-o", self.home / "o.html")]
        for name, commands in (("config.json", shown), ("events.jsonl", shown), ("notes.json", shown),
                               ("steps.rec", [*shown, ("whatif", "1"), ("skips", "1")]),
                               ("inputs.json", [("eval", "1")]), ("data.jsonl", [("eval", "1"), ("resume", "1", *sets(*LONGER))]),
                               ("skips/1.json", [("skips", "1")]), ("exponents.rec", [("microscope", "1", "2")]),
                               ("layers.rec", [("microscope", "1", "2")]),
                               ("histograms/layers.json", [("microscope", "1", "2")])):
            if (self.kept / name).exists():
                yield f"run: {name}", (self.kept / name).read_bytes(), self.in_run(name, commands)
        newest = sorted(self.kept.glob("checkpoint-[0-9]*"))[-1]
        for file in sorted(newest.iterdir()):
            yield f"checkpoint: {file.name}", file.read_bytes(), self.in_run(f"{newest.name}/{file.name}", [
                ("eval", "1"), ("resume", "1", *sets(*LONGER))])
        yield "capsule", (self.folder / "capsule").read_bytes(), self.beside("c.capsule", lambda file: [("replay", file)])
        start = lambda file: [("train", *sets(*TRAIN, "dataset.kind=spirals", f"model.init_from={file}"))]
        yield "weights", (self.folder / "weights").read_bytes(), self.beside("w.safetensors", start)
        with tarfile.open(GOLDEN / "torch.tar.xz") as files:
            for name in ("flat", "lightning", "protocol_2", "several", "every_walk"):
                yield f"torch: {name}.pt", files.extractfile(f"torch/{name}.pt").read(), self.beside("w.pt", start)
        yield from self.data_sets()
        config = (self.kept / "config.json").read_bytes()
        yield "settings", config, self.beside("s.json", lambda file: [("lint", file), ("sweep", file, *sets("seed=-1"))])
        listed = b'{"optimizer.lr": 0.1, "max_steps": 1}\n{"model": {"kind": "mlp"}, "epochs": 1}\n'
        yield "list", listed, self.beside("l.jsonl", lambda file: [("sweep", "--list", file, *sets("seed=-1"))])
        lesson = min(LESSONS.glob("*.lesson.md"), key=lambda file: file.stat().st_size)
        yield "lesson", lesson.read_bytes(), self.beside("a.lesson.md", lambda file: [("lesson", file, "--check")])
        answers = json.dumps({"halftone": "lab answers", "learner": "a", "lessons": {"l": {
            "steps_read": 1, "steps": 2, "finished": True, "seed": 1, "when": "t", "predictions": {"p": {"number": 1.5}},
            "measured": {"p": {"word": "w"}}}}}).encode()
        yield "answers", answers, self.beside("answers/a.json", lambda file: [
            ("lesson", "--collect", file.parent), ("lesson", "--collect", file.parent, "--csv")])
        case = b'{"op": "relu", "in": "absent", "out": "out", "attrs": {"dim": [1, 2]}, "grad": true}\n'
        yield "case of an op", case, self.beside("cases.jsonl", lambda file: [("op", "--script", file)])

    def data_sets(self):
        def train(kind, *more):
            return lambda file: [("train", *sets(*TRAIN, f"dataset.kind={kind}", f"dataset.path={file}", *more))]
        table = "length,width,kind\n" + "".join(f"{i % 7}.5,{i % 5},{'abc'[i % 3]}\n" for i in range(60))
        yield "table", table.encode(), self.beside("t.csv", train("csv"))
        yield "packed table", gzip.compress(table.encode()), self.beside("t.csv.gz", train("csv"))
        text = ("the quick brown fox jumps over the lazy dog\n" * 80).encode()
        yield "text", text, self.beside("t.txt", lambda file: [("train", *sets(
            "dataset.kind=text-words", f"dataset.path={file}", "model.kind=rnn-lm", "max_steps=2", "threads=1", "batch_size=2",
            "bptt=5", 'model.options={"embedding": 4, "hidden": 4, "layers": 1}'))])
        clicks = "".join("\t".join(["1" if i % 3 == 0 else "0", *[str((i * k) % 9) for k in range(13)],
                                    *[f"{(i * k) % 251:08x}" for k in range(26)]]) + "\n" for i in range(40))
        yield "clicks", clicks.encode(), self.beside("train.txt", lambda file: [("train", *sets(
            "dataset.kind=criteo", f"dataset.path={file}", "dataset.max_rows=1000", "model.kind=dlrm",
            "max_steps=2", "threads=1", "batch_size=4"))])

        def pictures(content):
            root = self.home / "pictures"
            for part in ("train", "val"):
                for name in ("a", "b"):
                    (root / part / name).mkdir(parents=True, exist_ok=True)
                    for i in range(3):
                        (root / part / name / f"{i}.png").write_bytes(content if i == 1 else self.picture)
            return train("image-folder", "dataset.image_size=16", "batch_size=2")(root)
        self.picture = png()
        yield "pictures", self.picture, pictures

        def packed(content):
            root = self.home / "idx"
            root.mkdir(exist_ok=True)
            images = idx((12, 28, 28), bytes(i % 251 for i in range(12 * 784)))
            labels = idx((12,), bytes(i % 10 for i in range(12)))
            for name, whole in (("train-images-idx3-ubyte", images), ("train-labels-idx1-ubyte", labels),
                                ("t10k-images-idx3-ubyte", images), ("t10k-labels-idx1-ubyte", labels)):
                (root / name).write_bytes(whole)
            (root / "train-images-idx3-ubyte").write_bytes(content)
            return train("mnist")(root)
        yield "packed set", idx((12, 28, 28), bytes(i % 251 for i in range(12 * 784))), packed
        with tempfile.TemporaryDirectory() as scratch:
            file = pathlib.Path(scratch) / "t.zip"
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as out:
                out.writestr("t.csv", table)
            yield "zipped table", file.read_bytes(), self.beside("t.zip", train("csv"))

    def in_run(self, name, commands):
        def place(content):
            (self.runs / "1" / name).write_bytes(content)
            return commands
        return place

    def beside(self, name, commands):
        def place(content):
            file = self.home / name
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(content)
            return commands(file)
        return place


def problem_of(code, output, seconds, memory, args):
    if code < 0 or code in (124, 134, 139):
        return f"ended with {code} after {seconds:.1f} s"
    if code > 5:
        return f"ended with {code}"
    if memory > args.memory:
        return f"took {memory:.0f} MiB"
    if any(word in output for word in ("json.exception", "terminate called", "Sanitizer", "vector::", "std::")):
        return "printed a text of a library"
    if any((ord(c) < 32 and c not in "\n\t") or ord(c) == 127 or 128 <= ord(c) < 160 for c in output):
        return "printed a control character"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--halftone", required=True, type=lambda name: str(pathlib.Path(name).resolve()))
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", default="", help="only kinds that contain this word")
    parser.add_argument("--patience", type=float, default=20, help="seconds for a command")
    parser.add_argument("--memory", type=float, default=600, help="MiB for a command; many under a sanitizer")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the inputs of problems")
    args = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    dice = random.Random(args.seed)
    problems, runs, tried, codes = 0, 0, collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory(prefix="halftone-damage-") as scratch:
        folder = pathlib.Path(scratch)
        home = folder / "home"
        home.mkdir()
        kinds = Kinds(Program(args, home), folder, home)
        names = [name for name in kinds.all if args.kinds in name]
        dice.shuffle(names)
        beside = sorted(each.name for each in folder.iterdir())
        for case in range(args.cases):
            # In turn, so that each kind comes in a short run, too.
            name = names[case % len(names)]
            valid, place = kinds.all[name]
            done, content = damaged(valid, dice)
            tried[name] += 1
            kinds.restore()
            found = []
            for command in place(content):
                answer = kinds.program.run(*command)
                runs += 1
                codes[answer[0]] += 1
                if problem := problem_of(*answer, args):
                    words = " ".join(str(word)[:60] for word in command)
                    found.append(f"{name}: {done}: `{words}` {problem}: {answer[1][-200:]}")
            if sorted(each.name for each in folder.iterdir()) != beside:
                found.append(f"{name}: {done}: something was written outside of the home")
                beside = sorted(each.name for each in folder.iterdir())
            print(*found, sep="\n", end="\n" if found else "", flush=True)
            if found and args.keep:
                args.keep.mkdir(parents=True, exist_ok=True)
                (args.keep / f"{args.seed}-{case}").write_bytes(content)
            problems += len(found)
    ended = ", ".join(f"{code}: {count}" for code, count in sorted(codes.items()))
    print(f"{sum(tried.values())} damaged inputs of {len(tried)} kinds, {runs} commands (exit codes {ended}), seed {args.seed}: "
          f"{problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
