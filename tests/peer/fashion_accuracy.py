#!/usr/bin/env python3
"""Fashion-MNIST, LeNet, 3 epochs, default settings, seeds 1 to 5 in three precisions: every run must reach a test accuracy
of 0.87, and the means must lie within half a point of one another. (PyTorch: 10 runs of 10 between 0.880 and 0.886.)"""

import argparse
import pathlib
import statistics
import sys
import tempfile

import halftone

LEAST, APART = 0.87, 0.005


def accuracy(options, precision, seed):
    with tempfile.TemporaryDirectory() as folder:
        output = halftone.run(options.halftone, "train", "--set", "dataset.kind=fashion-mnist",
                              "--set", f"dataset.path={options.data}", "--set", "epochs=3",
                              "--set", f"dataset.train_limit={options.train_limit}",
                              "--set", f"precision.preset={precision}", "--set", f"seed={seed}",
                              "--out", str(pathlib.Path(folder) / "run"), "--json")
    done = halftone.events(output)[-1]
    return float(done["test_accuracy"]), done["skipped"], done["wall_s"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    halftone.add_binary_option(parser)
    parser.add_argument("--data", default=str(pathlib.Path(__file__).resolve().parents[3] / "shared/data/fashion-mnist"))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--train-limit", type=int, default=0, help="samples to train on (default 0: all); for rehearsals")
    options = parser.parse_args()
    print("| precision | " + " | ".join(f"seed {s}" for s in range(1, options.seeds + 1))
          + " | mean | skipped | seconds a run |")
    print("| --- |" + " ---: |" * (options.seeds + 3))
    means, lowest = [], 1.0
    for precision in ("fp32", "amp-fp16", "amp-bf16"):
        runs = [accuracy(options, precision, seed) for seed in range(1, options.seeds + 1)]
        values = [run[0] for run in runs]
        means.append(statistics.mean(values))
        lowest = min(lowest, *values)
        print(f"| {precision} | " + " | ".join(f"{v:.4f}" for v in values)
              + f" | {means[-1]:.4f} | {sum(run[1] for run in runs)} | {statistics.mean(run[2] for run in runs):.1f} |",
              flush=True)
    apart = max(means) - min(means)
    print(f"lowest run {lowest:.4f} (at least {LEAST}), means {apart:.4f} apart (at most {APART})")
    return 0 if lowest >= LEAST and apart <= APART else 1


if __name__ == "__main__":
    sys.exit(main())
