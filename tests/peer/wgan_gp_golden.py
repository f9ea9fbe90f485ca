#!/usr/bin/env python3
"""Writes golden/wgan_gp.safetensors.xz: a WGAN-GP critic step (Gulrajani et al. 2017, algorithm 1) by PyTorch, for the test of
recipe training-loops.md#gradient-penalty (3.4) in a library's form: the penalty is on the critic's gradient by its
input.

The critic has two convolutions and a linear layer with tanh between them (smooth, so that roundings decide no branch).
Kept are the weights, the batches, and for each way to compute the two losses and the gradients of the weights:

    exact/...     f64
    fp32/...      f32
    amp-fp16/...  autocast of convolutions and products to f16 and a GradScaler's recipe, both PyTorch's own

The distance of PyTorch's f32 and AMP results from the exact ones is what the test measures ours by.
"""

import sys

import torch
from torch.nn import functional as F

import golden_file

SCALE = 1024.0
PENALTY = 10.0


def make_inputs():
    generator = torch.Generator().manual_seed(5)

    def uniform(bound, *shape):
        return (torch.rand(shape, generator=generator) * 2 - 1) * bound

    weights = {
        "conv1.weight": uniform(0.25, 6, 1, 4, 4), "conv1.bias": uniform(0.25, 6),
        "conv2.weight": uniform(0.1, 12, 6, 4, 4), "conv2.bias": uniform(0.1, 12),
        "fc.weight": uniform(0.07, 1, 12 * 4 * 4), "fc.bias": uniform(0.07, 1),
    }
    batches = {"real": uniform(1, 8, 1, 16, 16), "fake": torch.randn(8, 1, 16, 16, generator=generator).clamp(-2, 2),
               "mix": torch.rand(8, 1, 1, 1, generator=generator)}
    return weights, batches


def critic(w, x):
    h = torch.tanh(F.conv2d(x, w["conv1.weight"], w["conv1.bias"], stride=2, padding=1))
    h = torch.tanh(F.conv2d(h, w["conv2.weight"], w["conv2.bias"], stride=2, padding=1))
    return F.linear(h.flatten(1), w["fc.weight"], w["fc.bias"])


def step(weights, batches, dtype, amp):
    w = {name: t.to(dtype).requires_grad_(True) for name, t in weights.items()}
    real, fake, mix = (batches[name].to(dtype) for name in ("real", "fake", "mix"))
    between = (mix * real + (1 - mix) * fake).requires_grad_(True)
    scale = SCALE if amp else 1.0

    def region():
        return torch.autocast("cpu", torch.float16, enabled=amp)

    with region():
        wasserstein = critic(w, fake).to(dtype).mean() - critic(w, real).to(dtype).mean()
        judged = critic(w, between)
    g, = torch.autograd.grad(judged.to(dtype).sum() * scale, between, create_graph=True)
    g = g * (1 / scale)
    with region():
        penalty = PENALTY * (g.flatten(1).norm(dim=1) - 1).square().mean()
        total = wasserstein + penalty
    (total * scale).backward()
    return {"wasserstein": wasserstein, "penalty": penalty,
            **{f"grad.{name}": t.grad / scale for name, t in w.items()}}


def main():
    weights, batches = make_inputs()
    tensors = {**weights, **batches}
    for name, dtype, amp in (("exact", torch.float64, False), ("fp32", torch.float32, False),
                             ("amp-fp16", torch.float32, True)):
        for key, value in step(weights, batches, dtype, amp).items():
            tensors[f"{name}/{key}"] = value.detach().contiguous()
    path = golden_file.write_tensors("wgan_gp", tensors)
    print(f"{path.stat().st_size} bytes")
    for name in ("fp32", "amp-fp16"):
        for key in ("wasserstein", "penalty", *(f"grad.{k}" for k in weights)):
            exact = tensors[f"exact/{key}"]
            distance = (tensors[f"{name}/{key}"].double() - exact).norm() / exact.norm()
            print(f"{name:9} {key:20} {float(distance):.3g}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
