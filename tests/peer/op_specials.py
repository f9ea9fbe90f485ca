#!/usr/bin/env python3
"""Compares `halftone op` with PyTorch where arithmetic has edges: signed zeros, subnormals, the ends of f16,
infinities and NaN in every position, for values and gradients; and empty tensors, tensors of rank 0 and strided
inputs.

Each answer must be PyTorch's of the same type on a CPU, or PyTorch's in f64 rounded to the type: equal where it is a
NaN, an infinity or a zero (with its sign), close by otherwise; how close a number must be is for op_cases.py to judge.
Left open is the sign of a zero where two zeros of unequal sign meet in relu, clamp, maximum and minimum, and what IEEE
arithmetic does not say: PyTorch's own answers differ there between CPU and GPU. So is the sign of a zero that is a
sum, or a loss, or a gradient that a loss does not look at. Exit code 1 on any difference.
"""

import argparse
import sys

import torch

import halftone
from op_families import REGISTRY
from op_family import Arguments
from op_policy import cast, IN_PLACE_OPS, policy
from op_reference import COMPARISONS, FUNCTIONS, MULTILINEAR
from op_reference_nn import COMPOSITE

INF, NAN = float("inf"), float("nan")
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -3.0, 2.0**-24, -(2.0**-24), 2.0**-25, 2.0**-14, 3 * 2.0**-17, 65504.0,
           -65504.0, 65519.0, 65520.0, 1e-40, -(2.0**-149), 3.4e38, 11.0, 12.0, -17.5, 89.0, -104.0, 300.0, INF, -INF,
           NAN]
TYPES = [(torch.float32, None), (torch.float16, None), (torch.bfloat16, None), (torch.float64, None),
         (torch.float16, "fp16"), (torch.bfloat16, "bf16"), (torch.float32, "fp16")]
BINARY = {"add", "sub", "mul", "div", "maximum", "minimum", "pow", "atan2", "add_", "mul_", "pow_", "copy_",
          *COMPARISONS}
EITHER_ZERO = {"relu", "clamp", "maximum", "minimum"}


def native(op, x, attrs):
    """PyTorch's op with these types."""
    if op == "copy_":
        return x[0].clone().copy_(x[1])
    if op == "zero_":
        return x[0].clone().zero_()
    if op in IN_PLACE_OPS:
        numbers = [attrs[name] for name in ("other", "exponent") if name in attrs]
        return getattr(x[0].clone(), op)(*x[1:], *numbers)
    if op == "to":
        return x[0].to(getattr(torch, attrs["dtype"]))
    for table in (FUNCTIONS, MULTILINEAR):
        if op in table:
            return table[op](x, attrs)
    if op in REGISTRY:
        entry = REGISTRY[op]
        return (entry.native or entry.function)(Arguments({str(i): t for i, t in enumerate(x)}), attrs)
    return COMPOSITE[op]().function(x, attrs)


def answers(op, tensors, attrs, grad_output):
    """{name: tensor} by PyTorch, gradients included."""
    leaves = [t.clone().requires_grad_(t.is_floating_point() and grad_output is not None) for t in tensors]
    y = native(op, leaves, attrs)
    found = {"output": y.detach()}
    if grad_output is not None and y.requires_grad:
        wanted = [(i, t) for i, t in enumerate(leaves) if t.requires_grad]
        grads = torch.autograd.grad(y, [t for _, t in wanted], grad_output.to(y.dtype), allow_unused=True)
        for (i, leaf), grad in zip(wanted, grads):
            found[f"grad.{i}"] = torch.zeros_like(leaf) if grad is None else grad
    return found


def agrees(got, want, either_zero):
    """Elementwise: the same NaN, infinity or zero, or a finite number close by."""
    if not got.is_floating_point():
        return got == want
    info = torch.finfo(got.dtype)
    g, w = got.double(), want.double()
    same = (g == w) & ((g != 0) | either_zero | (torch.signbit(g) == torch.signbit(w)))
    # Eight units of PyTorch's result: its polynomials are not ours. In f64 its gelu and tanh cancel, erfc() does not.
    unit = 2.0**-43 * (1 + w.abs()) if got.dtype == torch.float64 else \
        torch.clamp_min(w.abs(), info.smallest_normal) * info.eps
    close = torch.isfinite(g) & torch.isfinite(w) & ((g - w).abs() <= 8 * unit) & ((g != 0) | (w != 0))
    return same | close | (torch.isnan(g) & torch.isnan(w))


