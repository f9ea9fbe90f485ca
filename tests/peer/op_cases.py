#!/usr/bin/env python3
"""Compares `halftone op` with PyTorch over random cases of every op of the catalog: values, gradients, and second
derivatives where the catalog has them; in f32, f64, f16 and bf16 regions, and f16/bf16 without a region.

The reference is PyTorch in f64 on the operands as the CUDA column's policy casts them (op_policy.py); the allowed
difference is derived in op_bounds.py. The type of every result is compared as well. Exit code 1 on any difference.
"""

import argparse
import collections
import sys

import torch

import halftone
from op_any_case import AnyCase
from op_bounds import compare, stored_in, UNIT
from op_draft import Random
from op_generators import choose_types, GENERATORS
from op_families import FamilyCase, REGISTRY
from op_policy import cast, has_wide_scalar, policy
from op_rejections import problems as rejection_problems, rejections, value_rejections
from op_reference import Elementwise, FUNCTIONS, Multilinear, MULTILINEAR
from op_reference_nn import COMPOSITE

MODES = ("f32", "fp16", "bf16", "fp16", "bf16", "mixed", "half", "f64")


def reference_of(op):
    if op in FUNCTIONS:
        return Elementwise(op)
    if op in MULTILINEAR:
        return Multilinear(op)
    return COMPOSITE[op]()


def wide(tensors):
    return [t.double() if t.is_floating_point() or t.dtype == torch.bool else t for t in tensors]


class Case(AnyCase):
    """One call: its file, and PyTorch's result."""

    def __init__(self, rng, op, mode, second):
        self.op, self.mode = op, mode
        made = GENERATORS[op](rng)
        types, self.autocast = choose_types(rng, op, made, mode)
        self.names, self.differentiable = made.names, made.differentiable
        self.tensors = [rng.shortened(v).to(t).contiguous() for v, t in zip(made.values, types)]
        self.attrs = dict(made.attrs)
        self.reference_attrs = dict(made.attrs)
        if rng.chance(0.25):
            self.stride_one(rng)
        if hasattr(made, "given"):
            self.reference_attrs["given"] = made.given
        given = getattr(torch, self.attrs["dtype"]) if "dtype" in self.attrs else None
        used, self.run_dtype = cast(op, self.tensors, halftone.LOW.get(self.autocast), given)
        self.refused = policy(op) == "banned" and self.autocast is not None
        self.inputs = wide(used)
        if op in FUNCTIONS and has_wide_scalar(used, self.run_dtype):
            self.reference_attrs["wide_scalar"] = True
        self.reference = reference_of(op)
        self.output = self.reference.forward(self.inputs, self.reference_attrs)
        scale = rng.pick((1.0, 1.0, 16.0))
        self.grad_output = rng.normal(*self.output.value.shape, scale=scale).to(self.run_dtype).contiguous()
        self.second = second and bool(self.differentiable)
        self.vs = {i: rng.normal(*self.tensors[i].shape).to(self.tensors[i].dtype) for i in self.differentiable}

    def request(self):
        tensors = dict(zip(self.names, self.tensors))
        if self.differentiable:
            tensors["grad_output"] = self.grad_output
        if self.second:
            tensors.update({f"v.{self.names[i]}": v for i, v in self.vs.items()})
        return {"op": self.op, "tensors": tensors, "attrs": self.attrs, "autocast": self.autocast,
                "grad": bool(self.differentiable), "grad_grad": self.second}

    def expected(self):
        """[(name, Expected, type it was computed in, type of the result)]."""
        g = self.grad_output.double()
        if not self.differentiable:
            return [("output", self.output, self.output.value.dtype, self.output.value.dtype)]
        wanted = [("output", self.output, self.run_dtype, self.run_dtype)]
        first = self.reference.gradients(self.inputs, self.reference_attrs, g, self.differentiable)
        for i, expected in first.items():
            wanted.append((f"grad.{self.names[i]}", expected, self.run_type(i), self.tensors[i].dtype))
        if self.second:
            vs = {i: v.double() for i, v in self.vs.items()}
            second = self.reference.second(self.inputs, self.reference_attrs, g, vs, self.differentiable)
            for key, expected in second.items():
                dtype = self.run_dtype if key == "output" else self.tensors[key].dtype
                name = "output" if key == "output" else self.names[key]
                coarse = max((self.run_dtype, *(t.dtype for t in self.tensors if t.is_floating_point())),
                             key=lambda t: UNIT[t])
                wanted.append((f"grad_grad.{name}", stored_in(expected, self.run_dtype, coarse), coarse, dtype))
        return wanted

    def run_type(self, i):
        if self.op in ("batch_norm", "batch_norm_relu") and i in (3, 4):
            return self.tensors[i].dtype
        return self.run_dtype


class Table:
    """Per op: cases, compared numbers, worst error in ulp of values and of gradients, worst share of the bound."""

    def __init__(self):
        self.rows = collections.defaultdict(lambda: {"cases": 0, "numbers": 0, "value": 0.0, "grad": 0.0, "second": 0,
                                                     "share": 0.0, "failed": 0})

    def add(self, op, name, numbers, share, ulps, failed):
        row = self.rows[op]
        row["numbers"] += numbers
        row["share"] = max(row["share"], share)
        row["failed"] += failed
        if name == "output":
            row["value"] = max(row["value"], ulps)
        elif name.startswith("grad."):
            row["grad"] = max(row["grad"], ulps)
        else:
            row["second"] += numbers

    def show(self):
        """The share of the bound comes first: an error of many units is small if the bound is wide."""
        print("| op | policy | worst share of bound | cases | numbers | of them second derivatives | worst value, ulp "
              "| worst gradient, ulp |")
        print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
        for op, row in sorted(self.rows.items()):
            print(f"| {op} | {policy(op)} | {row['share']:.2f} | {row['cases']} | {row['numbers']} | {row['second']} "
                  f"| {row['value']:.2f} | {row['grad']:.4g} |")


