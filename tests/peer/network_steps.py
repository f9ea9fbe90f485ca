#!/usr/bin/env python3
"""Writes golden/network_steps.txt.xz: a training step of small networks in the network notation, for `models_test`: of each kind of layer that
learns nothing by chance, the loss and, of every gradient, its norm and 16 of its elements, as PyTorch computes them in f64.

Weights and inputs are no part of the file: both sides compute them (golden_numbers.py). Each figure carries how
far ours, in fp32, may be from it: FACTOR times the farthest of RUNS runs in which every input and weight is moved by up to PERTURBATION
of itself, which is four roundings, and at the least FLOOR of the largest gradient, or of the sum that makes the loss. Random layers
(dropout) have tests of their own, and those of torch.nn come from network_kinds.py, with the first arguments that fit.
"""
import json
import math
import pathlib
import random

import torch
from torch import nn
from torch.nn import functional as F

import golden_file
import network_kinds
from golden_numbers import uniform, weight

FACTOR, RUNS, PERTURBATION, FLOOR = 4.0, 6, 2.0**-22, 2.0**-19
KEPT, BATCH, OUTPUTS, WINDOW = 16, 4, 3, 5
LOSS_STREAM = 5000
RANDOM = {"Dropout"}
TEMPLATES = pathlib.Path(__file__).resolve().parents[2] / "resources" / "networks"


class Net(nn.Module):
    """Parameters and modules by name, in the order of the text; forward(self, *inputs)."""

    def __init__(self, parts, forward):
        super().__init__()
        for name, part in parts.items():
            self.register_parameter(name, part) if isinstance(part, nn.Parameter) else self.add_module(name, part)
        self.function = forward

    def forward(self, *inputs):
        return self.function(self, *inputs)


class Case:
    def __init__(self, name, text, make, features=0, tokens=0, indices=(), image=()):
        self.name, self.text, self.make = name, text, make
        self.features, self.tokens, self.indices, self.image = features, tokens, indices, image

    def inputs(self):
        out = []
        if self.image:
            out.append(uniform(0, (BATCH, *self.image)))
        if self.features:
            out.append(uniform(0, (BATCH, self.features)))
        if self.tokens:
            out.append((torch.arange(BATCH * WINDOW) * 7 + 3).remainder(self.tokens).reshape(BATCH, WINDOW))
        if self.indices:
            columns, rows = self.indices
            out.append((torch.arange(BATCH * columns) * 7 + 3).remainder(rows).reshape(BATCH, columns))
        return out


def first(result):
    return result[0] if isinstance(result, tuple) else result


def network_text(head, lines):
    return head + ":\n" + "".join(f"  {line}\n" for line in lines)


def of_kinds():
    """A case of each kind of network_kinds.py: behind a linear layer, and before another."""
    for kind, case in network_kinds.KINDS.items():
        if kind in RANDOM:
            continue
        draw = random.Random(kind)
        while True:
            given, arguments, named, make = case(draw)
            total, lines = network_kinds.reached(given)
            # Small enough for a file, and with more than one value for each channel.
            if total > 600 or (len(given) > 1 and math.prod(given[1:]) < 2):
                continue
            try:
                layer = make(arguments, named)
                out = first(layer(torch.zeros(BATCH, *given)))
                end = out.numel() // BATCH if out.dim() > 1 else 0
            except (RuntimeError, ValueError, IndexError, AssertionError, NotImplementedError):
                continue
            if 0 < end <= 2000:
                break
        call = ", ".join([*map(network_kinds.written, arguments), *(f"{key}={network_kinds.written(value)}" for key, value in named.items())])
        text = network_text("network(features)", [f"pre: Linear({total})", *(line.strip() for line in lines), f"layer: {kind}({call})", "Flatten", "fc: Linear(outputs)"])

        def made(kind=kind, given=given, arguments=arguments, named=named, make=make, total=total, end=end):
            parts = {"pre": nn.Linear(8, total), "layer": make(arguments, named), "fc": nn.Linear(end, OUTPUTS)}
            return Net(parts, lambda m, x: m.fc(first(m.layer(m.pre(x).reshape(-1, *given))).flatten(1)))

        yield Case(kind, text, made, features=8)


