#!/usr/bin/env python3
"""Every model as ONNX, fp32 and fp16: onnx's checker must accept the file, and onnxruntime must compute what the engine
computes, for two batch sizes, with the weights that PyTorch wrote to a .pt file.

The reference is the network in f64 with weights and inputs of the file's type. The bound is measured, as elsewhere here:
FACTOR times the farthest of RUNS networks in which each op's result is moved as much as another order of its sums would
move it, sqrt(n) u32 rms(y) + u32 |y| for n terms, exp and tanh by four units more, and in fp16 by one rounding of the
result, u16 |y|, after which it is rounded. onnxruntime computes fp16 on a CPU through f32 and may leave roundings out, so
the reference itself has none. Errors are norms of whole tensors.

Beside the engine the tables show the distance to a network whose gates are in another order, whose batch norm has another
epsilon, or which has no positions: what the bound must tell from the right one.
"""

import argparse
import dataclasses
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import numpy
import onnx
import onnxruntime
import safetensors.torch
import torch
from torch.nn import functional as F

import convnets
from drawing_reference import Autoencoder, Dcgan
from peer_models import Dlrm, LeNet, Mlp
from task_reference import RnnLm
from transformer_reference import bert_module, gpt2_module

FACTOR, RUNS, SEED = 4.0, 8, 5
U32, U16 = 2.0**-24, 2.0**-11
FUNCTION_UNITS = 4.0
CELLS = ("lstm", "gru", "rnn-tanh", "rnn-relu")


@dataclasses.dataclass
class Arithmetic:
    """Change to a result: nothing, or another order of its sums and the roundings of the type."""
    noise: torch.Generator | None = None
    half: bool = False

    def moved(self, y, by):
        return y + by * (torch.rand(y.shape, generator=self.noise, dtype=y.dtype) * 2 - 1)

    def store(self, y, terms):
        if self.noise is None:
            return y
        y = self.moved(y, U32 * (y.abs() + math.sqrt(terms) * y.square().mean().sqrt()))
        return self.moved(y, U16 * y.abs()).half().double() if self.half else y

    def function(self, y):
        return y if self.noise is None else self.moved(y, U32 * FUNCTION_UNITS * y.abs())


def linear(p, name, x, a):
    return a.store(F.linear(x, p[f"{name}.weight"], p[f"{name}.bias"]), x.shape[1])


def conv(p, name, x, a, stride=1, padding=None):
    """Groups follow from the shapes; without padding given, the size is kept."""
    weight = p[f"{name}.weight"]
    padding = weight.shape[-1] // 2 if padding is None else padding
    groups = x.shape[1] // weight.shape[1]
    return a.store(F.conv2d(x, weight, p.get(f"{name}.bias"), stride, padding, 1, groups), weight[0].numel())


def norm(p, name, x, a, eps=1e-5):
    return a.store(F.batch_norm(x, p[f"{name}.running_mean"], p[f"{name}.running_var"], p[f"{name}.weight"],
                                p[f"{name}.bias"], False, 0.1, eps), 4)


def mlp(p, inputs, a):
    x, layers = inputs[0].flatten(1), len(p) // 2
    for i in range(1, layers + 1):
        x = linear(p, f"fc{i}", x, a)
        x = F.relu(x) if i < layers else x
    return [x]


def lenet(p, inputs, a):
    x = inputs[0]
    for name in ("conv1", "conv2"):
        x = F.max_pool2d(F.relu(conv(p, name, x, a, padding=0)), 2)
    x = x.flatten(1)
    for name in ("fc1", "fc2"):
        x = F.relu(linear(p, name, x, a))
    return [linear(p, "fc3", x, a)]


def up(p, name, x, a, stride, padding):
    """A transposed convolution."""
    weight = p[f"{name}.weight"]
    return a.store(F.conv_transpose2d(x, weight, p.get(f"{name}.bias"), stride, padding), weight[:, 0].numel())


def autoencoder(p, inputs, a):
    x = F.relu(conv(p, "encoder.0", inputs[0], a, 2, 1))
    x = F.relu(conv(p, "encoder.2", x, a, 2, 1))
    side = x.shape[2]
    x = F.relu(linear(p, "decoder.0", linear(p, "encoder.5", x.flatten(1), a), a))
    x = F.relu(up(p, "decoder.3", x.reshape(len(x), -1, side, side), a, 2, 1))
    return [a.function(a.store(torch.sigmoid(up(p, "decoder.5", x, a, 2, 1)), 1))]


