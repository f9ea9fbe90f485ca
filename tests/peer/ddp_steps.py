#!/usr/bin/env python3
"""Data-parallel steps beside PyTorch's DistributedDataParallel: two processes of gloo and two ranks of Halftone train on the
same parts of the same CIFAR-100 batches from the same weights, in fp32 or amp-bf16 (DDP under torch.autocast), and losses and
weights are compared after each run.

Both are measured from the same training in f64 (PyTorch's DDP too, where no rounding counts). Free-running training amplifies
roundings, so the bound of a step's loss is FACTOR times the largest distance that PyTorch's own run in that precision has had so far, and that of the
last weights FACTOR times its distance: an engine that sums in other orders is as far away. Batch norm is local on both sides; DDP gives rank 0's running statistics to all, which training does
not read.
"""

import argparse
import os
import pathlib
import sys
import tempfile

import safetensors.torch
import torch
from torch import distributed, multiprocessing
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

import cifar
import halftone
from peer_models import LeNet, Mlp, ResNet18

FACTOR = 4.0
RANKS = 2
# Small steps: at a larger rate a deep network magnifies roundings until every bound is met.
LEARNING_RATE = 0.002
MODELS = {
    "mlp": lambda: Mlp([3 * 32 * 32, 256, 128, 100]),
    "lenet": lambda: LeNet(channels=3, side=32, classes=100),
    "resnet18": ResNet18,
}
OPTIONS = {"mlp": ["--set", "model.options.hidden=[256,128]"]}


def part(indices, rank):
    size = len(indices) // RANKS
    return indices[rank * size:(rank + 1) * size]


def train(rank, folder, kind, dtype, low, data_folder, chosen, answers):
    """One process of DDP. Rank 0 sends the batches' losses and the weights."""
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    distributed.init_process_group("gloo", init_method=f"file://{folder}/meeting-{kind}-{dtype}-{low}", rank=rank,
                                   world_size=RANKS)
    torch.set_num_threads(1)
    data = cifar.Cifar100(data_folder)
    model = MODELS[kind]()
    model.load_state_dict(safetensors.torch.load_file(f"{folder}/{kind}.safetensors"))
    model.to(dtype).train()
    wrapped = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE, momentum=0.9, weight_decay=5e-4)
    losses = []
    for indices in chosen:
        images, labels = data.batch(part(indices, rank))
        optimizer.zero_grad()
        images = images.to(dtype)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=low):
            loss = F.cross_entropy(wrapped(images.flatten(1) if kind == "mlp" else images), labels)
        loss.backward()
        optimizer.step()
        mean = loss.detach().clone() / RANKS
        distributed.all_reduce(mean)
        losses.append(float(mean))
    if rank == 0:
        weights = {name: p.detach().double().clone() for name, p in model.named_parameters()}
        torch.save((losses, weights), answers)
    distributed.barrier()  # a rank that ends first can abort gloo's threads of the other
    distributed.destroy_process_group()


def ddp(folder, kind, dtype, options, chosen, low=False):
    answers = f"{folder}/{kind}-{dtype}-{low}.pt"
    multiprocessing.spawn(train, (folder, kind, dtype, low, options.data, chosen, answers), nprocs=RANKS)
    return torch.load(answers)


def engine(folder, kind, options, chosen):
    folder = pathlib.Path(folder)
    cifar.write_order(folder / "order.txt", chosen)
    run = folder / f"run-{kind}"
    output = halftone.run(
        options.halftone, "train", *cifar.train_settings(options.data, options.precision, len(chosen[0]), kind), *OPTIONS.get(kind, []),
        "--set", f"dataset.order={folder / 'order.txt'}", "--set", f"model.init_from={folder / kind}.safetensors",
        "--set", f"max_steps={len(chosen)}", "--set", f"optimizer.lr={LEARNING_RATE}", "--set", f"workers={RANKS}",
        "--set", "threads=1", "--set", "dataset.test_limit=64", "--out", str(run), "--json",
        env={"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
    losses = [float(e["loss"]) for e in halftone.events(output) if e["event"] == "step"]
    halftone.run(options.halftone, "export", str(run), "--to", "safetensors", "-o", str(folder / "trained.safetensors"))
    weights = safetensors.torch.load_file(folder / "trained.safetensors")
    return losses, {name: value.double() for name, value in weights.items()}


def distance(got, reference, start):
    """Distance of all weights together, relative to how far training has moved them."""
    def norm(a, b):
        return sum(float((a[name] - b[name]).square().sum()) for name in reference) ** 0.5
    return norm(got, reference) / norm(reference, start)


def compare(kind, reference, theirs, ours, start):
    """Prints a row. True if everything is within its bound."""
    worst, largest = 0.0, 2.0**-23
    for exact, their, our in zip(reference[0], theirs[0], ours[0]):
        largest = max(largest, abs(their - exact) / abs(exact))
        worst = max(worst, abs(our - exact) / abs(exact) / (FACTOR * largest))
    far, ours_far = (distance(side[1], reference[1], start) for side in (theirs, ours))
    share = ours_far / (FACTOR * far)
    print(f"| {kind} | {reference[0][0]:.3f} - {reference[0][-1]:.3f} | {worst:.2f} | {share:.2f} | {largest:.1e} "
          f"| {far:.1e} |", flush=True)
    return len(ours[0]) == len(theirs[0]) and worst <= 1 and share <= 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    halftone.add_binary_option(parser)
    parser.add_argument("--data", default=str(cifar.default_folder()), help="folder of the CIFAR-100 pack")
    parser.add_argument("--model", action="append", choices=list(MODELS))
    parser.add_argument("--precision", choices=["fp32", "amp-bf16"], default="fp32")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chosen = cifar.batches(len(cifar.Cifar100(options.data).labels), options.batch, options.steps, options.seed)
    print(f"{options.steps} steps, batch {options.batch}, {RANKS} ranks, {options.precision}\n")
    print("| model | losses | worst loss, of its bound | weights, of their bound | PyTorch's from f64: losses | weights |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    failed = 0
    with tempfile.TemporaryDirectory(prefix="halftone-ddp-") as folder:
        for kind in options.model or list(MODELS):
            torch.manual_seed(options.seed)
            start = {name: value.contiguous() for name, value in MODELS[kind]().state_dict().items()}
            safetensors.torch.save_file(start, f"{folder}/{kind}.safetensors")
            reference = ddp(folder, kind, torch.float64, options, chosen)
            theirs = ddp(folder, kind, torch.float32, options, chosen, low=options.precision == "amp-bf16")
            failed += not compare(kind, reference, theirs, engine(folder, kind, options, chosen), start)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
