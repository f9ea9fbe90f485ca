#!/usr/bin/env python3
"""The types of every forward operation of ResNet-18, an LSTM language model and `transformer-lm` in amp-fp16, as
`halftone xray` shows them, against PyTorch's autocast for CUDA. PyTorch's dispatch mode shows them on fake tensors of the
device cuda, which need no GPU. Operations are matched by module and kind; of fused ones the outer inputs and outputs count:

- batch_norm_relu is PyTorch's batch norm, the addition of the shortcut, and relu;
- cross_entropy is log_softmax and nll_loss;
- scaled_dot_product_attention is whatever PyTorch composes it of between its casts;
- lstm is PyTorch's cells and products: cuDNN's own entry needs a driver, and casts alike
  (autocast.md#operation-lists, 1.9).

Exits with 1 on a difference.
"""

import argparse
import collections
import json
import sys
import warnings

import torch
import torchvision
from torch._subclasses import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

import halftone

SHORT = {torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16"}

# PyTorch's operations by the names of ours. The others move values, draw numbers or make constants.
KINDS = {"convolution": "conv2d", "cudnn_batch_norm": "batch_norm", "native_batch_norm": "batch_norm",
         "_native_batch_norm_legit": "batch_norm", "relu": "relu", "relu_": "relu", "add": "add", "add_": "add",
         "mean": "adaptive_avg_pool2d", "_adaptive_avg_pool2d": "adaptive_avg_pool2d",
         "max_pool2d_with_indices": "max_pool2d", "addmm": "linear", "mm": "linear",
         "embedding": "embedding", "native_dropout": "dropout", "native_layer_norm": "layer_norm", "gelu": "gelu",
         "_log_softmax": "log_softmax", "mul": "mul", "nll_loss_forward": "nll_loss"}

# Our operations that only move values, or that only the task's metrics need.
MOVES = {"reshape", "flatten", "permute", "transpose", "expand", "narrow", "contiguous", "to", "slice", "select", "cat",
         "stack", "argmax", "eq"}


def floating(values):
    flat = []
    for value in values:
        flat += value if isinstance(value, (list, tuple)) else [value]
    return [SHORT[v.dtype] for v in flat if isinstance(v, torch.Tensor) and v.dtype in SHORT]


def read_by(kind, types):
    """The type of the first input. For an addition, whose sides may be exchanged, the types of both."""
    return "+".join(sorted(types)) if kind == "add" else types[0]


class Recorder(TorchDispatchMode):
    """Operations as (module, kind, type read, type of the first output)."""

    def __init__(self, model):
        super().__init__()
        self.seen, self.open, self.inside = [], [""], 0
        for name, module in model.named_modules():
            if name:
                module.register_forward_pre_hook(lambda m, args, name=name: self.open.append(name))
                module.register_forward_hook(lambda m, args, out: self.open.pop() and None)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        kind = KINDS.get(func._schema.name.split("::")[1])
        inputs, outputs = floating(args), floating(out if isinstance(out, (list, tuple)) else [out])
        if kind and inputs and not self.inside:
            self.seen.append((self.open[-1], kind, read_by(kind, inputs), outputs[0]))
        return out

    def whole(self, kind, call, inputs):
        """call() as a single operation; the operations inside it are omitted."""
        self.inside += 1
        out = call()
        self.inside -= 1
        result = out[0] if isinstance(out, tuple) else out
        self.seen.append((self.open[-1], kind, inputs, SHORT[result.dtype]))
        return out


def scaled(loss):
    """As GradScaler.scale() does it, outside of the region."""
    return loss * torch.full((), 65536.0)


def resnet(recorder_of):
    model = torchvision.models.resnet18(num_classes=36)
    recorder = recorder_of(model)
    with recorder:
        logits = model(torch.empty(4, 3, 32, 32))
        scaled(torch.nn.functional.cross_entropy(logits, torch.zeros(4, dtype=torch.long)))
    return recorder.seen


class RnnLm(torch.nn.Module):
    def __init__(self, recorder_of):
        super().__init__()
        self.encoder, self.drop = torch.nn.Embedding(50, 16), torch.nn.Dropout(0.2)
        self.rnn, self.decoder = torch.nn.LSTM(16, 16, 2), torch.nn.Linear(16, 50)
        self.recorder = recorder_of(self)

    def forward(self, tokens):
        embedded = self.drop(self.encoder(tokens))
        state = (torch.zeros(2, 4, 16), torch.zeros(2, 4, 16))
        self.recorder.open.append("rnn")
        hooks, self.rnn._forward_pre_hooks = self.rnn._forward_pre_hooks, collections.OrderedDict()
        self.rnn._forward_hooks = collections.OrderedDict()
        # Each product inside reads the type that its arguments were cast to.
        out, _ = self.recorder.whole("lstm", lambda: self.rnn(embedded, state), "f16")
        self.rnn._forward_pre_hooks = hooks
        self.recorder.open.pop()
        return self.decoder(self.drop(out).reshape(-1, 16))


def language_model(recorder_of):
    model = RnnLm(recorder_of)
    tokens = torch.zeros(5, 4, dtype=torch.long)
    with torch.backends.cudnn.flags(enabled=False), model.recorder:
        scaled(torch.nn.functional.cross_entropy(model(tokens), tokens.reshape(-1)))
    return model.recorder.seen


def transformer(recorder_of):
    import transformers
    config = transformers.GPT2Config(vocab_size=50, n_positions=16, n_embd=32, n_layer=2, n_head=4,
                                     activation_function="gelu_pytorch_tanh", attn_implementation="sdpa")
    model = transformers.GPT2LMHeadModel(config)
    recorder = recorder_of(model)
    plain = torch.nn.functional.scaled_dot_product_attention

    def attention(query, key, value, *args, **kwargs):
        return recorder.whole("scaled_dot_product_attention", lambda: plain(query, key, value, *args, **kwargs),
                              SHORT[query.dtype])

    torch.nn.functional.scaled_dot_product_attention = attention
    try:
        with recorder:
            tokens = torch.zeros(4, 8, dtype=torch.long)
            logits = model(tokens, use_cache=False).logits
            scaled(torch.nn.functional.cross_entropy(logits.reshape(-1, 50), tokens.reshape(-1)))
    finally:
        torch.nn.functional.scaled_dot_product_attention = plain
    return recorder.seen


def of_pytorch(build):
    torch.set_autocast_enabled("cuda", True)
    torch.set_autocast_dtype("cuda", torch.float16)
    with warnings.catch_warnings(), FakeTensorMode(allow_non_fake_inputs=True), torch.device("cuda"):
        warnings.simplefilter("ignore")
        return build(Recorder)


def kind_of(op):
    """The table of positions is read as a slice here; PyTorch looks positions up."""
    return "embedding" if op["op"] == "narrow" and op["module"].endswith(".wpe") else op["op"]


def read_of(op):
    if op["op"] == "add":
        return read_by("add", [each["dtype"] for each in op["inputs"]])
    return op["compute_dtype"]


def of_halftone(binary, settings):
    overrides = [word for setting in settings for word in ("--set", setting)]
    done = halftone.run(binary, "xray", "--json", "--set", "precision.preset=amp-fp16", *overrides)
    return [(op["module"], kind_of(op), read_of(op), op["outputs"][0]["dtype"], len(op["inputs"]))
            for op in json.loads(done)["ops"]
            if op["pass"] == "forward" and op["compute_dtype"] and kind_of(op) not in MOVES]


def block_of(module):
    return module.rsplit(".", 1)[0] if "." in module else ""


def unfused(ours):
    """Our fused operations as PyTorch's single ones, if PyTorch's model has them."""
    out = []
    for module, op, read, written, inputs in ours:
        if op == "batch_norm_relu":
            out.append((module, "batch_norm", read, written))
            if inputs > 1:  # in addition to x, the shortcut
                out.append((block_of(module), "add", f"{written}+{written}", written))
            relu = block_of(module) + ".relu" if "." in module else "relu"
            out.append((relu, "relu", written, written))
        elif op == "cross_entropy":
            out.append((module, "cross_entropy", read, written))
        elif op == "addmm":
            out.append((module, "linear", read, written))
        else:
            out.append((module, op, read, written))
    return out


def fused(theirs):
    """log_softmax and nll_loss as cross_entropy."""
    out = []
    for module, kind, read, written in theirs:
        if kind == "nll_loss":
            start = next(each for each in reversed(theirs) if each[1] == "log_softmax")
            out.append((module, "cross_entropy", start[2], written))
        elif kind != "log_softmax":
            out.append((module, kind, read, written))
    return out


CASES = {
    "resnet18": (resnet, ["model.kind=resnet18", "dataset.kind=glyphs", "batch_size=4",
                          "model.options.stem=imagenet"]),
    "rnn-lm": (language_model, ["dataset.kind=text-generated", "model.kind=rnn-lm", "batch_size=4"]),
    "transformer-lm": (transformer, ["dataset.kind=text-generated", "model.kind=transformer-lm", "batch_size=4",
                                     "model.options.dropout=0.1"]),
}


def compare(name, build, settings, binary):
    wanted, ours = collections.Counter(fused(of_pytorch(build))), collections.Counter(
        unfused(of_halftone(binary, settings)))
    differences = list((wanted - ours).elements()) + list((ours - wanted).elements())
    print(f"{name}: {sum(ours.values())} operations, {len(differences)} unexplained differences")
    for side, only in (("PyTorch", wanted - ours), ("halftone", ours - wanted)):
        for module, kind, read, written in only.elements():
            print(f"  {side} alone: {module or '(model)'} {kind} {read} -> {written}")
    return len(differences)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    halftone.add_binary_option(parser)
    args = parser.parse_args()
    sys.exit(1 if sum([compare(name, *case, args.halftone) for name, case in CASES.items()]) else 0)


if __name__ == "__main__":
    main()