def function(name, lines, f, end, given=(2, 4, 6)):
    """f of an image, between two linear layers. Lines that take the values a and b have two images."""
    two = any("a, b" in line for line in lines)
    total = math.prod(given)
    shape = f"[{', '.join(map(str, given))}]"
    begin = ["la: Linear(%d)" % total, f"a = Unflatten(1, {shape})"]
    if two:
        begin += ["lb: Linear(%d) from features" % total, f"b = Unflatten(1, {shape})"]

    def made():
        parts = {"la": nn.Linear(8, total), **({"lb": nn.Linear(8, total)} if two else {}), "fc": nn.Linear(end, OUTPUTS)}

        def run(m, x):
            values = [m.la(x).reshape(-1, *given)] + ([m.lb(x).reshape(-1, *given)] if two else [])
            return m.fc(f(*values).flatten(1))
        return Net(parts, run)

    return Case(name, network_text("network(features)", [*begin, *lines, "Flatten", "fc: Linear(outputs)"]), made, features=8)


def of_functions():
    yield function("Reshape", ["Reshape(6, -1)"], lambda a: a.reshape(-1, 6, 8), 48)
    yield function("Unflatten", ["Unflatten(3, [-1, 2])", "Transpose(1, 4)"], lambda a: a.unflatten(3, (-1, 2)).transpose(1, 4), 48)
    yield function("Split", ["Split(3, 1, 3)"], lambda a: a.chunk(3, 3)[1], 16)
    yield function("Slice step", ["Slice(2, 0, 4, step=2)"], lambda a: a[:, :, 0:4:2], 24)
    yield function("Flip", ["Flip(2, -1)"], lambda a: a.flip(2, 3), 48)
    yield function("Roll", ["Roll([1, -2], [2, 3])"], lambda a: a.roll((1, -2), (2, 3)), 48)
    yield function("LPPool2d", ["Softplus", "LPPool2d(3, 2)"], lambda a: F.lp_pool2d(F.softplus(a), 3, 2), 12)
    yield function("LPPool1d", ["Softplus", "Flatten(2)", "LPPool1d(2, 5, stride=3)"], lambda a: F.lp_pool1d(F.softplus(a).flatten(2), 2, 5, 3), 14)
    yield function("LPPool3d", ["Softplus", "Unsqueeze(2)", "LPPool3d(2, [1, 2, 3])"], lambda a: F.lp_pool3d(F.softplus(a).unsqueeze(2), 2, (1, 2, 3)), 8)
    yield function("Scale", ["Scale(0.7)"], lambda a: a * 0.7, 48)
    yield function("Abs", ["Abs"], torch.abs, 48)
    yield function("Square", ["Square"], torch.square, 48)
    yield function("Sqrt", ["Softplus", "Sqrt"], lambda a: F.softplus(a).sqrt(), 48)
    yield function("Exp", ["Exp"], torch.exp, 48)
    yield function("Log", ["Softplus", "Log"], lambda a: F.softplus(a).log(), 48)
    yield function("Clamp", ["Clamp(0.6, 1.4)"], lambda a: a.clamp(0.6, 1.4), 48)
    yield function("Max", ["Max([2, 3])"], lambda a: a.amax((2, 3)), 2)
    yield function("Sum", ["Sum(1, keepdim=true)"], lambda a: a.sum(1, keepdim=True), 24)
    yield function("Normalize", ["Normalize(2)"], lambda a: F.normalize(a, dim=2), 48)
    yield function("Activation", ["Activation(hardswish)", "Activation(log_sigmoid)"], lambda a: F.logsigmoid(F.hardswish(a)), 48)
    yield function("GELU tanh", ["GELU(approximate=tanh)"], lambda a: F.gelu(a, approximate="tanh"), 48)
    yield function("LeakyReLU", ["x = Constant(-1)", "Add from a, x", "LeakyReLU(0.2)"], lambda a: F.leaky_relu(a - 1, 0.2), 48)
    yield function("Add", ["Add from a, b, a"], lambda a, b: a + b + a, 48)
    yield function("Sub", ["Sub from a, b"], lambda a, b: a - b, 48)
    yield function("Mul", ["Mul from a, b"], lambda a, b: a * b, 48)
    yield function("Div of exp", ["d = Exp from b", "Div from a, d", "Add from above, b", "y = Identity", "Add from a, b", "Mul from above, y"],
                   lambda a, b: (a + b) * (a / b.exp() + b), 48)
    yield function("Maximum", ["Maximum from a, b"], torch.maximum, 48)
    yield function("Minimum", ["Minimum from a, b"], torch.minimum, 48)
    yield function("MatMul", ["t = Transpose(2, 3) from b", "x = Add from a, b", "MatMul from x, t"], lambda a, b: (a + b) @ b.transpose(2, 3), 32)
    yield function("Concat", ["x = Concat(dim=-1) from a, b", "m = Mean([2, 3], keepdim=true) from a", "Concat from x, m"],
                   lambda a, b: torch.cat([torch.cat([a, b], -1), a.mean((2, 3), keepdim=True).expand(-1, -1, 4, 12)], 1), 192)
    yield function("Stack", ["Stack(1) from a, b", "Select(2, 1)"], lambda a, b: torch.stack([a, b], 1)[:, :, 1], 48)
    yield function("Where", ["c = Softplus from a", "s = Constant(-0.6)", "Add from c, s", "c = ReLU", "Where from c, a, b"],
                   lambda a, b: torch.where((F.softplus(a) - 0.6).relu() != 0, a, b), 48)
    yield function("CosineSimilarity", ["CosineSimilarity from a, b"], lambda a, b: F.cosine_similarity(a, b, dim=1), 24)


