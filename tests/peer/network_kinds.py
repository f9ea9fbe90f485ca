#!/usr/bin/env python3
"""network_kinds.py PROGRAM [--cases N]: shapes, and names, sizes and order of parameters and buffers that `halftone network` finds,
against PyTorch's modules and functions on the meta device: N random calls (default 50) of each kind of layer, and the templates.

A call that PyTorch refuses has to be refused, and the other way round. Its AvgPool3d, and LPPool3d with it, alone refuse inputs that are smaller
than the window before they are padded or rounded up; those calls are not compared.
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
    return given, [], {"dims": dims}, lambda a, n: nn.RMSNorm(given[len(given) - dims:], eps=torch.finfo(torch.float32).eps)


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


def power_pool(name, dims):
    def case(draw):
        given = shape(draw, dims)
        named = {"ceil_mode": draw.random() < 0.5}
        if draw.random() < 0.7:
            named["stride"] = draw.randint(1, 3)
        return given, [draw.choice([1, 2, 3]), draw.randint(1, 4) if dims == 1 else sizes(draw, dims, 1, 4)], named, lambda a, n: getattr(nn, name)(*a, **n)
    return case


def channel_dropout(name):
    def case(draw):
        given = shape(draw, draw.randint(1, 3))
        # PyTorch's modules take a sample without a batch too, and warn about other ranks.
        rank = len(given) == int(name[-2]) + 1
        return given, [0.5], {}, lambda a, n: getattr(nn, name)(*a) if rank else Function(refused)
    return case


def refused(x):
    raise ValueError


def parts_of(draw, size):
    """Sizes with this product, one of them perhaps -1."""
    divisors = [d for d in range(1, size + 1) if size % d == 0]
    parts = [draw.choice(divisors)]
    parts.append(size // parts[0] if draw.random() < 0.8 else draw.randint(1, 5))
    if draw.random() < 0.5:
        parts[draw.randint(0, 1)] = -1
    return parts


def unflatten(draw):
    given = shape(draw, draw.randint(0, 2))
    dim = draw.randint(1, len(given))
    parts = parts_of(draw, given[dim - 1])
    return given, [dim, parts], {}, lambda a, n: nn.Unflatten(dim, parts)


def reshape(draw):
    given = shape(draw, draw.randint(0, 2), high=6)
    total = 1
    for size in given:
        total *= size
    parts = parts_of(draw, total)
    return given, parts, {}, lambda a, n: Function(lambda x: x.reshape(x.size(0), *parts))


def split(draw):
    given = shape(draw, draw.randint(0, 2))
    dim, n = draw.randint(1, len(given)), draw.randint(1, 4)
    i = draw.randint(0, n)
    whole = given[dim - 1] % n == 0
    return given, [dim, i, n], {}, lambda a, k: Function(lambda x: x.chunk(n, dim)[i] if whole else refused(x))


def rolled(draw):
    given = shape(draw, draw.randint(0, 3))
    dims = draw.sample(range(1, len(given) + 1), draw.randint(1, len(given)))
    shifts = [draw.randint(-5, 5) for _ in dims]
    return given, [shifts, dims], {}, lambda a, n: Function(lambda x: x.roll(shifts, dims))


def rotary(draw):
    """On even numbers of features alone."""
    given = [draw.randint(1, 9) for _ in range(draw.randint(1, 3))]
    fits = len(given) > 1 and given[-1] % 2 == 0
    return given, [], {}, lambda a, n: Function(lambda x: x if fits else refused(x))


def plain_attention(draw):
    given = [draw.randint(1, 9), draw.choice([4, 6, 8, 12])]
    heads = draw.randint(1, 5)

    def attend(x):
        q = x.unflatten(2, (heads, given[-1] // heads)).transpose(1, 2)
        return nn.functional.scaled_dot_product_attention(q, q, q).transpose(1, 2).flatten(2)
    return given, [heads], {"causal": draw.random() < 0.5}, lambda a, n: Function(attend)


def reduction(function):
    def case(draw):
        given = shape(draw, draw.randint(0, 3))
        dims = draw.sample(range(1, len(given) + 1), draw.randint(1, len(given)))
        named = {"keepdim": draw.random() < 0.5}
        return given, [dims], named, lambda a, n: Function(lambda x: function(x, dims, keepdim=n["keepdim"]))
    return case


def function(call, *arguments):
    def case(draw):
        given = shape(draw, draw.randint(0, 3))
        return given, list(arguments), {}, lambda a, n: Function(call)
    return case


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

# Kinds whose gradients network_steps.py compares with cases of its own.
FURTHER = {
    "Mean": reduction(torch.mean), "Sum": reduction(torch.sum), "Max": reduction(torch.amax),
    **{f"LPPool{d}d": power_pool(f"LPPool{d}d", d) for d in (1, 2, 3)},
    **{f"Dropout{d}d": channel_dropout(f"Dropout{d}d") for d in (1, 2, 3)}, "DropPath": function(lambda x: x, 0.5),
    "Rotary": rotary, "Attention": plain_attention, "Unflatten": unflatten, "Reshape": reshape, "Split": split, "Roll": rolled,
    "Flip": view(lambda draw, rank: draw.sample(range(1, rank), draw.randint(1, rank - 1)), lambda x, *d: x.flip(d)),
    "Abs": function(torch.abs), "Square": function(torch.square), "Sqrt": function(torch.sqrt), "Exp": function(torch.exp), "Log": function(torch.log),
    "Scale": function(lambda x: x * 3, 3), "Clamp": function(lambda x: x.clamp(-1, 1), -1, 1),
    "Normalize": function(lambda x: nn.functional.normalize(x, dim=1), 1), "Activation": function(torch.relu, "relu"),
}

# Functions of a value and of its mean over some dimensions, which stay as 1; rank: the value's.
MERGES = {
    **{name: (lambda draw, rank: [], call) for name, call in (
        ("Add", torch.add), ("Sub", torch.sub), ("Mul", torch.mul), ("Div", torch.div), ("Maximum", torch.maximum), ("Minimum", torch.minimum))},
    "MatMul": (lambda draw, rank: [], torch.matmul),
    "Stack": (lambda draw, rank: [inner(draw, rank + 1)], lambda x, y, d: torch.stack([x, y.expand_as(x)], d)),
    "CosineSimilarity": (lambda draw, rank: [f"dim={inner(draw, rank)}"], lambda x, y, d: nn.functional.cosine_similarity(x, y, int(d[4:]))),
    "Concat": (lambda draw, rank: [f"dim={inner(draw, rank)}"], lambda x, y, d: concatenated(x, y, int(d[4:]))),
}


def concatenated(x, y, dim):
    """All sizes but one broadcast."""
    want = list(x.shape)
    want[dim] = y.size(dim)
    return torch.cat([x, y.expand(want)], dim)


TABLES = {
    "Embedding": lambda rows, columns, width: nn.Embedding(rows, width),
    "EmbeddingBag": lambda rows, columns, width: nn.EmbeddingBag(rows, width),
    "EmbeddingTables": lambda rows, columns, width: Tables(nn.Embedding(rows, width) for _ in range(columns)),
}


class Tables(nn.ModuleList):
    def forward(self, x):
        return torch.stack([table(x[:, i]) for i, table in enumerate(self)], 1)


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
    return named_shape(out), state(module)


def named_shape(out):
    return " x ".join(["N", *map(str, out.shape[1:])])


def state(module):
    return [[name, list(tensor.shape)] for name, tensor in module.state_dict().items()]


def stated(result):
    return [[each["name"].removeprefix("layer."), each["sizes"]] for each in result["state"]]


def compare_kinds(program, folder, cases):
    wrong = total = refused = 0
    kinds = {**KINDS, **FURTHER}
    for kind, case in kinds.items():
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
            have = (rows[0]["shape"], stated(result)) if rows else None
            if kind in ("AvgPool3d", "LPPool3d") and want is None and have:
                continue
            total += 1
            refused += want is None
            if (want is None) != (have is None) or (want is not None and (want[0] != have[0] or want[1] != have[1])):
                wrong += 1
                print(f"{kind}({call}) of {given}: PyTorch {want}, halftone {have}, {[f['text'] for f in result['faults'][:1]]}")
    print(f"{len(kinds)} kinds, {total} calls, {refused} of them refused by both, {wrong} differ")
    return wrong


def compare_merges(program, folder, cases):
    wrong = 0
    for kind, (arguments, call) in MERGES.items():
        draw = random.Random(kind)
        for _ in range(cases):
            given = shape(draw, draw.randint(0, 3))
            rank = len(given) + 1
            # The batch is 2 here and N there: it must not fit another size by chance.
            dims = draw.sample(range(1, rank), draw.randint(1, rank - 1))
            own = arguments(draw, rank)
            second = "b = Transpose(-1, -2)" if kind == "MatMul" and rank > 2 else f"b = Mean({dims}, keepdim=true)"
            features, lines = reached(given)
            text = "\n".join(["network(features):", *lines, "  a = Identity", f"  {second}", f"  x = {kind}({', '.join(map(str, own))}) from a, b", ""])
            result = check(program, folder, text, "--input", f"features={features}")
            rows = [row for row in result["layers"] if row["layer"].startswith(kind)]
            have = rows[0]["shape"] if rows else None
            x = torch.empty(1009, *given, device="meta")
            try:
                want = named_shape(call(x, x.transpose(-1, -2) if second.startswith("b = T") else x.mean(dims, keepdim=True), *own))
            except (RuntimeError, IndexError):
                want = None
            if have != want:
                wrong += 1
                print(f"{kind}({own}) of {given} and {second}: PyTorch {want}, halftone {have}, {[f['text'] for f in result['faults'][:1]]}")
    print(f"{len(MERGES)} merges, {len(MERGES) * cases} calls, {wrong} differ")
    return wrong


def compare_tables(program, folder, cases):
    wrong = 0
    for kind, make in TABLES.items():
        draw = random.Random(kind)
        for _ in range(cases):
            rows, columns, width = draw.randint(1, 50), draw.randint(1, 9), draw.randint(1, 9)
            result = check(program, folder, f"network(indices):\n  layer: {kind}({width})\n", "--input", f"indices={columns}x{rows}")
            module = make(rows, columns, width)
            want = named_shape(module(torch.zeros(2, columns, dtype=torch.long))), state(module)
            have = result["layers"][0]["shape"], stated(result)
            if have != want:
                wrong += 1
                print(f"{kind}({width}) of {columns} columns of {rows} rows: PyTorch {want}, halftone {have}")
    print(f"{len(TABLES)} kinds of tables, {len(TABLES) * cases} calls, {wrong} differ")
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
            want = state(made())
        have = stated(result)
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
        wrong = sum(compare(arguments.program, folder, arguments.cases) for compare in (compare_kinds, compare_merges, compare_tables))
        wrong += compare_templates(arguments.program, folder)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
