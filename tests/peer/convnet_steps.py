#!/usr/bin/env python3
"""The convolutional networks one step at a time against PyTorch: each step starts from PyTorch's weights and buffers, on its
batch of CIFAR-100 pictures, and the loss and every gradient are compared, in fp32, amp-fp16 and amp-bf16.

The reference is the network of convnets.py: in fp32 in f64, in the two others with f16 or bf16 rounding wherever PyTorch's mixed
precision rounds by the CUDA column (PyTorch's own f16 convolutions on a CPU take 23 s a step, and sum in another way). In f64
it must be torchvision's module to 2^-36.

The bound follows from the type and the sums: the reference is run again with every op's result moved as far as another
order of its sums would move it (sqrt(n) u32 rms(y) + u32 |y| before the rounding to the low type), and the network
itself carries that to the loss and the gradients. An engine that rounds in the same places differs by about as much; more
than FACTOR times the largest of these differences, in the norm of a tensor, is a failure. Perturbed runs may agree by chance, so
two roundings are always allowed: 2 u max|g| of a gradient, 2 u rms(logits) / sqrt(batch) of the loss. Where an input of ReLU is
within a perturbation of 0, the runs take both branches, and the bound of that step is wide (in fp32: rounded_layers.Branches). PyTorch's own run (f32, or
bf16 autocast) is measured in the same way beside it, and so is the exact network, which the bounds of 16 bits must refuse.

Pictures of 32 x 32 go through `halftone train`, its reader and all; enlarged ones through task_steps. With --networks
resources/networks the texts of the templates run instead of the built-in models.
"""

import argparse
import math
import pathlib
import shutil
import statistics
import sys
import tempfile

import safetensors.torch
import torch
from torch.nn import functional as F

import cifar
import convnets
import halftone
import task_reference
from rounded_layers import Arithmetic, Branches

FACTOR = 4.0
LOW = {"fp32": None, "amp-fp16": torch.float16, "amp-bf16": torch.bfloat16}
UNIT = {"fp32": 2.0**-24, "amp-fp16": 2.0**-11, "amp-bf16": 2.0**-8}
LOSS_SCALE = 1024.0
CLASSES = 100


def distance(got, reference):
    """Norm of the difference over the norm of the reference."""
    difference = (got.double() - reference.double()).norm()
    return float(difference / reference.double().norm().clamp_min(1e-30))


