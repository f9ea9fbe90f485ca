#!/usr/bin/env python3
"""Data-parallel steps beside PyTorch's DistributedDataParallel: two processes of gloo and two ranks of Halftone train on the
same parts of the same CIFAR-100 batches from the same weights, in fp32, amp-fp16 or amp-bf16 (DDP under torch.autocast, amp-fp16
with GradScaler), and losses and weights are compared after each run.

Both are measured from the same training in f64 (PyTorch's DDP too, where no rounding counts). Free-running training amplifies
roundings, so the bound of a step's loss is FACTOR times the largest distance that PyTorch's own run in that precision has had so far, and that of the
last weights FACTOR times its distance: an engine that sums in other orders is as far away. Batch norm is local on both sides; DDP gives rank 0's running statistics to all, which training does
not read.

With --restart nothing is amplified: each step starts, without momentum, from the weights that the f64 run has there.
"""

import argparse
import os
import pathlib
import shutil
import sys
import tempfile
import time

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
LOW = {"amp-fp16": torch.float16, "amp-bf16": torch.bfloat16}
EXACT = "fp64"
OPTIONS = {"mlp": ["--set", "model.options.hidden=[256,128]"]}


def part(indices, rank):
    size = len(indices) // RANKS
    return indices[rank * size:(rank + 1) * size]


def start_file(folder, kind, step):
    return f"{folder}/{kind}-start-{step}.safetensors"


def weights_of(model):
    return {name: p.detach().double().clone() for name, p in model.named_parameters()}


def leave_together(answers, rank):
    """Ends the process when all have come here. One that ends first can abort gloo's threads of the other, and those threads can abort
    the interpreter as it ends."""
    pathlib.Path(f"{answers}-ended-{rank}").touch()
    while not all(pathlib.Path(f"{answers}-ended-{other}").exists() for other in range(RANKS)):
        time.sleep(0.01)
    os._exit(0)


def train(rank, folder, kind, precision, data_folder, chosen, answers, restart):
    """One process of DDP. Rank 0 saves the batches' losses, and the weights after each step with `restart`, else those at the end; in
    f64 without `restart` also what each step starts from."""
    dtype = torch.float64 if precision == EXACT else torch.float32
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    distributed.init_process_group("gloo", init_method=f"file://{folder}/meeting-{kind}-{precision}-{restart}", rank=rank,
                                   world_size=RANKS)
    torch.set_num_threads(1)
    data = cifar.Cifar100(data_folder)
    model = MODELS[kind]()
    model.load_state_dict(safetensors.torch.load_file(start_file(folder, kind, 0)))
    model.to(dtype).train()
    wrapped = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE, momentum=0.9, weight_decay=5e-4)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024, enabled=precision == "amp-fp16")
    losses = []
    for step, indices in enumerate(chosen):
        if restart:
            model.load_state_dict(safetensors.torch.load_file(start_file(folder, kind, step)))
            optimizer.state.clear()  # the momentum
        elif rank == 0 and precision == EXACT and step > 0:
            safetensors.torch.save_file({name: value.to(torch.float32) if value.is_floating_point() else value
                                         for name, value in model.state_dict().items()}, start_file(folder, kind, step))
        images, labels = data.batch(part(indices, rank))
        optimizer.zero_grad()
        images = images.to(dtype)
        with torch.autocast("cpu", dtype=LOW.get(precision, torch.bfloat16), enabled=precision in LOW):
            loss = F.cross_entropy(wrapped(images.flatten(1) if kind == "mlp" else images), labels)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        mean = loss.detach().clone() / RANKS
        distributed.all_reduce(mean)
        losses.append(float(mean))
        if rank == 0 and (restart or step == len(chosen) - 1):
            torch.save(weights_of(model), f"{answers}-{step}")
    if rank == 0:
        torch.save(losses, answers)
    distributed.barrier()
    leave_together(answers, rank)


def ddp(folder, kind, precision, options, chosen, restart=False):
    """The losses, and the files with the weights after each step, or after the last one."""
    answers = f"{folder}/{kind}-{precision}-{restart}.pt"
    multiprocessing.spawn(train, (folder, kind, precision, options.data, chosen, answers, restart), nprocs=RANKS)
    return torch.load(answers), [f"{answers}-{step}" for step in range(0 if restart else len(chosen) - 1, len(chosen))]


