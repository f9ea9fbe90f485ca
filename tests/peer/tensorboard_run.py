#!/usr/bin/env python3
"""A run exported for TensorBoard, read back by TensorBoard's own reader: every column of the step record must be there as a
scalar with the value that `halftone export --to csv` has, rounded to f32 as the format holds it, at the same steps; the
figures of the epochs must be those of the run's events; the settings must be there as text. Also the JSON export against
the CSV one. Runs of a classification that skips steps and of a language model.

Needs `tensorboard` (2.21).
"""

import argparse
import csv
import json
import math
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator, SCALARS, TENSORS

import halftone

RUNS = {"classification": ["dataset.kind=spirals", "model.kind=mlp", "epochs=2", "max_steps=60", "scaler.preset=classroom",
                           "scaler.init_scale=1e9", "batch_size=100", "precision.preset=amp-fp16"],
        "language model": ["dataset.kind=text-generated", "model.kind=rnn-lm", "model.options.embedding=16",
                           "model.options.hidden=16", "max_steps=20", "precision.preset=fp32"]}
NUMBERS = {"true": 1.0, "false": 0.0}


def f32(number):
    try:
        return struct.unpack("f", struct.pack("f", number))[0]
    except OverflowError:
        return math.copysign(math.inf, number)


def same(a, b):
    return a == b or (math.isnan(a) and math.isnan(b))


def columns(file):
    """{name: {step: number}} of a CSV file, empty cells left out."""
    out = {}
    with open(file, newline="") as lines:
        for row in csv.DictReader(lines):
            for name, cell in row.items():
                if cell:
                    out.setdefault(name, {})[int(row["step"])] = float(NUMBERS.get(cell, cell))
    return out


def wanted_scalars(table, events):
    out = {f"train/{name}": cells for name, cells in table.items() if name != "step"}
    out["train/skipped"] = {step: step - table["updates"][step] for step in table["step"]}
    for event in events:
        if event.get("event") != "epoch":
            continue
        for part, label in (("train", "epoch"), ("validation", "validation"), ("test", "test")):
            if part == "train" and event.get("epoch_ended") is False:
                continue
            for name, value in event.items():
                if name.startswith(part + "_"):
                    out.setdefault(f"{label}/{name.removeprefix(part + '_')}", {})[event["step"]] = float(value)
    return out


def faults_of_board(folder, wanted, settings):
    board = EventAccumulator(str(folder), size_guidance={SCALARS: 0, TENSORS: 0})
    board.Reload()
    faults = []
    if set(board.Tags()["scalars"]) != set(wanted):
        faults.append(f"tags differ: {sorted(set(board.Tags()['scalars']) ^ set(wanted))}")
    count = 0
    for tag, cells in wanted.items():
        found = {event.step: event.value for event in board.Scalars(tag)}
        if set(found) != set(cells) or not all(same(found[s], f32(cells[s])) for s in cells):
            faults.append(f"{tag}: differs")
        count += len(found)
    text = board.Tensors("settings/text_summary")[0].tensor_proto.string_val[0].decode()
    if json.loads(text.removeprefix("```json").removesuffix("```")) != settings:
        faults.append("the settings differ")
    return count, faults


def faults_of_json(run, table):
    faults = []
    for name, cells in run["record"].items():
        for step, cell in zip(run["record"]["step"], cells, strict=True):
            if (cell is None) != (step not in table.get(name, {})):
                faults.append(f"{name}, step {step}: only one of JSON and CSV has it")
            elif cell is not None and not same(float(cell), table[name][step]):
                faults.append(f"{name}, step {step}: differs")
    return faults


def check(binary, name, settings, home):
    environment = dict(os.environ, XDG_DATA_HOME=str(home))

    def run(*arguments):
        return subprocess.run([binary, *arguments], env=environment, check=True, capture_output=True, text=True).stdout

    run("train", "--out", str(home / "run"), *(word for s in settings for word in ("--set", s)))
    source = str(home / "run") + "/"
    run("export", source, "--to", "csv", "-o", str(home / "steps.csv"))
    run("export", source, "--to", "json", "-o", str(home / "run.json"))
    run("export", source, "--to", "tensorboard", "-o", str(home / "board"))
    shown = [json.loads(line) for line in run("show", source, "--json").splitlines()]
    table = columns(home / "steps.csv")
    count, faults = faults_of_board(home / "board", wanted_scalars(table, shown), shown[0]["config"])
    faults += faults_of_json(json.loads((home / "run.json").read_text()), table)
    print(f"{name}: {len(table['step'])} steps, {shown[0]['skipped']} skipped, {count} scalars, {len(faults)} faults")
    for fault in faults[:20]:
        print("   ", fault)
    return not faults


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    halftone.add_binary_option(parser)
    options = parser.parse_args()
    good = True
    for name, settings in RUNS.items():
        with tempfile.TemporaryDirectory() as home:
            good = check(options.halftone, name, settings, pathlib.Path(home)) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