class Compared:
    """A network, its pictures and how both sides compute a step of it."""

    def __init__(self, kind, stem, side, options):
        self.kind, self.stem, self.side, self.options = kind, stem, side, options
        self.data = cifar.Cifar100(options.data)
        torch.manual_seed(options.seed)
        self.model = convnets.module(kind, CLASSES, stem)
        convnets.narrow_blocks(self.model)

    def parameters(self):
        return {name: p.detach() for name, p in self.model.named_parameters()}

    def batch(self, indices):
        images, labels = self.data.batch(indices)
        if self.side != 32:
            images = F.interpolate(images, (self.side, self.side), mode="bilinear", antialias=True)
        return images, labels

    def reference_step(self, images, labels, precision, noise=None, branches=None):
        low = LOW[precision]
        dtype = torch.float64 if low is None else torch.float32
        scale = LOSS_SCALE if precision == "amp-fp16" else 1.0
        return convnets.step(self.kind, self.stem, False, self.parameters(), images, labels,
                             Arithmetic(low, noise, branches), dtype, scale)

    def reference_steps(self, images, labels, precision, seed):
        """The reference and its perturbed runs: the first with noise only; in fp32 the others with other branches too.
        """
        def noise(i):
            return torch.Generator().manual_seed(seed + i)

        if precision != "fp32":
            return (self.reference_step(images, labels, precision),
                    [self.reference_step(images, labels, precision, noise(i)) for i in range(self.options.perturbations)])
        branches = Branches(FACTOR)
        return (self.reference_step(images, labels, precision, None, branches.begin()),
                [self.reference_step(images, labels, precision, noise(i), branches.begin(sign)) for i, sign in enumerate((0, 1, -1))])

    def pytorch_step(self, images, labels, precision):
        """PyTorch as users run it; None for f16, since it has no usable f16 convolution on a CPU."""
        if precision == "amp-fp16":
            return None
        self.model.train()
        self.model.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=precision == "amp-bf16"):
            loss = F.cross_entropy(self.model(images), labels)
        loss.backward()
        return float(loss.detach()), {name: p.grad.clone() for name, p in self.model.named_parameters()}

    def engine_step(self, folder, indices, precision):
        """One step of the engine from the model's weights and buffers."""
        if self.side != 32:
            return self.engine_step_on_pictures(folder, indices, precision)
        weights, order, dump = folder / "weights.safetensors", folder / "order.txt", folder / "gradients.safetensors"
        safetensors.torch.save_file({k: v.contiguous() for k, v in self.model.state_dict().items()}, weights)
        cifar.write_order(order, [indices])
        dump.unlink(missing_ok=True)
        shutil.rmtree(folder / "run", ignore_errors=True)
        settings = cifar.train_settings(self.options.data, precision, len(indices), self.kind)
        if self.options.networks:
            settings = [word.replace(f"model.kind={self.kind}", f"model.path={self.network()}") for word in settings]
        output = halftone.run(self.options.halftone, "train", *settings,
                              "--set", f"model.options.stem={self.stem}", *self.dropout_setting(),
                              "--set", f"dataset.order={order}", "--set", f"model.init_from={weights}",
                              "--set", "max_steps=1", "--set", "dataset.test_limit=1",
                              "--dump-gradients", str(dump), "--out", str(folder / "run"), "--json")
        tensors = safetensors.torch.load_file(dump)
        recorded = [e["loss"] for e in halftone.events(output) if e["event"] == "step"]
        loss = float(tensors["loss"]) if "loss" in tensors else recorded[0]
        return loss, {name[5:]: t for name, t in tensors.items() if name.startswith("grad.")}

    def network(self):
        return self.options.networks / f"{self.kind}.network"

    def dropout_setting(self):
        return ("--set", "model.options.dropout=0") if self.kind == "mobilenetv2" else ()

    def engine_step_on_pictures(self, folder, indices, precision):
        images, labels = self.batch(indices)
        settings = {"dataset": {"kind": "cifar100", "path": self.options.data}, "batch_size": len(indices),
                    "model": {"kind": self.kind, "options": {"stem": self.stem}}}
        if self.kind == "mobilenetv2":
            settings["model"]["options"]["dropout"] = 0
        if self.options.networks:
            settings["model"].update(kind="file", path=str(self.network()))
        scale = LOSS_SCALE if precision == "amp-fp16" else 1.0
        out = task_reference.Program(self.options.program, folder, halftone.DEVICE).step(
            task_reference.settings_of(settings, precision, scale),
            {**self.model.state_dict(), "image": images, "label": labels})
        return task_reference.unpacked(out)[:2]

    def move_statistics(self, images):
        with torch.no_grad():
            self.model.train()(images)


class Errors:
    """Errors of one step as shares of their bounds: of the loss, and of the gradients, the worst first."""

    def __init__(self, reference, perturbed, got, unit, batch):
        loss, gradients, logits = reference
        spread = max(max(abs(p[0] - loss) for p in perturbed), 2.0**-23 * abs(loss))
        self.loss = abs(got[0] - loss) / max(FACTOR * spread, 2 * unit * logits / math.sqrt(batch))
        self.rows, self.bounds = [], []
        for name, value in gradients.items():
            rounded = 2 * unit * float(value.abs().max()) / float(value.double().norm().clamp_min(1e-30))
            bound = max(FACTOR * max(distance(p[1][name], value) for p in perturbed), rounded, 2.0**-23)
            mine = distance(got[1][name], value) if name in got[1] else float("inf")
            self.rows.append((mine / bound, name))
            self.bounds.append(bound)
        self.rows.sort(reverse=True)

    def failed(self):
        return not self.loss <= 1 or not self.rows[0][0] <= 1


