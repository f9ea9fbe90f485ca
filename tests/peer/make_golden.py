#!/usr/bin/env python3
"""Writes the golden cases: a few hundred single operations with PyTorch's answers and the allowed differences, small enough
to be committed, so that the arithmetic is checked where there is no Python.

Case N has the tensors `N/0`, `N/grad_output`, ... as `halftone op` takes them, and for each result NAME `N/expect/NAME` (f32,
f64 for f64 results) and `N/allowed/NAME` (f32), elementwise: golden/NAME.safetensors.xz holds their elements, type by type
(golden_file.write_cases). golden/NAME.jsonl.xz holds one line a case: op, attrs, autocast, grad, grad_grad, dtypes and sizes of its
tensors, and for each result its dtype, or the words of the error that it must be refused with.
"""

import argparse
import sys

import numpy
import safetensors.torch
import torch

import golden_file
from op_bounds import tolerance
from op_cases import Case, MODES
from op_draft import Random
from op_families import FamilyCase, REGISTRY
from op_generators import GENERATORS
from op_rejections import rejections, value_rejections, WRONG_VALUES

DTYPE_NAMES = {torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16",
               torch.bool: "BOOL", torch.int64: "I64"}
REFUSED_VALUES = "refused_values"


def digits_of(mode):
    """Binary digits of an argument: few, so that the files pack, and enough that a product of two still has to be rounded."""
    return 28 if mode == "f64" else 13


def small_case(op, mode, second, seed, limit):
    """The first case over a range of seeds none of whose tensors has more than `limit` elements, else the smallest
    case."""
    best, size = None, None
    for attempt in range(60):
        kind = FamilyCase if op in REGISTRY else Case
        case = kind(Random([seed, sum(map(ord, op)), attempt], digits_of(mode)), op, mode, second)
        largest = max([t.numel() for t in case.tensors] + [case.output.value.numel()])
        if size is None or largest < size:
            best, size = case, largest
        if largest <= limit:
            break
    return best


def shortened(bound):
    """The bound in f32, rounded up, and of it the first eight significant bits: at most 1 in 128 stricter, and half the bytes."""
    above = numpy.nextafter(bound.numpy().astype(numpy.float32), numpy.float32(numpy.inf))
    return torch.from_numpy(numpy.asarray(above)).view(torch.int32).bitwise_and(-65536).view(torch.float32)


def store(case, index, tensors):
    """Adds the case to the file's tensors; returns its line."""
    request = case.request()
    for name, tensor in request.pop("tensors").items():
        tensors[f"{index}/{name}"] = tensor
    results = {}
    for name, expected, run_dtype, out_dtype in case.expected():
        value = expected.value.detach()
        results[name] = DTYPE_NAMES[out_dtype]
        if not value.is_floating_point():
            tensors[f"{index}/expect/{name}"] = value.contiguous()
            continue
        bound = tolerance(expected, run_dtype, out_dtype).detach().expand(value.shape)
        if out_dtype != torch.float64:
            single = value.float()
            finite = torch.isfinite(single)
            bound = bound + torch.where(finite, (single.double() - value).abs(), torch.zeros_like(value))
            value = single
        tensors[f"{index}/expect/{name}"] = value.contiguous()
        tensors[f"{index}/allowed/{name}"] = shortened(bound.contiguous())
    return {**request, "results": results}


def write(name, ops, options):
    """One file of cases and its tensors."""
    tensors, lines = {}, []
    for op in sorted(ops):
        for k in range(options.cases):
            second = k in (0, 1, 2, 7)  # f32, both regions and f64
            case = small_case(op, MODES[k % len(MODES)], second, options.seed * 1000 + k, options.limit)
            if case.refused:
                continue
            lines.append(store(case, len(lines), tensors))
        store_rejections(rejections(op), lines, tensors)
    save(name, lines, tensors)


def write_refused_values():
    """Writes a file of calls with values that must be rejected."""
    tensors, lines = {}, []
    for op in sorted(WRONG_VALUES):
        store_rejections(value_rejections(op), lines, tensors)
    save(REFUSED_VALUES, lines, tensors)


def store_rejections(calls, lines, tensors):
    for request, words in calls:
        for argument, tensor in request.pop("tensors").items():
            tensors[f"{len(lines)}/{argument}"] = tensor
        lines.append({**request, "refused": words})


def save(name, lines, tensors):
    tensors = {name: tensor.detach().clone() for name, tensor in tensors.items()}
    path = golden_file.write_cases(name, lines, safetensors.torch.save(tensors))
    print(f"{name}: {len(lines)} cases, {len(tensors)} tensors, {path.stat().st_size / 1e6:.2f} MB")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=8, help="cases an op (default 8: one of each mode)")
    parser.add_argument("--limit", type=int, default=24, help="elements of a tensor, where the op allows")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--family", action="append",
                        help=f"only this file: base, {REFUSED_VALUES}, or a family of ops (default: all)")
    options = parser.parse_args()
    files = {"base": set(GENERATORS)}
    for entry in REGISTRY.values():
        files.setdefault(entry.family, set()).add(entry.name)
    for name in options.family or [*sorted(files), REFUSED_VALUES]:
        if name == REFUSED_VALUES:
            write_refused_values()
        else:
            write(name, files[name], options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