def cancelled(x, g, dim):
    """Error of log_softmax's gradient g - exp(y) sum(g) where it cancels: the roundings of y, which exp multiplies by
    |y|, of the sum and of the two products, and two units of exp."""
    y = torch.log_softmax(x.double(), dim)
    share, g, unit = y.exp(), g.double(), 2.0**-24
    total = g.sum(dim, keepdim=True).abs() * (y.abs() + 2 * 2 + 2) + x.shape[dim] * g.abs().sum(dim, keepdim=True)
    return unit * (g.abs() + share * total)


class Special:
    """One op on all special values (two operands: on all pairs)."""

    def __init__(self, op, dtype, autocast, attrs, values=None):
        self.op, self.autocast, self.attrs = op, autocast, attrs
        line = torch.tensor(SPECIAL, dtype=torch.float64).to(dtype)
        if values is not None:
            self.tensors = [v.to(dtype) if v.is_floating_point() else v for v in values]
        elif op in BINARY and not attrs.keys() & {"other", "exponent", "self"}:
            self.tensors = [line.repeat_interleave(len(line)), line.repeat(len(line))]
        else:
            self.tensors = [line]
        given = getattr(torch, attrs["dtype"]) if "dtype" in attrs else None
        self.used, self.run_dtype = cast(op, self.tensors, halftone.LOW.get(autocast), given)
        if policy(op) in ("f32_dtype", "f32_append") or op == "cross_entropy":
            self.used = [t.to(self.run_dtype) if t.is_floating_point() else t for t in self.used]
        shape = native(op, self.used, self.reference_attrs()).shape
        self.grad_output = None
        if op not in COMPARISONS and op != "argmax":
            self.grad_output = torch.full(shape, 3.0, dtype=self.run_dtype)

    def reference_attrs(self):
        return {k: v for k, v in self.attrs.items() if k != "strides"}

    def request(self):
        tensors = {f"0.{i}" if self.op == "cat" else str(i): t.contiguous().clone() for i, t in enumerate(self.tensors)}
        if self.grad_output is not None:
            tensors["grad_output"] = self.grad_output
        return {"op": self.op, "tensors": tensors, "attrs": self.attrs, "autocast": self.autocast,
                "grad": self.grad_output is not None}

    def differences(self, result):
        peer = answers(self.op, self.used, self.reference_attrs(), self.grad_output)
        wide = [t.double() if t.is_floating_point() else t for t in self.used]
        exact = answers(self.op, wide, self.reference_attrs(), self.grad_output) if policy(self.op) != "none" or \
            self.op not in COMPARISONS else peer
        for name, want in peer.items():
            got = result.get(name.replace(".", ".0.") if self.op == "cat" else name)
            dtype = self.tensors[int(name[5:])].dtype if name != "output" else want.dtype
            if got is None or got.dtype != dtype or got.shape != want.shape:
                seen = None if got is None else (got.dtype, tuple(got.shape))
                yield f"{name} is {seen}, not {(dtype, tuple(want.shape))}"
                continue
            # A result may be stored in the type it was computed in, then cast to the leaf's.
            free = self.op in EITHER_ZERO or self.op not in FUNCTIONS
            near = agrees(got, want.to(dtype), free) | agrees(got, exact[name].to(want.dtype).to(dtype), free)
            if self.op == "log_softmax" and name == "grad.0" and got.dim() > 0:
                bound = cancelled(self.used[0], self.grad_output, self.attrs["dim"])
                near |= (got.double() - exact[name].double()).abs() <= bound
            if self.op == "atan2":  # PyTorch's NaN where the squares overflow, for what is below the normal numbers
                near |= (got == 0) & torch.isnan(want) & (exact[name].abs() < torch.finfo(dtype).smallest_normal)
            for i in (~near).flatten().nonzero().flatten().tolist()[:6]:
                at = [float(t.flatten()[i]) for t in self.used if t.numel() == near.numel()]
                yield (f"{name} at {at}: {float(got.flatten()[i])!r}, PyTorch {float(want.flatten()[i])!r} "
                       f"(in f64 {float(exact[name].flatten()[i])!r})")

    def describe(self):
        first = self.tensors[0]
        return f"{self.op} [{first.dtype}, autocast {self.autocast}] {list(first.shape)} {self.attrs}"


VARIANTS = {
    "add": [{}, {"other": 2.0}, {"alpha": -0.5}], "sub": [{}, {"alpha": 3.0}], "mul": [{}, {"other": 0.5}],
    "div": [{}, {"other": 3.0}], "pow": [{}, *({"exponent": e} for e in (2.0, 3.0, 0.5, -1.0, 0.0, 1.0)),
                                         {"self": 2.0}],
    "pow_": [{}, {"exponent": 2.0}], "clamp": [{"min": -0.5, "max": 0.75}, {"min": 0.0}, {"max": 1.0}],
    "to": [{"dtype": "float16"}, {"dtype": "bfloat16"}, {"dtype": "float32"}, {"dtype": "float64"}],
}


