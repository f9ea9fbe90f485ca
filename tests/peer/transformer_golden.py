#!/usr/bin/env python3
"""Writes golden/transformers.safetensors.xz, for `models_test`: a training step of GPT-2 and one of BERT in each precision of the
CPU, and the names and shapes of transformers' state dicts.

Weights and batches are no part of the file: both sides compute them. Figures and bounds are those of model_golden.py; the
reference is transformer_reference.py, which in f64 must be transformers' own modules. One block: each more magnifies
single roundings, until the figures of perturbed runs are as far apart as the precisions are. Under autocast each model's
figures must tell the precision from fp32. Those of O2 and pure fp16, whose stream between the layers is rounded too, do
not: they hold what is wrong by more than roundings.
"""

import sys

import torch
from torch.nn import functional as F

import golden_file
import task_reference
import transformer_reference as reference
from task_golden import figures, LOSS_SCALE, noises, PRECISIONS, report, weights_of

WORDS, SAMPLES, WINDOW, POSITIONS = 23, 3, 10, 12
WIDTH, HEADS, FEED_FORWARD = 12, 2, 40
# For weights: so large that attention prefers some tokens to others.
GAIN = 2.0


def tokens(offset):
    i = torch.arange(SAMPLES * WINDOW).view(SAMPLES, WINDOW)
    return (5 * i * i + 3 * i + offset) % (WORDS - 1)


def places():
    """Two places in each window, in ascending order; masked_count(10) is 2."""
    sample = torch.arange(SAMPLES)
    return torch.stack([(3 * sample) % 5, 5 + (2 * sample) % 5], 1)


class Gpt2:
    kind = "transformer-lm"
    module = staticmethod(reference.gpt2_module)

    def forward(self, p, a):
        return reference.gpt2(p, HEADS, tokens(0), a)

    def wanted(self):
        return tokens(1).flatten()

    def loss(self, model):
        return F.cross_entropy(model(tokens(0)).logits.flatten(0, 1), self.wanted())


class Bert:
    """The last word is [MASK]. It is at the first place of each window."""
    kind = "bert"
    module = staticmethod(reference.bert_module)

    def shown(self):
        return tokens(0).scatter(1, places()[:, :1], WORDS - 1)

    def forward(self, p, a):
        return reference.bert(p, HEADS, self.shown(), places(), a)

    def wanted(self):
        return tokens(0).gather(1, places()).flatten()

    def loss(self, model):
        rows = model(self.shown()).logits.gather(1, places()[:, :, None].expand(-1, -1, WORDS))
        return F.cross_entropy(rows.flatten(0, 1), self.wanted())


def add(case, tensors, metadata):
    """Adds the model's figures. Returns by precision how many gradients of the fp32 step they reject."""
    model = case.module(WORDS, WIDTH, 1, HEADS, POSITIONS, FEED_FORWARD).eval()
    weights = weights_of(model, case.kind, metadata, GAIN)
    metadata[f"{case.kind}.state_dict"] = "\n".join(
        " ".join(map(str, (name, *t.shape))) for name, t in case.module(WORDS, WIDTH, 2, HEADS, POSITIONS, FEED_FORWARD).state_dict().items())
    plain = reference.step(case.forward, weights, case.wanted(), PRECISIONS["fp32"])
    task_reference.agree(model, lambda m: (case.loss(m), []), plain)
    told = {}
    for name, precision in PRECISIONS.items():
        exact = reference.step(case.forward, weights, case.wanted(), precision)
        perturbed = [reference.step(case.forward, weights, case.wanted(), precision, noise) for noise in noises()]
        found = figures(exact, perturbed, precision.unit)
        tensors.update({f"{case.kind}/{name}/{key}": value for key, value in found.items()})
        told[name] = report(f"{case.kind} {name}", exact, found, plain)
    return told


def main():
    torch.set_num_threads(1)
    tensors, metadata = {}, {"precisions": " ".join(PRECISIONS), "loss_scale": str(LOSS_SCALE),
                             "text": f"{WORDS} {SAMPLES} {WINDOW} {POSITIONS}",
                             "sizes": f"{WIDTH} {HEADS} {FEED_FORWARD}"}
    told = [add(case, tensors, metadata) for case in (Gpt2(), Bert())]
    alike = [name for name in ("amp-fp16", "amp-bf16") if not all(counts[name] for counts in told)]
    if alike:
        sys.exit(f"a model's bounds do not tell {', '.join(alike)} from fp32")
    path = golden_file.write_tensors("transformers", tensors, metadata)
    print(f"{path.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
