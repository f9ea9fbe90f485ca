#!/usr/bin/env python3
"""network_kinds.py PROGRAM [--cases N]: shapes, names and order of parameters that `halftone network` finds, against
PyTorch's modules on the meta device: N random calls (default 50) of each kind of layer that torch.nn has, and the templates.

A call that PyTorch refuses has to be refused, and the other way round. Its AvgPool3d alone refuses inputs that are smaller than the
window before they are padded; those calls are not compared.
"""
import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import torch
from torch import nn


def sizes(draw, dims, low, high):
    """A whole number, or one for each dimension."""
    return draw.randint(low, high) if draw.random() < 0.6 else [draw.randint(low, high) for _ in range(dims)]


def shape(draw, dims, low=1, high=17):
    return [draw.choice([2, 3, 4, 6, 8]), *(draw.randint(low, high) for _ in range(dims))]


def convolution(name, dims, transposed):
    def case(draw):
        given = shape(draw, dims)
        groups = draw.choice([1, 1, 1, 2, 3])
        named = {"stride": sizes(draw, dims, 1, 3), "padding": sizes(draw, dims, 0, 3), "dilation": sizes(draw, dims, 1, 2), "groups": groups,
                 "bias": draw.random() < 0.5}
        if transposed:
            named["output_padding"] = sizes(draw, dims, 0, 1)
        elif draw.random() < 0.3:
            named.update(padding="same", stride=1)
        return given, [draw.choice([1, 2, 3, 6]), sizes(draw, dims, 1, 5)], named, lambda a, n: getattr(nn, name)(given[0], *a, **n)
    return case


def pool(name, dims, names):
    def case(draw):
        given = shape(draw, dims)
        all_named = {"stride": sizes(draw, dims, 1, 3), "padding": sizes(draw, dims, 0, 2), "dilation": sizes(draw, dims, 1, 2),
                     "ceil_mode": draw.random() < 0.5, "count_include_pad": draw.random() < 0.5}
        named = {key: all_named[key] for key in names if draw.random() < 0.7}
        return given, [sizes(draw, dims, 1, 4)], named, lambda a, n: getattr(nn, name)(*a, **n)
    return case


def adaptive(name, dims):
    def case(draw):
        given = shape(draw, dims)
        return given, [sizes(draw, dims, 1, 9)], {}, lambda a, n: getattr(nn, name)(*a)
    return case


def norm(name, dims):
    def case(draw):
        given = shape(draw, dims)
        named = {"affine": draw.random() < 0.5, "eps": 0.001}
        return given, [], named, lambda a, n: getattr(nn, name)(given[0], **n)
    return case


def layer_norm(draw):
    given = shape(draw, draw.randint(0, 3))
    dims = draw.randint(1, len(given))
    return given, [], {"dims": dims, "bias": draw.random() < 0.5}, lambda a, n: nn.LayerNorm(given[len(given) - dims:], bias=n["bias"])


def rms_norm(draw):
    given = shape(draw, draw.randint(0, 3))
    dims = draw.randint(1, len(given))
    return given, [], {"dims": dims}, lambda a, n: nn.RMSNorm(given[len(given) - dims:])


def group_norm(draw):
    given = shape(draw, draw.randint(1, 3))
    return given, [draw.randint(1, 4)], {}, lambda a, n: nn.GroupNorm(*a, given[0])


def linear(draw):
    given = shape(draw, draw.randint(0, 3))
    return given, [draw.randint(1, 9)], {"bias": draw.random() < 0.5}, lambda a, n: nn.Linear(given[-1], *a, **n)


def recurrent(name):
    def case(draw):
        given = [draw.randint(1, 9), draw.randint(1, 9)]
        named = {"num_layers": draw.randint(1, 3), "bias": draw.random() < 0.5, "bidirectional": draw.random() < 0.5}
        return given, [draw.randint(1, 9)], named, lambda a, n: getattr(nn, name)(given[-1], *a, batch_first=True, **n)
    return case


class SelfAttention(nn.MultiheadAttention):
    def forward(self, x):
        return super().forward(x, x, x, need_weights=False)


def attention(draw):
    given = [draw.randint(1, 9), draw.choice([4, 6, 8, 12])]
    return given, [draw.randint(1, 5)], {}, lambda a, n: SelfAttention(given[-1], *a, batch_first=True)


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.forward = function


