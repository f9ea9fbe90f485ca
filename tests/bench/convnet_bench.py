#!/usr/bin/env python3
"""The convolutional networks on one CPU core: processor time of a training step in fp32, amp-bf16 and amp-fp16 and the peak of
memory, beside PyTorch eager (channels_last, fused SGD) in fp32 and bf16 autocast.

Processor time in place of time on the clock, since it hardly depends on what else the machine does. Ours is the difference between
`halftone bench` with MORE steps and with one, so that the start is not in it. All configurations of a network take turns; the
figure is the median over the rounds. Pictures of 32 x 32 with the CIFAR stem, random data in memory. Writes Markdown."""

import argparse
import json
import pathlib
import resource
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
KINDS = ("resnet18", "resnet34", "resnet50", "resnet101", "resnet152", "resnext50", "resnext101", "mobilenetv2")
OURS = ("fp32", "amp-bf16", "amp-fp16")
MORE = 3


def children_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def our_run(options, kind, precision, steps):
    """(processor seconds of the whole run, peak bytes)"""
    settings = {"dataset.kind": "cifar100", "dataset.path": options.data, "model.kind": kind, "model.options.stem": "cifar",
                "precision.preset": precision, "batch_size": options.batch, "device": "cpu", "threads": 1}
    before = children_seconds()
    output = subprocess.run([options.halftone, "bench", "--blocks", "1", "--warm-up", "1", "--steps", str(steps), "--json",
                             *(word for f, v in settings.items() for word in ("--set", f"{f}={v}"))],
                            capture_output=True, text=True, check=True).stdout
    return children_seconds() - before, json.loads(output.splitlines()[-1])["peak_bytes"]


def our_step(options, kind, precision):
    one, _ = our_run(options, kind, precision, 1)
    more, peak = our_run(options, kind, precision, 1 + MORE)
    return (more - one) / MORE, peak


def worker(kind, precision, batch):
    """Prints the processor seconds of one of PyTorch's steps."""
    import torch
    from torch.nn import functional as F
    sys.path.insert(0, str(ROOT / "tests" / "peer"))
    import convnets

    torch.set_num_threads(1)
    torch.manual_seed(1)
    model = convnets.module(kind, 100, "cifar").to(memory_format=torch.channels_last)
    x = torch.randn(int(batch), 3, 32, 32).contiguous(memory_format=torch.channels_last)
    y = torch.randint(0, 100, (int(batch),))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4, fused=True)
    for i in range(1 + MORE):
        if i == 1:
            started = time.process_time()
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=precision == "amp-bf16"):
            loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    print((time.process_time() - started) / MORE)


def peer_step(kind, precision, batch):
    return float(subprocess.run([sys.executable, __file__, "--worker", kind, precision, str(batch)], capture_output=True,
                                text=True, check=True).stdout)


def measure(options, kind):
    """A row of the table."""
    ours, peers, peaks = {p: [] for p in OURS}, {p: [] for p in OURS[:2]}, {}
    for _ in range(options.rounds):
        for precision in OURS:
            seconds, peaks[precision] = our_step(options, kind, precision)
            ours[precision].append(seconds)
            if precision in peers:
                peers[precision].append(peer_step(kind, precision, options.batch))
    step = {p: statistics.median(times) for p, times in ours.items()}
    peer = {p: statistics.median(times) for p, times in peers.items()}
    cells = [f"{step[p]:.2f}" for p in OURS] + [f"{step['fp32'] / step[p]:.2f}" for p in OURS[1:]]
    cells += [f"{peaks[p] / 1e6:.0f}" for p in OURS] + [f"{peer[p] / step[p]:.2f}" for p in peer]
    return f"| {kind} | " + " | ".join(cells) + " |"


def main():
    if "--worker" in sys.argv:
        worker(*sys.argv[sys.argv.index("--worker") + 1:])
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--halftone", default=str(ROOT / "build" / "release" / "halftone"))
    parser.add_argument("--data", default=str(ROOT.parent / "shared" / "data" / "cifar100-15k"))
    parser.add_argument("--model", action="append", choices=KINDS)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print("| model | s, fp32 | s, bf16 | s, fp16 | fp32 / bf16 | fp32 / fp16 | MB, fp32 | MB, bf16 | MB, fp16 | PyTorch's time to ours, "
          "fp32 | bf16 |\n| --- " + "| ---: " * 10 + "|", flush=True)
    for kind in options.model or KINDS:
        print(measure(options, kind), flush=True)


if __name__ == "__main__":
    main()