def judge(case, result, table):
    """The problems of one case, as text."""
    problems = []
    for name, expected, run_dtype, out_dtype in case.expected():
        got = result.get(name)
        if got is None:
            problems.append(f"{name} is missing")
            continue
        if got.dtype != out_dtype:
            problems.append(f"{name} is {got.dtype}, not {out_dtype}")
            continue
        if list(got.shape) != list(expected.value.shape):
            problems.append(f"{name} has shape {list(got.shape)}, not {list(expected.value.shape)}")
            continue
        expected.value = expected.value.detach()
        if not got.is_floating_point():
            wrong = int((got != expected.value).sum())
            table.add(case.op, name, got.numel(), float(wrong > 0), 0.0, wrong)
            problems += [f"{name}: {wrong} of {got.numel()} differ"] if wrong else []
            continue
        share, ulps, failed = compare(got, expected, run_dtype, out_dtype)
        table.add(case.op, name, got.numel(), share, ulps, failed)
        if failed:
            problems.append(f"{name}: {failed} of {got.numel()} beyond the bound, worst {share:.3g} times it "
                            f"({ulps:.3g} ulp)")
        if case.rounded_twice(name, got):
            problems.append(f"{name} was not rounded to {case.run_dtype}")
    return problems


def make_cases(ops, catalog, count, seed):
    cases = []
    for op in ops:
        for k in range(count):
            rng = Random([seed, sum(map(ord, op)), k])
            second = bool(catalog[op].get("derivatives", 1) >= 2 and k % 3 == 0)
            kind = FamilyCase if op in REGISTRY else Case
            cases.append(kind(rng, op, MODES[k % len(MODES)], second))
    return cases


def check_policies(ops, catalog):
    wrong = [f"{op}: catalog says {catalog[op].get('policy')}, the CUDA column {policy(op)}" for op in ops
             if catalog[op].get("policy") not in (None, policy(op))]
    for line in wrong:
        print("policy:", line)
    return len(wrong)


def check_rejections(binary, ops):
    """Mixed types, banned ops in a region, and invalid values: the number that were not rejected as they should be."""
    calls = [call for op in ops for call in rejections(op) + value_rejections(op)]
    answers = halftone.run_cases(binary, [request for request, _ in calls])
    wrong = [line for (request, words), (_, error) in zip(calls, answers)
             for line in rejection_problems(request, words, error)]
    for line in wrong:
        print("rejection:", line)
    print(f"{len(calls)} calls that must be refused, {len(wrong)} wrong")
    return len(wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    halftone.add_binary_option(parser)
    parser.add_argument("--cases", type=int, default=56, help="cases an op (default 56)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--op", action="append", help="only this op (repeatable)")
    parser.add_argument("--family", action="append", help="only the ops of this family file (repeatable)")
    parser.add_argument("--show", type=int, default=40, help="differing cases to print (default 40)")
    halftone.add_share_option(parser)
    options = parser.parse_args()
    torch.set_num_threads(1)

    catalog = halftone.op_catalog(options.halftone)
    known = set(GENERATORS) | set(REGISTRY)
    without = sorted(set(catalog) - known)
    absent = sorted(known - set(catalog))
    family = {name for name, entry in REGISTRY.items() if entry.family in (options.family or [])}
    asked = set(options.op or []) | family or known
    ops = halftone.share_of(sorted(known & set(catalog) & asked), options.share)
    print(f"in the catalog, without a generator here: {', '.join(without) or 'none'}")
    print(f"generators for ops that the catalog lacks: {', '.join(absent) or 'none'}")
    problems_found = check_policies(ops, catalog)

    cases = make_cases(ops, catalog, options.cases, options.seed)
    results = halftone.run_cases(options.halftone, [case.request() for case in cases])
    table, shown, differing, lacking = Table(), 0, 0, collections.Counter()
    for case, (result, error) in zip(cases, results):
        table.rows[case.op]["cases"] += 1
        if case.refused:
            problems = [] if error else ["a banned op ran inside a region"]
        else:
            try:
                problems = [f"error: {error}"] if error else judge(case, result, table)
            except (RuntimeError, AttributeError) as failure:
                lacking[f"{case.op}: {halftone.what_peer_lacks(failure)}"] += 1
                continue
        differing += bool(problems)
        if problems and shown < options.show:
            shown += 1
            print(f"DIFFERS {case.describe()}\n    " + "\n    ".join(problems))
    table.show()
    for line, count in sorted(lacking.items()):
        print(f"not judged ({count}): {line}")
    problems_found += check_rejections(options.halftone, ops)
    print(f"{len(cases) - sum(lacking.values())} cases, {differing} differ, {problems_found} policies and rejections differ")
    return 1 if differing or problems_found else 0


if __name__ == "__main__":
    sys.exit(main())
