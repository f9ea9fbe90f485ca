#!/usr/bin/env python3
"""Speed of data-parallel steps on one machine, in turns: two ranks of one thread, one process of two threads, and PyTorch's
DistributedDataParallel with gloo, two processes of one thread. Random data, the same whole batch for all."""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import torch
from torch import distributed, multiprocessing
from torch.nn.parallel import DistributedDataParallel

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"
sys.path.insert(0, str(ROOT / "tests" / "peer"))
import convnets

RANKS = 2
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def engine(options, workers, threads):
    """The answer of `halftone bench`: block times and the exchange."""
    settings = [f"model.kind={options.model}", "model.options.stem=cifar", "dataset.kind=cifar100",
                f"dataset.path={DATA / 'cifar100-15k'}", f"batch_size={options.batch}", "device=cpu",
                f"precision.preset={options.precision}", f"workers={workers}", f"threads={threads}"]
    words = [word for setting in settings for word in ("--set", setting)]
    result = subprocess.run([options.halftone, "bench", "--json", "--steps", str(options.steps), "--blocks", "1",
                             "--warm-up", "2", *words], capture_output=True, text=True, check=False,
                            env={**os.environ, **AS_ROOT})
    if result.returncode != 0:
        raise RuntimeError(result.stderr)
    return json.loads(result.stdout)


def ddp_process(rank, options, folder, answer):
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    distributed.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=RANKS)
    torch.set_num_threads(1)
    torch.manual_seed(1)
    network = convnets.module(options.model, 100, "cifar").to(memory_format=torch.channels_last)
    images = torch.randn(options.batch // RANKS, 3, 32, 32).contiguous(memory_format=torch.channels_last)
    labels = torch.randint(0, 100, (options.batch // RANKS,))
    wrapped = DistributedDataParallel(network)
    optimizer = torch.optim.SGD(wrapped.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4, fused=True)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=options.precision == "amp-bf16"):
            loss = torch.nn.functional.cross_entropy(wrapped(images), labels)
        loss.backward()
        optimizer.step()

    for _ in range(2):
        step()
    distributed.barrier()
    started = time.perf_counter()
    for _ in range(options.steps):
        step()
    distributed.barrier()
    if rank == 0:
        pathlib.Path(answer).write_text(str((time.perf_counter() - started) / options.steps * 1000), encoding="ascii")
    distributed.destroy_process_group()


def ddp(options):
    with tempfile.TemporaryDirectory(prefix="halftone-ddp-") as folder:
        multiprocessing.spawn(ddp_process, (options, folder, f"{folder}/answer"), nprocs=RANKS)
        return float(pathlib.Path(f"{folder}/answer").read_text(encoding="ascii"))


def show(name, times):
    print(f"| {name} | {statistics.median(times):.0f} | {min(times):.0f} to {max(times):.0f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--halftone", required=True)
    parser.add_argument("--model", default="resnet18", choices=convnets.KINDS)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--precision", default="fp32", choices=["fp32", "amp-bf16"])
    parser.add_argument("--steps", type=int, default=5, help="steps of a block")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--no-peer", action="store_true")
    options = parser.parse_args()
    ranks, alone, peer, exchange, hidden = [], [], [], [], []
    for _ in range(options.rounds):
        answer = engine(options, RANKS, 1)
        ranks.append(answer["median_step_ms"])
        exchange.append(answer["exchange_ms"])
        hidden.append(answer["exchange_hidden_share"])
        alone.append(engine(options, 1, RANKS)["median_step_ms"])
        if not options.no_peer:
            peer.append(ddp(options))
    print(f"{options.model}, {options.precision}, batch {options.batch}: milliseconds a step\n")
    print("| | median | least to most |\n| --- | ---: | ---: |")
    show(f"Halftone, {RANKS} ranks of 1 thread", ranks)
    show(f"Halftone, 1 process of {RANKS} threads", alone)
    if peer:
        show(f"PyTorch {torch.__version__} DDP, {RANKS} processes of 1 thread", peer)
    print(f"\nexchange {statistics.median(exchange):.0f} ms, {statistics.median(hidden):.0%} of it during the backward pass")
    print(f"ranks against threads: {statistics.median(b / a for a, b in zip(ranks, alone)):.2f}")
    if peer:
        print(f"against DDP: {statistics.median(b / a for a, b in zip(ranks, peer)):.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
