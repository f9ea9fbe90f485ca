#!/usr/bin/env python3
"""Cost of arming (instruments.armed: the state before each step is kept and checked): the time of training steps with
it beside the same steps without, in turns (plain, armed, plain). Prints each round's ratio of armed to plain and of plain
to plain. Runs whose steps are skipped would measure the examinations too, so the loss scale is static.

    python3 tests/bench/armed_bench.py --model resnet18 --data ../shared/data/cifar100-15k --rounds 15
    python3 tests/bench/armed_bench.py --model mlp --rounds 15
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile

COMMON = ["checkpoint.at_end=false", "checkpoint.best=false", "checkpoint.every_minutes=0", "batch_size=32",
          "precision.scaler=static", "scaler.init_scale=1024"]


def settings(args):
    """Settings of the run, and how many of its last steps are timed."""
    if args.model == "mlp":
        own = ["dataset.kind=spirals", "model.kind=mlp", "precision.preset=amp-fp16", "max_steps=20000", "epochs=100000"]
        return COMMON + own, 19000
    own = ["dataset.kind=cifar100", f"dataset.path={args.data}", "dataset.train_limit=2000", "dataset.test_limit=64",
           f"model.kind={args.model}", f"precision.preset={args.precision}", "max_steps=21"]
    return COMMON + own, 20


def step_time(args, armed, home):
    """Sum of step_ms over the timed steps. Stops with an error if a step was examined."""
    own, steps = settings(args)
    command = [args.halftone, "train", "--json"]
    for change in own + [f"instruments.armed={'true' if armed else 'false'}"]:
        command += ["--set", change]
    out = subprocess.run(command, capture_output=True, text=True, check=True, env=dict(os.environ, XDG_DATA_HOME=home))
    events = [json.loads(line) for line in out.stdout.splitlines()]
    if any(event["event"] == "examined" for event in events):
        raise SystemExit("a step was not finite, so its examination would be measured")
    times = [event["step_ms"] for event in events if event["event"] == "step"]
    return sum(times[-steps:])


def summary(values):
    return f"{statistics.median(values):.4f} ({min(values):.4f} to {max(values):.4f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--halftone", default="build/release/halftone")
    parser.add_argument("--model", default="resnet18")
    parser.add_argument("--precision", default="amp-fp16", help="of a model other than the MLP")
    parser.add_argument("--data", default="../shared/data/cifar100-15k")
    parser.add_argument("--rounds", type=int, default=15)
    args = parser.parse_args()
    armed, plain = [], []
    with tempfile.TemporaryDirectory() as home:
        for number in range(args.rounds):
            before = step_time(args, False, home)
            watched = step_time(args, True, home)
            after = step_time(args, False, home)
            armed.append(2 * watched / (before + after))
            plain.append(after / before)
            print(f"round {number + 1}: {armed[-1]:.4f}, plain again {plain[-1]:.4f}", flush=True)
    print(f"{args.model}: armed to plain {summary(armed)}, plain to plain {summary(plain)}")


if __name__ == "__main__":
    main()