def view(arguments, function):
    def case(draw):
        given = shape(draw, draw.randint(0, 3))
        a = arguments(draw, len(given) + 1)
        return given, a, {}, lambda a, n: Function(lambda x: function(x, *a))
    return case


def inner(draw, rank):
    """A dimension that is not the batch."""
    dim = draw.randint(1, rank - 1)
    return dim - rank if draw.random() < 0.5 else dim


def permutation(draw, rank):
    order = list(range(1, rank))
    draw.shuffle(order)
    return [0, *order]


def activation(name, *required):
    def case(draw):
        given = shape(draw, draw.randint(0, 3))
        return given, list(required), {}, lambda a, n: getattr(nn, name)(*a)
    return case


def pad(draw):
    given = shape(draw, 2, 3)
    sides = [draw.randint(0, 4) for _ in range(4)]
    mode = draw.choice(["zeros", "reflect", "replicate"])
    return given, [sides], {"mode": mode}, lambda a, n: Function(
        lambda x: nn.functional.pad(x, sides, mode={"zeros": "constant"}.get(mode, mode)))


def upsample(draw):
    dims = draw.randint(1, 3)
    given = shape(draw, dims)
    mode = draw.choice(["nearest", "linear", "bilinear", "bicubic", "trilinear"])
    return given, [draw.choice([0.5, 1.5, 2, 3])], {"mode": mode}, lambda a, n: nn.Upsample(scale_factor=a[0], mode=n["mode"])


KINDS = {
    "Linear": linear, "LayerNorm": layer_norm, "RMSNorm": rms_norm, "GroupNorm": group_norm,
    **{f"Conv{d}d": convolution(f"Conv{d}d", d, False) for d in (1, 2, 3)},
    **{f"ConvTranspose{d}d": convolution(f"ConvTranspose{d}d", d, True) for d in (1, 2, 3)},
    **{f"BatchNorm{d}d": norm(f"BatchNorm{d}d", d) for d in (1, 2, 3)}, "InstanceNorm2d": norm("InstanceNorm2d", 2),
    **{f"MaxPool{d}d": pool(f"MaxPool{d}d", d, ("stride", "padding", "dilation", "ceil_mode")) for d in (1, 2, 3)},
    **{f"AvgPool{d}d": pool(f"AvgPool{d}d", d, ("stride", "padding", "ceil_mode", "count_include_pad")) for d in (1, 2, 3)},
    **{f"Adaptive{m}Pool{d}d": adaptive(f"Adaptive{m}Pool{d}d", d) for m in ("Avg", "Max") for d in (1, 2, 3)},
    **{name: activation(name) for name in ("ReLU", "GELU", "SiLU", "Sigmoid", "Tanh", "LeakyReLU", "ELU", "SELU", "CELU", "Hardswish",
                                           "Hardsigmoid", "ReLU6", "Mish", "Softplus", "Softsign", "LogSigmoid", "Identity", "PReLU")},
    "Softmax": activation("Softmax", 1), "LogSoftmax": activation("LogSoftmax", -1), "Dropout": activation("Dropout", 0.5),
    "RNN": recurrent("RNN"), "GRU": recurrent("GRU"), "LSTM": recurrent("LSTM"), "MultiheadAttention": attention,
    "PixelShuffle": lambda draw: (shape(draw, 2), [draw.randint(1, 3)], {}, lambda a, n: nn.PixelShuffle(*a)),
    "PixelUnshuffle": lambda draw: (shape(draw, 2), [draw.randint(1, 3)], {}, lambda a, n: nn.PixelUnshuffle(*a)),
    "Pad": pad, "Upsample": upsample,
    "Flatten": view(lambda draw, rank: [inner(draw, rank)], lambda x, d: x.flatten(d)),
    "Permute": view(permutation, lambda x, *d: x.permute(*d)),
    "Transpose": view(lambda draw, rank: [inner(draw, rank), inner(draw, rank)], lambda x, a, b: x.transpose(a, b)),
    "Squeeze": view(lambda draw, rank: [inner(draw, rank)], lambda x, d: x.squeeze(d)),
    "Unsqueeze": view(lambda draw, rank: [draw.randint(1, rank)], lambda x, d: x.unsqueeze(d)),
    "Select": view(lambda draw, rank: [inner(draw, rank), draw.randint(-3, 3)], lambda x, d, i: x.select(d, i)),
    "Slice": view(lambda draw, rank: [inner(draw, rank), draw.randint(-4, 4), draw.randint(-4, 9)],
                  lambda x, d, a, b: x.movedim(d, 0)[a:b].movedim(0, d)),
    "Mean": view(lambda draw, rank: [inner(draw, rank)], lambda x, d: x.mean(d)),
    "Sum": view(lambda draw, rank: [inner(draw, rank)], lambda x, d: x.sum(d)),
}


