#!/usr/bin/env python3
"""Trains transformer-lm on a text in amp-bf16 and with each recipe, from paired seeds, and prints the losses beside amp-bf16's.

    recipes_bench.py PROGRAM TEXT RESULTS [--seeds 3] [--steps 1000] [--only NAME ...] [--print]

The runs that RESULTS (JSON lines) has are not made again, so that the script can be stopped and started. Each run has one thread. Its
figure is the mean loss of the validation part at the end; user seconds a step are those of the process. Acceptance: |mean difference| of
FP8 and MXFP8 at most 0.010, of nvfp4 at most 0.03, and the fixed scale worse by at least 0.1.
"""

import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import tempfile

BASE = ["model.kind=transformer-lm", "model.options.layers=2", "model.options.width=128", "model.options.heads=4",
        "model.options.feed_forward=512", "model.options.dropout=0", "bptt=64", "batch_size=32", "optimizer.kind=adamw",
        "optimizer.lr=0.001", "schedule.kind=constant", "device=cpu", "threads=1", "evaluation.every_steps=0", "checkpoint.at_end=false"]
CASES = {"amp-bf16": (["precision.preset=amp-bf16"], None)}
for _name in ("fp8-current", "fp8-delayed", "fp8-rowwise", "fp8-rowwise-gw", "fp8-block", "mxfp8"):
    CASES[_name] = ([f"precision.preset={_name}"], 0.010)
CASES["nvfp4"] = (["precision.preset=nvfp4"], 0.03)
CASES["mxfp4"] = (["precision.preset=mxfp4"], None)
CASES["fixed"] = (["precision.preset=fp8-current", "quantize.gradient_format=e4m3", "teach.quantize_scale=1"], -0.1)


def run(args, name, seed):
    """The validation loss, and the user seconds of a step."""
    settings = [*BASE, "dataset.kind=text-chars", f"dataset.path={args.text}", f"max_steps={args.steps}",
                f"seed={seed}", *args.set, *CASES[name][0]]
    with tempfile.TemporaryDirectory() as scratch:
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        found = subprocess.run([args.program, "train", "--json", "--out", pathlib.Path(scratch) / "run",
                                *(word for each in settings for word in ("--set", each))],
                               check=True, capture_output=True, text=True, env={**os.environ, "XDG_DATA_HOME": scratch})
        seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    events = [json.loads(line) for line in found.stdout.splitlines()]
    epoch = [each for each in events if each["event"] == "epoch" and "test_loss" in each][-1]
    return {"case": name, "seed": seed, "steps": args.steps, "loss": epoch.get("validation_loss", epoch["test_loss"]),
            "user_s_a_step": seconds / args.steps}


def report(rows):
    plain = {each["seed"]: each for each in rows if each["case"] == "amp-bf16"}
    for name, (_, limit) in CASES.items():
        own = [each for each in rows if each["case"] == name]
        if not own:
            continue
        loss = statistics.mean(each["loss"] for each in own)
        pairs = [each["loss"] - plain[each["seed"]]["loss"] for each in own if each["seed"] in plain]
        line = f"{name:15} {len(own)} seeds  loss {loss:.4f}  pairs {' '.join(f'{each:+.4f}' for each in pairs)}"
        if pairs:
            mean = statistics.mean(pairs)
            factor = statistics.mean(each["user_s_a_step"] / plain[each["seed"]]["user_s_a_step"] for each in own if each["seed"] in plain)
            good = "" if limit is None else " ok" if (abs(mean) <= limit if limit > 0 else mean >= -limit) else " BEYOND"
            line += f"  mean {mean:+.4f}{good}  user time {factor:.2f}"
        print(line)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("text")
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--only", nargs="*", default=list(CASES))
    parser.add_argument("--set", action="append", default=[], help="a further setting, path=value")
    parser.add_argument("--print", action="store_true", help="only the table")
    args = parser.parse_args()
    lines = args.results.read_text().splitlines() if args.results.exists() else []
    rows = [each for each in map(json.loads, lines) if each["steps"] == args.steps]
    have = {(each["case"], each["seed"]) for each in rows}
    for seed in range(1, args.seeds + 1):
        for name in args.only:
            if args.print or (name, seed) in have:
                continue
            rows.append(run(args, name, seed))
            with args.results.open("a") as file:
                file.write(json.dumps(rows[-1]) + "\n")
    report(rows)


if __name__ == "__main__":
    main()
