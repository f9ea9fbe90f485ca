#!/usr/bin/env python3
"""`transformer-lm` and `bert` learn WikiText-2 as transformers' own models do: the same settings, three seeds each, here and in
PyTorch, and here in FP32, amp-fp16 and amp-bf16. Losses of the test part after the last epoch; means may be apart by twice
the larger spread over seeds (the deviation of a single run, as estimated from them).

Both sides read the same tokens: the vocabulary is the one that the engine's run wrote, the streams and windows are its own,
and BERT's masks of the evaluation are the engine's (transformer_reference.masked). Initial weights, dropout's masks and
BERT's masks in training are drawn by each side for itself. AdamW at a constant rate.
"""

import argparse
import gzip
import json
import math
import pathlib
import statistics
import sys
import tempfile
import time

import torch
from torch.nn import functional as F

import halftone
import transformer_reference as reference

MODELS = {"transformer-lm": {"layers": 2, "width": 128, "heads": 4, "window": 64},
          "bert": {"layers": 4, "width": 256, "heads": 4, "window": 128}}
EVALUATED, DROPOUT, DECAY = 16, 0.1, 0.01
PRECISIONS = ("fp32", "amp-fp16", "amp-bf16")


def settings(kind, options, precision, seed):
    sizes = MODELS[kind]
    return {"dataset.kind": "text-words", "dataset.path": options.wikitext2, "dataset.train_limit": options.tokens,
            "dataset.test_limit": options.test_tokens, "dataset.max_words": options.words, "model.kind": kind,
            "model.options.layers": sizes["layers"], "model.options.width": sizes["width"],
            "model.options.heads": sizes["heads"], "model.options.dropout": DROPOUT, "bptt": sizes["window"],
            "batch_size": options.streams, "evaluation_batch": EVALUATED, "epochs": options.epochs, "optimizer.kind": "adamw",
            "optimizer.lr": options.rate, "optimizer.weight_decay": DECAY, "schedule.kind": "constant", "seed": seed,
            "precision.preset": precision, "threads": options.threads, "checkpoint.best": "false"}


def engine_loss(kind, options, precision, seed, folder):
    fields = settings(kind, options, precision, seed)
    output = halftone.run(options.halftone, "train", *(w for f, v in fields.items() for w in ("--set", f"{f}={v}")), "--out",
                          str(folder / f"{kind}-{precision}-{seed}"), "--json", env={"XDG_DATA_HOME": str(folder)})
    done, = (e for e in halftone.events(output) if e["event"] == "done")
    return done["test_loss"]


def vocabulary(run):
    words = json.loads((run / "inputs.json").read_text())["vocabulary"]
    return {word: i for i, word in enumerate(words)}


def tokens(folder, part, known, most):
    with gzip.open(pathlib.Path(folder) / f"{part}.txt.gz", "rt", encoding="utf-8") as lines:
        words = [w for line in lines for w in line.split() + ["<eos>"]]
    return torch.tensor([known.get(w, known.get("<unk>")) for w in words[:most]])


def windows(text, streams, length):
    """(samples, window) and the tokens that follow, with how many tokens stand before each batch."""
    size = len(text) // streams
    rows = text[:size * streams].view(streams, size)
    for start in range(0, size - 1, length):
        last = min(start + length, size - 1)
        yield rows[:, start:last], rows[:, start + 1:last + 1], start * streams


def module(kind, words, sizes):
    make = {"transformer-lm": reference.gpt2_module, "bert": reference.bert_module}[kind]
    model = make(words, sizes["width"], sizes["layers"], sizes["heads"], sizes["window"])
    for part in model.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = DROPOUT
    return model


