"""Kills a trainer that saves checkpoints all the time at random moments, resumes its run until it ends, and looks
whether the run has the bits of one that was not killed. README.md tells what is checked."""

import csv
import hashlib
import pathlib
import random
import subprocess
import sys
import tempfile
import time

import programs

STEPS = 600
SETTINGS = programs.SMALL + ["epochs=1000000", f"max_steps={STEPS}", "scaler.preset=classroom",
                             "checkpoint.every_steps=20", "checkpoint.best=false"]
TIMES = {"elapsed_s", "memory_bytes", "peak_bytes", "step_ms", "data_ms", "forward_ms", "backward_ms",
         "optimizer_ms", "samples_per_s"}


def settings():
    return [word for setting in SETTINGS for word in ("--set", setting)]


def checkpoints(run):
    """Complete checkpoints by their steps."""
    return {int(folder.name.split("-")[1]): folder for folder in run.glob("checkpoint-*")
            if folder.is_dir() and not folder.name.endswith(".part")}


def bits(args, environment, run):
    """Every figure of every step except times, and the last weights."""
    table = run.parent / "steps.csv"
    subprocess.run([args.halftone, "export", str(run), "--to", "csv", "-o", str(table)], check=True,
                   env=environment, stdout=subprocess.DEVNULL)
    with open(table, newline="") as file:
        rows = [tuple(value for name, value in row.items() if name not in TIMES)
                for row in csv.DictReader(file)]
    table.unlink()
    last = checkpoints(run)[STEPS]
    files = {file.name: hashlib.sha256(file.read_bytes()).hexdigest()
             for file in last.glob("*.safetensors")}
    return rows, files


class Trial:
    """One run, killed and resumed until it ends."""

    def __init__(self, args, store, folder, dice, seconds):
        self.args, self.store, self.dice, self.seconds = args, store, dice, seconds
        self.run = folder / "run"
        self.kills = self.in_writing = 0
        self.problems = []

    def start(self, command):
        return subprocess.Popen([self.args.halftone, *command], env=self.store.environment,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def go(self, most_kills):
        command = ["train", *settings(), "--out", str(self.run)]
        while True:
            process = self.start(command)
            if self.kills < most_kills:
                time.sleep(self.dice.uniform(0, self.seconds))
                process.kill()
            errors = process.communicate()[1].decode(errors="replace")
            # Killed after its last step, so nothing was left to do.
            if process.returncode == 0 or "has completed all of its" in errors:
                return
            if process.returncode != -9:
                self.problems.append(f"{command[0]} ended with {process.returncode}: {errors}")
                return
            self.kills += 1
            self.in_writing += any(self.run.glob("checkpoint-*.part"))
            # A run that was killed before it had settings starts again.
            if (self.run / "config.json").exists():
                command = ["resume", str(self.run)]
                self.look()
            else:
                for file in self.run.glob("*"):
                    file.unlink()

    def look(self):
        """No kill may lose the run or make it unreadable."""
        done = subprocess.run([self.args.halftone, "show", str(self.run), "--json"],
                              env=self.store.environment, capture_output=True, text=True)
        if done.returncode != 0:
            self.problems.append(f"show: {done.returncode}: {done.stderr}")
        if len(checkpoints(self.run)) > 5:  # three that are kept, and one that a killed process wrote
            self.problems.append(f"{len(checkpoints(self.run))} checkpoints are kept")


def main():
    cli = programs.parser(__doc__)
    cli.add_argument("--kills", type=int, default=200)
    args = cli.parse_args()
    dice = random.Random(args.seed)
    failures = []
    kills = in_writing = trials = 0
    with tempfile.TemporaryDirectory(prefix="halftone-resume-") as folder:
        folder = pathlib.Path(folder)
        store = programs.Store(args, folder)
        whole = Trial(args, store, folder / "whole", dice, 0)
        started = time.monotonic()
        whole.go(0)
        seconds = time.monotonic() - started
        failures += whole.problems
        expected = bits(args, store.environment, whole.run)
        while kills < args.kills and not failures:
            trial = Trial(args, store, folder / f"trial-{trials}", dice, seconds)
            trial.go(min(args.kills - kills, dice.randint(1, 8)))
            failures += [f"trial {trials}: {problem}" for problem in trial.problems]
            if not trial.problems and bits(args, store.environment, trial.run) != expected:
                failures.append(f"trial {trials}: the run has other bits than one that was not killed")
            kills, in_writing, trials = kills + trial.kills, in_writing + trial.in_writing, trials + 1
    for failure in failures:
        print(failure)
    print(f"seed {args.seed}: {trials} runs, {kills} kills, {in_writing} of them while a checkpoint was written, "
          f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
