"""Cost of a checkpoint a minute for a training: whole runs with and without, in alternating pairs.

    python3 tests/bench/checkpoint_bench.py --data FOLDER [--pairs 5] [--seconds 130]

Trains ResNet-18 on CIFAR-100 (FOLDER holds its binary files). Two short runs tell how many steps fill
`--seconds`, which should be a little over a whole number of minutes. Both runs of a pair make as many
steps; which goes first alternates. Prints the time and the processor time of each, the median of the
pairs' ratios, and how many checkpoints were written.
"""

import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "peer"))

from halftone import add_binary_option  # noqa: E402


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def train(options, steps, minutes):
    """Seconds, processor seconds and checkpoints of one run."""
    settings = {"dataset.kind": "cifar100", "dataset.path": options.data, "dataset.test_limit": 64,
                "model.kind": "resnet18", "precision.preset": options.precision,
                "batch_size": options.batch, "epochs": 1000, "max_steps": steps, "device": options.device,
                "checkpoint.every_minutes": minutes, "checkpoint.best": False, "checkpoint.at_end": False}
    with tempfile.TemporaryDirectory() as folder:
        run = pathlib.Path(folder) / "run"
        command = [options.halftone, "train", "--json", "--out", str(run)]
        for path, value in settings.items():
            command += ["--set", f"{path}={json.dumps(value) if isinstance(value, bool) else value}"]
        began, used = time.monotonic(), processor_seconds()
        done = subprocess.run(command, check=True, capture_output=True, text=True,
                              env={**os.environ, "XDG_DATA_HOME": folder})
        events = [json.loads(line) for line in done.stdout.splitlines()]
        written = sum(event["event"] == "checkpoint" for event in events)
        return time.monotonic() - began, processor_seconds() - used, written


def steps_that_fill(options):
    short, longer = train(options, 5, 0)[0], train(options, 25, 0)[0]
    return round(options.seconds * 20 / (longer - short))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_binary_option(parser)
    parser.add_argument("--data", required=True)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=130)
    parser.add_argument("--steps", type=int, default=0, help="of a run, in place of --seconds")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--precision", default="amp-fp16")
    options = parser.parse_args()
    import halftone  # DEVICE is set by the option
    options.device = halftone.DEVICE

    steps = options.steps or steps_that_fill(options)
    print(f"{steps} steps a run, {options.precision}, batch {options.batch}", flush=True)
    ratios, used_ratios = [], []
    for pair in range(options.pairs):
        order = (0, 1) if pair % 2 == 0 else (1, 0)
        runs = {minutes: train(options, steps, minutes) for minutes in order}
        (plain, plain_used, _), (kept, kept_used, written) = runs[0], runs[1]
        ratios.append(kept / plain)
        used_ratios.append(kept_used / plain_used)
        print(f"without {plain:.1f} s, {plain_used:.1f} s of processors; with {written} checkpoints "
              f"{kept:.1f} s, {kept_used:.1f} s; {ratios[-1]:.4f}, {used_ratios[-1]:.4f}", flush=True)
    print(f"median {statistics.median(ratios):.4f} ({min(ratios):.4f} to {max(ratios):.4f}), "
          f"of processors {statistics.median(used_ratios):.4f}")


if __name__ == "__main__":
    main()
