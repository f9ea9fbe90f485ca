#!/usr/bin/env python3
"""Compares the registered ops (op_family.py) with PyTorch where operands hold signed zeros, subnormals, the ends of f16,
infinities and NaN: a generator's operands with every fifth number put in from that list, for values and gradients.

Each element of an answer must be of the same kind (finite, +inf, -inf, NaN) as PyTorch's in the type of the run, in f32, or
in f64, rounded to the type: which of the three overflows first is the order of an op's steps, and PyTorch's own CPU and
GPU kernels differ there. Where those kernels differ in more (a padding's zeros multiplied or left out), the op's entry names
the other one too (`also`). No number comes near the end of f32, for the same reason. How close finite numbers are is for op_cases.py to judge. Exit code 1 on any difference.
"""

import argparse
import collections
import sys

import torch

import halftone
import op_family
from op_draft import Random
from op_families import names_of, REGISTRY
from op_family import Arguments, as_tuple, cast_arguments, choose_types, gradients

op_family.only_peer = True
INF, NAN = float("inf"), float("nan")
SPECIAL = torch.tensor([0.0, -0.0, 2.0**-24, -(2.0**-25), 2.0**-14, 65504.0, -65504.0, 65519.0, 65520.0, 1e-40, 12.0,
                        -104.0, 300.0, INF, -INF, NAN], dtype=torch.float64)
LOW_TYPES = (torch.float16, torch.bfloat16)
MODES = ("f32", "fp16", "bf16", "half", "f64")


def kind(x):
    """0 finite, 1 +inf, 2 -inf, 3 NaN."""
    return torch.isposinf(x).int() + 2 * torch.isneginf(x).int() + 3 * torch.isnan(x).int()


