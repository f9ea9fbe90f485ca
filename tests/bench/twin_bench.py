#!/usr/bin/env python3
"""Cost of a twin: the time of its steps and the memory of its process beside those of its second precision trained alone,
in turns (alone, twin, alone). Prints each round's ratios and their medians. The window's button states the ratio of times.

    python3 tests/bench/twin_bench.py --model lenet --rounds 15
    python3 tests/bench/twin_bench.py --model resnet18 --data ../shared/data/cifar100-15k --steps 10 --rounds 3
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time

COMMON = ["checkpoint.at_end=false", "checkpoint.best=false", "checkpoint.every_minutes=0", "epochs=100000",
          "dataset.test_limit=64"]
MODELS = {
    "mlp": ["dataset.kind=spirals", "model.kind=mlp"],
    "lenet": ["dataset.kind=glyphs", "model.kind=lenet", "dataset.train_limit=4000"],
    "resnet18": ["dataset.kind=cifar100", "model.kind=resnet18", "dataset.train_limit=2000", "batch_size=32"],
}


def block(args, home, command):
    """Seconds from the first step to the last one, and the largest resident size in MB."""
    changes = COMMON + MODELS[args.model] + [f"max_steps={args.steps + 1}"]
    if args.model == "resnet18":
        changes.append(f"dataset.path={args.data}")
    for change in changes:
        command = command + ["--set", change]
    first = last = None
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ, XDG_DATA_HOME=home)) as process:
        for line in process.stdout:
            if json.loads(line)["event"] == "step":
                last = time.monotonic()
                first = first or last
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: exit status {process.returncode}")
    return last - first, usage.ru_maxrss / 1000


def summary(values):
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--halftone", default="build/release/halftone")
    parser.add_argument("--model", default="lenet", choices=MODELS)
    parser.add_argument("--data", default="../shared/data/cifar100-15k")
    parser.add_argument("--precision", default="amp-fp16")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=15)
    args = parser.parse_args()
    alone = [args.halftone, "train", "--json", "--set", f"precision.preset={args.precision}"]
    twin = [args.halftone, "twin", "--json", "--precision", f"fp32,{args.precision}"]
    times, memory, plain = [], [], []
    with tempfile.TemporaryDirectory() as home:
        for number in range(args.rounds):
            before, own = block(args, home, alone)
            both, shared = block(args, home, twin)
            after, _ = block(args, home, alone)
            times.append(2 * both / (before + after))
            memory.append(shared / own)
            plain.append(after / before)
            print(f"round {number + 1}: time {times[-1]:.2f}, memory {memory[-1]:.2f} ({own:.0f} and {shared:.0f} MB), "
                  f"alone again {plain[-1]:.3f}", flush=True)
    print(f"{args.model}: time {summary(times)}, memory {summary(memory)}, alone to alone {summary(plain)}")


if __name__ == "__main__":
    main()
