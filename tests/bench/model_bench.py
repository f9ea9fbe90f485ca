#!/usr/bin/env python3
"""The models of the catalog on one CPU core: processor time of a training step in fp32, amp-bf16 and amp-fp16 and the peak of
memory, beside PyTorch eager (channels_last for pictures, fused optimizers) in fp32 and bf16 autocast.

Processor time in place of time on the clock, since it hardly depends on what else the machine does. Ours is the difference of a
long and a short run of `halftone bench` by that of their steps, so that the start is not in it; PyTorch's the process's own
clock over the same steps. All configurations of a model take
turns; the figure is the median over the rounds. Random data in memory. Writes Markdown."""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

from workloads import WORKLOADS, pictures

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"
CONVNETS = ("resnet18", "resnet34", "resnet50", "resnet101", "resnet152", "resnext50", "resnext101", "mobilenetv2")
OURS = ("fp32", "amp-bf16", "amp-fp16")
WORDS, WINDOW, DROPOUT, RATE = 2000, 128, 0.1, 1e-3
TRANSFORMERS = {"transformer-lm": {"layers": 4, "width": 256, "heads": 4}, "bert": {"layers": 4, "width": 256, "heads": 4}}
CLICKS = {"numbers": 13, "tables": 26, "rows": 100_000, "width": 32, "bottom": [512, 256], "top": [512, 256]}

# model: batch, steps of the short run, additional steps of the long run
SIZES = {kind: (8, 1, 3) for kind in CONVNETS}
SIZES |= {"transformer-lm": (8, 1, 6), "bert": (8, 1, 6), "dlrm": (2048, 5, 20), "autoencoder": (64, 5, 40), "dcgan": (32, 1, 4)}


def settings_of(kind):
    """The settings that differ between the models."""
    if kind in CONVNETS:
        return {"dataset.kind": "cifar100", "dataset.path": DATA / "cifar100-15k", "model.options.stem": "cifar"}
    if kind in TRANSFORMERS:
        options = {f"model.options.{name}": size for name, size in {**TRANSFORMERS[kind], "dropout": DROPOUT}.items()}
        return {"dataset.kind": "text-words", "dataset.path": DATA / "wikitext-2", "dataset.max_words": WORDS, "bptt": WINDOW,
                "optimizer.kind": "adamw", "optimizer.lr": RATE, **options}
    if kind == "dlrm":
        return {"dataset.kind": "clicks-generated", "dataset.tables": CLICKS["tables"], "dataset.table_rows": CLICKS["rows"],
                "model.options.bottom": CLICKS["bottom"], "model.options.top": CLICKS["top"],
                "model.options.embedding": CLICKS["width"], "optimizer.kind": "adagrad"}
    return {"dataset.kind": "cifar100", "dataset.path": DATA / "cifar100-15k", "optimizer.kind": "adam", "optimizer.lr": RATE}


def processor_seconds(command):
    """Processor seconds of one process with its threads, and its standard output."""
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    if status != 0:
        raise RuntimeError(f"{command[:3]} ended with {status}")
    return usage.ru_utime + usage.ru_stime, output


def our_step(options, kind, precision):
    """(processor seconds of a step, peak bytes)"""
    settings = {"model.kind": kind, **settings_of(kind), "precision.preset": precision, "batch_size": batch_of(options, kind),
                "device": "cpu", "threads": 1}

    def command(steps):
        return [options.halftone, "bench", "--blocks", "1", "--warm-up", "1", "--steps", steps, "--json",
                *(word for f, v in settings.items() for word in ("--set", f"{f}={v}"))]

    _, short, more = SIZES[kind]
    first, _ = processor_seconds(command(short))
    both, output = processor_seconds(command(short + more))
    return (both - first) / more, json.loads(output.splitlines()[-1])["peak_bytes"]


def batch_of(options, kind):
    return options.batch or SIZES[kind][0]


def convnet_step(kind, batch):
    return pictures(32, 100)(kind, "cifar")(batch)


def drawing_step(kind, batch):
    return WORKLOADS[kind].phases(batch)