def sequence(name, lines, parts, forward, features=24):
    """Layers of a sequence N x 4 x 6."""
    text = network_text("network(features)", ["pre: Linear(24)", "x = Unflatten(1, [4, 6])", *lines, "fc: Linear(outputs)"])
    return Case(name, text, lambda: Net({"pre": nn.Linear(features, 24), **parts()}, lambda m, x: m.fc(forward(m, m.pre(x).reshape(-1, 4, 6)))), features=features)


def tied(m, tokens):
    """A layer before the table's product, and the rows of a window."""
    return (m.mid(m.emb(tokens)) @ m.emb.weight.t()).flatten(0, 1)


def heads(x):
    return x.unflatten(2, (2, -1)).transpose(1, 2)


def attended(q, k, v, causal, mask=None):
    return F.scaled_dot_product_attention(heads(q), heads(k), heads(v), mask, is_causal=causal).transpose(1, 2).flatten(2)


def turned(x, base):
    """As transformers' rotary embedding: N x T x ... x features."""
    half = x.size(-1) // 2
    angles = torch.outer(torch.arange(x.size(1)).double(), base ** (-torch.arange(half).double() / half))
    angles = torch.cat([angles, angles], -1).view(x.size(1), *[1] * (x.dim() - 3), 2 * half)
    return x * angles.cos() + torch.cat([-x[..., half:], x[..., :half]], -1) * angles.sin()


def turned_attention(x):
    q = turned(x.unflatten(2, (3, 2)), 10000)
    k, v = (y.unflatten(2, (3, 2)) for y in (turned(x, 7), x))
    return F.scaled_dot_product_attention(*(y.transpose(1, 2) for y in (q, k, v))).transpose(1, 2).flatten(2)