def check_reference(compared, images, labels):
    """Checks in f64 that the network written out is torchvision's."""
    reference = compared.reference_step(images, labels, "fp32")
    exact = convnets.module(compared.kind, CLASSES, compared.stem).double().train()
    exact.load_state_dict(compared.model.state_dict())
    loss = F.cross_entropy(exact(images.double()), labels)
    loss.backward()
    apart = max(distance(reference[1][name], p.grad) for name, p in exact.named_parameters())
    if max(apart, abs(reference[0] - float(loss.detach()))) > 2.0**-36:
        sys.exit(f"{compared.kind}: the network differs from torchvision's by {apart:.1e}")


def compare_precision(compared, precision):
    """Prints a row of the table. Returns the number of steps beyond a bound."""
    options, ours, peers, plain, bounds, losses, failed = compared.options, [], [], [], [], [], 0
    optimizer = torch.optim.SGD(compared.model.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4)
    with tempfile.TemporaryDirectory() as folder:
        for k, indices in enumerate(cifar.batches(len(compared.data.labels), options.batch, options.steps, options.seed)):
            images, labels = compared.batch(indices)
            if k == 0 and precision == "fp32":
                check_reference(compared, images, labels)
            reference, perturbed = compared.reference_steps(images, labels, precision, 1000 * k)
            scale = UNIT[precision], len(indices)
            # The engine first: PyTorch's step in training mode moves the running statistics.
            mine = Errors(reference, perturbed, compared.engine_step(pathlib.Path(folder), indices, precision), *scale)
            ours.append(mine)
            bounds += mine.bounds
            losses.append(reference[0])
            if k == 0 and precision != "fp32":
                exact = compared.reference_step(images, labels, "fp32")
                plain.append(sum(share > 1 for share, _ in Errors(reference, perturbed, exact, *scale).rows))
            peer = compared.pytorch_step(images, labels, precision)
            if peer:
                peers.append(Errors(reference, perturbed, peer, *scale).rows[0][0])
            else:
                compared.move_statistics(images)
            if mine.failed():
                failed += 1
                print(f"    step {k}: loss {mine.loss:.2f}, {mine.rows[0][1]} {mine.rows[0][0]:.2f} of the bound")
            for name, parameter in compared.model.named_parameters():
                parameter.grad = reference[1][name].float()
            optimizer.step()
    worst = max(ours, key=lambda e: e.rows[0][0])
    told = f"{plain[0]} of {len(worst.rows)}" if plain else "-"
    print(f"| {compared.kind} | {compared.stem} {compared.side} | {precision} | {losses[0]:.3f} - {losses[-1]:.3f} | "
          f"{max(e.loss for e in ours):.2f} | {worst.rows[0][0]:.2f} {worst.rows[0][1]} | {statistics.median(bounds):.1e}, "
          f"{max(bounds):.1e} | {told} | {f'{max(peers):.2f}' if peers else '-'} |", flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    halftone.add_binary_option(parser)
    task_reference.add_program_option(parser)
    parser.add_argument("--data", default=str(cifar.default_folder()), help="folder of the CIFAR-100 pack")
    parser.add_argument("--model", action="append", choices=convnets.KINDS)
    parser.add_argument("--networks", type=pathlib.Path, help="folder of texts, NAME.network, that run instead of the built-in models")
    parser.add_argument("--stem", choices=("cifar", "imagenet"), help="default: cifar for resnet18, else imagenet")
    parser.add_argument("--side", type=int, help="of the pictures (default: 32 with the CIFAR stem, 36 with the other)")
    parser.add_argument("--precision", action="append", choices=list(LOW))
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--perturbations", type=int, default=8, help="perturbed reference runs a step in 16 bits; fp32 has three")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(f"{options.steps} steps, batch {options.batch}; shares of the bounds, the worst of all steps")
    print("| model | stem, side | precision | loss | ours: loss | gradients, the worst | bound, median and widest | exact network refused | "
          "PyTorch's gradients |\n| --- | --- | --- | --- | ---: | --- | --- | ---: | ---: |", flush=True)
    failed = 0
    for kind in options.model or convnets.KINDS:
        stem = options.stem or ("cifar" if kind == "resnet18" else "imagenet")
        side = options.side or (32 if stem == "cifar" else 36)
        failed += sum(compare_precision(Compared(kind, stem, side, options), p) for p in options.precision or LOW)
    print(f"{failed} steps beyond a bound")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