def dcgan(p, inputs, a, eps=1e-5):
    """The generator."""
    layers = sum(name.startswith("generator.") and t.dim() == 4 for name, t in p.items())
    x = up(p, "generator.main.0", inputs[0][:, :, None, None], a, 1, 0)
    for i in range(1, layers):
        x = F.relu(norm(p, f"generator.main.{3 * i - 2}", x, a, eps))
        x = up(p, f"generator.main.{3 * i}", x, a, 2, 1)
    return [a.function(a.store(torch.tanh(x), 1))]


def resnet(p, inputs, a, stem, eps=1e-5):
    def norm_of(x, name):
        return norm(p, name, x, a, eps)

    def block(x, name, stride):
        last, around, y = 3 if f"{name}.conv3.weight" in p else 2, x, x
        if f"{name}.downsample.0.weight" in p:
            around = norm_of(conv(p, f"{name}.downsample.0", x, a, stride=stride), f"{name}.downsample.1")
        for i in range(1, last + 1):
            y = norm_of(conv(p, f"{name}.conv{i}", y, a, stride=stride if i == last - 1 else 1), f"{name}.bn{i}")
            y = F.relu(y) if i < last else y
        return F.relu(a.store(y + around, 1))

    x = F.relu(norm_of(conv(p, "conv1", inputs[0], a, stride=2 if stem == "imagenet" else 1), "bn1"))
    x = F.max_pool2d(x, 3, 2, 1) if stem == "imagenet" else x
    for stage in range(1, 5):
        i = 0
        while f"layer{stage}.{i}.conv1.weight" in p:
            x = block(x, f"layer{stage}.{i}", 2 if stage > 1 and i == 0 else 1)
            i += 1
    return [linear(p, "fc", a.store(x.mean((2, 3)), x.shape[2] * x.shape[3]), a)]


def mobilenetv2(p, inputs, a, stem, eps=1e-5):
    def layer(x, name, norm_name, stride=1):
        return norm(p, norm_name, conv(p, name, x, a, stride=stride), a, eps)

    halving = {2, 4, 7, 14} - ({2} if stem == "cifar" else set())
    x = F.relu6(layer(inputs[0], "features.0.0", "features.0.1", 2 if stem == "imagenet" else 1))
    for block in range(1, 18):
        name, y, layers = f"features.{block}.conv", x, 2 if block > 1 else 1
        for i in range(layers):
            stride = 2 if i == layers - 1 and block in halving else 1
            y = F.relu6(layer(y, f"{name}.{i}.0", f"{name}.{i}.1", stride))
        y = layer(y, f"{name}.{layers}", f"{name}.{layers + 1}")
        x = y if block in {1, 2, 4, 7, 11, 14, 17} else a.store(x + y, 1)
    x = F.relu6(layer(x, "features.18.0", "features.18.1"))
    return [linear(p, "classifier.1", a.store(x.mean((2, 3)), x.shape[2] * x.shape[3]), a)]


def convnet(kind):
    """f(weights, inputs, arithmetic, stem, epsilon of its batch norms)"""
    return mobilenetv2 if kind == "mobilenetv2" else resnet


def cell_step(cell, gx, gh, h, c, a, order):
    def gate(x):
        return a.function(torch.sigmoid(x))

    if cell.startswith("rnn"):
        return (torch.relu(gx + gh) if cell == "rnn-relu" else a.function(torch.tanh(gx + gh))), c
    x, y = gx.chunk(len(order), 1), gh.chunk(len(order), 1)
    x, y = [x[i] for i in order], [y[i] for i in order]
    if cell == "lstm":
        c = gate(x[1] + y[1]) * c + gate(x[0] + y[0]) * a.function(torch.tanh(x[2] + y[2]))
        return gate(x[3] + y[3]) * a.function(torch.tanh(c)), c
    n = a.function(torch.tanh(x[2] + gate(x[0] + y[0]) * y[2]))
    return n + gate(x[1] + y[1]) * (h - n), c