def of_sequences():
    def mha():
        return nn.MultiheadAttention(6, 2, batch_first=True)

    def mask(length):
        return torch.ones(length, length, dtype=torch.bool).triu(1)

    yield sequence("MultiheadAttention causal", ["a: MultiheadAttention(2, causal=true)", "Flatten"], lambda: {"a": mha(), "fc": nn.Linear(24, 3)},
                   lambda m, x: m.a(x, x, x, need_weights=False, attn_mask=mask(4))[0].flatten(1))
    yield sequence("MultiheadAttention of three", ["q = Slice(1, 0, 2)", "k = Tanh from x", "a: MultiheadAttention(3) from q, k, x", "Flatten"],
                   lambda: {"a": nn.MultiheadAttention(6, 3, batch_first=True), "fc": nn.Linear(12, 3)},
                   lambda m, x: m.a(x[:, :2], x.tanh(), x, need_weights=False)[0].flatten(1))
    yield sequence("Attention", ["k = Tanh", "v = Slice(2, 0, 4) from x", "Attention(2, causal=true) from x, k, v", "Flatten"], lambda: {"fc": nn.Linear(16, 3)},
                   lambda m, x: attended(x, x.tanh(), x[..., :4], True).flatten(1))
    yield sequence("Attention of one", ["Attention(2)", "Flatten"], lambda: {"fc": nn.Linear(24, 3)}, lambda m, x: attended(x, x, x, False).flatten(1))
    yield sequence("MultiheadAttention masked", ["m: Parameter([2, 1, 4])", "a: MultiheadAttention(2, mask=m) from x", "Flatten"],
                   lambda: {"m": nn.Parameter(torch.zeros(2, 1, 4)), "a": mha(), "fc": nn.Linear(24, 3)},
                   lambda m, x: m.a(x, x, x, need_weights=False, attn_mask=m.m.expand(len(x), 2, 4, 4).flatten(0, 1))[0].flatten(1))
    yield sequence("Attention masked", ["k = Tanh", "t = Transpose(1, 2) from x", "MatMul from x, t", "m = Unsqueeze(1)", "Attention(2, mask=m) from x, k, k", "Flatten"], lambda: {"fc": nn.Linear(24, 3)},
                   lambda m, x: attended(x, x.tanh(), x.tanh(), False, (x @ x.transpose(1, 2)).unsqueeze(1)).flatten(1))
    yield sequence("Rotary", ["y = Rotary(base=7)", "Unflatten(2, [3, 2]) from x", "Rotary", "Flatten(2)", "Attention(3) from above, y, x", "Flatten"], lambda: {"fc": nn.Linear(24, 3)},
                   lambda m, x: turned_attention(x).flatten(1))
    yield sequence("LSTM states", ["r: LSTM(5, num_layers=2)", "Add from r.hidden, r.cell"], lambda: {"r": nn.LSTM(6, 5, 2, batch_first=True), "fc": nn.Linear(5, 3)},
                   lambda m, x: (lambda states: states[0][-1] + states[1][-1])(m.r(x)[1]))
    yield sequence("GRU of both directions", ["r: GRU(5, bidirectional=true)", "s = Select(1, 1)", "Add from s, r.hidden"],
                   lambda: {"r": nn.GRU(6, 5, 1, batch_first=True, bidirectional=True), "fc": nn.Linear(10, 3)},
                   lambda m, x: (lambda y, h: y[:, 1] + torch.cat([h[0], h[1]], 1))(*m.r(x)))
    yield sequence("Positions", ["p: Positions(5)", "Add from x, p", "n: LayerNorm(eps=1e-3)", "Flatten"],
                   lambda: {"p": nn.Embedding(5, 6), "n": nn.LayerNorm(6, eps=1e-3), "fc": nn.Linear(24, 3)}, lambda m, x: m.n(x + m.p.weight[:4]).flatten(1))
    yield sequence("Parameter", ["p: Parameter([1, 1, 6])", "y = Concat(dim=1) from p, x", "g: Parameter([6])", "Mul from y, g", "Flatten"],
                   lambda: {"p": nn.Parameter(torch.zeros(1, 1, 6)), "g": nn.Parameter(torch.zeros(6)), "fc": nn.Linear(30, 3)},
                   lambda m, x: (torch.cat([m.p.expand(x.shape[0], 1, 6), x], 1) * m.g).flatten(1))
    yield sequence("Conv1d of reflected", ["Transpose(1, 2)", "c: Conv1d(4, 3, padding=same, padding_mode=reflect)", "Flatten"],
                   lambda: {"c": nn.Conv1d(6, 4, 3, padding="same", padding_mode="reflect"), "fc": nn.Linear(16, 3)}, lambda m, x: m.c(x.transpose(1, 2)).flatten(1))
    yield sequence("BatchNorm1d of features", ["Flatten", "b: BatchNorm1d(momentum=0.3, eps=1e-3)", "ReLU"],
                   lambda: {"b": nn.BatchNorm1d(24, eps=1e-3, momentum=0.3), "fc": nn.Linear(24, 3)}, lambda m, x: m.b(x.flatten(1)).relu())
    yield sequence("PReLU of channels", ["y = Constant(-1)", "Add from x, y", "p: PReLU(num_parameters=4)", "Flatten"], lambda: {"p": nn.PReLU(4), "fc": nn.Linear(24, 3)},
                   lambda m, x: m.p(x - 1).flatten(1))
    yield sequence("Shared", ["e:", "  Linear(6)", "  LayerNorm", "  ReLU", "y = e from e", "Sub from y, x", "Flatten"],
                   lambda: {"e": nn.Sequential(nn.Linear(6, 6), nn.LayerNorm(6), nn.ReLU()), "fc": nn.Linear(24, 3)}, lambda m, x: (m.e(m.e(x)) - x).flatten(1))
    yield Case("Tied", network_text("network(tokens) gives token scores", ["emb: Embedding(6)", "mid: Linear(6)", "Linear(outputs, weight=emb.weight, bias=false)"]),
               lambda: Net({"emb": nn.Embedding(9, 6), "mid": nn.Linear(6, 6)}, tied), tokens=9)
    yield Case("Text", network_text("network(tokens) gives token scores", ["emb: Embedding(6)", "pos: Positions(8)", "Add from emb, pos", "r: RNN(7, carry=true)", "fc: Linear(outputs)"]),
               lambda: Net({"emb": nn.Embedding(9, 6), "pos": nn.Embedding(8, 6), "r": nn.RNN(6, 7, batch_first=True), "fc": nn.Linear(7, 9)},
                           lambda m, t: m.fc(m.r(m.emb(t) + m.pos.weight[:WINDOW])[0]).flatten(0, 1)), tokens=9)
    yield Case("EmbeddingTables", network_text("network(features, indices) gives click score",
                                               ["t: EmbeddingTables(5) from indices", "Flatten", "Concat from features, above", "fc: Linear(outputs)"]),
               lambda: Net({"t": nn.ModuleList([nn.Embedding(6, 5) for _ in range(3)]), "fc": nn.Linear(23, 1)},
                           lambda m, x, i: m.fc(torch.cat([x, *(table(i[:, c]) for c, table in enumerate(m.t))], 1))), features=8, indices=(3, 6))
    yield Case("EmbeddingBag", network_text("network(features, indices) gives click score",
                                            ["b: EmbeddingBag(5, mode=sum) from indices", "Concat from features, b", "fc: Linear(outputs)"]),
               lambda: Net({"b": nn.EmbeddingBag(6, 5, mode="sum"), "fc": nn.Linear(13, 1)},
                           lambda m, x, i: m.fc(torch.cat([x, m.b(i)], 1))), features=8, indices=(3, 6))


