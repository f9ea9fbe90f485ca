"""Kills trainers at random moments while another process lists their store, and looks whether the
history says afterwards what happened. README.md tells what is checked."""

import pathlib
import random
import sys
import tempfile
import time

import programs


# Seconds: the longest time of a kill of this kind after the trainer's start, or after its first file.
DELAYS = {"end": 0, "creation": 0.006, "soon": 0.2, "later": 1.5}


class Trainer:
    """A run that is killed at a random moment, or trained to its end."""

    def __init__(self, store, number, output, dice):
        self.steps = dice.choice([5, 400, 4000, 40000])
        self.output = output
        self.kind = dice.choice(["end", "creation", "creation", "soon", "later", "later",
                                 "later"])
        self.delay = dice.uniform(0, DELAYS[self.kind])
        if self.kind == "end":
            self.steps = min(self.steps, 400)
        self.file = open(output, "wb")
        self.root = store.root
        self.folders = self.folders_now()
        self.process = store.train(self.steps, self.file)
        self.started = time.monotonic()
        self.killed = False

    def folders_now(self):
        return len(list(self.root.iterdir())) if self.root.exists() else 0

    def is_due(self):
        """A kill of kind "creation" waits for the first new file or folder of any trainer."""
        if self.kind == "end":
            return False
        if self.kind == "creation" and self.folders is not None:
            if self.folders_now() > self.folders:
                self.folders, self.started = None, time.monotonic()
            return False
        return time.monotonic() - self.started >= self.delay

    def step(self):
        """True once it has ended."""
        if self.process.poll() is not None:
            return True
        if self.is_due():
            self.process.kill()
            self.killed = True
        return False

    def finish(self):
        self.errors = self.process.communicate()[1].decode(errors="replace")
        self.killed = self.killed and self.process.returncode == -9
        self.file.close()
        self.text = pathlib.Path(self.output).read_text(errors="replace")
        starts = programs.events_of(self.text, "start")
        self.run = starts[0]["run"] if starts else None
        steps = programs.events_of(self.text, "step")
        self.last_step = steps[-1]["step"] if steps else 0


def check_trainer(trainer, runs):
    if not trainer.killed and trainer.process.returncode != 0:
        return [f"a trainer ended with {trainer.process.returncode}: {trainer.errors}"]
    if not trainer.killed and trainer.errors:
        return [f"a trainer warned: {trainer.errors}"]
    if trainer.run is None:
        return [] if trainer.killed else ["a trainer that ended announced no run"]
    run = runs.get(trainer.run)
    if run is None:
        return [f"run {trainer.run} was announced and is not in the history"]
    if not trainer.killed and (run["state"], run["steps"]) != ("done", trainer.steps):
        return [f"run {trainer.run} ended and is recorded as {run['state']} at {run['steps']}"]
    if run["rows"] < trainer.last_step:
        return [f"run {trainer.run} showed step {trainer.last_step} and kept {run['rows']}"]
    return []


def check_run(run):
    folder = pathlib.Path(run["folder"])
    ended = programs.events_of((folder / "events.jsonl").read_text(), "done") \
        if (folder / "events.jsonl").exists() else []
    expected = "done" if ended else "interrupted"
    problems = []
    if run["state"] != expected:
        problems.append(f"run {run['run']} is {run['state']}, its folder says {expected}")
    if run["rows"] == -2 or (run["rows"] == -1 and (folder / "steps.rec").exists()):
        problems.append(f"run {run['run']}: its record cannot be read")
    if run["steps"] != max(run["rows"], 0):
        problems.append(f"run {run['run']} has {run['steps']} steps and {run['rows']} rows")
    if folder.name != run["run"]:
        problems.append(f"run {run['run']} is in folder {folder.name}")
    return problems


def is_being_made(folder):
    """A lease without its text: the trainer was killed between making the file and writing it. It may be that of another
    machine, so nobody removes such a folder before the lease has not changed for 90 s (engine/src/io/file/lease.h)."""
    files = {file.name: file.stat().st_size for file in folder.iterdir()}
    return files in ({"lock": 0, "lease.1": 0}, {"lease.1": 0})


def check_store(store, trainers):
    runs, problems = store.list()
    for run in runs.values():
        problems += check_run(run)
    for trainer in trainers:
        problems += check_trainer(trainer, runs)
    announced = [trainer.run for trainer in trainers if trainer.run is not None]
    if len(set(announced)) != len(announced):
        problems.append(f"a number was given twice: {sorted(announced)}")
    known = {run["folder"] for run in runs.values()}
    for folder in store.root.iterdir():
        if folder.is_dir() and str(folder) not in known and not is_being_made(folder):
            problems.append(f"folder {folder.name} is in no row: {list(folder.iterdir())}")
        if ".damaged-" in folder.name:
            problems.append(f"the index was taken for damaged: {folder.name}")
    return problems


def run_wave(store, count, outputs, dice):
    trainers = [Trainer(store, i, outputs / f"{dice.random()}", dice) for i in range(count)]
    waiting = list(trainers)
    while waiting:
        waiting = [trainer for trainer in waiting if not trainer.step()]
        time.sleep(0.0005)
    for trainer in trainers:
        trainer.finish()
    return trainers


def run_round(args, dice, at_once):
    """A new store, several waves of trainers, and a lister. Returns the kills and the problems."""
    with tempfile.TemporaryDirectory(prefix="halftone-kill-") as folder:
        store = programs.Store(args, folder)
        outputs = pathlib.Path(folder) / "outputs"
        outputs.mkdir()
        lister = store.list_in_a_loop()
        trainers = []
        for _ in range(dice.randint(1, 4)):
            trainers += run_wave(store, at_once, outputs, dice)
        lister_ended = lister.poll()
        lister.kill()
        lister_errors = lister.communicate()[1].decode(errors="replace")
        problems = check_store(store, trainers)
        if lister_ended is not None:
            problems.append(f"the lister ended with {lister_ended}: {lister_errors}")
        return trainers, problems


def main():
    cli = programs.parser(__doc__)
    cli.add_argument("--kills", type=int, default=300)
    args = cli.parse_args()
    dice = random.Random(args.seed)
    kills = in_creation = ended = rounds = 0
    failures = []
    while kills < args.kills:
        trainers, problems = run_round(args, dice, at_once=4 if rounds % 2 else 1)
        failures += [f"round {rounds}: {problem}" for problem in problems]
        kills += sum(trainer.killed for trainer in trainers)
        in_creation += sum(trainer.killed and trainer.run is None for trainer in trainers)
        ended += sum(not trainer.killed for trainer in trainers)
        rounds += 1
    for failure in failures:
        print(failure)
    print(f"seed {args.seed}: {rounds} stores, {kills} kills, {in_creation} of them before the run "
          f"was announced, {ended} runs that ended, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
