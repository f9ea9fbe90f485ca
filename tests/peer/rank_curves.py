#!/usr/bin/env python3
"""Loss curves of two ranks beside those of one process: MLP, LeNet and ResNet-18 on CIFAR-100.

Another order of a sum's terms rounds elsewhere, and training amplifies that. How far it does is measured: one process trains
several times more on the same batches with the samples of each part in another order, which changes nothing but the order of the
sums. The spread at a step is the largest difference of two of these curves up to that step. Two ranks must be within it of some
curve of one process, which computes the same in one of two ways:

- parts: it accumulates the ranks' parts, with local batch norm. Each part's gradients are rounded to 16 bits by themselves.
- whole: it takes the whole batch at once, with synchronised batch norm. Its gradients are rounded once, so in 16 bits two ranks
  need not be within this spread.

ddp_curves.py measures PyTorch's DistributedDataParallel in the same way.
"""

import argparse
import pathlib
import random
import sys
import tempfile

import cifar
import halftone

AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
MODELS = {"mlp": ["model.options.hidden=[256,128]"], "lenet": [], "resnet18": []}
HEAD = """| model | precision | one process takes | losses | spread, 10 steps | two ranks from the nearest curve | spread, all steps \
| two ranks from the nearest curve | from the first curve |
| --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: |"""


def losses(options, folder, model, precision, batches, *settings):
    order = folder / "order.txt"
    cifar.write_order(order, batches)
    words = [word for setting in (*MODELS[model], *settings) for word in ("--set", setting)]
    output = halftone.run(options.halftone, "train", *cifar.train_settings(options.data, precision, len(batches[0]), model), *words,
                          "--set", f"dataset.order={order}", "--set", f"max_steps={options.steps}", "--set", "dataset.test_limit=64",
                          "--set", f"optimizer.lr={options.rate}", "--set", "threads=1", "--out",
                          str(folder / f"run-{random.randrange(1 << 60)}"), "--json", env=AS_ROOT)
    return [float(e["loss"]) for e in halftone.events(output) if e["event"] == "step"]


def shuffled(batches, seed):
    """The samples of each batch in another order; seed 0: as they are."""
    dice = random.Random(seed)
    return [dice.sample(batch, len(batch)) for batch in batches] if seed else batches


def halves(batches):
    half = len(batches[0]) // 2
    return [part for batch in batches for part in (batch[:half], batch[half:])]


def so_far(values):
    """The largest of the values up to each one."""
    out, largest = [], 0.0
    for value in values:
        largest = max(largest, value)
        out.append(largest)
    return out


def apart(curves):
    return so_far(max(step) - min(step) for step in zip(*curves))


def show(label, one, two):
    """Prints a row; true if two ranks are within the spread of the curves of one process."""
    spread = apart(one)
    gap = so_far(min(abs(loss - curve[i]) for curve in one) for i, loss in enumerate(two))
    from_first = so_far(abs(loss - one[0][i]) for i, loss in enumerate(two))
    at = min(10, len(two)) - 1
    print(f"| {label} | {two[0]:.3f} - {two[-1]:.3f} | {spread[at]:.1e} | {gap[at]:.1e} | {spread[-1]:.1e} | {gap[-1]:.1e} "
          f"| {from_first[-1]:.1e} |", flush=True)
    return all(a <= b for a, b in zip(gap[1:], spread[1:]))


def compare(options, folder, model, precision, chosen, way):
    parts = way == "parts"
    alone = ["accumulate=2"] if parts else []
    ranks = ["workers=2"] if parts or model != "resnet18" else ["workers=2", "sync_batch_norm=true"]
    one = [losses(options, folder, model, precision, shuffled(halves(chosen) if parts else chosen, seed), *alone)
           for seed in range(options.orders + 1)]
    return show(f"{model} | {precision} | {way}", one, losses(options, folder, model, precision, chosen, *ranks))


def add_options(parser):
    parser.add_argument("--data", default=str(cifar.default_folder()), help="folder of the CIFAR-100 pack")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--rate", type=float, default=0.01)
    parser.add_argument("--orders", type=int, default=5, help="further orders of the samples")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--precision", nargs="+", default=["fp32", "amp-fp16", "amp-bf16"])
    parser.add_argument("--against", nargs="+", default=["parts", "whole"])


def chosen_batches(options):
    return cifar.batches(len(cifar.Cifar100(options.data).labels), options.batch, options.steps, options.seed)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    halftone.add_binary_option(parser)
    add_options(parser)
    parser.add_argument("--model", nargs="+", default=list(MODELS), choices=list(MODELS))
    options = parser.parse_args()
    chosen = chosen_batches(options)
    print(f"{options.steps} steps, batch {options.batch}, rate {options.rate}, {options.orders} more orders\n\n{HEAD}")
    outside = 0
    with tempfile.TemporaryDirectory(prefix="halftone-curves-") as folder:
        for model in options.model:
            for precision in options.precision:
                for way in options.against:
                    outside += not compare(options, pathlib.Path(folder), model, precision, chosen, way)
    return 1 if outside else 0


if __name__ == "__main__":
    sys.exit(main())
