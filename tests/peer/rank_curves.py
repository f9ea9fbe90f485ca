#!/usr/bin/env python3
"""Loss curves of ResNet-18 on two ranks beside those of one process, in fp32 and amp-bf16.

Another order of a sum's terms rounds elsewhere, and training amplifies that. How far it does is measured: one process trains
several times more on the same batches with the samples of each part in another order, which changes nothing but the order of the
sums. The spread at a step is the largest difference of two of these curves up to that step. Two ranks must be within it of some
curve of one process: with local batch norm one process accumulates the ranks' parts, with synchronised batch norm it takes the
whole batch at once.
"""

import argparse
import pathlib
import random
import sys
import tempfile

import cifar
import halftone

AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def losses(options, folder, precision, batches, steps, *settings):
    order = folder / "order.txt"
    cifar.write_order(order, batches)
    words = [word for setting in settings for word in ("--set", setting)]
    output = halftone.run(options.halftone, "train", *cifar.train_settings(options.data, precision, len(batches[0])), *words,
                          "--set", f"dataset.order={order}", "--set", f"max_steps={steps}", "--set", "dataset.test_limit=64",
                          "--set", f"optimizer.lr={options.rate}", "--set", "threads=1", "--out",
                          str(folder / f"run-{random.randrange(1 << 60)}"), "--json", env=AS_ROOT)
    return [float(e["loss"]) for e in halftone.events(output) if e["event"] == "step"]


def shuffled(batches, seed):
    dice = random.Random(seed)
    return [dice.sample(batch, len(batch)) for batch in batches]


def so_far(values):
    """The largest of the values up to each one."""
    out, largest = [], 0.0
    for value in values:
        largest = max(largest, value)
        out.append(largest)
    return out


def apart(curves):
    return so_far(max(step) - min(step) for step in zip(*curves))


def compare(options, folder, precision, chosen, norm):
    """Prints a row; true if two ranks are within the spread."""
    if norm == "local":
        half = len(chosen[0]) // 2
        parts = [part for batch in chosen for part in (batch[:half], batch[half:])]
        alone, ranks = ["accumulate=2"], ["workers=2"]
    else:
        parts = chosen
        alone, ranks = [], ["workers=2", "sync_batch_norm=true"]
    one = [losses(options, folder, precision, shuffled(parts, seed) if seed else parts, len(chosen), *alone)
           for seed in range(options.orders + 1)]
    two = losses(options, folder, precision, chosen, len(chosen), *ranks)
    spread = apart(one)
    gap = so_far(min(abs(loss - curve[i]) for curve in one) for i, loss in enumerate(two))
    from_first = so_far(abs(loss - one[0][i]) for i, loss in enumerate(two))
    inside = all(a <= b for a, b in zip(gap[1:], spread[1:]))
    print(f"| {precision} | {norm} | {two[0]:.3f} - {two[-1]:.3f} | {spread[9]:.1e} | {from_first[9]:.1e} | {spread[-1]:.1e} "
          f"| {from_first[-1]:.1e} | {gap[-1]:.1e} |", flush=True)
    return inside


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    halftone.add_binary_option(parser)
    parser.add_argument("--data", default=str(cifar.default_folder()), help="folder of the CIFAR-100 pack")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--rate", type=float, default=0.01)
    parser.add_argument("--orders", type=int, default=5, help="further orders of the samples")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--precision", nargs="+", default=["fp32", "amp-bf16"])
    parser.add_argument("--norm", nargs="+", default=["local", "synchronised"])
    options = parser.parse_args()
    chosen = cifar.batches(len(cifar.Cifar100(options.data).labels), options.batch, options.steps, options.seed)
    print(f"{options.steps} steps of ResNet-18, batch {options.batch}, rate {options.rate}, {options.orders} more orders\n")
    print("| precision | batch norm | losses | spread, 10 steps | two ranks from the first curve | spread, all steps "
          "| two ranks from the first curve | from the nearest |")
    print("| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |")
    outside = 0
    with tempfile.TemporaryDirectory(prefix="halftone-curves-") as folder:
        for precision in options.precision:
            for norm in options.norm:
                outside += not compare(options, pathlib.Path(folder), precision, chosen, norm)
    return 1 if outside else 0


if __name__ == "__main__":
    sys.exit(main())
