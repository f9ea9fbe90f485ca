#!/usr/bin/env python3
"""ResNet-18 on CIFAR-100, one step at a time against PyTorch: each step starts from PyTorch's weights and buffers, on
its batch, and the loss and every gradient are compared, in fp32, amp-fp16 and amp-bf16.

The reference is resnet18_reference.py: in fp32 the network in f64, in the two others the network with f16 or bf16 rounding
wherever mixed precision rounds (PyTorch's own f16 convolutions on a CPU take 23 s a step, and sum in another way).

The bound follows from the type and the sums: the reference is run again with every op's result moved as far as another
order of its sums would move it (sqrt(n) u32 rms(y) + u32 |y| before the rounding to the low type), and the network
itself carries that to the loss and the gradients. An engine that rounds in the same places differs by about as much; more
than FACTOR times the largest of these differences, in the norm of a tensor, is a failure. The loss is one number, and two
runs may agree in it by chance: it may always differ by what one rounding of each logit does, 2 u rms(logits) / sqrt(batch). PyTorch's own run (f32, or
bf16 autocast) is measured in the same way beside it.
"""

import argparse
import math
import pathlib
import shutil
import sys
import tempfile

import safetensors.torch
import torch
from torch.nn import functional as F

import cifar
import halftone
from peer_models import ResNet18
from resnet18_reference import Arithmetic, step

FACTOR = 4.0
LOW = {"fp32": None, "amp-fp16": torch.float16, "amp-bf16": torch.bfloat16}
UNIT = {"fp32": 2.0**-24, "amp-fp16": 2.0**-11, "amp-bf16": 2.0**-8}
LOSS_SCALE = 1024.0


def distance(got, reference):
    """Norm of the difference over the norm of the reference."""
    difference = (got.double() - reference.double()).norm()
    return float(difference / reference.double().norm().clamp_min(1e-30))


def reference_step(model, images, labels, precision, noise=None):
    low = LOW[precision]
    dtype = torch.float64 if low is None else torch.float32
    scale = LOSS_SCALE if precision == "amp-fp16" else 1.0
    parameters = {name: p.detach() for name, p in model.named_parameters()}
    return step(parameters, images, labels, Arithmetic(low, noise), dtype, scale)


def pytorch_step(model, images, labels, precision):
    """PyTorch as users run it; None for f16, which it has no usable convolution for on a CPU."""
    if precision == "amp-fp16":
        return None
    model.train()
    model.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=precision == "amp-bf16"):
        loss = F.cross_entropy(model(images), labels)
    loss.backward()
    return float(loss.detach()), {name: p.grad.clone() for name, p in model.named_parameters()}


def engine_step(binary, folder, model, indices, precision, data):
    """One step of halftone from the model's weights and buffers."""
    weights, order, dump = folder / "weights.safetensors", folder / "order.txt", folder / "gradients.safetensors"
    safetensors.torch.save_file({k: v.contiguous() for k, v in model.state_dict().items()}, weights)
    cifar.write_order(order, [indices])
    dump.unlink(missing_ok=True)
    shutil.rmtree(folder / "run", ignore_errors=True)
    output = halftone.run(binary, "train", *cifar.train_settings(data, precision, len(indices)),
                          "--set", f"dataset.order={order}", "--set", f"model.init_from={weights}",
                          "--set", "max_steps=1", "--set", "dataset.test_limit=1",
                          "--dump-gradients", str(dump), "--out", str(folder / "run"), "--json")
    tensors = safetensors.torch.load_file(dump)
    recorded = [e["loss"] for e in halftone.events(output) if e["event"] == "step"]
    loss = float(tensors["loss"]) if "loss" in tensors else recorded[0]
    return loss, {name[5:]: t for name, t in tensors.items() if name.startswith("grad.")}


def advance(optimizer, model, gradients):
    for name, parameter in model.named_parameters():
        parameter.grad = gradients[name].float()
    optimizer.step()


