#!/usr/bin/env python3
"""Sixty free-running steps of ResNet-18 on CIFAR-100 from the same weights and batches: Halftone, and PyTorch with one and
with two threads. Training amplifies the order of a sum, so the measure of our distance from PyTorch is PyTorch's distance
from itself."""

import argparse
import pathlib
import sys
import tempfile

import safetensors.torch
import torch
from torch.nn import functional as F

import cifar
import halftone
from peer_models import ResNet18


def pytorch_losses(state, data, chosen, precision, threads):
    torch.set_num_threads(threads)
    model = ResNet18()
    model.load_state_dict(state)
    model.train()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4)
    losses = []
    for indices in chosen:
        images, labels = data.batch(indices)
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=precision == "amp-bf16"):
            loss = F.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    return losses


def engine_losses(options, state, chosen, precision):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        safetensors.torch.save_file({k: v.contiguous() for k, v in state.items()}, folder / "weights.safetensors")
        cifar.write_order(folder / "order.txt", chosen)
        output = halftone.run(options.halftone, "train",
                              *cifar.train_settings(options.data, precision, len(chosen[0])),
                              "--set", f"dataset.order={folder / 'order.txt'}",
                              "--set", f"model.init_from={folder / 'weights.safetensors'}",
                              "--set", f"max_steps={len(chosen)}", "--set", "optimizer.lr=0.05",
                              "--set", "dataset.test_limit=64", "--out", str(folder / "run"), "--json")
    return [float(e["loss"]) for e in halftone.events(output) if e["event"] == "step"]


def show(precision, ours, one, two):
    print(f"\n{precision}\n| step | PyTorch, 1 thread | PyTorch, 2 threads apart by | Halftone apart by |")
    print("| ---: | ---: | ---: | ---: |")
    for k in sorted({0, 1, 2, 3, 4, 7, 9, 14, *range(19, len(one), 10)}):
        if k < len(one):
            print(f"| {k + 1} | {one[k]:.5f} | {abs(one[k] - two[k]):.1e} | {abs(one[k] - ours[k]):.1e} |")
    spread = sum(abs(a - b) for a, b in zip(one, two)) / len(one)
    apart = sum(abs(a - b) for a, b in zip(one, ours)) / len(one)
    print(f"mean distance over {len(one)} steps: PyTorch from itself {spread:.2e}, Halftone from PyTorch {apart:.2e}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    halftone.add_binary_option(parser)
    parser.add_argument("--data", default=str(cifar.default_folder()), help="folder of the CIFAR-100 pack")
    parser.add_argument("--precision", action="append", choices=["fp32", "amp-bf16"])
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    data = cifar.Cifar100(options.data)
    torch.manual_seed(options.seed)
    state = {k: v.clone() for k, v in ResNet18().state_dict().items()}
    chosen = cifar.batches(len(data.labels), options.batch, options.steps, options.seed)
    short = 0
    for precision in options.precision or ["fp32"]:
        one, two = (pytorch_losses(state, data, chosen, precision, threads) for threads in (1, 2))
        ours = engine_losses(options, state, chosen, precision)
        short += len(ours) != len(one)
        if len(ours) == len(one):
            show(precision, ours, one, two)
        else:
            print(f"{precision}: {len(ours)} step events for {len(one)} steps")
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
