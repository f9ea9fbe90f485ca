#!/usr/bin/env python3
"""Directed attacks on every JSON text that Halftone reads and may not have written: the files of a run's folder, archives,
settings, lists of a sweep, capsules, headers of safetensors files, answers of a class, cases of `halftone op`, values on the
command line.

One value of a valid text is replaced by deep brackets, a huge string, a number that no type holds or a value of another
type, a key is given twice or left out, or the text is cut. The program must answer with an exit code of its own: no
signal, no time beyond --patience, no memory beyond --memory MiB, no text of the JSON library's on its output. Exit code 1
if it does not; each such input is printed, and kept in the folder that --keep names.

Archives that unpack to many or long events come first, whose import must take little memory; then each attack on each
text in its worst form, and --cases more at random. Needs only Python.
"""

import argparse
import copy
import json
import os
import pathlib
import random
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import zipfile

DEEP = 100_000
HUGE = 5_000_000
SETTINGS = ("dataset.kind=spirals", "model.kind=mlp", "model.options.hidden=[4]", "max_steps=4", "threads=1",
            "precision.preset=amp-fp16", "scaler.init_scale=1e30", "instruments.armed=true", "instruments.histograms_every=2")


class Raw:
    """A text that stands for itself where a value is written."""

    def __init__(self, text):
        self.text = text


def brackets(opening, closing, inner=""):
    return Raw(opening * DEEP + inner + closing * DEEP)


VALUES = {
    "deep arrays": lambda: brackets("[", "]"),
    "deep objects": lambda: brackets('{"a":', "}", "1"),
    "deep mixture": lambda: brackets('[{"a":', "}]", "null"),
    "deep and open": lambda: Raw("[" * DEEP),
    "huge string": lambda: "x" * HUGE,
    "many numbers": lambda: Raw("[" + "0," * 500_000 + "0]"),
    "many keys": lambda: {f"k{i}": i for i in range(50_000)},
    "number beyond f64": lambda: Raw("1e999"),
    "2^64": lambda: 2**64,
    "2^63": lambda: 2**63,
    "-2^63": lambda: -2**63,
    "1e308": lambda: 1e308,
    "-1e308": lambda: -1e308,
    "-1": lambda: -1,
    "0": lambda: 0,
    "1e6": lambda: 1_000_000,
    "half": lambda: 0.5,
    "nan": lambda: "nan",
    "null": lambda: None,
    "true": lambda: True,
    "empty string": lambda: "",
    "word": lambda: "word",
    "escapes": lambda: "\x1b[2J\x1b]0;t\x07\n9 2026 done\x7f\u009b",
    "surrogate": lambda: Raw('"\\ud800"'),
    "zero byte": lambda: "a\0b",
    "format": lambda: "%s%s%n%1000000d",
    "empty array": lambda: [],
    "empty object": lambda: {},
    "array in array": lambda: [[]],
}
FIRST = ("deep arrays", "deep objects", "deep and open", "huge string", "2^64", "empty object")


