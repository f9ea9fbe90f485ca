#!/usr/bin/env python3
"""Writes golden/models.safetensors.xz: one training step of each model of the catalog in each precision of the CPU, for
`models_test`: the loss and, of every gradient, its norm and 32 of its elements; of networks with many layers, of some
gradients from the first to the last, and 16 elements, in fewer precisions.

Weights, pixels and labels are no part of the file: both sides compute them (`uniform`). The reference is made as in
convnet_steps.py: the network with a rounding written out wherever mixed precision rounds (rounded_layers.py), in
fp32 the network in f64. Each figure carries how far ours may be from it: FACTOR times the farthest of RUNS references in
which each op's result is moved as another order of its sums would move it, sqrt(n) u32 rms(y) + u32 |y| for n terms.

Perturbed runs may agree by chance. So at the least one element as large as a gradient's largest may be rounded to the other
side, 2 u max|g| apart, and the loss may move as one rounding of each logit does, 2 u rms(logits) / sqrt(batch).
The script finds out whether the figures tell each 16-bit precision from fp32, and writes no file unless some model's do:
those of the residual networks do not, since batch norm over few samples magnifies single roundings to more than the precisions'
difference. Gradients that are 0 but for rounding (of a bias in front of a batch norm, where every ReLU is open) are bounded too.
"""

import math
import sys

import torch
from torch.nn import functional as F

import convnets
import golden_file
from golden_numbers import uniform, weight
from peer_models import LeNet, Mlp
from rounded_layers import Arithmetic, Linear, Rounded

FACTOR = 4.0
RUNS = 8
KEPT, KEPT_OF_MANY = 32, 16
COMPARED_OF_MANY = 16  # gradients
LOSS_SCALE = 1024.0
PIXELS = 0  # stream of uniform()

# Low type, loss scale, whether batch norm's weights and the loss are of the low type too.
PRECISIONS = {"fp32": (None, 1.0, False), "amp-fp16": (torch.float16, LOSS_SCALE, False),
              "amp-bf16": (torch.bfloat16, 1.0, False), "o2-fp16": (torch.float16, LOSS_SCALE, False),
              "pure-fp16": (torch.float16, 1.0, True)}
UNIT = {None: 2.0**-24, torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8}


class ConvBias(torch.autograd.Function):
    """Conv with a bias, which is added before the one rounding."""

    @staticmethod
    def forward(ctx, x, weight, bias, arithmetic):
        low = arithmetic.round(weight)
        ctx.save_for_backward(x, low)
        ctx.arithmetic = arithmetic
        return arithmetic.store(F.conv2d(x, low, arithmetic.round(bias)), low[0].numel())

    @staticmethod
    def backward(ctx, g):
        x, weight = ctx.saved_tensors
        a, wanted = ctx.arithmetic, ctx.needs_input_grad
        gx, gw, gb = torch.ops.aten.convolution_backward(
            g, x, weight, [weight.shape[0]], [1, 1], [0, 0], [1, 1], False, [0, 0], 1, [wanted[0], True, True])
        terms = g[:, 0].numel()
        return a.store(gx, weight[:, 0].numel()) if wanted[0] else None, a.store(gw, terms), a.store(gb, terms), None


def mlp(p, x, a):
    layers = len(p) // 2
    for i in range(1, layers + 1):
        x = Linear.apply(x, p[f"fc{i}.weight"], p[f"fc{i}.bias"], a)
        x = F.relu(x) if i < layers else x
    return x


def lenet(p, x, a):
    for name in ("conv1", "conv2"):
        x = F.max_pool2d(F.relu(ConvBias.apply(x, p[f"{name}.weight"], p[f"{name}.bias"], a)), 2)
    x = torch.flatten(x, 1)
    for name in ("fc1", "fc2"):
        x = F.relu(Linear.apply(x, p[f"{name}.weight"], p[f"{name}.bias"], a))
    return Linear.apply(x, p["fc3.weight"], p["fc3.bias"], a)


