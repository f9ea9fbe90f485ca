#!/usr/bin/env python3
"""The autoencoder and the DCGAN one step at a time against PyTorch: each step starts from PyTorch's weights and buffers, on
its batch of CIFAR-100 pictures and its latent numbers, and both losses and every gradient are compared, in fp32, amp-fp16
and amp-bf16.

The reference and the bound: drawing_reference.py and task_reference.py. In f64 the networks written out must be PyTorch's
modules to 2^-36. The optimizer that takes PyTorch's weights on is Adam, for the DCGAN one for each network.
"""

import argparse
import copy
import dataclasses
import sys
import tempfile

import torch
from torch.nn import functional as F

import cifar
import halftone
import task_reference
from drawing_reference import RATE, Autoencoder, Dcgan, autoencoder_step, dcgan_step
from task_reference import PRECISIONS, Shares, shares

COMPARED = ("fp32", "amp-fp16", "amp-bf16")
LATENT, WIDTH, CODE = 16, 8, 24
LOSS_SCALE = 1024.0


class Drawing:
    """The autoencoder: one loss."""
    kind = "autoencoder"
    options = {"code": CODE, "channels": WIDTH}

    def __init__(self):
        self.model = Autoencoder(3, 32, CODE, WIDTH)
        self.optimizers = [torch.optim.Adam(self.model.parameters(), lr=1e-3)]

    def inputs(self, images, _generator):
        return {"image": images}

    def steps(self, inputs, precision, noise=None):
        return [autoencoder_step(weights_of(self.model), inputs["image"], precision, noise)]

    def exact_losses(self, model, inputs):
        x = inputs["image"].double()
        return [(F.mse_loss(model(x), x), list(model.named_parameters()))]

    def losses_of(self, out):
        return [float(out["loss"])]


class Pair:
    """The DCGAN: the discriminator's loss, then the generator's."""
    kind = "dcgan"
    options = {"latent": LATENT, "channels": WIDTH}

    def __init__(self):
        self.model = Dcgan(3, 3, LATENT, WIDTH)
        self.optimizers = [torch.optim.Adam(part.parameters(), lr=2e-4, betas=(0.5, 0.999))
                           for part in (self.model.discriminator, self.model.generator)]

    def inputs(self, images, generator):
        return {"image": images * 2 - 1, "latent": torch.randn(len(images), LATENT, generator=generator)}

    def steps(self, inputs, precision, noise=None):
        both = dcgan_step(weights_of(self.model), inputs["image"], inputs["latent"], precision, noise)
        return [both.discriminator, both.generator]

    def exact_losses(self, model, inputs):
        parts = [[(n, p) for n, p in model.named_parameters() if n.startswith(part)] for part in ("discriminator.", "generator.")]
        drawn = model.draw(inputs["latent"].double())
        yield model.discriminator_loss(inputs["image"].double(), drawn), parts[0]
        torch.optim.SGD(model.discriminator.parameters(), lr=RATE).step()
        yield model.generator_loss(drawn), parts[1]

    def losses_of(self, out):
        return [float(out["loss"]), float(out["metrics"][0])]


def weights_of(model):
    return {name: p.detach() for name, p in model.named_parameters()}


def check_reference(drawing, inputs):
    """Checks in f64 that the network written out is PyTorch's."""
    model = type(drawing)().model.double().train()
    model.load_state_dict(drawing.model.state_dict())
    exact = drawing.steps(inputs, PRECISIONS["fp32"])
    for (loss, parameters), step in zip(drawing.exact_losses(model, inputs), exact):
        gradients = torch.autograd.grad(loss, [p for _, p in parameters], retain_graph=True)
        for (_, parameter), gradient in zip(parameters, gradients):
            parameter.grad = gradient
        apart = max(float((step.gradients[n] - g).norm() / g.norm().clamp_min(1e-30))
                    for (n, _), g in zip(parameters, gradients))
        if max(apart, abs(step.loss - float(loss.detach()))) > 2.0**-36:
            sys.exit(f"{drawing.kind}: the network written out differs from PyTorch's modules by {apart:.1e}")


