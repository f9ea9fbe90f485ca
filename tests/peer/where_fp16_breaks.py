#!/usr/bin/env python3
"""Where FP16 breaks: Fashion-MNIST, LeNet, constant learning rate 0.0005, no weight decay, 2 epochs, in pure FP16 without
scaling against FP32. Both gradients are fine; the weights stand still, because an update smaller than half the spacing of
FP16 numbers at a weight leaves it as it was. (PyTorch: 0.24 against 0.64.) The runs start from PyTorch's weights of the
seed: where weights stand still, the accuracy is much that of where they began.

The reason is shown beside the accuracies: for a fresh network, the share of its weights that the first step's gradient
could not move if they were FP16."""

import argparse
import pathlib
import sys
import tempfile

import safetensors.torch
import torch

import halftone
from peer_models import LeNet

LR, MOMENTUM = 0.0005, 0.9


def settings(options, precision, folder):
    fields = {"dataset.kind": "fashion-mnist", "dataset.path": options.data, "precision.preset": precision,
              "precision.scaler": "off", "schedule.kind": "constant", "optimizer.lr": LR, "optimizer.weight_decay": 0,
              "epochs": 2, "seed": options.seed, "model.init_from": folder / "weights.safetensors"}
    return [word for field, value in fields.items() for word in ("--set", f"{field}={value}")]


def train(options, precision, folder):
    output = halftone.run(options.halftone, "train", *settings(options, precision, folder), "--out",
                          str(folder / precision), "--json")
    return float(halftone.events(output)[-1]["test_accuracy"])


def lost_updates(options, folder, weights):
    """[(tensor, share of its weights whose update of the first step is below half a unit of the FP16 weight)]."""
    dump = folder / "gradients.safetensors"
    halftone.run(options.halftone, "train", *settings(options, "fp32", folder), "--set", "max_steps=1",
                 "--dump-gradients", str(dump), "--out", str(folder / "one"), "--json")
    gradients = safetensors.torch.load_file(dump)
    rows = []
    for name, weight in weights.items():
        # With momentum m a steady gradient moves a weight by lr g / (1 - m) a step.
        update = LR * gradients[f"grad.{name}"].double().abs() / (1 - MOMENTUM)
        half_unit = torch.exp2(torch.floor(torch.log2(weight.double().abs().clamp_min(2.0**-14))) - 11)
        rows.append((name, float((update < half_unit).double().mean())))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    halftone.add_binary_option(parser)
    parser.add_argument("--data", default=str(pathlib.Path(__file__).resolve().parents[3] / "shared/data/fashion-mnist"))
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        torch.manual_seed(options.seed)
        weights = {name: p.detach() for name, p in LeNet().named_parameters()}
        safetensors.torch.save_file(weights, folder / "weights.safetensors")
        single, half = train(options, "fp32", folder), train(options, "pure-fp16", folder)
        print("| precision | test accuracy |\n| --- | ---: |")
        print(f"| fp32 | {single:.4f} |\n| pure-fp16, no scaling | {half:.4f} |")
        for tensor, share in lost_updates(options, folder, weights):
            print(f"{tensor}: {100 * share:.1f} % of its updates are below half a unit of the FP16 weight")
    return 0 if half < single - 0.2 else 1


if __name__ == "__main__":
    sys.exit(main())