class Case:
    """The module whose names and shapes hold, the network with its roundings, (batch, H, W, C) or (batch, features), classes."""

    def __init__(self, make, network, shape, classes, options="", precisions=tuple(PRECISIONS)):
        self.make, self.network, self.shape, self.classes = make, network, shape, classes
        self.options, self.precisions = options, precisions


def convnet(kind, stem, shape, options, precisions=tuple(PRECISIONS)):
    def network(p, x, a):
        return convnets.network(kind)(p, x, a, stem, True)

    return Case(lambda: convnets.module(kind, 10, stem), network, shape, 10, options, precisions)


def large(kind, options="stem=imagenet", precisions=tuple(PRECISIONS)):
    return convnet(kind, "imagenet", (4, 36, 36, 3), options, precisions)


# Shapes and classes of the first three are those of the model's first data set in the catalog.
MODELS = {"mlp": Case(lambda: Mlp([2, 64, 64, 2]), mlp, (8, 2), 2),
          "lenet": Case(lambda: LeNet(1, 28, 20), lenet, (8, 28, 28, 1), 20),
          "resnet18": convnet("resnet18", "cifar", (2, 32, 32, 3), ""),
          "mobilenetv2": large("mobilenetv2", "stem=imagenet dropout=0")}
MODELS |= {kind: large(kind, precisions=("fp32", "amp-fp16", "amp-bf16")) for kind in ("resnet34", "resnet50", "resnext50")}
# Names and shapes alone: ResNet-50's code, and too slow for a test.
MODELS |= {kind: large(kind, precisions=()) for kind in ("resnet101", "resnet152", "resnext101")}


def step(network, weights, pixels, labels, precision, noise):
    """(loss, {name: gradient}, rms of the logits); gradients unscaled."""
    low, scale, all_low = PRECISIONS[precision]
    a = Arithmetic(low, noise)
    dtype = torch.float64 if low is None else torch.float32
    p = {name: (a.round(w) if all_low else w).to(dtype, copy=True).requires_grad_(True) for name, w in weights.items()}
    logits = network(p, a.round(pixels.to(dtype)), a)
    loss = F.cross_entropy(Rounded.apply(logits, a), labels)
    (loss * scale).backward()
    gradients = {name: (a.round(w.grad) if all_low else w.grad) / scale for name, w in p.items()}
    loss, logits = loss.detach(), logits.detach()
    return float(a.round(loss) if all_low else loss), gradients, float(logits.square().mean().sqrt())


