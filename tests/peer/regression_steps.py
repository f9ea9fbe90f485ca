#!/usr/bin/env python3
"""Regression on the California housing table, one step at a time against PyTorch: each step starts from PyTorch's weights, on
its batch, and the loss and every gradient are compared, in fp32, amp-fp16 and amp-bf16.

The reference and the bound: task_reference.py. The network has two hidden layers of 64; SGD with momentum. In the middle of
the amp-fp16 run one step has a loss scale that overflows: it must be skipped, with every weight as before.

That the engine's own reader makes the same rows (missing values filled with the mean, categories as columns of 0 and 1,
numbers standardised) is checked by a run of `halftone train` over the same batches with a rate too small to move a
weight: loss, RMSE and R2 of every step must be PyTorch's.
"""

import argparse
import csv
import math
import pathlib
import sys
import tempfile

import numpy
import safetensors.torch
import torch
from torch.nn import functional as F

import halftone
from peer_models import Mlp
import task_reference
from task_reference import PRECISIONS, regression_step, weights_of

TARGET, CATEGORICAL = "median_house_value", "ocean_proximity"
OVERFLOWING = 2.0**40
COMPARED = ("fp32", "amp-fp16", "amp-bf16")
SEED, BATCH = 1, 128


class Table:
    """Features and target, both standardised over all rows, in f32; and the target's standard deviation."""

    def __init__(self, path):
        with open(path, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        columns = []
        for name in rows[0]:
            texts = [row[name] for row in rows]
            if name == CATEGORICAL:
                columns += [torch.tensor([float(t == word) for t in texts]) for word in sorted(set(texts))]
            elif name != TARGET:
                columns.append(self.standardised(texts)[0])
        self.features = torch.stack(columns, 1)
        target, self.unit = self.standardised([row[TARGET] for row in rows])
        self.target = target[:, None]

    @staticmethod
    def standardised(texts):
        values = numpy.array([float(t) if t else math.nan for t in texts], numpy.float32)
        values[numpy.isnan(values)] = numpy.nanmean(values.astype(numpy.float64))
        wide = values.astype(numpy.float64)
        mean, deviation = numpy.float32(wide.mean()), numpy.float32(wide.std())
        return torch.from_numpy((values - mean) / deviation), float(deviation)

    def batches(self, count):
        """`count` batches of distinct rows."""
        order = numpy.random.default_rng(SEED).permutation(len(self.target))
        return [torch.from_numpy(order[i * BATCH:(i + 1) * BATCH]) for i in range(count)]


def model_of(table):
    torch.manual_seed(SEED)
    return Mlp([table.features.shape[1], 64, 64, 1])


def settings(options):
    return {"dataset": {"kind": "csv", "path": options.data}, "task": {"kind": "regression"}, "batch_size": BATCH,
            "threads": 1, "model": {"kind": "mlp", "options": {"hidden": [64, 64]}}}


def low_step(model, features, target, precision):
    """PyTorch's kernels on operands cast by hand as the CUDA column casts them, in f32 without a low type."""
    low = precision.low or torch.float32
    model.zero_grad()
    x, layers = features.to(low), model.count
    for i in range(1, layers + 1):
        layer = getattr(model, f"fc{i}")
        x = F.linear(x, layer.weight.to(low), layer.bias.to(low))
        x = F.relu(x) if i < layers else x
    loss = F.mse_loss(x.float(), target)
    (loss * precision.scale).backward()
    return float(loss.detach()), {n: p.grad / precision.scale for n, p in model.named_parameters()}, []


def agree(model, batch, exact):
    task_reference.agree(model, lambda m: (F.mse_loss(m(batch[0].double()), batch[1].double()), []), exact)


def compared(options, table, preset):
    precision, model = PRECISIONS[preset], model_of(table)
    batches = [(table.features[rows], table.target[rows]) for rows in table.batches(options.steps)]
    return task_reference.Compared(
        preset, precision, model, torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9), batches, settings(options), OVERFLOWING,
        tensors=lambda batch: dict(zip(("features", "target"), batch)),
        reference=lambda weights, batch, noise: regression_step(weights, *batch, precision, noise),
        peer=lambda batch: low_step(model, *batch, precision), agree=agree)


def metrics_of(step, target, unit):
    """Loss, RMSE and R2."""
    variance = float(target.double().var(correction=0))
    return step.loss, unit * math.sqrt(step.error), 1 - step.error / variance


def compare_reader(options, table, folder):
    """Compares figures of `halftone train` over the same batches, with weights that do not move. Returns whether one
    differs from PyTorch's."""
    model, precision = model_of(table), PRECISIONS["fp32"]
    weights, order, batches = folder / "weights.safetensors", folder / "order.txt", table.batches(options.steps)
    safetensors.torch.save_file(weights_of(model), weights)
    order.write_text("".join(" ".join(map(str, rows.tolist())) + "\n" for rows in batches))
    fields = {"dataset.kind": "csv", "dataset.path": options.data, "dataset.target": TARGET, "dataset.missing": "mean",
              "dataset.test_share": 0, "dataset.order": order, "task.kind": "regression", "model.kind": "mlp",
              "model.options.hidden": "[64,64]", "model.init_from": weights, "precision.preset": "fp32",
              "batch_size": BATCH, "threads": 1, "max_steps": options.steps, "optimizer.lr": 1e-30,
              "optimizer.momentum": 0, "optimizer.weight_decay": 0, "schedule.kind": "constant"}
    output = halftone.run(options.halftone, "train", *(w for f, v in fields.items() for w in ("--set", f"{f}={v}")),
                          "--out", str(folder / "run"), "--json")
    found = [e for e in halftone.events(output) if e["event"] == "step"]
    worst = 0.0
    for k, (rows, event) in enumerate(zip(batches, found, strict=True)):
        batch = table.features[rows], table.target[rows]
        runs = [regression_step(weights_of(model), *batch, precision, None if i == 0 else torch.Generator().manual_seed(k))
                for i in range(2)]
        exact = metrics_of(runs[0], batch[1], table.unit)
        bound = task_reference.loss_bound(runs[0], runs[1:], precision.unit)
        worst = max(worst, abs(event["loss"] - exact[0]) / bound)
        # A relative change of the loss is twice that of the RMSE, and changes R2 by its share of the variance.
        relative = max(bound / exact[0], 2.0**-23)
        worst = max(worst, abs(event["rmse"] - exact[1]) / (relative * exact[1]),
                    abs(event["r2"] - exact[2]) / (relative * (1 - exact[2])))
    print(f"| the engine's reader, RMSE and R2 | | {worst:.2f} | | | | |", flush=True)
    return not worst <= 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    halftone.add_binary_option(parser)
    task_reference.add_program_option(parser)
    shared = pathlib.Path(__file__).resolve().parents[3] / "shared" / "data"
    parser.add_argument("--data", default=str(shared / "tabular" / "housing.csv"), help="the table")
    parser.add_argument("--precision", action="append", choices=COMPARED)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--perturbations", type=int, default=8, help="perturbed reference runs a step")
    options = parser.parse_args()
    torch.set_num_threads(1)
    table = Table(options.data)
    print(task_reference.STEPS_HEADER)
    with tempfile.TemporaryDirectory() as folder:
        program = task_reference.Program(options.program, folder, halftone.DEVICE)
        failed = sum(task_reference.compare_steps(compared(options, table, preset), options.perturbations, program)
                     for preset in options.precision or COMPARED)
        failed += compare_reader(options, table, pathlib.Path(folder))
    print(f"{failed} comparisons beyond their bounds")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
