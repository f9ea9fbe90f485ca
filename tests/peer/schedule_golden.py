#!/usr/bin/env python3
"""Writes golden/schedules.safetensors.xz: PyTorch's learning-rate schedulers over the steps of short runs.

NAME.rates       the rate of each step, f64. The scheduler steps with the optimizer: not in the steps of `skipped`, so a
                 skipped step has the rate of the one after it
plateau.NAME.figures   what ReduceLROnPlateau is given at the end of each epoch
plateau.NAME.rates     the rate after each of them

The metadata's `variants` is the list of settings as JSON, by the names of our settings: kind, lr, planned, warmup_steps
and the options of the kind; `plateau` the same for the plateaus; `skipped` the steps (from 0) that are skipped.
A warm-up of w updates is LinearLR(start_factor=1 / (w + 1), total_iters=w) before the schedule in a SequentialLR; beside
MultiStepLR in a ChainedScheduler, whose milestones count from the first update. `per_epoch` is the updates of an epoch.
"""

import json
import math
import warnings

import torch
from torch.optim import lr_scheduler as schedulers

import golden_file

SEED = 19
SKIPPED = [0, 1, 7, 20, 21, 40]
VARIANTS = (
    {"name": "constant", "kind": "constant", "lr": 0.05, "planned": 40},
    {"name": "constant_warm", "kind": "constant", "lr": 0.3, "planned": 40, "warmup_steps": 10},
    {"name": "cosine", "kind": "cosine", "lr": 0.05, "planned": 60},
    {"name": "cosine_warm", "kind": "cosine", "lr": 0.1, "planned": 60, "warmup_steps": 7},
    {"name": "step", "kind": "step", "lr": 0.1, "planned": 60, "step_size": 9, "gamma": 0.3},
    {"name": "step_warm", "kind": "step", "lr": 0.1, "planned": 60, "step_size": 20, "gamma": 0.1, "warmup_steps": 5},
    {"name": "one_cycle", "kind": "one-cycle", "lr": 0.01, "planned": 50, "max_lr": 0.4},
    {"name": "one_cycle_own", "kind": "one-cycle", "lr": 0.02, "planned": 3},
    {"name": "one_cycle_short", "kind": "one-cycle", "lr": 0.02, "planned": 1},
    {"name": "one_cycle_warm", "kind": "one-cycle", "lr": 0.02, "planned": 48, "warmup_steps": 4},
    {"name": "polynomial", "kind": "polynomial", "lr": 0.2, "planned": 45},
    {"name": "polynomial_square", "kind": "polynomial", "lr": 0.2, "planned": 45, "power": 2.0},
    {"name": "multi_step", "kind": "multi-step", "lr": 0.1, "planned": 60, "milestones": [9, 10, 40], "gamma": 0.3},
    {"name": "multi_step_epochs", "kind": "multi-step", "lr": 0.02, "planned": 60, "milestones": [2, 5], "unit": "epochs",
     "per_epoch": 10},
    {"name": "multi_step_warm", "kind": "multi-step", "lr": 0.1, "planned": 60, "milestones": [8, 30], "gamma": 0.1,
     "warmup_steps": 12},
    {"name": "polynomial_warm", "kind": "polynomial", "lr": 0.2, "planned": 45, "power": 0.5, "warmup_steps": 6},
)
PLATEAUS = (
    {"name": "loss", "lr": 0.1, "gamma": 0.1, "patience": 2, "higher_is_better": False},
    {"name": "accuracy", "lr": 0.5, "gamma": 0.5, "patience": 0, "higher_is_better": True},
    {"name": "floor", "lr": 1e-6, "gamma": 0.1, "patience": 1, "higher_is_better": False},
)


def make_scheduler(variant, optimizer):
    warmup = variant.get("warmup_steps", 0)
    left = variant["planned"] - warmup
    kind = variant["kind"]
    if kind == "constant":
        main = schedulers.ConstantLR(optimizer, factor=1.0, total_iters=0)
    elif kind == "cosine":
        main = schedulers.CosineAnnealingLR(optimizer, T_max=left)
    elif kind == "step":
        main = schedulers.StepLR(optimizer, step_size=variant["step_size"], gamma=variant["gamma"])
    elif kind == "multi-step":
        each = variant["per_epoch"] if variant.get("unit") == "epochs" else 1
        main = schedulers.MultiStepLR(optimizer, milestones=[each * milestone for milestone in variant["milestones"]],
                                      gamma=variant.get("gamma", 0.1))
    elif kind == "one-cycle":
        main = schedulers.OneCycleLR(optimizer, max_lr=variant.get("max_lr", variant["lr"]), total_steps=left,
                                     cycle_momentum=False)
    else:
        main = schedulers.PolynomialLR(optimizer, total_iters=left, power=variant.get("power", 1.0))
    if warmup == 0:
        return main
    rise = schedulers.LinearLR(optimizer, start_factor=1 / (warmup + 1), total_iters=warmup)
    if kind == "multi-step":
        return schedulers.ChainedScheduler([main, rise])
    return schedulers.SequentialLR(optimizer, [rise, main], milestones=[warmup])


def rates_of(variant):
    weight = torch.zeros(1, requires_grad=True)
    weight.grad = torch.zeros(1)
    optimizer = torch.optim.SGD([weight], lr=variant["lr"])
    scheduler = make_scheduler(variant, optimizer)
    rates, applied, step = [], 0, 0
    while applied < variant["planned"]:
        rates.append(optimizer.param_groups[0]["lr"])
        if step not in SKIPPED:
            optimizer.step()
            applied += 1
            if applied < variant["planned"]:
                scheduler.step()
        step += 1
    return torch.tensor(rates, dtype=torch.float64)


def plateau_of(variant, generator):
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=variant["lr"])
    scheduler = schedulers.ReduceLROnPlateau(optimizer, mode="max" if variant["higher_is_better"] else "min",
                                             factor=variant["gamma"], patience=variant["patience"])
    noise = torch.rand(40, generator=generator, dtype=torch.float64)
    figures = [1 / (1 + 0.3 * min(epoch, 12)) + 0.05 * noise[epoch].item() for epoch in range(40)]
    figures[5] = math.nan
    figures[9] = figures[8] * (1 - 0.5e-4)  # better, but within the threshold
    if variant["higher_is_better"]:
        figures = [1 - figure for figure in figures]
    rates = []
    for figure in figures:
        scheduler.step(figure)
        rates.append(optimizer.param_groups[0]["lr"])
    return torch.tensor(figures, dtype=torch.float64), torch.tensor(rates, dtype=torch.float64)


def main():
    warnings.filterwarnings("ignore", category=UserWarning)  # of lr_scheduler.step() without optimizer.step()
    generator = torch.Generator().manual_seed(SEED)
    out = {f"{variant['name']}.rates": rates_of(variant) for variant in VARIANTS}
    for variant in PLATEAUS:
        figures, rates = plateau_of(variant, generator)
        out[f"plateau.{variant['name']}.figures"] = figures
        out[f"plateau.{variant['name']}.rates"] = rates
    metadata = {"variants": json.dumps(VARIANTS), "plateau": json.dumps(PLATEAUS), "skipped": json.dumps(SKIPPED)}
    file = golden_file.write_tensors("schedules", out, metadata)
    print(f"{file}: {len(out)} tensors, PyTorch {torch.__version__}")


if __name__ == "__main__":
    main()
