"""Stops trainers that save checkpoints all the time at random moments, by SIGKILL or SIGTERM, resumes their runs until they
end, and looks whether each has the bits of a run that was not stopped. README.md tells what is checked."""

import csv
import hashlib
import itertools
import json
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

import programs

TIMES = {"elapsed_s", "clock_s", "memory_bytes", "peak_bytes", "step_ms", "data_ms", "forward_ms", "backward_ms",
         "optimizer_ms", "samples_per_s"}
SAVING = ["epochs=1000000", "scaler.preset=classroom", "checkpoint.best=false", "threads=1"]
SPIRALS = programs.SMALL + SAVING + ["max_steps=600", "checkpoint.every_steps=20"]

# State that each kind of run keeps between steps besides weights: batch norm, dropout, hidden state, two optimizers,
# sparse moments, a position in a text.
GLYPHS = ["dataset.kind=glyphs", "batch_size=16", "dataset.train_limit=640", "dataset.test_limit=64"]
TEXT = ["dataset.kind=text-generated", "batch_size=8", "bptt=16", "dataset.train_limit=4000", "dataset.test_limit=600"]
CLICKS = ["dataset.kind=clicks-generated", "dataset.table_rows=50", "batch_size=64", "dataset.train_limit=2000",
          "dataset.test_limit=200", "model.kind=dlrm", "model.options.bottom=[16]", "model.options.top=[16]"]
NETWORKS = {
    "mlp": programs.SMALL + ["schedule.kind=one-cycle", "optimizer.kind=adamw"],
    "lenet": [*GLYPHS, "model.kind=lenet", "dataset.augment=true", "accumulate=3"],
    "resnet18": [*GLYPHS, "model.kind=resnet18", "batch_size=4", "dataset.train_limit=40", "dataset.test_limit=8",
                 "max_steps=30"],
    "mobilenetv2": [*GLYPHS, "model.kind=mobilenetv2", "batch_size=4", "dataset.train_limit=40", "dataset.test_limit=8",
                    "max_steps=30", "optimizer.kind=lamb"],
    "autoencoder": [*GLYPHS, "model.kind=autoencoder", "optimizer.kind=adam", "clip.kind=norm"],
    "dcgan": [*GLYPHS, "model.kind=dcgan", "model.options.channels=8", "max_steps=60"],
    "lstm": [*TEXT, "model.kind=rnn-lm", "model.options.hidden=24", "model.options.embedding=24", "clip.kind=norm"],
    "gru": [*TEXT, "model.kind=rnn-lm", "model.options.cell=gru", "model.options.hidden=24", "model.options.embedding=24",
            "optimizer.kind=novograd"],
    "transformer": [*TEXT, "model.kind=transformer-lm", "model.options.width=32", "optimizer.kind=adamw",
                    "schedule.kind=polynomial", "recompute=blocks"],
    "bert": [*TEXT, "task.kind=masked-language-model", "model.kind=bert", "model.options.width=32", "model.options.layers=2",
             "optimizer.kind=adamw"],
    "dlrm": [*CLICKS, "optimizer.kind=adagrad", "dataset.validation_share=0.1"],
    "dlrm-sparse": [*CLICKS, "optimizer.kind=sparse-adam", "schedule.kind=plateau", "schedule.patience=1"],
}
PRECISIONS = ("fp32", "amp-fp16", "amp-bf16", "o2-fp16", "pure-fp16")


def combinations(count, dice):
    """One: small and quick. More: pairs of a network and a precision, in random order."""
    if count == 1:
        return [("spirals", SPIRALS)]
    pairs = list(itertools.product(NETWORKS, PRECISIONS))
    dice.shuffle(pairs)
    out = []
    for network, precision in pairs:
        out.append((f"{network} {precision}",
                    ["max_steps=120", *SAVING, f"checkpoint.every_steps={dice.choice([3, 7, 10])}",
                     f"seed={dice.randrange(1000)}", f"scaler.init_scale={2 ** dice.choice([10, 16, 26])}",
                     f"precision.preset={precision}", *NETWORKS[network]]))
    return out[:count]


def arguments(settings):
    """Arguments of `train`. A later value of a setting replaces an earlier one."""
    values = dict(setting.split("=", 1) for setting in settings)
    return [word for name, value in values.items() for word in ("--set", f"{name}={value}")]


def checkpoints(run):
    """Complete checkpoints by their steps."""
    return {int(folder.name.split("-")[1]): folder for folder in run.glob("checkpoint-*")
            if folder.is_dir() and not folder.name.endswith(".part")}


def events(run):
    """Events of the run's whole file; those of a step that was computed again stand there twice."""
    return [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]


def epochs(run):
    """The figures of each evaluation at an epoch's end or the run's, by step."""
    out = {}
    for event in events(run):
        if event["event"] == "epoch" and (event.get("epoch_ended") or event["step"] == max(checkpoints(run))):
            out[event["step"]] = {name: value for name, value in event.items()
                                  if "loss" in name or "accuracy" in name or name in ("epoch", "perplexity", "auc")}
    return out