class Worst:
    """The worst tensor of one step, for us and for PyTorch, as multiples of what another order of sums does."""

    def __init__(self, reference, perturbed, got, unit, batch):
        loss, gradients, logits = reference
        self.loss_error = abs(got[0] - loss)
        self.loss_spread = max(max(abs(p[0] - loss) for p in perturbed), 2.0**-23 * abs(loss),
                               2 * unit * logits / math.sqrt(batch))
        self.rows = []
        for name, value in gradients.items():
            spread = max(distance(p[1][name], value) for p in perturbed)
            mine = distance(got[1][name], value) if name in got[1] else float("inf")
            self.rows.append((mine / max(spread, 2.0**-23), mine, spread, name))
        self.rows.sort(reverse=True)

    def failures(self):
        wrong = [row for row in self.rows if not row[0] <= FACTOR]
        return wrong, not self.loss_error <= FACTOR * self.loss_spread


def one_step(options, model, data, indices, precision, seed, folder):
    """Prints a row of the table; returns (gradients to go on with, failure)."""
    images, labels = data.batch(indices)
    reference = reference_step(model, images, labels, precision)
    perturbed = [reference_step(model, images, labels, precision, torch.Generator().manual_seed(seed + k))
                 for k in range(1 if precision == "fp32" else options.perturbations)]
    bound = UNIT[precision], len(indices)
    # The engine first: PyTorch's step in training mode moves the running statistics.
    got = engine_step(options.halftone, folder, model, indices, precision, options.data)
    ours = Worst(reference, perturbed, got, *bound)
    peer = pytorch_step(model, images, labels, precision)
    peer_worst = Worst(reference, perturbed, peer, *bound).rows[0] if peer else None
    ratio, error, spread, name = ours.rows[0]
    print(f"| {reference[0]:.6f} | {ours.loss_error:.2e} | {ours.loss_spread:.2e} | {name} | {error:.2e} | {spread:.2e} "
          f"| {ratio:.2f} | {f'{peer_worst[0]:.2f}' if peer_worst else '-'} |", flush=True)
    wrong, wrong_loss = ours.failures()
    for row in wrong:
        print(f"    beyond the bound: {row[3]}: {row[1]:.3e}, another order of sums {row[2]:.3e}")
    if wrong_loss:
        print(f"    beyond the bound: loss: {ours.loss_error:.3e}, another order of sums {ours.loss_spread:.3e}")
    return reference[1], bool(wrong) or wrong_loss


def compare_precision(options, precision, data):
    torch.manual_seed(options.seed)
    model = ResNet18()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4)
    print(f"\n{precision}: {options.steps} steps, batch {options.batch}")
    print("| loss | our difference | another order | worst gradient | our difference | another order | ratio | PyTorch's ratio |")
    print("| ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: |")
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for k, indices in enumerate(cifar.batches(len(data.labels), options.batch, options.steps, options.seed)):
            gradients, wrong = one_step(options, model, data, indices, precision, 1000 * k, pathlib.Path(folder))
            failed += wrong
            if precision == "amp-fp16":  # nothing moved the running statistics yet
                with torch.no_grad():
                    model.train()(data.batch(indices)[0])
            advance(optimizer, model, gradients)
    print(f"{precision}: {failed} of {options.steps} steps beyond {FACTOR} times another order of the sums")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    halftone.add_binary_option(parser)
    parser.add_argument("--data", default=str(cifar.default_folder()), help="folder of the CIFAR-100 pack")
    parser.add_argument("--precision", action="append", choices=list(LOW))
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--perturbations", type=int, default=2, help="perturbed reference runs a step (in fp32, where f64 is slow, one)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    data = cifar.Cifar100(options.data)
    return 1 if sum(compare_precision(options, p, data) for p in options.precision or LOW) else 0


if __name__ == "__main__":
    sys.exit(main())
