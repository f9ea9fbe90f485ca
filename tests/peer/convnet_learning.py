#!/usr/bin/env python3
"""ResNet-18 learns CIFAR-100 as torchvision's does: 5,000 pictures of the pack, five epochs, the same settings, three seeds each,
here and in PyTorch, and here in FP32 and mixed precision. Loss and accuracy of the test part after the last epoch; means may be
apart by twice the larger spread over seeds (learning.py).

SGD with momentum at a constant rate, plain pixels, no augmentation. Each side draws its initial weights and its order for itself.
"""

import argparse
import pathlib
import sys
import tempfile

import torch
from torch.nn import functional as F

import cifar
import convnets
import halftone
import learning

MOMENTUM, DECAY, CLASSES = 0.9, 5e-4, 100
METRICS = ("loss", "accuracy")


def engine_result(options, precision, seed, folder):
    fields = {"dataset.kind": "cifar100", "dataset.path": options.data, "dataset.normalize": "false", "dataset.augment": "false",
              "dataset.train_limit": options.pictures, "dataset.test_limit": options.test_pictures,
              "model.kind": options.model, "model.options.stem": options.stem, "batch_size": options.batch,
              "epochs": options.epochs, "optimizer.kind": "sgd", "optimizer.lr": options.rate, "optimizer.momentum": MOMENTUM,
              "optimizer.weight_decay": DECAY, "schedule.kind": "constant", "seed": seed, "precision.preset": precision,
              "threads": options.threads, "checkpoint.best": "false", "checkpoint.at_end": "false"}
    done = learning.train(options.halftone, fields, folder / f"{precision}-{seed}", folder)
    return {metric: done[f"test_{metric}"] for metric in METRICS}


@torch.no_grad()
def evaluate(model, data):
    model.eval()
    loss, right = 0.0, 0
    for indices in torch.arange(len(data.labels)).split(250):
        images, labels = data.batch(indices)
        logits = model(images.contiguous(memory_format=torch.channels_last))
        loss += float(F.cross_entropy(logits, labels, reduction="sum"))
        right += int((logits.argmax(1) == labels).sum())
    return {"loss": loss / len(data.labels), "accuracy": right / len(data.labels)}


def peer_result(options, parts, seed):
    torch.manual_seed(seed)
    model = convnets.module(options.model, CLASSES, options.stem).to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=options.rate, momentum=MOMENTUM, weight_decay=DECAY)
    model.train()
    for _ in range(options.epochs):
        for indices in torch.randperm(len(parts["train"].labels)).split(options.batch):
            images, labels = parts["train"].batch(indices)
            optimizer.zero_grad()
            F.cross_entropy(model(images.contiguous(memory_format=torch.channels_last)), labels).backward()
            optimizer.step()
    return evaluate(model, parts["test"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    halftone.add_binary_option(parser)
    parser.add_argument("--data", default=str(cifar.default_folder()), help="folder of the CIFAR-100 pack")
    parser.add_argument("--model", default="resnet18", choices=list(convnets.RESNETS))
    parser.add_argument("--stem", default="cifar", choices=("cifar", "imagenet"))
    parser.add_argument("--precision", action="append", choices=learning.PRECISIONS)
    parser.add_argument("--pictures", type=int, default=5000)
    parser.add_argument("--test-pictures", type=int, default=2500)
    parser.add_argument("--batch", type=int, default=50, help="a divisor of the pictures, so that the last batch is whole")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--rate", type=float, default=0.02)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    if options.pictures % options.batch:
        parser.error(f"--batch: {options.batch}: not a divisor of {options.pictures} pictures")
    torch.set_num_threads(options.threads)
    parts = {"train": cifar.Cifar100(options.data, "train", options.pictures),
             "test": cifar.Cifar100(options.data, "test", options.test_pictures)}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        runs = {precision: lambda seed, precision=precision: engine_result(options, precision, seed, folder)
                for precision in options.precision or ("fp32", "amp-bf16")}
        runs[learning.PEER] = lambda seed: peer_result(options, parts, seed)
        models = {f"{options.model}, {options.stem} stem": learning.learn(options.model, options.seeds, runs)}
    learning.print_results(models, dict.fromkeys(METRICS))
    return 1 if learning.compare_means(models, METRICS) else 0


if __name__ == "__main__":
    sys.exit(main())