def rnn_lm(cell, tied, p, inputs, a, order=None):
    tokens, *state = inputs
    order = order or range(4 if cell == "lstm" else 3)
    x, new = p["encoder.weight"][tokens.t()], []
    for layer in range(len(state[0])):
        w_ih, w_hh, b_ih, b_hh = (p[f"rnn.{n}_l{layer}"] for n in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
        h, c, rows = state[0][layer], state[-1][layer], []
        for row in x:
            gx, gh = a.store(F.linear(row, w_ih, b_ih), row.shape[1]), a.store(F.linear(h, w_hh, b_hh), h.shape[1])
            h, c = cell_step(cell, gx, gh, h, c, a, order)
            h, c = a.store(h, 4), a.store(c, 4)
            rows.append(h)
        x = torch.stack(rows)
        new.append((h, c))
    weight = p["encoder.weight" if tied else "decoder.weight"]
    out = a.store(F.linear(x.flatten(0, 1), weight, p["decoder.bias"]), weight.shape[1])
    return [out, *(torch.stack(s) for s in list(zip(*new))[:len(state)])]


def layer_norm(p, name, x, a, eps):
    return a.store(F.layer_norm(x, x.shape[-1:], p[f"{name}.weight"], p[f"{name}.bias"], eps), 8)


def gelu(x, a, by_tanh):
    """Opset 17 has no such operator: its products and sums one by one, as in the file."""
    def product(y, z):
        return a.store(y * z, 1)

    if by_tanh:
        inner = a.store(x + product(0.044715, product(product(x, x), x)), 1)
        inner = torch.tanh(product(math.sqrt(2 / math.pi), inner))
    else:
        inner = torch.erf(product(math.sqrt(0.5), x))
    return product(product(0.5, x), a.store(1 + a.store(a.function(inner), 1), 1))


def attention(q, k, v, samples, heads, causal, a):
    q, k, v = (x.view(samples, -1, heads, x.shape[1] // heads).transpose(1, 2) for x in (q, k, v))
    scores = a.store(a.store(q / math.sqrt(q.shape[3]), 1) @ k.transpose(2, 3), q.shape[3])
    if causal:
        scores = scores.masked_fill(torch.ones(scores.shape[2:]).triu(1).bool(), -math.inf)
    weights = a.store(a.function(torch.softmax(scores, -1)), q.shape[2])
    return a.store(weights @ v, q.shape[2]).transpose(1, 2).flatten(0, 1).flatten(1)


def gpt2(heads, p, inputs, a, by_tanh=True):
    def conv1d(x, name):
        return a.store(x @ p[f"{name}.weight"] + p[f"{name}.bias"], x.shape[1])

    tokens, = inputs
    table = p["transformer.wte.weight"]
    x = a.store(table[tokens] + p["transformer.wpe.weight"][:tokens.shape[1]], 1).flatten(0, 1)
    for layer in range(sum(name.endswith("ln_1.weight") for name in p)):
        block = f"transformer.h.{layer}"
        h = conv1d(layer_norm(p, f"{block}.ln_1", x, a, 1e-5), f"{block}.attn.c_attn")
        h = conv1d(attention(*h.chunk(3, 1), len(tokens), heads, True, a), f"{block}.attn.c_proj")
        x = a.store(x + h, 1)
        h = gelu(conv1d(layer_norm(p, f"{block}.ln_2", x, a, 1e-5), f"{block}.mlp.c_fc"), a, by_tanh)
        x = a.store(x + conv1d(h, f"{block}.mlp.c_proj"), 1)
    x = layer_norm(p, "transformer.ln_f", x, a, 1e-5)
    return [a.store(x @ table.t(), x.shape[1])]


def bert(heads, p, inputs, a, by_tanh=False):
    tokens, = inputs
    words, segments, positions = (p[f"bert.embeddings.{n}_embeddings.weight"] for n in ("word", "token_type", "position"))
    x = a.store(a.store(words[tokens] + segments[0], 1) + positions[:tokens.shape[1]], 1).flatten(0, 1)
    x = layer_norm(p, "bert.embeddings.LayerNorm", x, a, 1e-12)
    for layer in range(sum(name.endswith("self.query.weight") for name in p)):
        block = f"bert.encoder.layer.{layer}"
        q, k, v = (linear(p, f"{block}.attention.self.{n}", x, a) for n in ("query", "key", "value"))
        h = linear(p, f"{block}.attention.output.dense", attention(q, k, v, len(tokens), heads, False, a), a)
        x = layer_norm(p, f"{block}.attention.output.LayerNorm", a.store(x + h, 1), a, 1e-12)
        h = gelu(linear(p, f"{block}.intermediate.dense", x, a), a, by_tanh)
        h = linear(p, f"{block}.output.dense", h, a)
        x = layer_norm(p, f"{block}.output.LayerNorm", a.store(x + h, 1), a, 1e-12)
    h = gelu(linear(p, "cls.predictions.transform.dense", x, a), a, by_tanh)
    h = layer_norm(p, "cls.predictions.transform.LayerNorm", h, a, 1e-12)
    return [a.store(h @ words.t() + p["cls.predictions.bias"], h.shape[1])]


def dlrm(p, inputs, a, diagonal=-1):
    def layers(x, name):
        numbers = sorted(int(n.split(".")[1]) for n in p if n.startswith(name) and n.endswith("weight"))
        for number in numbers:
            x = linear(p, f"{name}.{number}", x, a)
            x = F.relu(x) if name == "bot_l" or number != numbers[-1] else x
        return x

    x = layers(inputs[0], "bot_l")
    vectors = torch.stack([x, *(p[f"emb_l.{t}.weight"][inputs[1][:, t]] for t in range(inputs[1].shape[1]))], 1)
    products = a.store(vectors @ vectors.transpose(1, 2), vectors.shape[2])
    i, j = torch.tril_indices(vectors.shape[1], vectors.shape[1], -1)
    if diagonal != -1:  # pairs in another order
        i, j = j.flip(0), i.flip(0)
    return [layers(torch.cat([x, products[:, i, j]], 1), "top_l")]


@dataclasses.dataclass
class Case:
    name: str
    model: torch.nn.Module
    settings: dict
    field: str
    outputs: int
    forward: callable
    inputs: list
    wrong: callable  # another network, which the bound must refuse
    stateless: bool = False  # further inputs are no carried state

    def rows(self, count):
        """The first rows (streams) of the inputs."""
        if self.stateless:
            return [x[:count] for x in self.inputs]
        return [self.inputs[0][:count], *(s[:, :count].contiguous() for s in self.inputs[1:])]


def language_case(cell, tied):
    words, width, hidden, streams = 53, 32, 32 if tied else 24, 6
    model = RnnLm(cell, words, width, hidden, 2, tied)
    with torch.no_grad():
        for name, p in model.named_parameters():  # larger than the initial ones, so that the gates move
            p.copy_(torch.randn(p.shape) * (0.4 if name.startswith("rnn") else 0.5))
    inputs = [torch.randint(words, (streams, 12))] + [torch.randn(2, streams, hidden) * 0.5 for _ in
                                                      range(2 if cell == "lstm" else 1)]
    options = {"cell": cell, "embedding": width, "hidden": hidden, "layers": 2, "tied": tied}
    order = {"lstm": [0, 1, 3, 2], "gru": [1, 0, 2]}.get(cell, None)

    def forward(p, x, a):
        return rnn_lm(cell, tied, p, x, a)

    def wrong(p, x, a):
        return rnn_lm(cell, tied, p, x, a, order) if order else rnn_lm(
            "rnn-tanh" if cell == "rnn-relu" else "rnn-relu", tied, p, x, a)

    return Case(f"rnn-lm {cell}{' tied' if tied else ''}", model, {"kind": "rnn-lm", "options": options}, "tokens 12", words,
                forward, inputs, wrong)


def transformer_case(kind):
    words, width, heads, positions = 53, 32, 4, 12
    module, forward = {"transformer-lm": (gpt2_module, gpt2), "bert": (bert_module, bert)}[kind]
    model = module(words, width, 2, heads, positions).eval()
    with torch.no_grad():
        for p in model.parameters():  # larger than drawn, so that attention and gelu react to their inputs
            p.copy_(p + torch.randn(p.shape) * (0.3 if p.dim() > 1 else 0.1))
    options = {"layers": 2, "width": width, "heads": heads, "context": positions}
    return Case(kind, model, {"kind": kind, "options": options}, f"tokens {positions - 2}", words,
                lambda p, x, a: forward(heads, p, x, a), [torch.randint(words, (6, positions - 2))],
                lambda p, x, a: forward(heads, {n: t * (not n.endswith(("wpe.weight", "position_embeddings.weight")))
                                                for n, t in p.items()}, x, a))


def draw_statistics(model):
    """Running means and variances of its batch norms, as after training."""
    with torch.no_grad():
        for name, b in model.named_buffers():
            if b.is_floating_point():
                b.copy_(torch.rand(b.shape) + 0.5 if name.endswith("var") else torch.randn(b.shape) * 0.1)


def fit_statistics(model, images):
    """Sets the running statistics to those of the images, so that the values of a deep network stay within f16 as after
    training."""
    norms = [m for m in model.modules() if isinstance(m, torch.nn.BatchNorm2d)]
    for m in norms:
        m.momentum = 1.0
    with torch.no_grad():
        model.train()(images)
    for m in norms:
        m.momentum = 0.1


def drawing_cases():
    """Weights larger than the initial ones, so that a wrong layer shows."""
    drawing, pair = Autoencoder(3, 16, 12, 8), Dcgan(3, 3, 16, 8)
    draw_statistics(pair)
    with torch.no_grad():
        for w in pair.generator.parameters():
            w.copy_(w * (10 if w.dim() == 4 else 1))
        for w in drawing.parameters():
            w.copy_(w * 3)
    without_bias = {"encoder.5.bias": 0}
    return [Case("autoencoder", drawing, {"kind": "autoencoder", "options": {"code": 12, "channels": 8}}, "image 3 16 16", 1,
                 autoencoder, [torch.rand(5, 3, 16, 16)],
                 lambda p, x, a: autoencoder({n: t * without_bias.get(n, 1) for n, t in p.items()}, x, a)),
            Case("dcgan", pair, {"kind": "dcgan", "options": {"latent": 16, "channels": 8}}, "latent 16, image 3 32 32", 1,
                 dcgan, [torch.randn(5, 16)], lambda p, x, a: dcgan(p, x, a, 0.03))]


def convnet_case(kind, stem, side):
    model = convnets.module(kind, 10, stem)
    convnets.narrow_blocks(model)
    fit_statistics(model, torch.randn(16, 3, side, side))
    return Case(f"{kind} {stem}", model, {"kind": kind, "options": {"stem": stem}}, f"image 3 {side} {side}", 10,
                lambda p, x, a: convnet(kind)(p, x, a, stem), [torch.randn(3, 3, side, side)],
                lambda p, x, a: convnet(kind)(p, x, a, stem, 0.03))


CONVNETS = (("resnet18", "cifar", 32), *((kind, "imagenet", 36) for kind in convnets.KINDS))


def cases(wanted):
    """The cases whose name is selected; `wanted` is a function of the name."""
    def without_last_bias(forward, last):
        return lambda p, x, a: forward({**p, f"{last}.bias": p[f"{last}.bias"] * 0}, x, a)

    out = [Case("mlp features", Mlp([7, 64, 32, 3]), {"kind": "mlp", "options": {"hidden": [64, 32]}}, "features 7", 3, mlp,
                [torch.randn(5, 7)], without_last_bias(mlp, "fc3")),
           Case("mlp image", Mlp([147, 20, 4]), {"kind": "mlp", "options": {"hidden": [20]}}, "image 3 7 7", 4, mlp,
                [torch.randn(5, 3, 7, 7)], without_last_bias(mlp, "fc2")),
           Case("lenet", LeNet(1, 28, 10), {"kind": "lenet"}, "image 1 28 28", 10, lenet, [torch.randn(5, 1, 28, 28)],
                without_last_bias(lenet, "fc3"))]
    out += [convnet_case(*of) for of in CONVNETS if wanted(f"{of[0]} {of[1]}")]
    clicks = Dlrm(13, 4, 100, 8, [24], [16])
    out.append(Case("dlrm", clicks, {"kind": "dlrm", "options": {"bottom": [24], "top": [16], "embedding": 8}},
                    "features 13, ids 4 100", 1, dlrm, [torch.randn(5, 13), torch.randint(100, (5, 4))],
                    lambda p, x, a: dlrm(p, x, a, 0), stateless=True))
    out += drawing_cases()
    out += [language_case(cell, tied) for cell in CELLS for tied in (False, True)]
    out += [transformer_case(kind) for kind in ("transformer-lm", "bert")]
    return [case for case in out if wanted(case.name)]


def in_type(tensor, half):
    """As the file's type holds it, in f64."""
    if not tensor.is_floating_point():
        return tensor
    return (tensor.half() if half else tensor).double()


def norms_of(model):
    """Names of the tensors of its batch norms, which stay f32."""
    found = [name for name, m in model.named_modules() if isinstance(m, torch.nn.BatchNorm2d)]
    return {name for name in model.state_dict() if name.rpartition(".")[0] in found}


def distance(got, wanted):
    return float((got.double() - wanted.double()).norm())


def engine_run(program, case, half, folder):
    torch.save(case.model.state_dict(), folder / "weights.pt")
    settings = {"model": {**case.settings, "init_from": str(folder / "weights.pt")}}
    (folder / "settings.json").write_text(json.dumps(settings))
    safetensors.torch.save_file({str(i): t.contiguous() for i, t in enumerate(case.inputs)}, folder / "in.safetensors")
    subprocess.run([program, folder / "settings.json", case.field, str(case.outputs), "fp16" if half else "fp32",
                    folder / "in.safetensors", folder / "out.safetensors", folder / "model.onnx"], check=True)
    found = safetensors.torch.load_file(folder / "out.safetensors")
    return [found[str(i)] for i in range(len(found))]


def runtime(path, inputs, half):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    fed = {}
    for port, tensor in zip(session.get_inputs(), inputs, strict=True):
        fed[port.name] = (tensor.half() if half and tensor.is_floating_point() else tensor).numpy()
    return [torch.from_numpy(numpy.asarray(t)).float() for t in session.run(None, fed)]


def check_names(path, model):
    """The checker's verdict, and PyTorch's names and shapes among the initializers."""
    file = onnx.load(path)
    onnx.checker.check_model(file, full_check=True)
    assert [(o.domain, o.version) for o in file.opset_import] == [("", 17)]
    stored = {t.name: tuple(t.dims) for t in file.graph.initializer}
    twins = {}
    for name, tensor in model.state_dict().items():
        twins.setdefault(tensor.data_ptr(), []).append(name)
    for name, tensor in model.state_dict().items():
        if name.endswith("num_batches_tracked") or name.startswith("discriminator."):
            continue
        assert any(stored.get(twin) == tuple(tensor.shape) for twin in twins[tensor.data_ptr()]), name


def compare(program, case, half, folder):
    ours = engine_run(program, case, half, folder)
    check_names(folder / "model.onnx", case.model)
    norms = norms_of(case.model)
    state = {name: t.double() if name in norms else in_type(t, half) for name, t in case.model.state_dict().items()}
    inputs = [in_type(t, half) for t in case.inputs]
    exact = case.forward(state, inputs, Arithmetic())
    runs = [case.forward(state, inputs, Arithmetic(torch.Generator().manual_seed(i), half)) for i in range(RUNS)]
    bounds = [FACTOR * max(distance(run[i], exact[i]) for run in runs) for i in range(len(exact))]
    theirs = runtime(folder / "model.onnx", case.inputs, half)
    wrong = distance(case.wrong(state, inputs, Arithmetic())[0], exact[0])
    good = wrong > bounds[0]
    for i, bound in enumerate(bounds):
        apart = [distance(ours[i], exact[i]), distance(theirs[i], exact[i]), distance(theirs[i], ours[i])]
        good = good and max(apart) <= bound and theirs[i].shape == exact[i].shape
        print(f"| {case.name} | {'fp16' if half else 'fp32'} | {'output' if i == 0 else f'next_state_{i - 1}'} | "
              f"{float(exact[i].norm()):.3g} | {bound:.2e} | " + " | ".join(f"{a / bound:.2f}" for a in apart) +
              f" | {f'{wrong / bound:.3g}' if i == 0 else '-'} |")
    few = case.rows(2)
    fewer = runtime(folder / "model.onnx", few, half)
    wanted = case.forward(state, [in_type(t, half) for t in few], Arithmetic())
    return good and all(distance(f, w) <= b for f, w, b in zip(fewer, wanted, bounds))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    root = pathlib.Path(__file__).resolve().parents[2]
    parser.add_argument("--model", action="append", help="those whose name begins with this (default: all)")
    parser.add_argument("--program", default=root / "build" / "dev" / "tests" / "peer" / "onnx_forward",
                        help="ninja onnx_forward (default: of the dev build)")
    options = parser.parse_args()
    torch.manual_seed(SEED)
    print("| model | type | tensor | norm | bound | engine | onnxruntime | apart | wrong network |\n" + "| --- " * 9 + "|")
    failures = 0
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        for case in cases(lambda name: not options.model or name.startswith(tuple(options.model))):
            for half in (False, True):
                if not compare(options.program, case, half, pathlib.Path(folder)):
                    failures += 1
                    print(f"{case.name}: beyond the bound, or the bound cannot tell the wrong network")
    print(f"{failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