class Peer:
    """A model of transformers that trains as the engine does."""

    def __init__(self, kind, options, seed, known):
        self.kind, self.sizes, self.seed, self.streams = kind, MODELS[kind], seed, options.streams
        self.mask = len(known)
        torch.manual_seed(seed)
        self.model = module(kind, len(known) + (kind == "bert"), self.sizes)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=options.rate, weight_decay=DECAY)

    def loss(self, shown, target, position, epoch):
        """Mean, and over how many tokens."""
        if self.kind == "transformer-lm":
            return F.cross_entropy(self.model(shown).logits.flatten(0, 1), target.flatten()), target.numel()
        # Other masks than the engine's in training, the same in evaluation.
        seed = self.seed if epoch is None else self.seed + 1000
        masked, places = reference.masked(shown, self.mask, position, seed, epoch)
        rows = (torch.arange(len(shown))[:, None] * shown.shape[1] + places).flatten()
        hidden = self.model.bert(masked)[0].flatten(0, 1)[rows]
        return F.cross_entropy(self.model.cls(hidden), shown.gather(1, places).flatten()), places.numel()

    def train(self, text, epochs):
        self.model.train()
        for epoch in range(epochs):
            for shown, target, position in windows(text, self.streams, self.sizes["window"]):
                self.optimizer.zero_grad()
                self.loss(shown, target, position, epoch)[0].backward()
                self.optimizer.step()

    @torch.no_grad()
    def evaluate(self, text):
        self.model.eval()
        parts = [self.loss(*window, None) for window in windows(text, EVALUATED, self.sizes["window"])]
        return sum(float(loss) * count for loss, count in parts) / sum(count for _, count in parts)


def judge(name, one, other):
    """A line of how far two lists of losses are apart; whether by too much."""
    spread = max(statistics.stdev(one), statistics.stdev(other))
    apart = abs(statistics.mean(one) - statistics.mean(other))
    print(f"| {name} | {apart:.4f} | {spread:.4f} | {apart / spread:.2f} |", flush=True)
    return not apart <= 2 * spread


def learn(kind, options, folder):
    """Losses by what computed them."""
    found = {name: [] for name in ("PyTorch", *options.precision)}
    for seed in range(1, options.seeds + 1):
        for precision in options.precision:
            begun = time.monotonic()
            found[precision].append(engine_loss(kind, options, precision, seed, folder))
            print(f"    {kind} {precision} seed {seed}: {found[precision][-1]:.4f}, {time.monotonic() - begun:.0f} s", flush=True)
        known = vocabulary(folder / f"{kind}-{options.precision[0]}-{seed}")
        begun = time.monotonic()
        peer = Peer(kind, options, seed, known)
        peer.train(tokens(options.wikitext2, "train", known, options.tokens), options.epochs)
        found["PyTorch"].append(peer.evaluate(tokens(options.wikitext2, "test", known, options.test_tokens)))
        print(f"    {kind} PyTorch seed {seed}: {found['PyTorch'][-1]:.4f}, {time.monotonic() - begun:.0f} s", flush=True)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    halftone.add_binary_option(parser)
    shared = pathlib.Path(__file__).resolve().parents[3] / "shared" / "data"
    parser.add_argument("--wikitext2", default=str(shared / "wikitext-2"), help="folder of train, valid and test.txt.gz")
    parser.add_argument("--model", action="append", choices=list(MODELS))
    parser.add_argument("--precision", action="append", choices=PRECISIONS)
    parser.add_argument("--tokens", type=int, default=200_000)
    parser.add_argument("--test-tokens", type=int, default=40_000)
    parser.add_argument("--words", type=int, default=2000, help="most frequent ones; the others are <unk>")
    parser.add_argument("--streams", type=int, default=16, help="batch size")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--rate", type=float, default=0.001)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    options.precision = options.precision or list(PRECISIONS)
    torch.set_num_threads(options.threads)
    failed, losses = 0, {}
    with tempfile.TemporaryDirectory() as folder:
        for kind in options.model or MODELS:
            losses[kind] = learn(kind, options, pathlib.Path(folder))
    print("| model | computed by | test losses | mean | perplexity |\n| --- | --- | --- | ---: | ---: |")
    for kind, found in losses.items():
        for name, each in found.items():
            mean = statistics.mean(each)
            print(f"| {kind} | {name} | {', '.join(f'{x:.4f}' for x in each)} | {mean:.4f} | {math.exp(mean):.1f} |")
    print("\n| means of | apart | spread | apart in spreads |\n| --- | ---: | ---: | ---: |")
    for kind, found in losses.items():
        first = options.precision[0]
        failed += judge(f"{kind}, {first} here and in PyTorch", found[first], found["PyTorch"])
        for precision in options.precision[1:]:
            failed += judge(f"{kind}, {first} and {precision}", found[first], found[precision])
    print(f"{failed} beyond twice the spread")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