def example(name, **options):
    """A template with other defaults."""
    text = (TEMPLATES / f"{name}.network").read_text()
    for option, (default, value) in options.items():
        assert f"{option}{default}" in text, (name, option)
        text = text.replace(f"{option}{default}", f"{option}{value}")
    return text


def double(channels, out):
    return nn.Sequential(*(layer for i in (channels, out) for layer in (nn.Conv2d(i, out, 3, padding=1, bias=False), nn.BatchNorm2d(out), nn.ReLU())))


def unet():
    def up(channels, out):
        return Net({"up": nn.ConvTranspose2d(channels, out, 2, 2), "join": double(2 * out, out)}, lambda m, low, skip: m.join(torch.cat([m.up(low), skip], 1)))

    def run(m, x):
        one = m.down1(x)
        two = m.down2(F.max_pool2d(one, 2))
        middle = m.middle(F.max_pool2d(two, 2))
        return m.head(m.up1(m.up2(middle, two), one)).sigmoid()
    return Net({"down1": double(1, 2), "down2": double(2, 4), "middle": double(4, 8), "up2": up(8, 4), "up1": up(4, 2), "head": nn.Conv2d(2, 1, 1)}, run)


def vit():
    def block():
        def run(m, x):
            n = m.ln_1(x)
            x = m.self_attention(n, n, n, need_weights=False)[0] + x
            return x + m.mlp(m.ln_2(x))
        mlp = nn.Sequential(nn.Linear(6, 24), nn.GELU(), nn.Dropout(0), nn.Linear(24, 6), nn.Dropout(0))
        return Net({"ln_1": nn.LayerNorm(6, eps=1e-6), "self_attention": nn.MultiheadAttention(6, 3, batch_first=True), "ln_2": nn.LayerNorm(6, eps=1e-6), "mlp": mlp}, run)

    def encode(m, x):
        x = x + m.pos_embedding
        for layer in m.layers.children():
            x = layer(x)
        return m.ln(x)
    layers = Net({"encoder_layer_0": block(), "encoder_layer_1": block()}, None)
    encoder = Net({"pos_embedding": nn.Parameter(torch.zeros(1, 5, 6)), "layers": layers, "ln": nn.LayerNorm(6, eps=1e-6)}, encode)

    def run(m, x):
        patches = m.conv_proj(x).flatten(2).transpose(1, 2)
        x = m.encoder(torch.cat([m.class_token.expand(x.shape[0], 1, 6), patches], 1))
        return m.heads.head(x[:, 0])
    return Net({"class_token": nn.Parameter(torch.zeros(1, 1, 6)), "conv_proj": nn.Conv2d(1, 6, 4, 4), "encoder": encoder, "heads": Net({"head": nn.Linear(6, 3)}, None)}, run)