def move_statistics(drawing, inputs):
    """Updates the running statistics of the batch norms as a step of PyTorch does."""
    moved = copy.deepcopy(drawing.model).double().train()
    with torch.no_grad():
        list(drawing.exact_losses(moved, inputs))
        for buffer, other in zip(drawing.model.buffers(), moved.buffers()):
            buffer.copy_(other)


def precision_of(preset):
    """With a loss scale at which no gradient of the DCGAN overflows f16."""
    precision = PRECISIONS[preset]
    return dataclasses.replace(precision, scale=LOSS_SCALE) if precision.low == torch.float16 else precision


def compare(drawing, data, preset, options, program):
    """Prints a row of the table. Returns whether something is beyond its bound."""
    precision, ours, losses, wrong = precision_of(preset), [Shares() for _ in drawing.optimizers], [], []
    settings = {"dataset": {"kind": "cifar100", "path": options.data}, "batch_size": options.batch, "threads": 1,
                "model": {"kind": drawing.kind, "options": drawing.options},
                "optimizer": {"kind": "sgd", "lr": RATE, "momentum": 0, "weight_decay": 0}}
    for k, indices in enumerate(cifar.batches(len(data.labels), options.batch, options.steps, 1)):
        images, labels = data.batch(indices)
        inputs = drawing.inputs(images, torch.Generator().manual_seed(k))
        exact = drawing.steps(inputs, precision)
        perturbed = [drawing.steps(inputs, precision, torch.Generator().manual_seed(1000 * k + i))
                     for i in range(options.perturbations)]
        if k == 0 and precision.low is None:
            check_reference(drawing, inputs)
        out = program.step(task_reference.settings_of(settings, preset, precision.scale),
                           {**drawing.model.state_dict(), **inputs, "label": labels})
        _, gradients, _ = task_reference.unpacked(out)
        for i, (step, loss) in enumerate(zip(exact, drawing.losses_of(out))):
            mine = shares(step, [p[i] for p in perturbed], precision.unit, (loss, gradients, []))
            if mine.failed():
                wrong.append(f"step {k}: loss {mine.loss:.2f}, {mine.worst} {mine.gradient:.2f}")
            ours[i] = ours[i].worse_of(mine)
            for name, parameter in drawing.model.named_parameters():
                if name in step.gradients:
                    parameter.grad = step.gradients[name].float()
        losses.append(exact[0].loss)
        move_statistics(drawing, inputs)
        for optimizer in drawing.optimizers:
            optimizer.step()
    for name, mine in zip(("", ", generator"), ours):
        print(f"| {drawing.kind}{name} | {preset} | {losses[0]:.3f} - {losses[-1]:.3f} | {mine.loss:.2f} | "
              f"{mine.gradient:.2f} {mine.worst} | {mine.bound()} |", flush=True)
    for line in wrong:
        print(f"    beyond the bound: {line}")
    return bool(wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    halftone.add_binary_option(parser)
    task_reference.add_program_option(parser)
    parser.add_argument("--data", default=str(cifar.default_folder()), help="folder of the CIFAR-100 pack")
    parser.add_argument("--model", action="append", choices=("autoencoder", "dcgan"))
    parser.add_argument("--precision", action="append", choices=COMPARED)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--perturbations", type=int, default=8, help="perturbed reference runs a step")
    options = parser.parse_args()
    torch.set_num_threads(1)
    data = cifar.Cifar100(options.data)
    print("| model | precision | loss | ours: loss | gradients, the worst | bound, median and widest |")
    print("| --- | --- | --- | ---: | ---: | ---: |")
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        program = task_reference.Program(options.program, folder, halftone.DEVICE)
        for drawing in (Drawing, Pair):
            if options.model and drawing.kind not in options.model:
                continue
            for preset in options.precision or COMPARED:
                torch.manual_seed(1)
                failed += compare(drawing(), data, preset, options, program)
    print(f"{failed} comparisons beyond their bounds")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
