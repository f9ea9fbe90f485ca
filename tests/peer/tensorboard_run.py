#!/usr/bin/env python3
"""A run exported for TensorBoard, read back by TensorBoard's own reader: every column of the step record must be there as a
scalar with the value that `halftone export --to csv` has, rounded to f32 as the format holds it, at the same steps; the
figures of the epochs must be those of the run's events; the settings must be there as text, and in the tab HParams as its
own backend lists them. Also the JSON export against the CSV one, the run that the program imports from the export, and a
run that is written while it trains: TensorBoard must see its steps before it ends, and afterwards those of the record.
Runs of a classification that skips steps and of a language model. A log of PyTorch's SummaryWriter, where it is
installed, is imported with every value.

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
import time

from tensorboard.backend.event_processing import plugin_event_multiplexer
from tensorboard.backend.event_processing.data_provider import MultiplexerDataProvider
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator, SCALARS, TENSORS
from tensorboard.context import RequestContext
from tensorboard.plugins.base_plugin import TBContext
from tensorboard.plugins.hparams import api_pb2, backend_context, list_session_groups

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
    out = {f"train/{name}": cells for name, cells in table.items() if name not in ("step", "clock_s")}
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


def hparams_of(folder):
    """{name: value} of the one session that the tab HParams lists of a folder of runs, and its metrics."""
    multiplexer = plugin_event_multiplexer.EventMultiplexer().AddRunsFromDirectory(str(folder))
    multiplexer.Reload()
    context = backend_context.Context(TBContext(data_provider=MultiplexerDataProvider(multiplexer, str(folder))))
    experiment = context.experiment_from_metadata(
        RequestContext(), "", include_metrics=True,
        hparams_run_to_tag_to_content=context.hparams_metadata(RequestContext(), ""),
        data_provider_hparams=context.hparams_from_data_provider(RequestContext(), "", None))
    request = api_pb2.ListSessionGroupsRequest(
        start_index=0, slice_size=10, allowed_statuses=[api_pb2.STATUS_SUCCESS, api_pb2.STATUS_FAILURE,
                                                        api_pb2.STATUS_RUNNING, api_pb2.STATUS_UNKNOWN])
    groups = list_session_groups.Handler(
        request_context=RequestContext(), backend_context=context, experiment_id="", request=request).run()
    group = groups.session_groups[0]
    values = {name: getattr(value, value.WhichOneof("kind")) for name, value in group.hparams.items()}
    return values, {metric.name.tag: metric.value for metric in group.metric_values}, len(experiment.hparam_infos)


def faults_of_hparams(folder, settings, wanted):
    values, metrics, listed = hparams_of(folder)
    faults = []
    if listed != len(values) or listed < 40:
        faults.append(f"{listed} settings in HParams, {len(values)} with a value")
    for name, value in (("batch_size", settings["batch_size"]), ("model.kind", settings["model"]["kind"]),
                        ("precision.preset", settings["precision"]["preset"]),
                        ("optimizer.lr", settings["optimizer"]["lr"])):
        if values.get(name) != value:
            faults.append(f"HParams: {name} is {values.get(name)}, not {value}")
    for tag in ("train/loss", "test/loss"):
        last = wanted[tag][max(wanted[tag])]
        if tag not in metrics or not same(metrics[tag], f32(last)):
            faults.append(f"HParams: {tag} is {metrics.get(tag)}, not {last}")
    return faults


def faults_of_live(binary, settings, home, environment):
    """A run that is written while it trains."""
    words = [word for s in settings + ["epochs=100000", "max_steps=0", "log.tensorboard=" + str(home / "live")]
             for word in ("--set", s)]
    with subprocess.Popen([binary, "train", "--out", str(home / "living"), *words], env=environment,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as training:
        board, seen = None, 0
        for _ in range(300):
            time.sleep(0.1)
            folders = list((home / "live").glob("*"))
            if not folders:
                continue
            board = board or EventAccumulator(str(folders[0]), size_guidance={SCALARS: 0})
            board.Reload()
            if "train/loss" in board.Tags()["scalars"]:
                seen = len(board.Scalars("train/loss"))
            if seen > 20:
                break
        alive = training.poll() is None
        training.send_signal(2)
        training.wait()
    if seen <= 20 or not alive:
        return [f"TensorBoard saw {seen} steps of a run that {'trained' if alive else 'had ended'}"]
    board.Reload()
    subprocess.run([binary, "export", str(home / "living") + "/", "--to", "csv", "-o", str(home / "living.csv")],
                   env=environment, check=True, capture_output=True)
    table = columns(home / "living.csv")
    faults = [f"live {tag}, step {event.step}: {event.value}"
              for tag in ("train/loss", "train/loss_scale", "train/grad_norm", "train/lr")
              for event in board.Scalars(tag) if not same(event.value, f32(table[tag[6:]][event.step]))]
    steps = {event.step for event in board.Scalars("train/loss")}
    skipped = {step for step, found in table["found_inf"].items() if found}
    if max(table["step"]) not in steps or not skipped <= steps:
        faults.append("the last step or a skipped one is missing from the live log")
    values, _, _ = hparams_of(home / "live")
    if values.get("batch_size") != table["samples"][1]:
        faults.append("the live log has other settings")
    print(f"live: {seen} steps seen while it trained, {len(steps)} of {len(table['step'])} in the log, {len(faults)} faults")
    return faults


def faults_of_import(run, home, table):
    """The run that the export becomes again."""
    out = run("import", str(home / "board"))
    folder = out.split("kept in ")[1].splitlines()[0]
    run("export", folder + "/", "--to", "csv", "-o", str(home / "back.csv"))
    back = columns(home / "back.csv")
    faults = []
    for name, cells in table.items():
        found = back.get(name, {})
        if name != "clock_s" and (set(found) != set(cells) or not all(
                same(f32(found[s]), f32(cells[s])) for s in cells)):
            faults.append(f"imported {name}: differs")
    return faults


def faults_of_summary_writer(run, home):
    """A log of PyTorch, with an accuracy of every second step."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        print(f"SummaryWriter: left out, {error}")
        return []
    with SummaryWriter(str(home / "torch" / "first")) as writer:
        for step in range(50):
            writer.add_scalar("Loss/train", 1 / (1 + step), 10 * step)
            writer.add_scalar("lr", 0.5 ** step, 10 * step)
            if step % 10 == 9:
                writer.add_scalar("Accuracy/val", step / 50, 10 * step)
    out = run("import", str(home / "torch"))
    folder = out.split("kept in ")[1].splitlines()[0]
    run("export", folder + "/", "--to", "csv", "-o", str(home / "torch.csv"))
    back = columns(home / "torch.csv")
    faults = []
    if back["loss"] != {s + 1: f32(1 / (1 + s)) for s in range(50)} and any(
            not math.isclose(back["loss"][s + 1], 1 / (1 + s), rel_tol=1e-6) for s in range(50)):
        faults.append("SummaryWriter: the loss differs")
    if list(back["samples"].values()) != [10.0 * s for s in range(50)]:
        faults.append("SummaryWriter: the steps differ")
    epochs = [json.loads(line) for line in run("show", folder + "/", "--json").splitlines()]
    told = [event["validation_accuracy"] for event in epochs if event.get("event") == "epoch"]
    if [f32(value) for value in told] != [f32(step / 50) for step in range(9, 50, 10)]:
        faults.append(f"SummaryWriter: validation accuracies {told}")
    print(f"SummaryWriter: {len(back['loss'])} steps, {len(faults)} faults")
    return faults


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
    wanted = wanted_scalars(table, shown)
    count, faults = faults_of_board(home / "board", wanted, shown[0]["config"])
    faults += faults_of_hparams(home / "board", shown[0]["config"], wanted)
    faults += faults_of_import(run, home, table)
    if name == "classification":
        faults += faults_of_live(binary, settings, home, environment) + faults_of_summary_writer(run, home)
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
