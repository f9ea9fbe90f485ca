#!/usr/bin/env python3
"""Time a step and memory of a large DLRM beside PyTorch's: batches of 2,048, 26 tables of 100,000 x 32, random ids, Adagrad
with sparse gradients, fp32, one thread. The two take turns, each in a process of its own. Time is the processor's, which other work
on the machine does not lengthen as it does the clock's: the difference of a long and a short run by that of their steps.

The engine: `halftone bench`. PyTorch: EmbeddingBag(sparse=True), one index a bag.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import torch
from torch.nn import functional as F

import halftone
from peer_models import Dlrm

NUMBERS, TABLES, ROWS, WIDTH, BATCH = 13, 26, 100_000, 32, 2048
BOTTOM, TOP = [512, 256], [512, 256]


SHORT = 5


def peer(steps):
    """PyTorch's steps in this process; prints nothing."""
    torch.set_num_threads(1)
    torch.manual_seed(1)
    model = Dlrm(NUMBERS, TABLES, ROWS, WIDTH, BOTTOM, TOP)
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.01)
    dense, ids = torch.randn(BATCH, NUMBERS), torch.randint(ROWS, (BATCH, TABLES))
    label = torch.randint(2, (BATCH, 1)).float()
    for _ in range(steps):
        optimizer.zero_grad()
        F.binary_cross_entropy_with_logits(model(dense, ids), label).backward()
        optimizer.step()


def processor_seconds(command):
    """Processor seconds of one process with its threads, and its peak memory in bytes."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    if status != 0:
        raise RuntimeError(f"{command[0]} ended with {status}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def measure(command_of, steps):
    """Processor milliseconds per step, and bytes."""
    short, _ = processor_seconds(command_of(SHORT))
    long, most = processor_seconds(command_of(SHORT + steps))
    return 1000 * (long - short) / steps, most


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    halftone.add_binary_option(parser)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peer", type=int, help="PyTorch's side alone, that many steps in this process")
    options = parser.parse_args()
    if options.peer:
        return peer(options.peer)
    settings = {"dataset": {"kind": "clicks-generated", "tables": TABLES, "table_rows": ROWS}, "batch_size": BATCH,
                "model": {"kind": "dlrm", "options": {"bottom": BOTTOM, "top": TOP, "embedding": WIDTH}},
                "optimizer": {"kind": "adagrad", "lr": 0.01}, "precision": {"preset": "fp32"}, "threads": 1, "device": "cpu"}
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder) / "config.json"
        config.write_text(json.dumps(settings))

        def ours(steps):
            return [options.halftone, "bench", str(config), "--blocks", "1", "--steps", str(steps), "--json"]

        def theirs(steps):
            return [sys.executable, __file__, "--peer", str(steps)]

        print("| round | ours, ms a step | PyTorch's | ours, memory in MB | PyTorch's |")
        print("| ---: | ---: | ---: | ---: | ---: |")
        ratios = []
        for number in range(options.rounds):
            mine, peers = measure(ours, options.steps), measure(theirs, options.steps)
            ratios.append(mine[0] / peers[0])
            print(f"| {number + 1} | {mine[0]:.1f} | {peers[0]:.1f} | {mine[1] / 1e6:.0f} | {peers[1] / 1e6:.0f} |", flush=True)
    print(f"ours / PyTorch's: {statistics.median(ratios):.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