def bits(args, environment, run):
    """Every figure of every step except times, those of the evaluations, and the last weights and optimizer state."""
    table = run.parent / "steps.csv"
    subprocess.run([args.halftone, "export", str(run), "--to", "csv", "-o", str(table)], check=True,
                   env=environment, stdout=subprocess.DEVNULL)
    with open(table, newline="") as file:
        rows = [tuple(value for name, value in row.items() if name not in TIMES)
                for row in csv.DictReader(file)]
    table.unlink()
    saved = checkpoints(run)
    files = {file.name: hashlib.sha256(file.read_bytes()).hexdigest()
             for file in saved[max(saved)].glob("*.safetensors")}
    return {"steps": rows, "evaluations": epochs(run), "weights and optimizer state": files}


def first_difference(found, expected):
    """First difference of two lists or dictionaries."""
    if isinstance(found, list):
        found, expected = dict(enumerate(found)), dict(enumerate(expected))
    for key in sorted({*found, *expected}):
        if found.get(key) != expected.get(key):
            return f"at {key}: {found.get(key)}, not {expected.get(key)}"
    return ""


class Trial:
    """One run, stopped and resumed until it ends."""

    def __init__(self, args, store, folder, settings, dice, seconds):
        self.args, self.store, self.settings, self.dice, self.seconds = args, store, settings, dice, seconds
        self.run = folder / "run"
        self.stops = self.in_writing = 0
        self.problems = []

    def start(self, command):
        return subprocess.Popen([self.args.halftone, *command], env=self.store.environment,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def go(self, max_stops):
        command = ["train", *arguments(self.settings), "--out", str(self.run)]
        while True:
            process = self.start(command)
            stopped_by = None
            if self.stops < max_stops:
                time.sleep(self.dice.uniform(0, self.seconds))
                stopped_by = self.dice.choice([signal.SIGKILL, signal.SIGTERM])
                process.send_signal(stopped_by)
            errors = process.communicate()[1].decode(errors="replace")
            # Stopped after its last step, so nothing was left to do.
            if "has completed all of its" in errors or (process.returncode == 0 and stopped_by is None):
                return
            # SIGTERM before the program has its handler ends it.
            if process.returncode not in (0, -signal.SIGKILL, -signal.SIGTERM):
                self.problems.append(f"{command[0]} ended with {process.returncode}: {errors}")
                return
            self.stops += 1
            self.in_writing += any(self.run.glob("checkpoint-*.part"))
            # A run that was killed before it had settings starts again.
            if (self.run / "config.json").exists():
                command = ["resume", str(self.run)]
                self.look()
            else:
                for file in self.run.glob("*"):
                    file.unlink()

    def look(self):
        """No stop may lose the run or make it unreadable."""
        done = subprocess.run([self.args.halftone, "show", str(self.run), "--json"],
                              env=self.store.environment, capture_output=True, text=True)
        if done.returncode != 0:
            self.problems.append(f"show: {done.returncode}: {done.stderr}")
        if len(checkpoints(self.run)) > 5:  # three that are kept, and one that a killed process wrote
            self.problems.append(f"{len(checkpoints(self.run))} checkpoints are kept")


def main():
    cli = programs.parser(__doc__)
    cli.add_argument("--stops", type=int, default=200)
    cli.add_argument("--combinations", type=int, default=1, help="kinds of runs; the stops are spread over them")
    args = cli.parse_args()
    dice = random.Random(args.seed)
    failures = []
    stops = in_writing = trials = 0
    chosen = combinations(args.combinations, dice)
    with tempfile.TemporaryDirectory(prefix="halftone-resume-") as folder:
        folder = pathlib.Path(folder)
        store = programs.Store(args, folder)
        for number, (name, settings) in enumerate(chosen):
            whole = Trial(args, store, folder / f"whole-{number}", settings, dice, 0)
            started = time.monotonic()
            whole.go(0)
            seconds = time.monotonic() - started
            failures += [f"{name}: {problem}" for problem in whole.problems]
            if whole.problems:
                continue
            expected = bits(args, store.environment, whole.run)
            share = args.stops * (number + 1) // len(chosen)
            failed = len(failures)
            while stops < share and len(failures) == failed:
                trial = Trial(args, store, folder / f"trial-{trials}", settings, dice, seconds)
                trial.go(min(share - stops, dice.randint(1, 8)))
                failures += [f"{name}, trial {trials}: {problem}" for problem in trial.problems]
                if not trial.problems:
                    found = bits(args, store.environment, trial.run)
                    failures += [f"{name}, trial {trials}: other {part} than without a stop: "
                                 f"{first_difference(found[part], expected[part])}"
                                 for part in expected if found[part] != expected[part]]
                stops, in_writing, trials = stops + trial.stops, in_writing + trial.in_writing, trials + 1
            if len(chosen) > 1:
                print(f"{name}: {seconds:.1f} s, {stops} stops so far", flush=True)
    for failure in failures:
        print(failure)
    print(f"seed {args.seed}: {len(chosen)} kinds of runs, {trials} runs, {stops} stops, {in_writing} of them while a "
          f"checkpoint was written, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
