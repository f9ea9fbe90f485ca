#!/usr/bin/env python3
"""`rnn-lm` (an LSTM), `transformer-lm` and `bert` learn WikiText-2 as PyTorch's and transformers' own models do: the same
settings, three seeds each, here and in PyTorch, and here in FP32, amp-fp16 and amp-bf16. Losses of the test part after the last
epoch; how far the means may be apart: learning.py.

Both sides read the same tokens: the vocabulary is the one that the engine's run wrote, the streams and windows are its own,
and BERT's masks of the evaluation are the engine's (transformer_reference.masked). Initial weights, dropout's masks and
BERT's masks in training are drawn by each side for itself. AdamW at a constant rate; the LSTM's gradients are clipped to a
norm of 0.25, and each of its windows begins with the state that the one before it left.
"""

import argparse
import functools
import gzip
import json
import math
import pathlib
import sys
import tempfile

import torch
from torch.nn import functional as F

import halftone
import learning
import transformer_reference as reference
from task_reference import RnnLm

MODELS = {"rnn-lm": {"embedding": 200, "hidden": 200, "layers": 2, "dropout": 0.2, "window": 35},
          "transformer-lm": {"layers": 2, "width": 128, "heads": 4, "dropout": 0.1, "window": 64},
          "bert": {"layers": 4, "width": 256, "heads": 4, "dropout": 0.1, "window": 128}}
EVALUATED, DECAY, CLIPPED = 16, 0.01, 0.25


def settings(kind, options, precision, seed):
    sizes = {f"model.options.{name}": size for name, size in MODELS[kind].items() if name != "window"}
    clipped = {"clip.kind": "norm", "clip.value": CLIPPED} if kind == "rnn-lm" else {}
    return {**sizes, **clipped, "dataset.kind": "text-words", "dataset.path": options.wikitext2, "dataset.train_limit": options.tokens,
            "dataset.test_limit": options.test_tokens, "dataset.max_words": options.words, "model.kind": kind,
            "bptt": MODELS[kind]["window"], "batch_size": options.streams, "evaluation_batch": EVALUATED, "epochs": options.epochs, "optimizer.kind": "adamw",
            "optimizer.lr": options.rate, "optimizer.weight_decay": DECAY, "schedule.kind": "constant", "seed": seed,
            "precision.preset": precision, "threads": options.threads, "checkpoint.best": "false"}


def vocabulary(run):
    words = json.loads((run / "inputs.json").read_text())["vocabulary"]
    return {word: i for i, word in enumerate(words)}


def tokens(folder, part, known, most):
    with gzip.open(pathlib.Path(folder) / f"{part}.txt.gz", "rt", encoding="utf-8") as lines:
        words = [w for line in lines for w in line.split() + ["<eos>"]]
    return torch.tensor([known.get(w, known.get("<unk>")) for w in words[:most]])


def windows(text, streams, length):
    """Windows (samples, window) and the tokens that follow, with the number of tokens before each batch."""
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
            part.p = sizes["dropout"]
    return model


class Peer:
    """A model of transformers that trains as the engine does. loss(): of a window with `position` tokens of its epoch before it; epoch
    None: in evaluation."""

    def __init__(self, kind, options, seed, known):
        self.kind, self.sizes, self.seed, self.streams = kind, MODELS[kind], seed, options.streams
        self.mask = len(known)
        torch.manual_seed(seed)
        self.model = module(kind, len(known) + (kind == "bert"), self.sizes)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=options.rate, weight_decay=DECAY)

    def loss(self, shown, target, position, epoch):
        """The mean, and the number of tokens."""
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
                self.update()

    def update(self):
        self.optimizer.step()

    @torch.no_grad()
    def evaluate(self, text):
        self.model.eval()
        parts = [self.loss(*window, None) for window in windows(text, EVALUATED, self.sizes["window"])]
        return sum(float(loss) * count for loss, count in parts) / sum(count for _, count in parts)


class LstmPeer(Peer):
    """The LSTM by PyTorch's modules; dropout before, between and after its layers."""

    def __init__(self, kind, options, seed, known):
        self.sizes, self.streams = MODELS[kind], options.streams
        torch.manual_seed(seed)
        self.model = RnnLm("lstm", len(known), self.sizes["embedding"], self.sizes["hidden"], self.sizes["layers"])
        self.model.rnn.dropout = self.sizes["dropout"]
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=options.rate, weight_decay=DECAY)
        self.state = None

    def loss(self, shown, target, position, epoch):
        model, training = self.model, epoch is not None
        if position == 0:
            self.state = tuple(model.zero_state(len(shown)))
        x = F.dropout(model.encoder(shown.t()), self.sizes["dropout"], training)
        x, state = model.rnn(x, self.state)
        self.state = tuple(s.detach() for s in state)
        logits = model.decoder(F.dropout(x, self.sizes["dropout"], training).flatten(0, 1))
        return F.cross_entropy(logits, target.t().flatten()), target.numel()

    def update(self):
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), CLIPPED)
        super().update()


PEERS = {"rnn-lm": LstmPeer, "transformer-lm": Peer, "bert": Peer}


def runs_of(kind, options, folder):
    """Arguments of learning.learn(): a function of the seed for each precision and for PyTorch."""
    def ours(precision, seed):
        done = learning.train(options.halftone, settings(kind, options, precision, seed), run_folder(precision, seed), folder)
        return {"loss": done["test_loss"]}

    def peer(seed):
        known = vocabulary(run_folder(options.precision[0], seed))
        peer = PEERS[kind](kind, options, seed, known)
        peer.train(tokens(options.wikitext2, "train", known, options.tokens), options.epochs)
        return {"loss": peer.evaluate(tokens(options.wikitext2, "test", known, options.test_tokens))}

    def run_folder(precision, seed):
        return folder / f"{kind}-{precision}-{seed}"

    runs = {precision: functools.partial(ours, precision) for precision in options.precision}
    return {**runs, learning.PEER: peer}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    halftone.add_binary_option(parser)
    shared = pathlib.Path(__file__).resolve().parents[3] / "shared" / "data"
    parser.add_argument("--wikitext2", default=str(shared / "wikitext-2"), help="folder of train, valid and test.txt.gz")
    parser.add_argument("--model", action="append", choices=list(MODELS))
    parser.add_argument("--precision", action="append", choices=learning.PRECISIONS)
    parser.add_argument("--tokens", type=int, default=200_000)
    parser.add_argument("--test-tokens", type=int, default=40_000)
    parser.add_argument("--words", type=int, default=2000, help="most frequent ones; the others are <unk>")
    parser.add_argument("--streams", type=int, default=16, help="batch size")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--rate", type=float, default=0.001)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    options.precision = options.precision or list(learning.PRECISIONS)
    torch.set_num_threads(options.threads)
    with tempfile.TemporaryDirectory() as folder:
        models = {kind: learning.learn(kind, options.seeds, runs_of(kind, options, pathlib.Path(folder)))
                  for kind in options.model or MODELS}
    learning.print_results(models, {"loss": lambda mean: f"perplexity {math.exp(mean):.1f}"})
    return 1 if learning.compare_means(models, ("loss",)) else 0


if __name__ == "__main__":
    sys.exit(main())