def written(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def reached(given):
    """Lines that make N x given of the features."""
    total = 1
    for size in given:
        total *= size
    return total, [f"  Unflatten(1, {list(given)})"] if len(given) > 1 else []


def check(program, folder, text, *options):
    file = folder / "case.network"
    file.write_text(text)
    done = subprocess.run([program, "network", str(file), "--json", *options], capture_output=True, text=True)
    return json.loads(done.stdout)


def torch_result(make, arguments, named, given):
    """Shape with N and the parameters; None if PyTorch refuses, or if nothing is left."""
    batch = 2
    try:
        with torch.device("meta"):
            module = make(arguments, named)
            out = module.eval()(torch.empty(batch, *given))
    except (RuntimeError, ValueError, IndexError, AssertionError, NotImplementedError):
        return None
    out = out[0] if isinstance(out, tuple) else out
    if 0 in out.shape:
        return None
    return " x ".join(["N", *map(str, out.shape[1:])]), [[name, list(p.shape)] for name, p in module.named_parameters()]


def compare_kinds(program, folder, cases):
    wrong = total = refused = 0
    for kind, case in KINDS.items():
        draw = random.Random(kind)
        for _ in range(cases):
            given, arguments, named, make = case(draw)
            # PyTorch cannot average over one value of each channel; shapes do not depend on it.
            want = torch_result(make, arguments, named, given)
            call = ", ".join([*map(written, arguments), *(f"{key}={written(value)}" for key, value in named.items())])
            features, lines = reached(given)
            text = "network(features):\n" + "\n".join([*lines, f"  layer: {kind}({call})", ""])
            result = check(program, folder, text, "--input", f"features={features}")
            rows = [row for row in result["layers"] if row["module"] == "layer"]
            have = (rows[0]["shape"], [[p["name"].removeprefix("layer."), p["sizes"]] for p in result["parameters"]]) if rows else None
            if kind == "AvgPool3d" and want is None and have:
                continue
            total += 1
            refused += want is None
            if (want is None) != (have is None) or (want is not None and (want[0] != have[0] or want[1] != have[1])):
                wrong += 1
                print(f"{kind}({call}) of {given}: PyTorch {want}, halftone {have}, {[f['text'] for f in result['faults'][:1]]}")
    print(f"{len(KINDS)} kinds, {total} calls, {refused} of them refused by both, {wrong} differ")
    return wrong


def compare_templates(program, folder):
    """Names, shapes and order of the templates that torchvision has."""
    try:
        from torchvision import models
    except ImportError:
        print("torchvision is not installed: the templates are not compared")
        return 0
    wrong = 0
    for name, made, options in (("resnet18", models.resnet18, []), ("resnet18", models.resnet34, ["--option", "depth=[3,4,6,3]"]),
                                ("vgg11", models.vgg11, [])):
        text = subprocess.run([program, "network", "--template", name], capture_output=True, text=True, check=True).stdout
        result = check(program, folder, text, "--outputs", "1000", *options)
        with torch.device("meta"):
            want = [[key, list(value.shape)] for key, value in made().named_parameters()]
        have = [[p["name"], p["sizes"]] for p in result["parameters"]]
        if have != want:
            wrong += 1
            print(f"{name} {options}: differs from torchvision at {next((a, b) for a, b in zip(have, want) if a != b)}")
    print(f"3 templates, {wrong} differ")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--cases", type=int, default=50)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        wrong = compare_kinds(arguments.program, folder, arguments.cases) + compare_templates(arguments.program, folder)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
