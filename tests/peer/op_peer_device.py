#!/usr/bin/env python3
"""Holds `halftone op` and PyTorch's own kernels on one device against the same exact results: the cases of op_cases.py, with
PyTorch run as a user runs it, under torch.autocast of that device and on operands of the case's types.

On a GPU (--peer cuda, the default) this shows what no CPU can: the result types of PyTorch's CUDA autocast as they are, and
how far its kernels are from the exact result in units of the bound that ours must keep. Exit code 1 where a type differs, or
where ours is beyond its bound. With --peer cpu only the cases outside a region are run: the CPU's autocast has other lists.
"""

import argparse
import collections
import contextlib
import sys

import torch

import halftone
import op_aten
import op_family
from op_bounds import compare
from op_cases import make_cases
from op_families import FamilyCase, REGISTRY
from op_family import Arguments, as_tuple, gradients
from op_generators import GENERATORS
from op_specials import native


@contextlib.contextmanager
def peers_own():
    """Makes functions of the family files that compare a formula with PyTorch's own return the latter."""
    op_family.only_peer = True
    try:
        yield
    finally:
        op_family.only_peer = False


def own_result(case, tensors):
    """By PyTorch's dispatcher; else by the family's entry, whose function may be a formula in PyTorch's ops."""
    if case.op.endswith("_"):  # no leaf is written to
        tensors = [tensors[0] * 1, *tensors[1:]]
    try:
        return op_aten.call(case.op, case.names, tensors, {k: v for k, v in case.attrs.items() if k != "strides"})
    except op_aten.NoMatch:
        function = case.entry.native or case.entry.function
        return function(Arguments(zip(case.names, tensors)), {k: v for k, v in case.attrs.items() if k != "strides"})


def peer_results(case, device):
    """{name: tensor on the CPU} of outputs and first gradients, or the error's first line."""
    tensors = [t.detach().to(device) for t in case.tensors]
    leaves = [tensors[i].requires_grad_(True) for i in case.differentiable]
    low = halftone.LOW.get(case.autocast)
    with torch.autocast(device, dtype=low, enabled=low is not None), peers_own():
        if isinstance(case, FamilyCase):
            outputs = as_tuple(own_result(case, tensors))
        else:
            outputs = as_tuple(native(case.op, tensors, case.reference_attrs))
    seeds = case.seeds if isinstance(case, FamilyCase) else [case.grad_output]
    grads = gradients(outputs, [s.to(device, o.dtype if o.is_floating_point() else s.dtype)
                                for s, o in zip(seeds, outputs)], leaves, False)
    names = ["output"] if len(outputs) == 1 else [f"output.{i}" for i in range(len(outputs))]
    found = {name: y.detach().cpu() for name, y in zip(names, outputs)}
    found.update({f"grad.{case.names[i]}": g.cpu() for i, g in zip(case.differentiable, grads)})
    return found


def runs_natively(case, peer):
    """Whether PyTorch can run the case as it is."""
    if case.refused or (peer == "cpu" and case.autocast is not None):
        return False
    # op_reference.py writes plain numbers and given types out in f64.
    return isinstance(case, FamilyCase) or not case.attrs.keys() & {"other", "self", "exponent", "dtype"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    halftone.add_binary_option(parser)
    parser.add_argument("--peer", default="cuda", help="where PyTorch computes: cuda (default) or cpu")
    parser.add_argument("--cases", type=int, default=24, help="cases an op (default 24)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--op", action="append", help="only this op (repeatable)")
    halftone.add_share_option(parser)
    options = parser.parse_args()
    if options.peer == "cuda" and not torch.cuda.is_available():
        print("PyTorch finds no CUDA device")
        return 2
    catalog = halftone.op_catalog(options.halftone)
    ops = halftone.share_of(sorted((set(GENERATORS) | set(REGISTRY)) & set(catalog) & set(options.op or catalog)), options.share)
    cases = [c for c in make_cases(ops, catalog, options.cases, options.seed) if runs_natively(c, options.peer)]
    results = halftone.run_cases(options.halftone, [c.request() for c in cases])
    rows = collections.defaultdict(lambda: {"cases": 0, "ours": 0.0, "peer": 0.0, "types": 0, "beyond": 0})
    unsupported = collections.Counter()
    for case, (result, error) in zip(cases, results):
        row = rows[case.op]
        try:
            peer = peer_results(case, options.peer)
        except (RuntimeError, NotImplementedError, TypeError, AssertionError) as rejection:
            unsupported[f"{case.op}: {str(rejection).splitlines()[0][:90]}"] += 1
            continue
        try:
            exact = list(case.expected())
        except (RuntimeError, AttributeError) as failure:
            unsupported[f"{case.op}: {halftone.what_peer_lacks(failure)}"] += 1
            continue
        row["cases"] += 1
        for name, expected, run_dtype, out_dtype in exact:
            got, other = (result or {}).get(name), peer.get(name)
            if name.startswith("grad_grad.") or other is None:
                continue
            if error or got is None or got.dtype != other.dtype:
                row["types"] += 1
                print(f"TYPES {case.describe()}\n    {name}: ours {error or (got is not None and got.dtype)}, PyTorch's "
                      f"{other.dtype}")
            elif got.is_floating_point():
                expected.value = expected.value.detach()
                share, _, failed = compare(got, expected, run_dtype, out_dtype)
                row["ours"], row["beyond"] = max(row["ours"], share), row["beyond"] + bool(failed)
                row["peer"] = max(row["peer"], compare(other, expected, run_dtype, out_dtype)[0])
    print("| op | cases | types that differ | ours, worst share of the bound | PyTorch's |\n| --- | ---: | ---: | ---: | ---: |")
    for op, row in sorted(rows.items()):
        print(f"| {op} | {row['cases']} | {row['types']} | {row['ours']:.2f} | {row['peer']:.2f} |")
    for line, count in unsupported.most_common():
        print(f"not run by PyTorch ({count}): {line}")
    wrong = sum(row["types"] + row["beyond"] for row in rows.values())
    print(f"{sum(row['cases'] for row in rows.values())} cases on {options.peer}, {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
