#!/usr/bin/env python3
"""Runs the commands that README.md and the handbook show, on small data, so that none goes stale:

- blocks and quotes of code that begin with `halftone`. Those that name data from elsewhere go through `halftone lint`, which
  reads their settings and no data. RUN, STEP and g3 stand for runs that the first commands made;
- the options in the table of command-line.md are those of `--help`, for every command;
- the keys of what commands print with --json are those of command-results.md.

Exits with 1 if a command fails, if an option or a key is missing or unknown, or if hardly a command was found.
"""

import argparse
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

SMALL = ["max_steps=3", "dataset.train_limit=96", "dataset.test_limit=32", "batch_size=8", "device=cpu", "threads=1"]
TRAINS = ("train", "compare", "sweep", "twin")
TAKE_SETTINGS = (*TRAINS, "xray", "find-lr", "lint", "bench", "search-precision")
# Not run: names that stand for a file, a number or a text of the reader's, and programs that a machine may lack.
PLACEHOLDER = re.compile(r"\[|\||\b(CONFIG|FILE|FOLDER|NAME|COMMAND|CAPSULE|CASES|DIR|N)\b|my\.lesson|small-net|mail|workers|answers|"
                         r"measured plans|OPERATIONS|label RUN|delete|resume|--to run|server-runs|serve --all|slurm|queue start|queue cancel|/shared")
# Keys of --json that a small run need not print.
SOMETIMES = {"parent", "origin", "host", "silent_s", "paused", "teach", "pay_off", "details", "judged_from", "earlier", "diverged", "rounding",
             "first_difference", "no_prediction", "notes", "profile", "confusion", "classes", "hardest", "verdict", "cost"}


def blocks(text):
    """Commands of indented and fenced blocks, continuation lines joined."""
    fenced, line = False, ""
    for each in text.splitlines():
        if each.startswith("```"):
            fenced = not fenced
        elif fenced or each.startswith("    "):
            line += each.strip().removesuffix("\\") + " "
            if each.endswith("\\"):
                continue
            if re.match(r"(build/release/)?halftone ", line):
                yield line.strip()
        line = ""


def quotes(text):
    """Commands in quotes of code, outside of blocks."""
    for found in re.findall(r"`(halftone [^` ]+ [^`]+)`", re.sub(r"(?m)^    .*$|```.*?```", "", text, flags=re.S)):
        yield found


