#!/usr/bin/env python3
"""exported_steps.py PROGRAM STEPS: a training step of what `halftone network --to pytorch` writes for each template, in PyTorch, against the
engine's step of the text (STEPS: `ninja task_steps`) from the same weights on the same batch, fp32: the loss and every gradient. Dropout is 0.

The reference is the generated module in f64. Each figure may be FACTOR times as far from it as the farthest of RUNS runs in which weights and
inputs are moved by up to PERTURBATION of themselves, four roundings, and at the least FLOOR of the largest gradient, or of the loss.
PyTorch's own step in f32 is measured beside it. The parameter count must be PyTorch's, and the FLOPs of convolutions, linear layers and attention those of its counter.
"""
import argparse
import copy
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import torch
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

import network_pytorch
import task_reference

FACTOR, RUNS, PERTURBATION, FLOOR = 4.0, 4, 2.0**-22, 2.0**-19
BATCH, CLASSES, TABLE_ROWS = 4, 10, 7
SMALL = ["depth=2", "width=24"]
# Sizes of images, and options; no images: features.
TEMPLATES = {"mlp": ((), []), "siamese": ((), []), "clicks": ((), []), "lenet": ((1, 28, 28), []), "lstm": ((1, 28, 28), []), "vit": ((3, 16, 16), SMALL), "unet": ((3, 16, 16), []),
             "autoencoder": ((3, 16, 16), []), "vgg11": ((3, 32, 32), []), "resnet18": ((3, 32, 32), []), "resnet50": ((3, 32, 32), []), "resnext50": ((3, 32, 32), []),
             "mobilenetv2": ((3, 32, 32), [])}
PRODUCTS = re.compile("(Conv|Linear|MultiheadAttention)")


class Case:
    def __init__(self, name):
        self.name, (self.image, options) = name, TEMPLATES[name]
        self.options = dict(option.split("=") for option in options)
        generator = torch.Generator().manual_seed(1)
        if self.image:
            self.inputs = [torch.rand(BATCH, *self.image, generator=generator)]
            self.label = torch.arange(BATCH) % CLASSES
            self.tensors = {"image": self.inputs[0], "label": self.label, "classes": torch.tensor(CLASSES)}
            self.fields, self.outputs, self.settings = [f"image={'x'.join(map(str, self.image))}"], CLASSES, {"dataset": {"kind": "glyphs"}}
        elif name == "clicks":
            self.inputs = [torch.rand(BATCH, 8, generator=generator), torch.randint(0, TABLE_ROWS, (BATCH, 3), generator=generator)]
            self.label = torch.arange(BATCH) % 2
            self.tensors = {"dense": self.inputs[0], "ids": self.inputs[1], "label": self.label, "table_rows": torch.tensor(TABLE_ROWS)}
            self.fields, self.outputs = ["features=8", f"indices=3x{TABLE_ROWS}"], 1
            self.settings = {"dataset": {"kind": "clicks-generated", "tables": 3, "table_rows": TABLE_ROWS}}
        else:
            self.inputs = [torch.rand(BATCH, 8, generator=generator)]
            self.label = torch.rand(BATCH, 1, generator=generator)
            self.tensors = {"features": self.inputs[0], "target": self.label}
            self.fields, self.outputs = ["features=8"], 1
            self.settings = {"dataset": {"kind": "csv", "path": "/nowhere"}, "task": {"kind": "regression"}}

    def loss(self, y):
        if self.name in ("unet", "autoencoder"):
            return F.mse_loss(y, self.moved_inputs[0])
        if self.name == "clicks":
            return F.binary_cross_entropy_with_logits(y, self.label.to(y.dtype)[:, None])
        return F.cross_entropy(y, self.label) if self.image else F.mse_loss(y, self.label.to(y.dtype))

    def step(self, network, dtype=torch.float64, noise=None):
        """The loss and the gradients."""
        network = copy.deepcopy(network).to(dtype).train()

        def moved(t):
            unit = 0 if noise is None else 2 * torch.rand(t.shape, generator=noise, dtype=torch.float64) - 1
            return (t.double() * (1 + PERTURBATION * unit)).to(dtype) if t.is_floating_point() else t
        with torch.no_grad():
            for parameter in network.parameters():
                parameter.copy_(moved(parameter))
        self.moved_inputs = [moved(each) for each in self.inputs]
        loss = self.loss(network(*self.moved_inputs))
        loss.backward()
        return loss.item(), {name: torch.zeros_like(p) if p.grad is None else p.grad for name, p in network.named_parameters()}


