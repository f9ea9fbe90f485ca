#!/usr/bin/env python3
"""Steps of unequal batches beside PyTorch's step on one whole batch: LeNet and the MLP on pictures of CIFAR-100 in fp32, without
batch norm, from the same weights, by plain SGD. In Halftone the samples come as batches of these sizes, accumulated in one step,
in one process and in two ranks.

Loss and update are measured from the whole batch's in f64. The bound is FACTOR times the distance of PyTorch's own f32 step on the
whole batch, or some roundings of the weights. The last column is what PyTorch's usual loop, which divides each mean by `accumulate`,
makes of the same batches.
"""

import argparse
import pathlib
import sys
import tempfile

import safetensors.torch
import torch
from torch.nn import functional as F

import cifar
import halftone
from peer_models import LeNet, Mlp

FACTOR = 4.0
LEAST = 2.0**-21
RATE = 1.0
MODELS = {"mlp": lambda: Mlp([3 * 32 * 32, 64, 100]), "lenet": lambda: LeNet(channels=3, side=32, classes=100)}
OPTIONS = {"mlp": ["--set", "model.options.hidden=[64]"]}
#: Sizes of the batches, and the setting.
STEPS = (((4, 4, 1), 3), ((4, 4), 4), ((7, 2), 2), ((5, 3, 1), 3), ((1, 8), 2), ((6,), 8), ((3, 3, 3), 3))


def torch_step(kind, start, data, batches, weights, dtype):
    """Loss and weights after a step on the weighted sum of the batches' means."""
    model = MODELS[kind]()
    model.load_state_dict(start)
    model.to(dtype)
    total = 0.0
    for indices, weight in zip(batches, weights, strict=True):
        images, labels = data.batch(indices)
        images = images.to(dtype)
        loss = F.cross_entropy(model(images.flatten(1) if kind == "mlp" else images), labels) * weight
        loss.backward()
        total += float(loss.detach())
    torch.optim.SGD(model.parameters(), lr=RATE).step()
    return total, {name: p.detach().double() for name, p in model.named_parameters()}


def engine_step(folder, kind, start_file, options, batches, accumulate, ranks):
    """A step of Halftone: the batches are all of an epoch, and end it."""
    run = folder / "run"
    cifar.write_order(folder / "order.txt", batches)
    output = halftone.run(
        options.halftone, "train", *cifar.train_settings(options.data, "fp32", max(map(len, batches)), kind), *OPTIONS.get(kind, []),
        "--set", f"dataset.order={folder / 'order.txt'}", "--set", f"model.init_from={start_file}", "--set", "epochs=1",
        "--set", f"accumulate={accumulate}", "--set", "optimizer.kind=sgd", "--set", f"optimizer.lr={RATE}",
        "--set", "optimizer.momentum=0", "--set", "optimizer.weight_decay=0", "--set", f"workers={ranks}", "--set", "threads=1",
        "--set", "dataset.test_limit=16", "--out", str(run), "--json",
        env={"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
    steps = [event for event in halftone.events(output) if event["event"] == "step"]
    if len(steps) != 1:
        raise RuntimeError(f"{len(steps)} steps")
    halftone.run(options.halftone, "export", str(run), "--to", "safetensors", "-o", str(folder / "trained.safetensors"))
    trained = safetensors.torch.load_file(folder / "trained.safetensors")
    return float(steps[0]["loss"]), {name: value.double() for name, value in trained.items()}


def distance(got, exact, start):
    """Distance of the updates, relative to their size, or of the losses, whichever is larger."""
    def norm(a, b):
        return sum(float((a[name] - b[name].double()).square().sum()) for name in exact[1]) ** 0.5
    return max(norm(got[1], exact[1]) / norm(exact[1], start), abs(got[0] - exact[0]) / abs(exact[0]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    halftone.add_binary_option(parser)
    parser.add_argument("--data", default=str(cifar.default_folder()), help="folder of the CIFAR-100 pack")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    data = cifar.Cifar100(options.data)
    print(f"PyTorch {torch.__version__}\n\n| model | batches | accumulate | ranks | of its bound | PyTorch's usual loop |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    failed = 0
    for kind in MODELS:
        torch.manual_seed(options.seed)
        start = {name: value.contiguous() for name, value in MODELS[kind]().state_dict().items()}
        for number, (sizes, accumulate) in enumerate(STEPS):
            whole = cifar.batches(len(data.labels), sum(sizes), 1, options.seed + number)[0]
            batches = [list(part) for part in torch.tensor(whole).split(list(sizes))]
            batches = [[int(index) for index in part] for part in batches]
            exact = torch_step(kind, start, data, [whole], [1.0], torch.float64)
            theirs = distance(torch_step(kind, start, data, [whole], [1.0], torch.float32), exact, start)
            usual = distance(torch_step(kind, start, data, batches, [1 / accumulate] * len(batches), torch.float32), exact, start)
            for ranks in options.ranks:
                with tempfile.TemporaryDirectory(prefix="halftone-unequal-") as folder:
                    file = pathlib.Path(folder) / "start.safetensors"
                    safetensors.torch.save_file(start, file)
                    ours = distance(engine_step(pathlib.Path(folder), kind, file, options, batches, accumulate, ranks), exact, start)
                share = ours / (FACTOR * max(theirs, LEAST))
                failed += share > 1
                print(f"| {kind} | {' + '.join(map(str, sizes))} | {accumulate} | {ranks} | {share:.2f} | {usual:.1e} |", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