class Checker:
    def __init__(self, program, root, home):
        self.program, self.root, self.home = program, root, home
        self.environment = {**os.environ, "HOME": str(home), "XDG_DATA_HOME": str(home / "data"), "XDG_CACHE_HOME": str(home / "cache"),
                            "XDG_CONFIG_HOME": str(home / "config"), "QT_QPA_PLATFORM": "offscreen", "LC_ALL": "C.UTF-8"}
        self.problems, self.count = [], 0

    def run(self, words):
        return subprocess.run([self.program, *words], cwd=self.home, env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=120)

    def settings(self, words):
        """The command's words on small data; `--set` of the page keeps the last word but in what makes it small."""
        if words[0] not in TAKE_SETTINGS or (len(words) > 1 and words[1].isdigit()):
            return words
        out = []
        for word in words:
            if out and out[-1] == "--set" and word.startswith(("max_steps=", "batch_size=")):
                out.pop()
            else:
                out.append(word)
        return out + [word for each in SMALL for word in ("--set", each)]

    def command(self, place, line):
        words = shlex.split(line, comments=True)[1:]
        if any("dataset.path=" in word for word in words):
            words = ["lint", *words[1:]] if words[0] in TRAINS else None
        elif PLACEHOLDER.search(" ".join(words)):
            words = None
        if not words:
            return
        words = ["2" if word == "RUN" else "2" if word == "STEP" else "g1" if word == "g3" else word.replace("g3", "g1") for word in words]
        self.count += 1
        done = self.run(self.settings(words))
        if done.returncode != 0:
            self.problems.append(f"{place}: {line}\n    exit code {done.returncode}: {done.stderr.strip()[-300:]}")

    def pages(self):
        seen = set()
        for page in (self.root / "README.md", *sorted((self.root / "resources/handbook").glob("*.md"))):
            if page.name.endswith(".zh.md"):
                continue
            text = page.read_text()
            for line in (*blocks(text), *quotes(text)):
                words = tuple(shlex.split(line, comments=True)[1:])
                if words not in seen:
                    seen.add(words)
                    self.command(page.name, line)

    def options(self):
        rows = [line.split(" | ")[0] for line in (self.root / "resources/handbook/command-line.md").read_text().splitlines()
                if line.startswith("| `halftone")]
        names = re.findall(r"^HALFTONE_COMMAND\((\w+)", (self.root / "app/commands.inc").read_text(), re.M)
        for name in (each.replace("_", "-") for each in names):
            cells = [quote for row in rows for quote in re.findall(r"`([^`]*)`", row) if quote.removeprefix("halftone ").split(" ")[0] == name]
            shown = set(re.findall(r"(?<![\w-])--?[a-z][a-z0-9-]*", " ".join(cells)))
            known = [re.match(r"  +(-[\w,-]+)", line) for line in self.run([name, "--help"]).stdout.splitlines()]
            known = [set(each[1].split(",")) for each in known if each]
            for each in known:
                if not each & (shown | {"--help", "--version"}):
                    self.problems.append(f"command-line.md: {name} has no {' or '.join(sorted(each))}")
            for option in shown - set().union(*known):
                self.problems.append(f"command-line.md: {name} has {option}, which --help does not list")

    def keys(self):
        rows, events, name = {}, {}, ""
        for line in (self.root / "resources/handbook/command-results.md").read_text().splitlines():
            cells = line.strip("| ").split(" | ") if line.startswith("| ") else []
            if line.startswith("| |"):
                cells = [name, *line.strip("| ").split(" | ")]
            if len(cells) == 3 and cells[0] not in ("command", "---"):
                name = cells[0]
                rows.setdefault(name.strip("`"), set()).update(re.findall(r"`(\w+)`", cells[2]))
                events.setdefault(name.strip("`"), set()).update(re.findall(r"`event` \(`(\w+)`", cells[2]))
        mlp = ["--set", "dataset.kind=spirals", "--set", "model.kind=mlp"]
        networks = self.root.resolve() / "resources/networks"
        commands = {"runs": ["runs"], "show RUN RUN": ["show", "1", "2"], "compare": ["compare", *mlp], "whatif RUN": ["whatif", "2"],
                    "sweep": ["sweep", *mlp, "--grid", "optimizer.lr=0.1,0.01"], "twin": ["twin", *mlp], "find-lr": ["find-lr", *mlp, "--steps", "20"],
                    "lint": ["lint", "--set", "precision.preset=amp-fp16", "--set", "precision.scaler=off"], "eval RUN": ["eval", "1"],
                    "queue": ["queue"], "bench": ["bench", *mlp, "--steps", "1", "--blocks", "1", "--warm-up", "0"], "doctor": ["doctor"],
                    "network FILE": ["network", str(networks / "lenet.network"), "--precision", "amp-fp16"]}
        # The usual number of outputs of `clicks` is not 1, so that there is a fault.
        also = {"network FILE": ["network", str(networks / "clicks.network")]}
        for row, words in commands.items():
            objects = []
            for call in (words, also.get(row)):
                if call:
                    done = self.run([*self.settings(call), "--json"])
                    objects += [json.loads(line) for line in done.stdout.splitlines()]
            last = [each for each in objects if each.get("event") in (events[row] or {None})]
            found = {key for each in last for key in each}
            if not last:
                self.problems.append(f"command-results.md: {row} printed no result: {done.stderr[-300:]}")
            for key in sorted(found - rows[row] - SOMETIMES):
                if not key.startswith(("test_", "best_", "last_")) and key != "accuracy":
                    self.problems.append(f"command-results.md: {row} also prints {key}")
            text = json.dumps(last)
            for key in sorted(rows[row] - SOMETIMES - events[row]):
                if f'"{key}"' not in text:
                    self.problems.append(f"command-results.md: {row} does not print {key}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--halftone", required=True)
    parser.add_argument("--root", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        checker = Checker(str(pathlib.Path(arguments.halftone).resolve()), arguments.root, pathlib.Path(folder))
        checker.pages()
        checker.options()
        checker.keys()
    if checker.count < 30:
        checker.problems.append(f"only {checker.count} commands found: the search is broken")
    print("\n".join(checker.problems) or f"{checker.count} commands, and options and keys as documented")
    return 1 if checker.problems else 0


if __name__ == "__main__":
    sys.exit(main())