def transformer_step(kind, batch):
    import torch
    from torch.nn import functional as F
    import transformer_reference as reference
    sizes = TRANSFORMERS[kind]
    make = reference.gpt2_module if kind == "transformer-lm" else reference.bert_module
    model = make(WORDS + 1, sizes["width"], sizes["layers"], sizes["heads"], WINDOW).train()
    for part in model.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = DROPOUT
    x, y = (torch.randint(WORDS, (batch, WINDOW)) for _ in range(2))
    rows = torch.stack([torch.randperm(WINDOW)[:reference.masked_count(WINDOW)].sort()[0] + i * WINDOW
                        for i in range(batch)]).flatten()
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, fused=True)

    def loss():
        if kind == "transformer-lm":
            return F.cross_entropy(model(x).logits.flatten(0, 1).float(), y.flatten())
        return F.cross_entropy(model.cls(model.bert(x)[0].flatten(0, 1)[rows]).float(), y.flatten()[rows])

    return [(optimizer, loss)]


def click_step(_kind, batch):
    import torch
    from torch.nn import functional as F
    from peer_models import Dlrm
    model = Dlrm(CLICKS["numbers"], CLICKS["tables"], CLICKS["rows"], CLICKS["width"], CLICKS["bottom"], CLICKS["top"])
    dense, ids = torch.randn(batch, CLICKS["numbers"]), torch.randint(CLICKS["rows"], (batch, CLICKS["tables"]))
    label = torch.randint(2, (batch, 1)).float()
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.01)
    return [(optimizer, lambda: F.binary_cross_entropy_with_logits(model(dense, ids).float(), label))]


PEERS = {**dict.fromkeys(CONVNETS, convnet_step), **dict.fromkeys(TRANSFORMERS, transformer_step), "dlrm": click_step,
         "autoencoder": drawing_step, "dcgan": drawing_step}


def worker(kind, precision, batch):
    """Prints the processor seconds of one of PyTorch's steps."""
    import torch
    sys.path.insert(0, str(ROOT / "tests" / "peer"))
    torch.set_num_threads(1)
    torch.manual_seed(1)
    phases, (_, short, more) = PEERS[kind](kind, int(batch)), SIZES[kind]
    for k in range(1 + short + more):  # as many as our long run, with its warm-up
        if k == 1 + short:
            started = time.process_time()
        for optimizer, loss_of in phases:
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=precision == "amp-bf16"):
                loss = loss_of()
            loss.backward()
            optimizer.step()
    print((time.process_time() - started) / more)


def peer_step(options, kind, precision):
    command = [sys.executable, __file__, "--worker", kind, precision, batch_of(options, kind)]
    return float(processor_seconds(command)[1])


def measure(options, kind):
    """A row of the table."""
    ours, peers, peaks = {p: [] for p in OURS}, {p: [] for p in OURS[:2]}, {}
    for _ in range(options.rounds):
        for precision in OURS:
            seconds, peaks[precision] = our_step(options, kind, precision)
            ours[precision].append(seconds)
            if precision in peers:
                peers[precision].append(peer_step(options, kind, precision))
    step = {p: statistics.median(times) for p, times in ours.items()}
    peer = {p: statistics.median(times) for p, times in peers.items()}
    cells = [f"{1000 * step[p]:.0f}" for p in OURS] + [f"{step['fp32'] / step[p]:.2f}" for p in OURS[1:]]
    cells += [f"{peaks[p] / 1e6:.0f}" for p in OURS] + [f"{peer[p] / step[p]:.2f}" for p in peer]
    return f"| {kind} | {batch_of(options, kind)} | " + " | ".join(cells) + " |"


def main():
    if "--worker" in sys.argv:
        worker(*sys.argv[sys.argv.index("--worker") + 1:])
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--halftone", default=str(ROOT / "build" / "release" / "halftone"))
    parser.add_argument("--model", action="append", choices=list(SIZES))
    parser.add_argument("--batch", type=int, help="default: by model")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print("| model | batch | ms, fp32 | ms, bf16 | ms, fp16 | fp32 / bf16 | fp32 / fp16 | MB, fp32 | MB, bf16 | MB, fp16 | PyTorch's "
          "time to ours, fp32 | bf16 |\n| --- " + "| ---: " * 11 + "|", flush=True)
    for kind in options.model or SIZES:
        print(measure(options, kind), flush=True)


if __name__ == "__main__":
    main()
