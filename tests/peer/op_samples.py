#!/usr/bin/env python3
"""Compares the small calls that `halftone ops --samples` lists with PyTorch in f64: outputs, and the gradients of their sum.

The samples are those of the engine's own tests (engine/src/ops/catalog/samples.json), so a new operation is compared without a
line here. The entry of a family file says where PyTorch has another definition; an operation without one is called by name and
schema (op_aten.py). Both compute in f64, whose roundings are far below the allowed difference. Samples that PyTorch cannot
compute are listed. Exit code 1 on any difference.
"""

import argparse
import json
import sys

import torch

import halftone
import op_aten
from op_draft import Random
from op_family import Arguments, as_tuple
from op_families import names_of, REGISTRY

ALLOWED = 1e-7  # of the largest magnitude of a result; constants in some slopes of PyTorch are in f32


class Made:
    """A sample's tensors by name: "0", or "1.0" for the first of a list."""

    def __init__(self, rng, sample):
        self.rng, self.range = rng, sample.get("range", [-2, 2])
        self.tensors, self.leaves = {}, []
        for i, given in enumerate(sample["args"]):
            self.add(str(i), given)

    def random(self, name, shape):
        self.leaves.append(name)
        return self.rng.uniform(*self.range, *shape)

    def add(self, name, given):
        if given is None:
            return
        word, value = ("random", given) if isinstance(given, list) else next(iter(given.items()))
        if word == "list":
            for i, each in enumerate(value):
                self.add(f"{name}.{i}", each)
        elif word == "i64":
            self.tensors[name] = torch.tensor(value, dtype=torch.int64)
        elif word == "bool":
            self.tensors[name] = torch.tensor(value).bool()
        elif word == "mask":
            self.tensors[name] = self.rng.normal(*value) > 0
        elif word == "like":
            self.tensors[name] = torch.tensor(value, dtype=torch.float64)
        else:
            made = self.random(name, value)
            made = made.transpose(-1, -2) if word == "swapped" else made
            self.tensors[name] = (torch.log_softmax(made, -1) if word == "log_softmax" else made).contiguous()


def peer_outputs(sample, tensors):
    """PyTorch's results: by the family's function, which says where PyTorch has another definition, else by name."""
    op, attrs = sample["op"], sample.get("attrs", {})
    given = [t * 1 if op.endswith("_") and t.is_floating_point() else t for t in tensors.values()]
    try:
        return as_tuple(REGISTRY[op].function(Arguments(zip(tensors, given)), attrs))
    except (KeyError, IndexError, TypeError, ValueError):  # no family, or one that is given all attributes
        return as_tuple(op_aten.call(op, list(tensors), given, attrs))


class Compared:
    """A sample, its call for `halftone op`, and PyTorch's {name: tensor}, or why it has none."""

    def __init__(self, rng, sample):
        self.label = f"{sample['op']} {sample['label']}"
        made = Made(rng, sample)
        self.request = {"op": sample["op"], "tensors": made.tensors, "attrs": sample.get("attrs", {}), "autocast": None,
                        "grad": False}
        leaves = {name: t.clone().requires_grad_(name in made.leaves) for name, t in made.tensors.items()}
        self.rejection = ""
        try:
            self.compute(rng, sample, leaves, made.leaves)
        except Exception as rejection:  # of any kind: an overload may take the arguments for others
            self.rejection = (str(rejection) or "PyTorch has no form of it").splitlines()[0][:90]

    def compute(self, rng, sample, tensors, leaves):
        outputs = peer_outputs(sample, tensors)
        self.expected = dict(zip(names_of("output", len(outputs)), outputs))
        if not leaves or not all(y.requires_grad for y in outputs):
            return
        # Further outputs, which are there for a backward pass, have no gradient in PyTorch's kernels.
        seeds = [rng.normal(*y.shape) * (i < sample.get("outputs", 1)) for i, y in enumerate(outputs)]
        grads = torch.autograd.grad(outputs, [tensors[name] for name in leaves], seeds, allow_unused=True)
        self.expected.update({f"grad.{name}": g.to_dense() for name, g in zip(leaves, grads) if g is not None})
        self.request["grad"] = True
        self.request["tensors"] = {**self.request["tensors"], **dict(zip(names_of("grad_output", len(seeds)), seeds))}

    def differences(self, ours, error):
        """A line for each result that differs."""
        if error:
            return [error] if "gap" not in error else []  # a script has no empty member of a list
        if "output" in ours and "output.0" in self.expected:  # PyTorch gives indices, too, that were not asked for
            self.expected["output"] = self.expected.pop("output.0")
            self.expected = {name: y for name, y in self.expected.items() if not name.startswith("output.")}
        found = {name: difference(ours[name], y.detach()) if name in ours else "missing" for name, y in self.expected.items()}
        return [f"{name}: {why}" for name, why in found.items() if why]


def difference(ours, theirs):
    """Why two results differ; empty if they do not."""
    if ours.shape != theirs.shape:
        return f"shape {list(ours.shape)}, PyTorch's {list(theirs.shape)}"
    a, b = ours.double(), theirs.double()
    both = torch.isfinite(a) & torch.isfinite(b)
    if not torch.equal(torch.nan_to_num(a[~both]), torch.nan_to_num(b[~both])):
        return "other infinities or NaN"
    largest = max(1.0, b[both].abs().max().item()) if both.any() else 1.0
    apart = (a[both] - b[both]).abs().max().item() if both.any() else 0.0
    return f"{apart:.3g} apart" if apart > ALLOWED * largest else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    halftone.add_binary_option(parser)
    parser.add_argument("--op", action="append", help="only this op (repeatable)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = Random(options.seed)
    samples = [s for s in json.loads(halftone.run(options.halftone, "ops", "--samples"))
               if not options.op or s["op"] in options.op]
    compared = [Compared(rng, sample) for sample in samples]
    for each in (each for each in compared if each.rejection):
        print(f"not compared: {each.label}: {each.rejection}")
    compared = [each for each in compared if not each.rejection]
    wrong = 0
    for each, result in zip(compared, halftone.run_cases(options.halftone, [each.request for each in compared])):
        for line in each.differences(*result):
            wrong += 1
            print(f"{each.label}: {line}")
    operations = len({each.request["op"] for each in compared})
    print(f"{len(compared)} samples of {operations} operations compared, {wrong} results differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
