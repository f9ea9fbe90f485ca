#!/usr/bin/env python3
"""Cost of the histograms of the microscope: the time of training steps with instruments.histograms_every=10, or as
--every says, beside the same steps without, in turns (plain, sampled, plain). Prints each round's ratio of sampled to plain
and of plain to plain.

    python3 tests/bench/histogram_bench.py --model resnet18 --data ../shared/data/cifar100-15k --rounds 15
    python3 tests/bench/histogram_bench.py --model mlp --rounds 15

Runs that are set up in the window have --every auto: a sample every 50 steps, at most four a second. A block of steps must
be longer than that to hold samples:

    python3 tests/bench/histogram_bench.py --model mlp --every auto --rounds 30
    python3 tests/bench/histogram_bench.py --model resnet18 --every auto --steps 100 --rounds 5

With --before PROGRAM, a build of the commit before the instruments, what they cost while their pages are closed: the same
plain steps by that program, this one, and that one again.
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile

COMMON = ["checkpoint.at_end=false", "checkpoint.best=false", "checkpoint.every_minutes=0", "batch_size=32"]


def settings(args):
    """Settings of the run, and how many of its last steps are timed."""
    if args.model == "mlp":
        own = ["dataset.kind=spirals", "model.kind=mlp", "precision.preset=amp-fp16", "epochs=100000"]
        steps = args.steps or 19000
        return COMMON + own + [f"max_steps={steps + 1000}"], steps
    own = ["dataset.kind=cifar100", f"dataset.path={args.data}", "dataset.train_limit=2000", "dataset.test_limit=64",
           f"model.kind={args.model}", "precision.preset=amp-bf16", "epochs=100"]
    steps = args.steps or 20
    return COMMON + own + [f"max_steps={steps + 1}"], steps


def step_time(args, extra, home, program=None):
    """Sum of step_ms over the timed steps."""
    own, steps = settings(args)
    command = [program or args.halftone, "train", "--json"]
    for change in own + extra:
        command += ["--set", change]
    out = subprocess.run(command, capture_output=True, text=True, check=True, env=dict(os.environ, XDG_DATA_HOME=home))
    events = (json.loads(line) for line in out.stdout.splitlines())
    times = [event["step_ms"] for event in events if event["event"] == "step"]
    return sum(times[-steps:])


def summary(values):
    return f"{statistics.median(values):.4f} ({min(values):.4f} to {max(values):.4f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--halftone", default="build/release/halftone")
    parser.add_argument("--before", help="a program without the instruments")
    parser.add_argument("--model", default="resnet18")
    parser.add_argument("--data", default="../shared/data/cifar100-15k")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--every", default="10", help="instruments.histograms_every")
    parser.add_argument("--steps", type=int, help="timed steps of a block")
    args = parser.parse_args()
    sampling = [] if args.before else [f"instruments.histograms_every={args.every}"]
    what = "closed pages" if args.before else "sampled"
    compared, plain = [], []
    with tempfile.TemporaryDirectory() as home:
        for number in range(args.rounds):
            before = step_time(args, [], home, args.before)
            between = step_time(args, sampling, home)
            after = step_time(args, [], home, args.before)
            compared.append(2 * between / (before + after))
            plain.append(after / before)
            print(f"round {number + 1}: {compared[-1]:.4f}, plain again {plain[-1]:.4f}", flush=True)
    print(f"{args.model}: {what} to plain {summary(compared)}, plain to plain {summary(plain)}")


if __name__ == "__main__":
    main()