def engine(folder, kind, precision, options, chosen, start):
    """The losses, and the last weights."""
    folder = pathlib.Path(folder)
    cifar.write_order(folder / "order.txt", chosen)
    run = folder / f"run-{kind}-{precision}"
    output = halftone.run(
        options.halftone, "train", *cifar.train_settings(options.data, precision, len(chosen[0]), kind), *OPTIONS.get(kind, []),
        "--set", f"dataset.order={folder / 'order.txt'}", "--set", f"model.init_from={start}",
        "--set", f"max_steps={len(chosen)}", "--set", f"optimizer.lr={LEARNING_RATE}", "--set", f"workers={RANKS}",
        "--set", "threads=1", "--set", "dataset.test_limit=64", "--out", str(run), "--json",
        env={"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
    losses = [float(e["loss"]) for e in halftone.events(output) if e["event"] == "step"]
    halftone.run(options.halftone, "export", str(run), "--to", "safetensors", "-o", str(folder / "trained.safetensors"))
    shutil.rmtree(run)
    weights = safetensors.torch.load_file(folder / "trained.safetensors")
    return losses, {name: value.double() for name, value in weights.items()}


def engine_steps(folder, kind, precision, options, chosen, restart):
    """As ddp(): the losses, and the weights of each step, or of the last one, one after the other."""
    if not restart:
        losses, weights = engine(folder, kind, precision, options, chosen, start_file(folder, kind, 0))
        return losses, [weights]
    steps = [engine(folder, kind, precision, options, [batch], start_file(folder, kind, i)) for i, batch in enumerate(chosen)]
    return [losses[0] for losses, _ in steps], [weights for _, weights in steps]


def distance(got, reference, start):
    """Distance of all weights together, relative to how far training has moved them."""
    def norm(a, b):
        return sum(float((a[name] - b[name]).square().sum()) for name in reference) ** 0.5
    return norm(got, reference) / norm(reference, start)


def of_bound(theirs, ours, least):
    """The worst of `ours` as a share of its bound: FACTOR times the largest of `theirs` so far."""
    worst, largest = 0.0, least
    for their, our in zip(theirs, ours, strict=True):
        largest = max(largest, their)
        worst = max(worst, our / (FACTOR * largest))
    return worst


def compare(label, reference, theirs, ours, starts):
    """Prints a row. True if everything is within its bound."""
    def off(losses):
        return [abs(loss - exact) / abs(exact) for loss, exact in zip(losses, reference[0], strict=True)]
    far, ours_far = [], []
    for exact, their, our, start in zip(reference[1], theirs[1], ours[1], starts, strict=True):
        exact, start = torch.load(exact), safetensors.torch.load_file(start)
        far.append(distance(torch.load(their), exact, start))
        ours_far.append(distance(our, exact, start))
    worst, share = of_bound(off(theirs[0]), off(ours[0]), 2.0**-23), of_bound(far, ours_far, 0.0)
    print(f"| {label} | {reference[0][0]:.3f} - {reference[0][-1]:.3f} | {worst:.2f} | {share:.2f} | {max(off(theirs[0])):.1e} "
          f"| {max(far):.1e} |", flush=True)
    return worst <= 1 and share <= 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    halftone.add_binary_option(parser)
    parser.add_argument("--data", default=str(cifar.default_folder()), help="folder of the CIFAR-100 pack")
    parser.add_argument("--model", action="append", choices=list(MODELS))
    parser.add_argument("--precision", nargs="+", choices=["fp32", *LOW], default=["fp32"])
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--restart", action="store_true", help="each step from the weights of the f64 run")
    options = parser.parse_args()
    chosen = cifar.batches(len(cifar.Cifar100(options.data).labels), options.batch, options.steps, options.seed)
    print(f"PyTorch {torch.__version__}, {options.steps} steps, batch {options.batch}, {RANKS} ranks\n")
    print("| model | precision | losses | worst loss, of its bound | weights, of their bound | PyTorch's from f64: losses | weights |")
    print("| --- | --- | --- | ---: | ---: | ---: | ---: |")
    failed = 0
    with tempfile.TemporaryDirectory(prefix="halftone-ddp-") as folder:
        for kind in options.model or list(MODELS):
            torch.manual_seed(options.seed)
            start = {name: value.contiguous() for name, value in MODELS[kind]().state_dict().items()}
            safetensors.torch.save_file(start, start_file(folder, kind, 0))
            reference = ddp(folder, kind, EXACT, options, chosen)
            if options.restart:
                reference = ddp(folder, kind, EXACT, options, chosen, restart=True)
            starts = [start_file(folder, kind, step) for step in (range(options.steps) if options.restart else [0])]
            for precision in options.precision:
                theirs = ddp(folder, kind, precision, options, chosen, options.restart)
                ours = engine_steps(folder, kind, precision, options, chosen, options.restart)
                failed += not compare(f"{kind} | {precision}", reference, theirs, ours, starts)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