def worst(exact, perturbed, found):
    """How far the loss and the farthest gradient are, as shares of what is allowed."""
    loss = abs(found[0] - exact[0]) / max(FLOOR * abs(exact[0]), *(FACTOR * abs(p[0] - exact[0]) for p in perturbed))
    largest = max(float(g.norm()) for g in exact[1].values())
    shares = [(float((found[1][name].double() - g).norm()) / max(FLOOR * largest, *(FACTOR * float((p[1][name] - g).norm()) for p in perturbed)), name)
              for name, g in exact[1].items()]
    return loss, *max(shares)


def compare(case, program, steps, folder):
    def network(*arguments):
        return subprocess.run([program, "network", *arguments], capture_output=True, text=True, check=True).stdout

    file, model = folder / f"{case.name}.network", folder / "model.py"
    text = network("--template", case.name)
    file.write_text(re.sub(r"(option dropout = )[\d.]+", r"\g<1>0.0", re.sub(r"dropout=0\.\d+", "dropout=0", text)))
    sizes = [word for field in case.fields for word in ("--input", field)] + ["--outputs", str(case.outputs)]
    sizes += [word for name, value in case.options.items() for word in ("--option", f"{name}={value}")]
    network(str(file), *sizes, "--to", "pytorch", "-o", str(model))
    said = json.loads(network(str(file), *sizes, "--json"))
    torch.manual_seed(1)
    module = network_pytorch.imported(model).Network()
    count = sum(p.numel() for p in module.parameters())
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        copy.deepcopy(module)(*case.inputs)
    ours = sum(row["flops"] for row in said["layers"] if PRODUCTS.match(row["layer"]))
    theirs = counter.get_total_flops() / BATCH
    weights = {name: value.clone() for name, value in module.state_dict().items()}
    exact = case.step(module)
    perturbed = [case.step(module, noise=torch.Generator().manual_seed(run)) for run in range(RUNS)]
    options = {name: int(value) for name, value in case.options.items()}
    settings = {**case.settings, "batch_size": BATCH, "model": {"kind": "file", "path": str(file), "options": options}}
    out = task_reference.Program(steps, folder).step(task_reference.settings_of(settings, "fp32", 1.0), {**weights, **case.tensors})
    engine = worst(exact, perturbed, task_reference.unpacked(out)[:2])
    peer = worst(exact, perturbed, case.step(module, torch.float32))
    right = engine[0] <= 1 and engine[1] <= 1 and count == said["parameter_count"]
    print(f"| {case.name} | {count} | {ours / theirs if theirs else 0:.4f} | {exact[0]:.4f} | {engine[0]:.2f} | {engine[1]:.2f} {engine[2]} | {peer[0]:.2f} | {peer[1]:.2f} |"
          + ("" if right else " beyond"), flush=True)
    return right


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("steps")
    parser.add_argument("--network", action="append", choices=TEMPLATES)
    arguments = parser.parse_args()
    print("| network | parameters | FLOPs, share of PyTorch's | loss | ours: loss | gradients, the worst | PyTorch's: loss | gradients |\n| --- | ---: | ---: | ---: | ---: | --- | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        wrong = sum(not compare(Case(name), arguments.program, arguments.steps, pathlib.Path(folder)) for name in arguments.network or TEMPLATES)
    print(f"{wrong} beyond a bound")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