def resnet():
    def block(channels, out, stride):
        parts = {"conv1": nn.Conv2d(channels, out, 3, stride, 1, bias=False), "bn1": nn.BatchNorm2d(out), "conv2": nn.Conv2d(out, out, 3, 1, 1, bias=False),
                 "bn2": nn.BatchNorm2d(out)}
        if stride != 1:
            parts["downsample"] = nn.Sequential(nn.Conv2d(channels, out, 1, stride, bias=False), nn.BatchNorm2d(out))

        def run(m, x):
            return (m.bn2(m.conv2(m.bn1(m.conv1(x)).relu())) + (m.downsample(x) if stride != 1 else x)).relu()
        return Net(parts, run)

    stages = {f"layer{i + 1}": nn.Sequential(block(8 if i == 0 else 8 << i - 1, 8 << i, 1 if i == 0 else 2)) for i in range(2)}

    def run(m, x):
        x = m.layer2(m.layer1(m.bn1(m.conv1(x)).relu()))
        return m.fc(x.mean((2, 3)))
    return Net({"conv1": nn.Conv2d(1, 8, 3, 1, 1, bias=False), "bn1": nn.BatchNorm2d(8), **stages, "fc": nn.Linear(16, 3)}, run)


def clicks():
    def mlp(*sizes):
        return nn.Sequential(*(layer for a, b in zip(sizes, sizes[1:]) for layer in (nn.Linear(a, b), nn.ReLU())))

    def run(m, x, i):
        bottom = m.bottom(x)
        ids = torch.cat([table(i[:, c]) for c, table in enumerate(m.tables)], 1)
        return m.top(torch.cat([bottom, ids], 1))
    return Net({"bottom": mlp(8, 64, 4), "tables": nn.ModuleList([nn.Embedding(6, 4) for _ in range(3)]), "top": nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 1))}, run)