def paths_of(value, path=()):
    """Every place in a value, the whole first."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in items:
        yield from paths_of(each, path + (key,))


def replaced(value, path, new):
    if not path:
        return new
    value = copy.deepcopy(value)
    place = value
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = new
    return value


def written(value):
    """As JSON, with what stands for itself."""
    if isinstance(value, Raw):
        return value.text
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(key)}:{written(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(written(each) for each in value) + "]"
    return json.dumps(value)


def twice(value, path):
    """The text with the last key of the path given twice."""
    place = value
    for key in path[:-1]:
        place = place[key]
    if not path or not isinstance(place, dict):
        return None
    text = written(place)
    return written(replaced(value, path[:-1], Raw(text[:-1] + f",{json.dumps(path[-1])}:{written(place[path[-1]])}" + "}")))


def without(value, path):
    if not path:
        return None
    value = copy.deepcopy(value)
    place = value
    for key in path[:-1]:
        place = place[key]
    del place[path[-1]]
    return written(value)


def attacked(text, dice, attack=None):
    """(what was done, the new text) of a JSON text."""
    value = json.loads(text)
    path = dice.choice(list(paths_of(value)))
    name = attack or dice.choice([*VALUES, "twice", "without", "cut", "rubbish"])
    at = "/".join(map(str, path)) or "(all)"
    if name == "twice":
        return f"{at} twice", twice(value, path) or text + text
    if name == "without":
        return f"without {at}", without(value, path) or ""
    if name == "cut":
        size = dice.randrange(len(text))
        return f"cut to {size}", text[:size]
    if name == "rubbish":
        return "rubbish", text[:len(text) // 2] + "\0\x1b]]}}" + text[len(text) // 2:]
    return f"{at} = {name}", written(replaced(value, path, VALUES[name]()))


def peak_of(process):
    """MiB that the process has held at most; 0 once it has ended."""
    try:
        text = pathlib.Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) / 1024 for line in text.splitlines() if line.startswith("VmHWM")), 0)


class Program:
    def __init__(self, args, home):
        self.args = args
        self.environment = {**os.environ, "HOME": str(home), "XDG_DATA_HOME": str(home / "data"),
                            "XDG_CACHE_HOME": str(home / "cache"), "QT_QPA_PLATFORM": "offscreen"}

    def run(self, *command, stdin=""):
        """(exit code, its output, seconds, MiB); the code is negative for a signal, 124 beyond the patience."""
        begin = time.monotonic()
        with tempfile.TemporaryFile() as output:
            child = subprocess.Popen([self.args.halftone, *map(str, command)], stdin=subprocess.PIPE, stdout=output,
                                     stderr=subprocess.STDOUT, env=self.environment)
            try:
                child.stdin.write(stdin.encode("utf-8", "surrogatepass"))
                child.stdin.close()
            except BrokenPipeError:
                pass
            code, memory = None, 0
            while code is None:
                # Not the peak that wait4() has, which begins with this process's own.
                memory = max(memory, peak_of(child.pid))
                pid, status = os.waitpid(child.pid, os.WNOHANG)
                if pid != 0:
                    code = os.waitstatus_to_exitcode(status)
                elif time.monotonic() - begin > self.args.patience:
                    child.kill()
                    os.waitpid(child.pid, 0)
                    code = 124
                else:
                    time.sleep(0.003)
            child.returncode = code
            output.seek(0)
            return code, output.read().decode("utf-8", "replace"), time.monotonic() - begin, memory


def safetensors_parts(data):
    length = struct.unpack("<Q", data[:8])[0]
    return data[8:8 + length].decode(), data[8 + length:]


def safetensors_of(header, rest):
    text = header.encode("utf-8", "surrogatepass")
    return struct.pack("<Q", len(text)) + text + rest


class Attacks:
    """The valid texts, where an attacked one goes, and the commands that read it."""

    def __init__(self, program, folder):
        self.program = program
        self.folder = folder
        self.run = folder / "home" / "data" / "halftone" / "runs" / "1"
        self.kept = folder / "kept"
        settings = [word for each in SETTINGS for word in ("--set", each)]
        self.expect(0, "train", *settings)
        self.expect(0, "skips", "1", "1")
        self.expect(0, "skips", "1", "1", "--capsule", folder / "step.capsule")
        self.expect(0, "label", "1", "--title", "a title", "--tags", "a,b", "--notes", "a note")
        self.expect(0, "export", "1", "--to", "run", "-o", folder / "run.halftone")
        self.expect(0, "export", "1", "--to", "safetensors", "-o", folder / "weights.safetensors")
        shutil.copytree(self.run, self.kept)
        self.texts = dict(self.all_texts())

    def expect(self, code, *command):
        found, output, _, _ = self.program.run(*command)
        if found != code:
            sys.exit(f"{command}: {found}\n{output}")

    def restore(self):
        """The history has the run and nothing else."""
        shutil.rmtree(self.folder / "home")
        shutil.copytree(self.kept, self.run)

    def all_texts(self):
        """name: (text, function of the new text that writes it and yields commands)."""
        for name, commands in (("config.json", [("runs",), ("show", "1")]), ("notes.json", [("runs",), ("show", "1")]),
                               ("inputs.json", [("eval", "1"), ("predict", "1", "absent.csv")]),
                               ("histograms/layers.json", [("microscope", "1", "2")]),
                               ("skips/1.json", [("skips", "1"), ("show", "1")])):
            if (self.kept / name).exists():
                yield name, ((self.kept / name).read_text(), self.in_run(name, commands))
        for checkpoint in sorted(self.kept.glob("checkpoint-*")):
            name = f"{checkpoint.name}/state.json"
            yield name, ((self.kept / name).read_text(),
                         self.in_run(name, [("eval", "1"), ("resume", "1", "--set", "max_steps=5")]))
            break
        lines = (self.kept / "events.jsonl").read_text().splitlines()
        seen = set()
        for number, line in enumerate(lines):
            kind = json.loads(line)["event"]
            if kind in seen:
                continue
            seen.add(kind)
            yield f"events.jsonl, {kind}", (line, self.in_lines("events.jsonl", lines, number,
                                                                [("runs",), ("show", "1"), ("runs", "--json")]))
            yield f"archive, {kind}", (line, self.in_archive("events.jsonl", lines, number))
        yield "archive, settings", ((self.kept / "config.json").read_text(), self.in_archive("config.json", [], 0))
        if (self.kept / "skips" / "batches.jsonl").exists():
            lines = (self.kept / "skips" / "batches.jsonl").read_text().splitlines()
            yield "batches.jsonl", (lines[0], self.in_lines("skips/batches.jsonl", lines, 0, [("skips", "1")]))
        yield "settings", ((self.kept / "config.json").read_text(),
                           self.beside("settings.json", lambda file: [("lint", file)]))
        yield "list of a sweep", ('{"optimizer.lr": 0.1, "max_steps": 1, "model": {"kind": "mlp"}, "epochs": "[1]"}',
                                  self.beside("list.jsonl", lambda file: [("sweep", "--list", file, "--set", "seed=-1")]))
        yield "value of a setting", ('{"kind": "mlp", "hidden": [4, [5]]}',
                                     lambda text: [("lint", "--set", "model=" + text[:100_000].replace("\0", "")),
                                                   ("lint", "--set", "seed=" + text[:100_000].replace("\0", ""))])
        answers = {"halftone": "lab answers", "learner": "a",
                   "lessons": {"l": {"steps_read": 1, "steps": 2, "finished": True, "seed": 1, "when": "t",
                                     "predictions": {"p": {"word": "w"}, "q": {"number": 1.5}, "r": {"curve": [1, 2]}},
                                     "measured": {"p": {"word": "w"}, "q": None}}}}
        yield "answers", (json.dumps(answers), self.beside("answers/a.json", lambda file: [
            ("lesson", "--collect", file.parent), ("lesson", "--collect", file.parent, "--csv"),
            ("lesson", "--collect", file.parent, "--json")]))
        header, rest = safetensors_parts((self.folder / "step.capsule").read_bytes())
        described = json.loads(header)
        yield "capsule", (described["__metadata__"]["halftone_capsule"], self.in_capsule(described, rest))
        yield "header of a capsule", (header, self.in_header("header.capsule", rest, lambda file: [("replay", file)]))
        header, rest = safetensors_parts((self.folder / "weights.safetensors").read_bytes())
        yield "header of weights", (header, self.in_header("weights", rest, lambda file: [
            ("train", "--out", self.folder / "home" / "out", "--set", f"model.init_from={file}",
             *[word for each in SETTINGS for word in ("--set", each)])]))
        yield "case of an op", ('{"op": "relu", "in": "absent", "out": "out", "attrs": {"dim": [1, 2]}, "autocast": null, '
                                '"grad": true}', self.beside("cases.jsonl", lambda file: [("op", "--script", file)]))

    def in_run(self, name, commands):
        def place(text):
            (self.run / name).write_text(text, errors="surrogatepass")
            return commands
        return place

    def in_lines(self, name, lines, number, commands):
        def place(text):
            new = lines[:number] + [text] + lines[number + 1:]
            (self.run / name).write_text("\n".join(new) + "\n", errors="surrogatepass")
            return commands
        return place

    def in_archive(self, name, lines, number):
        def place(text):
            file = self.folder / "home" / "attacked.halftone"
            new = "\n".join(lines[:number] + [text] + lines[number + 1:]) + "\n"
            with zipfile.ZipFile(self.folder / "run.halftone") as old, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as out:
                for entry in old.namelist():
                    content = new.encode("utf-8", "surrogatepass") if entry == name else old.read(entry)
                    out.writestr(entry, content)
            return [("import", file), ("runs",), ("show", "2")]
        return place

    def beside(self, name, commands):
        def place(text):
            file = self.folder / "home" / name
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, errors="surrogatepass")
            return commands(file)
        return place

    def in_header(self, name, rest, commands):
        def place(text):
            file = self.folder / "home" / name
            file.write_bytes(safetensors_of(text, rest))
            return commands(file)
        return place

    def in_capsule(self, described, rest):
        def place(text):
            header = {**described, "__metadata__": {**described["__metadata__"], "halftone_capsule": text}}
            return self.in_header("attacked.capsule", rest, lambda file: [("replay", file)])(json.dumps(header))
        return place

    def bomb(self, name, events, code, packed=True):
        """Problems of an archive with these events, which packs to little: the memory of an import is at most four times
        that of the largest file and 64 MB, and what is refused leaves the history as it was."""
        self.restore()
        file = self.folder / "home" / "bomb.halftone"
        with zipfile.ZipFile(self.folder / "run.halftone") as old, zipfile.ZipFile(
                file, "w", zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED) as out:
            for entry in old.namelist():
                out.writestr(entry, events if entry == "events.jsonl" else old.read(entry))
        problems = []
        most = 4 * len(events) / 2**20 + 64e6 / 2**20
        for command, wanted in ((("import", file), code), (("runs",), 0), (("show", "2"), 2 if code else 0)):
            found, output, seconds, memory = self.program.run(*command)
            if found != wanted and not (wanted == 2 and found in (2, 3)):
                problems.append(f"{name}: {command[0]}: exit code {found}, not {wanted}: {output[-200:]}")
            elif memory > most:
                problems.append(f"{name}: {command[0]}: {memory:.0f} MiB, more than {most:.0f}")
        return problems

    def bombs(self):
        line = json.dumps({"event": "warning", "run": "1", "message": "w"}) + "\n"
        yield from self.bomb("100 MB of warnings", line * (100_000_000 // len(line)), 3)
        yield from self.bomb("1,001 lines more than may be", "{}\n" * 1101, 3)
        long = json.dumps({"event": "warning", "run": "1", "message": "w" * 200_000}) + "\n"
        yield from self.bomb("1,000 long warnings", long * 1000, 0, packed=False)
        args = json.dumps({"event": "warning", "run": "1", "message_text": "w", "message_args": [""] * 200_000}) + "\n"
        yield from self.bomb("300 warnings of many texts", args * 300, 0, packed=False)
        resumed = json.dumps({"event": "resumed", "run": "1", "step": 1}) + "\n"
        yield from self.bomb("a million resumes", resumed * 1_000_000, 3)

    def try_one(self, name, done, text):
        """Problems of an attacked text."""
        self.restore()
        place = self.texts[name][1]
        for command in place(text):
            code, output, seconds, memory = self.program.run(*command)
            problem = None
            if code < 0 or code in (124, 134, 139):
                problem = f"ended with {code}"
            elif memory > self.program.args.memory:
                problem = f"took {memory:.0f} MiB"
            elif "json.exception" in output or "terminate called" in output or "Sanitizer" in output:
                problem = "printed a text of a library"
            elif any((ord(c) < 32 and c != "\n") or ord(c) == 127 or 128 <= ord(c) < 160 for c in output):
                problem = "printed a control character"
            if problem:
                short = " ".join(str(word)[:60] for word in command)
                return [f"{name}: {done}: `{short}` {problem} after {seconds:.1f} s: {output[-200:]}"]
        return []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--halftone", required=True, type=lambda name: str(pathlib.Path(name).resolve()))
    parser.add_argument("--cases", type=int, default=200, help="attacks at random, after the directed ones")
    parser.add_argument("--first", type=int, help="only so many of the directed ones, drawn by the seed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--patience", type=float, default=20, help="seconds for a command")
    parser.add_argument("--memory", type=float, default=600, help="MiB for a command; many under a sanitizer")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the inputs of problems")
    args = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    dice = random.Random(args.seed)
    problems, count = [], 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        (folder / "home").mkdir()
        attacks = Attacks(Program(args, folder / "home"), folder)
        todo = [(name, attack) for name in attacks.texts for attack in FIRST]
        if args.first is not None:
            todo = dice.sample(todo, min(args.first, len(todo)))
        todo += [(dice.choice(list(attacks.texts)), None) for _ in range(args.cases)]
        if args.first is None:
            found = list(attacks.bombs())
            print(*found, sep="\n", end="\n" if found else "")
            problems += found
        for name, attack in todo:
            done, text = attacked(attacks.texts[name][0], dice, attack)
            found = attacks.try_one(name, done, text)
            count += 1
            for each in found:
                print(each, flush=True)
                if args.keep:
                    args.keep.mkdir(parents=True, exist_ok=True)
                    (args.keep / f"{count}.txt").write_text(f"{each}\n{text}", errors="surrogatepass")
            problems += found
    print(f"{count} attacks on {len(attacks.texts)} texts, seed {args.seed}: {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
