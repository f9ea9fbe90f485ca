#!/usr/bin/env python3
"""Loss curves of two processes of PyTorch's DistributedDataParallel beside those of one PyTorch process, measured as
rank_curves.py measures two ranks of Halftone beside one process: whether another order of the sums explains the difference.

MLP, LeNet and ResNet-18 on CIFAR-100, and an LSTM and a GPT-2 on windows of tinyshakespeare, each window a sample that begins without a
state. No dropout. amp-fp16 and amp-bf16 are torch.autocast on the CPU, amp-fp16 with GradScaler.
"""

import argparse
import os
import pathlib
import sys
import tempfile

import torch
from torch import distributed, multiprocessing, nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

import cifar
import ddp_steps
import rank_curves

RANKS = 2
WINDOW, WIDTH = 35, 128
LOW = ddp_steps.LOW


class LstmLm(nn.Module):
    def __init__(self, words):
        super().__init__()
        self.words = nn.Embedding(words, WIDTH)
        self.lstm = nn.LSTM(WIDTH, WIDTH, num_layers=2, batch_first=True)
        self.decoder = nn.Linear(WIDTH, words)

    def forward(self, tokens):
        return self.decoder(self.lstm(self.words(tokens))[0])


class Gpt2(nn.Module):
    def __init__(self, words):
        super().__init__()
        import transformers  # slow to import
        self.model = transformers.GPT2LMHeadModel(transformers.GPT2Config(
            vocab_size=words, n_positions=WINDOW, n_embd=WIDTH, n_layer=2, n_head=4, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
            use_cache=False))

    def forward(self, tokens):
        return self.model(tokens).logits


class Images:
    def __init__(self, options, kind):
        self.data, self.kind = cifar.Cifar100(options.data), kind
        self.samples = len(self.data.labels)

    def module(self):
        return ddp_steps.MODELS[self.kind]()

    def loss(self, model, indices):
        images, labels = self.data.batch(indices)
        return F.cross_entropy(model(images.flatten(1) if self.kind == "mlp" else images).float(), labels)


class Text:
    """A sample is a window; the next characters are wanted."""

    def __init__(self, options, kind):
        text = pathlib.Path(options.text).read_bytes()
        letters = {letter: i for i, letter in enumerate(sorted(set(text)))}
        self.tokens, self.letters, self.kind = torch.tensor([letters[letter] for letter in text]), len(letters), kind
        self.samples = (len(text) - 1) // WINDOW

    def module(self):
        return LstmLm(self.letters) if self.kind == "lstm" else Gpt2(self.letters)

    def loss(self, model, indices):
        windows = torch.stack([self.tokens[i * WINDOW:(i + 1) * WINDOW + 1] for i in indices])
        return F.cross_entropy(model(windows[:, :-1]).float().flatten(0, 1), windows[:, 1:].flatten())


KINDS = {"mlp": Images, "lenet": Images, "resnet18": Images, "lstm": Text, "gpt2": Text}


def train(rank, ranks, folder, kind, precision, options, batches, parts):
    """One process: a step takes `parts` batches one after the other, or the rank's share of one. Rank 0 saves the losses."""
    torch.set_num_threads(1)
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    if ranks > 1:
        distributed.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=ranks)
    task = KINDS[kind](options, kind)
    torch.manual_seed(options.seed)
    model = task.module().train()
    wrapped = DistributedDataParallel(model) if ranks > 1 else model
    optimizer = torch.optim.SGD(model.parameters(), lr=options.rate, momentum=0.9, weight_decay=5e-4)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024, enabled=precision == "amp-fp16")
    losses = []
    for first in range(0, len(batches), parts):
        optimizer.zero_grad()
        mean = torch.zeros(())
        for batch in batches[first:first + parts]:
            size = len(batch) // ranks
            with torch.autocast("cpu", dtype=LOW.get(precision, torch.bfloat16), enabled=precision in LOW):
                loss = task.loss(wrapped, batch[rank * size:(rank + 1) * size])
            scaler.scale(loss / parts).backward()
            mean += loss.detach() / parts / ranks
        scaler.step(optimizer)
        scaler.update()
        if ranks > 1:
            distributed.all_reduce(mean)
        losses.append(float(mean))
    if rank == 0:
        torch.save(losses, f"{folder}/losses.pt")
    if ranks > 1:
        distributed.barrier()
        distributed.destroy_process_group()


def losses_of(options, kind, precision, batches, ranks=1, parts=1):
    with tempfile.TemporaryDirectory(prefix="halftone-ddp-") as folder:
        if ranks == 1:
            train(0, ranks, folder, kind, precision, options, batches, parts)
        else:
            multiprocessing.spawn(train, (ranks, folder, kind, precision, options, batches, parts), nprocs=ranks)
        return torch.load(f"{folder}/losses.pt")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    rank_curves.add_options(parser)
    parser.add_argument("--text", default=str(cifar.default_folder().parent / "tinyshakespeare" / "input.txt"))
    parser.add_argument("--model", nargs="+", default=list(KINDS), choices=list(KINDS))
    options = parser.parse_args()
    print(f"PyTorch {torch.__version__}, {options.steps} steps, batch {options.batch}, rate {options.rate}, {options.orders} more "
          f"orders\n\n{rank_curves.HEAD}")
    for kind in options.model:
        chosen = cifar.batches(KINDS[kind](options, kind).samples, options.batch, options.steps, options.seed)
        for precision in options.precision:
            if (kind, precision) == ("lstm", "amp-fp16"):  # oneDNN has no such LSTM for the CPU
                continue
            two = losses_of(options, kind, precision, chosen, ranks=RANKS)
            for way in options.against:
                if way == "whole" and kind == "resnet18":  # its batch norm is local
                    continue
                parts = 2 if way == "parts" else 1
                batches = rank_curves.halves(chosen) if way == "parts" else chosen
                one = [losses_of(options, kind, precision, rank_curves.shuffled(batches, seed), parts=parts)
                       for seed in range(options.orders + 1)]
                rank_curves.show(f"{kind} | {precision} | {way}", one, two)
    return 0


if __name__ == "__main__":
    sys.exit(main())
