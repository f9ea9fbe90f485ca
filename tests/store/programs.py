"""Shared by kill_test.py, damage_test.py and resume_test.py: the trainer and the lister as child processes."""

import argparse
import json
import os
import pathlib
import subprocess

SMALL = ["dataset.kind=spirals", "model.kind=mlp", "batch_size=32", "dataset.train_limit=640",
         "dataset.test_limit=128", "threads=1"]


def parser(description):
    out = argparse.ArgumentParser(description=description)
    out.add_argument("--halftone", required=True, help="the program")
    out.add_argument("--list-runs", required=True, help="the helper of this folder")
    out.add_argument("--seed", type=int, default=1)
    return out


class Store:
    """A store in its own folder, and the programs that use it."""

    def __init__(self, args, folder):
        self.args = args
        self.root = pathlib.Path(folder) / "data" / "halftone" / "runs"
        self.environment = dict(os.environ, XDG_DATA_HOME=str(pathlib.Path(folder) / "data"),
                                TMPDIR=str(folder))

    def train(self, max_steps, output):
        command = [self.args.halftone, "train", "--json"]
        for setting in SMALL + ["epochs=1000000", f"max_steps={max_steps}"]:
            command += ["--set", setting]
        return subprocess.Popen(command, stdout=output, stderr=subprocess.PIPE,
                                env=self.environment)

    def list_in_a_loop(self):
        return subprocess.Popen([self.args.list_runs, str(self.root), "--loop"],
                                stderr=subprocess.PIPE)

    def list(self):
        """Runs by id, and the problems."""
        done = subprocess.run([self.args.list_runs, str(self.root)], capture_output=True, text=True)
        problems = [f"list_runs: exit {done.returncode}: {done.stderr}"] if done.returncode else []
        runs = {}
        for entry in map(json.loads, done.stdout.splitlines()):
            if "warning" in entry:
                problems.append("warning: " + entry["warning"])
            elif entry["run"] in runs:
                problems.append(f"run {entry['run']} is listed twice")
            else:
                runs[entry["run"]] = entry
        return runs, problems


def events_of(text, kind):
    """Events of a kind in JSON lines. The last line may be incomplete."""
    out = []
    for line in text.splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if event.get("event") == kind:
            out.append(event)
    return out