def of_examples():
    yield Case("unet", example("unet", width=(" = 16 in 4", " = 2 in 1")), unet, image=(1, 8, 8))
    yield Case("vit", example("vit", width=(" = 192 in 16", " = 6 in 1"), depth=(" = 12", " = 2")), vit, image=(1, 8, 8))
    yield Case("resnet18", example("resnet18", width=(" = 64", " = 8"), depth=(" = [2, 2, 2, 2]", " = [1, 1]")), resnet, image=(1, 8, 8))
    yield Case("lstm", example("lstm", hidden=(" = 128", " = 8"), dropout=("=0.2", "=0")),
               lambda: Net({"lstm": nn.LSTM(6, 8, 2, batch_first=True), "norm": nn.LayerNorm(8), "fc": nn.Linear(8, 3)},
                           lambda m, x: m.fc(m.norm(m.lstm(x.transpose(1, 2).flatten(2))[0][:, -1]))), image=(1, 5, 6))
    yield Case("siamese", example("siamese", code=(" = 32", " = 4")),
               lambda: Net({"encoder": nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 4)), "fc": nn.Linear(4, 3)},
                           lambda m, x: m.fc((m.encoder(x[:, :4]) - m.encoder(x[:, 4:])).abs())), features=8)
    yield Case("clicks", example("clicks", width=(" = 16", " = 4")), clicks, features=8, indices=(3, 6))


def step(case, noise=None):
    """The loss, the sum of its terms' sizes and the gradients, in f64."""
    module = case.make().double()
    moved = (lambda t: t) if noise is None else (lambda t: t * (1 + PERTURBATION * (2 * torch.rand(t.shape, generator=noise, dtype=torch.float64) - 1)))
    with torch.no_grad():
        for index, (name, parameter) in enumerate(module.named_parameters()):
            parameter.copy_(moved(weight(index, name, parameter.shape).double()))
    inputs = [moved(each.float().double()) if each.is_floating_point() else each for each in case.inputs()]
    y = module(*inputs)
    terms = y * uniform(LOSS_STREAM, y.shape).float().double()
    terms.sum().backward()
    gradients = {name: torch.zeros_like(p) if p.grad is None else p.grad for name, p in module.named_parameters()}
    return terms.sum().item(), terms.abs().sum().item(), gradients


def elements(gradient):
    flat = gradient.flatten()
    count = min(KEPT, flat.numel())
    return flat[[i * flat.numel() // count for i in range(count)]]


def rounded(values):
    return [float(f"{value:.9g}") for value in values]


def figures(case):
    loss, size, gradients = step(case)
    allowed = FLOOR * size
    largest = max(g.abs().max().item() for g in gradients.values())
    norms = dict.fromkeys(gradients, FLOOR * largest)
    apart = dict.fromkeys(gradients, FLOOR * largest)
    for run in range(RUNS):
        other, _, found = step(case, torch.Generator().manual_seed(run))
        allowed = max(allowed, FACTOR * abs(other - loss))
        for name, g in gradients.items():
            norms[name] = max(norms[name], FACTOR * abs((found[name].norm() - g.norm()).item()))
            apart[name] = max(apart[name], FACTOR * (elements(found[name]) - elements(g)).norm().item())
    return {"name": case.name, "text": case.text, "features": case.features, "tokens": case.tokens, "indices": list(case.indices), "image": list(case.image), "loss": rounded([loss, allowed]),
            "gradients": {name: rounded([g.norm().item(), norms[name], apart[name], *elements(g).tolist()]) for name, g in gradients.items()}}


def main():
    cases = [*of_kinds(), *of_functions(), *of_sequences(), *of_examples()]
    text = "".join(json.dumps(figures(case)) + "\n" for case in cases)
    file = golden_file.write("network_steps.txt", text.encode())
    print(f"{len(cases)} networks, {file.stat().st_size} bytes")


if __name__ == "__main__":
    main()