def compared(names):
    """The names of the gradients whose figures are stored, and the number of their elements."""
    if len(names) < 4 * COMPARED_OF_MANY:
        return names, KEPT
    return [names[i * (len(names) - 1) // (COMPARED_OF_MANY - 1)] for i in range(COMPARED_OF_MANY)], KEPT_OF_MANY


def kept(gradient, most):
    """Elements spread over the whole tensor; all of a small one."""
    flat = gradient.double().flatten()
    count = min(most, len(flat))
    return flat[torch.arange(count) * len(flat) // count]


def golden_gradient(exact, perturbed, unit, most):
    """[norm, its allowed difference, the allowed norm of the stored elements' difference, stored elements]."""
    apart = FACTOR * max(float((g.double() - exact.double()).norm()) for g in perturbed)
    apart = max(apart, 2 * unit * float(exact.abs().max()))
    sample = kept(exact, most)
    # Where the difference is spread evenly, the kept elements' share of it; in few runs they may be nearer by chance.
    share = apart * math.sqrt(len(sample) / exact.numel())
    sample_apart = max(share, 2 * unit * float(sample.abs().max()),
                       *(FACTOR * float((kept(g, most) - sample).norm()) for g in perturbed))
    return torch.tensor([float(exact.double().norm()), apart, sample_apart, *sample.tolist()], dtype=torch.float64)


def beyond(gradients, goldens):
    """The number of a step's gradients that its golden figures reject."""
    count = 0
    for name, (norm, norm_apart, kept_apart, *elements) in ((n, g.tolist()) for n, g in goldens.items()):
        difference = kept(gradients[name], len(elements)) - torch.tensor(elements, dtype=torch.float64)
        wrong_norm = abs(float(gradients[name].double().norm()) - norm) > norm_apart
        count += wrong_norm or float(difference.norm()) > kept_apart
    return count


def check_network(model, weights, pixels, labels, loss, gradients):
    """Checks that the network written out for its roundings is the module's, without roundings."""
    model.double().train()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(weights[name])
    expected = F.cross_entropy(model(pixels.double()), labels)
    expected.backward()
    apart = max(float((gradients[name] - p.grad).norm() / p.grad.norm()) for name, p in model.named_parameters())
    if max(apart, abs(loss - float(expected.detach()))) > 2.0**-36:
        sys.exit(f"the network differs from its module by {apart:.1e}")


def add_names(kind, model, tensors_compared, metadata):
    named = {name: tuple(p.shape) for name, p in model.named_parameters()}
    metadata[f"{kind}.parameters"] = "\n".join(" ".join(map(str, (name, *size))) for name, size in named.items())
    metadata[f"{kind}.buffers"] = "\n".join(name for name, _ in model.named_buffers())
    metadata[f"{kind}.count"] = str(sum(p.numel() for p in model.parameters()))
    metadata[f"{kind}.compared"] = "\n".join(tensors_compared)
    case = MODELS[kind]
    metadata[f"{kind}.batch"] = " ".join(map(str, (*case.shape, case.classes)))
    metadata[f"{kind}.options"] = case.options
    metadata[f"{kind}.precisions"] = " ".join(case.precisions)


def add_model(kind, tensors, metadata):
    """Adds the model's figures. Returns by precision how many gradients of the fp32 step they reject."""
    case = MODELS[kind]
    model, network, shape = case.make(), case.network, case.shape
    names, most = compared([name for name, _ in model.named_parameters()])
    add_names(kind, model, names, metadata)
    if not case.precisions:
        return {}
    weights = {name: weight(i, name, tuple(p.shape)) for i, (name, p) in enumerate(model.named_parameters())}
    pixels = uniform(PIXELS, shape).float()
    if len(shape) == 4:
        pixels = pixels.permute(0, 3, 1, 2).contiguous()
    labels = torch.arange(shape[0]) * 7 % case.classes
    loss, plain, _ = step(network, weights, pixels, labels, "fp32", None)
    check_network(model, weights, pixels, labels, loss, plain)
    told = {}
    for precision in case.precisions:
        low = PRECISIONS[precision][0]
        exact = step(network, weights, pixels, labels, precision, None)
        perturbed = [step(network, weights, pixels, labels, precision, torch.Generator().manual_seed(k))
                     for k in range(RUNS)]
        unit = UNIT[low]
        apart = max(2.0**-23 * abs(exact[0]), 2 * unit * exact[2] / math.sqrt(shape[0]),
                    *(FACTOR * abs(p[0] - exact[0]) for p in perturbed))
        tensors[f"{kind}/{precision}/loss"] = torch.tensor([exact[0], apart], dtype=torch.float64)
        goldens = {name: golden_gradient(exact[1][name], [p[1][name] for p in perturbed], unit, most) for name in names}
        tensors.update({f"{kind}/{precision}/{name}": golden for name, golden in goldens.items()})
        loosest, refused = max(float(g[1] / g[0]) for g in goldens.values()), beyond(plain, goldens)
        print(f"{kind:11} {precision:9} loss {exact[0]:.6f} +- {apart:.1e}, gradients within {loosest:.1e} of their "
              f"norms, {refused} of {len(goldens)} tell it from fp32", flush=True)
        told[precision] = refused
    return told


def main():
    torch.set_num_threads(1)
    tensors, metadata = {}, {"precisions": " ".join(PRECISIONS)}
    told = [add_model(kind, tensors, metadata) for kind in MODELS]
    alike = [name for name, (low, _, _) in PRECISIONS.items() if low and not any(refused.get(name) for refused in told)]
    if alike:
        sys.exit(f"no model's bounds tell {', '.join(alike)} from fp32")
    path = golden_file.write_tensors("models", tensors, metadata)
    print(f"{path.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