def elementwise_cases():
    for op in FUNCTIONS:
        if op in ("where",):
            continue
        for dtype, autocast in TYPES:
            for attrs in VARIANTS.get(op, [{}]):
                yield Special(op, dtype, autocast, attrs)


ROWS = torch.tensor([[0, -0.0, 1], [INF, 1, 2], [-INF, 1, 2], [-INF, -INF, -INF], [INF, INF, 1], [INF, -INF, 0],
                     [NAN, 1, 2], [1, NAN, INF], [65504, 65504, 1], [-65504, 65504, 0], [300, 300, 300],
                     [2.0**-24, 2.0**-24, 0], [3e38, 3e38, 1], [1e-40, 0, 0], [-0.0, -0.0, -0.0]], dtype=torch.float64)
ONES = torch.ones(3, 2, dtype=torch.float64)
LABELS = torch.arange(len(ROWS)) % 3
IMAGE = ROWS.reshape(1, 1, len(ROWS), 3)
CERTAIN = torch.tensor([0.0, 1.0, 0.0, 1.0, 0.5])
UNIT_ROWS = ROWS.abs().nan_to_num(1.0, 1.0, 1.0).clamp_max(1.0)


def row_cases():
    """(op, tensors, attributes) of the ops that look along rows."""
    along = {"dim": [-1], "keepdim": False}
    yield from (
        ("sum", [ROWS], along),
        ("mean", [ROWS], along),
        ("sum", [ROWS], {}),
        ("norm", [ROWS], {"p": 2.0, **along}),
        ("norm", [ROWS], {"p": 1.0, **along}),
        ("norm", [ROWS], {"p": 2.0}),
        ("softmax", [ROWS], {"dim": -1}),
        ("log_softmax", [ROWS], {"dim": -1}),
        ("softmax", [ROWS], {"dim": 0}),
        ("argmax", [ROWS], {"dim": 1}),
        ("argmax", [ROWS], {"dim": 0}),
        ("argmax", [ROWS], {}),
        ("mm", [ROWS, ONES], {}),
        ("linear", [ROWS, ONES.t()], {}),
        ("mv", [ROWS, ONES[:, 0]], {}),
        ("matmul", [ROWS, ONES], {}),
        ("addmm", [ROWS[:, :2], ROWS, ONES], {"beta": 1.0, "alpha": 1.0}),
        ("max_pool2d", [IMAGE], {"kernel_size": [1, 3]}),
        ("avg_pool2d", [IMAGE], {"kernel_size": [1, 3]}),
        ("adaptive_avg_pool2d", [IMAGE], {"output_size": [len(ROWS), 1]}),
        ("mse_loss", [ROWS, ROWS.flip(0)], {"reduction": "none"}),
        ("mse_loss", [ROWS, ROWS], {"reduction": "mean"}),
        ("l1_loss", [ROWS, ROWS.flip(0)], {"reduction": "none"}),
        ("binary_cross_entropy_with_logits", [ROWS, UNIT_ROWS], {"reduction": "none"}),
        ("cross_entropy", [ROWS, LABELS], {"reduction": "none"}),
        ("nll_loss", [ROWS, LABELS], {"reduction": "none"}),
        ("nll_loss", [ROWS, LABELS], {"reduction": "mean"}),
        ("where", [ROWS > 0, ROWS, ROWS.flip(0)], {}),
        ("dropout", [ROWS, ROWS > 0], {"p": 0.5}),
        ("binary_cross_entropy", [CERTAIN, CERTAIN[[0, 1, 1, 0, 4]]], {"reduction": "none"}),
    )