class Special:
    def __init__(self, rng, op, mode):
        self.op, self.mode, self.entry = op, mode, REGISTRY[op]
        made = self.entry.generate(rng)
        types, self.autocast = choose_types(rng, self.entry, made, mode)
        self.names, self.differentiable, self.attrs = made.names, made.differentiable, made.attrs
        self.tensors = []
        for i, (value, dtype) in enumerate(zip(made.values, types)):
            taken = self.entry.specials is True or i in self.entry.specials
            if taken and value.is_floating_point() and i in made.differentiable and value.numel():
                value = value.clone()
                flat = value.view(-1)
                for k in range(flat.numel()):
                    if rng.chance(0.2):
                        flat[k] = SPECIAL[int(rng.numpy.integers(len(SPECIAL)))]
            self.tensors.append(value.to(dtype).contiguous())
        low = halftone.LOW.get(self.autocast)
        self.banned = self.entry.policy == "banned" and low is not None
        self.used, self.run_dtype = cast_arguments(self.entry, self.tensors, low)
        if "dtype" in self.attrs:
            self.run_dtype = getattr(torch, self.attrs["dtype"])
        self.shapes = [(y.shape, y.dtype) for y in self.run(torch.float64, None)[0]]

    def run(self, dtype, seeds, function=None):
        """Outputs and the gradients of the leaves, computed in one type, by the op's own function or the given one."""
        x = [(t.to(self.run_dtype) if "dtype" in self.attrs else t).to(dtype).clone() if t.is_floating_point() else t
             for t in self.used]
        leaves = [x[i].requires_grad_(True) for i in self.differentiable]
        function = function or self.entry.native or self.entry.function
        outputs = as_tuple(function(Arguments(zip(self.names, x)), self.attrs))
        if seeds is None:
            return outputs, []
        return outputs, gradients(outputs, [s.to(dtype) for s in seeds], leaves, False)

    def seeds(self):
        return [torch.full(shape, 3.0, dtype=self.run_dtype if dtype.is_floating_point else torch.float32)
                for shape, dtype in self.shapes]

    def request(self):
        tensors = dict(zip(self.names, self.tensors))
        if self.differentiable:
            tensors.update(zip(names_of("grad_output", len(self.shapes)), self.seeds()))
        return {"op": self.op, "tensors": tensors, "attrs": self.attrs, "autocast": self.autocast,
                "grad": bool(self.differentiable)}

    def problems(self, result):
        peers = []
        for function in (None, *self.entry.also):
            for dtype in (self.run_dtype, torch.float32, torch.float64):
                try:
                    peers.append(self.run(dtype, self.seeds(), function))
                except (RuntimeError, AssertionError):  # not every CPU kernel takes every type
                    continue
        if not peers:
            raise NotImplementedError("not implemented by any kernel of PyTorch's")
        names = names_of("output", len(self.shapes)) + [f"grad.{self.names[i]}" for i in self.differentiable]
        for k, name in enumerate(names):
            got = result.get(name)
            if got is None:
                yield f"{name} is missing"
                continue
            if not got.is_floating_point():
                continue
            wanted = [way for outputs, grads in peers for want in [[*outputs, *grads][k].detach()]
                      for way in (want.to(self.run_dtype).to(got.dtype), want.to(got.dtype))]
            kinds = torch.stack([kind(way) for way in wanted])
            # PyTorch's own results may be of more than one kind: something on the way left the type, and what is left
            # of that depends on the types in between.
            fits = (kinds == kind(got)).any(0) | ((kinds != kinds[0]).any(0) & (self.run_dtype in LOW_TYPES))
            for i in (~fits).flatten().nonzero().flatten().tolist()[:3]:
                yield f"{name}[{i}] is {float(got.flatten()[i])}, PyTorch's {[float(w.flatten()[i]) for w in wanted]}"

    def describe(self):
        shapes = ", ".join(f"{n}:{str(t.dtype)[6:]}{list(t.shape)}" for n, t in zip(self.names, self.tensors))
        return f"{self.op} [{self.mode}, autocast {self.autocast}] ({shapes}) {self.attrs}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    halftone.add_binary_option(parser)
    parser.add_argument("--cases", type=int, default=25, help="cases an op (default 25)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--op", action="append", help="only this op (repeatable)")
    parser.add_argument("--family", action="append", help="only the ops of this family file (repeatable)")
    parser.add_argument("--show", type=int, default=3, help="differences to print an op (default 3)")
    halftone.add_share_option(parser)
    options = parser.parse_args()
    torch.set_num_threads(1)
    catalog = halftone.op_catalog(options.halftone)
    ops = [name for name, entry in sorted(REGISTRY.items()) if name in catalog and entry.specials
           and (not options.op or name in options.op) and (not options.family or entry.family in options.family)]
    ops = halftone.share_of(ops, options.share)
    cases, refused = [], 0
    for op in ops:
        for k in range(options.cases):
            try:
                case = Special(Random([options.seed, sum(map(ord, op)), k]), op, MODES[k % len(MODES)])
            except (RuntimeError, ValueError, IndexError, AssertionError):  # refused, or not by this formula
                refused += 1
                continue
            if not case.banned:
                cases.append(case)
    differing, lacking = collections.Counter(), collections.Counter()
    for case, (result, error) in zip(cases, halftone.run_cases(options.halftone, [c.request() for c in cases])):
        try:
            problems = [f"error: {error}"] if error else list(case.problems(result))
        except NotImplementedError as failure:
            lacking[f"{case.op}: {halftone.what_peer_lacks(failure)}"] += 1
            continue
        if problems:
            differing[case.op] += 1
            if differing[case.op] <= options.show:
                print(f"DIFFERS {case.describe()}\n    " + "\n    ".join(problems[:4]))
    for line, count in sorted(lacking.items()):
        print(f"not judged ({count}): {line}")
    print(f"{len(cases) - sum(lacking.values())} cases of {len(ops)} ops, {refused} that PyTorch or its formula here refuses, {sum(differing.values())} differ: "
          f"{dict(differing)}")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