def edge_shapes():
    """(op, tensors, attributes) of empty tensors and of tensors of rank 0."""
    def of(*shape):
        return torch.full(shape, 0.75, dtype=torch.float64)
    for op in sorted(FUNCTIONS):
        count = 2 if op in BINARY else 1
        attrs = VARIANTS.get(op, [{}])[0]
        if op == "where":
            continue
        for shape in ((), (0,), (2, 0), (0, 3, 2)):
            yield op, [of(*shape)] * count, attrs
        if count == 2:
            yield op, [of(2, 1), of(2, 1)], attrs
            if not op.endswith("_"):
                yield op, [of(0, 1), of(1, 3)], attrs
                yield op, [of(), of(3)], attrs
    for dims in ({}, {"dim": [0], "keepdim": True}, {"dim": [-1], "keepdim": False}):
        for op in ("sum", "mean", "norm"):
            for shape in ((), (0,), (2, 0), (0, 2)):
                yield op, [of(*shape)], {**dims, **({"p": 2.0} if op == "norm" else {})}
    for op in ("softmax", "log_softmax"):
        yield from ((op, [of(*shape)], {"dim": -1}) for shape in ((), (0,), (2, 0), (0, 3)))
    yield from (("argmax", [of()], {}), ("argmax", [of()], {"dim": 0}), ("argmax", [of(0, 3)], {"dim": 1}))
    yield from ((op, [of(2, 0), of(0, 3)], {}) for op in ("mm", "matmul"))
    yield from ((op, [of(0, 2), of(2, 3)], {}) for op in ("mm", "matmul"))
    yield from (
        ("mv", [of(2, 0), of(0)], {}),
        ("dot", [of(0), of(0)], {}),
        ("matmul", [of(0), of(0)], {}),
        ("bmm", [of(0, 2, 3), of(0, 3, 2)], {}),
        ("bmm", [of(2, 2, 0), of(2, 0, 2)], {}),
        ("addmm", [of(2, 3), of(2, 0), of(0, 3)], {"beta": 0.5, "alpha": 1.0}),
        ("linear", [of(0, 3), of(2, 3), of(2)], {}),
        ("linear", [of(3), of(2, 3), of(2)], {}),
        ("linear", [of(2, 0), of(3, 0), of(3)], {}),
        ("conv2d", [of(0, 2, 4, 4), of(3, 2, 3, 3)], {"padding": 1}),
        ("max_pool2d", [of(0, 2, 4, 4)], {"kernel_size": 2}),
        ("avg_pool2d", [of(0, 2, 4, 4)], {"kernel_size": 2}),
        ("adaptive_avg_pool2d", [of(0, 2, 4, 4)], {"output_size": [1, 1]}),
        ("cat", [of(0), of(2)], {"dim": 0}),
        ("where", [of() > 0, of(), of(0)], {}),
        ("where", [of() > 0, of(), of()], {}),
        ("dropout", [of(), of() > 0], {"p": 0.5}),
        ("dropout", [of(0), of(0) > 0], {"p": 0.5}),
        ("reshape", [of()], {"shape": [1, 1]}),
        ("reshape", [of(1)], {"shape": []}),
        ("reshape", [of(0, 2)], {"shape": [2, 0]}),
        ("flatten", [of()], {}),
        ("flatten", [of(2, 0, 3)], {"start_dim": 1}),
        ("permute", [of()], {"dims": []}),
        ("transpose", [of()], {"dim0": 0, "dim1": -1}),
        ("transpose", [of(0, 2)], {"dim0": 0, "dim1": 1}),
        ("expand", [of()], {"size": [2, 3]}),
        ("expand", [of(1)], {"size": [0]}),
        ("expand", [of(0, 1)], {"size": [0, 3]}),
        ("narrow", [of(0, 2)], {"dim": 0, "start": 0, "length": 0}),
        ("contiguous", [of(0, 2)], {}),
    )
    for op in ("mse_loss", "l1_loss", "binary_cross_entropy_with_logits", "binary_cross_entropy"):
        for reduction in ("mean", "sum", "none"):
            yield from ((op, [of(*shape), of(*shape)], {"reduction": reduction}) for shape in ((), (0,), (2, 0)))
    for op in ("cross_entropy", "nll_loss"):
        for reduction in ("mean", "sum", "none"):
            yield op, [of(0, 3), torch.zeros(0, dtype=torch.int64)], {"reduction": reduction}
            yield op, [of(3), torch.tensor(1)], {"reduction": reduction}
            yield op, [of(2, 3), torch.tensor([1, 2])], {"reduction": reduction, "ignore_index": 1}
            yield op, [of(2, 3), torch.tensor([1, 1])], {"reduction": reduction, "ignore_index": 1}


def tabled_cases():
    for op, tensors, attrs in [*row_cases(), *edge_shapes()]:
        for dtype, autocast in TYPES:
            # PyTorch's own floor of x (1 - x) is 1e-12 rounded to f32, which f64 shows.
            if policy(op) != "banned" or (autocast is None and dtype != torch.float64):
                yield Special(op, dtype, autocast, attrs, tensors)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    halftone.add_binary_option(parser)
    parser.add_argument("--show", type=int, default=200, help="differences to print (default 200)")
    options = parser.parse_args()
    torch.set_num_threads(1)
    cases = [*elementwise_cases(), *tabled_cases()]
    differing, shown = 0, 0
    for case, (result, error) in zip(cases, halftone.run_cases(options.halftone, [c.request() for c in cases])):
        problems = [f"error: {error}"] if error else list(case.differences(result))
        differing += bool(problems)
        if problems and shown < options.show:
            shown += 1
            print(f"DIFFERS {case.describe()}\n    " + "\n    ".join(problems))
    print(f"{len(cases)} cases, {differing} differ")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
