"""Random cases for `halftone op`: shapes, values, attributes and types of every op of the catalog."""

import math

import torch

from op_draft import away_from_zero, draft, SIZES
from op_generators_nn import NN_GENERATORS
from op_policy import policy


def values_for(rng, op, shape):
    """Operands in the function's domain, sometimes large or tiny."""
    x = rng.normal(*shape)
    if op in ("log", "log2", "log10", "sqrt"):
        return x.abs() + 0.05
    if op == "rsqrt":  # nearer to 0 its second derivative overflows f16
        return x.abs() + 0.3
    if op == "log1p":
        return (x.abs() + 0.05) * rng.pick((1.0, 1e-3))
    if op in ("reciprocal", "div"):
        return away_from_zero(x)
    if op in ("add", "sub", "mul", "neg", "abs", "relu", "maximum", "minimum", "clamp", "where"):
        return x * rng.pick((1.0, 1.0, 1.0, 100.0, 1e-3))
    if op in ("exp", "expm1", "tanh", "sigmoid", "logsigmoid", "erf"):
        x = x * rng.pick((1.0, 1.0, 3.0, 1e-2))
        # Beyond 11.09 exp() overflows f16, and so does its gradient: op_specials.py tests that.
        return x.clamp_max(10.0) if op in ("exp", "expm1") else x
    return x


def unary(op):
    def generate(rng):
        return draft([values_for(rng, op, rng.shape())])
    return generate


def binary(op, scalar_name="other"):
    def generate(rng):
        shape = rng.shape()
        attrs = {}
        if op in ("add", "sub") and rng.chance(0.3):
            attrs["alpha"] = float(rng.pick((2.0, -0.5, 3.0, 0.1)))
        if op in ("add", "sub", "mul", "div") and rng.chance(0.15):
            attrs[scalar_name] = float(rng.pick((2.0, -0.5, 3.0, 0.1)))
            return draft([values_for(rng, op, shape)], attrs)
        left, right = shape, rng.broadcast(shape)
        if rng.chance(0.3):
            left, right = right, left
        return draft([values_for(rng, op, left), values_for(rng, op, right)], attrs)
    return generate


def comparison(op):
    def generate(rng):
        shape = rng.shape()
        values = [torch.round(rng.normal(*shape) * 2) / 2, torch.round(rng.normal(*rng.broadcast(shape)) * 2) / 2]
        return draft(values, {}, [])
    return generate


def make_argmax(rng):
    shape = rng.shape(1, 3)
    attrs = {"keepdim": bool(rng.chance(0.5))}
    if rng.chance(0.8):
        attrs["dim"] = dims_of(rng, len(shape))[0]
    return draft([torch.round(rng.normal(*shape) * 4) / 4], attrs, [])


def make_pow(rng):
    shape = rng.shape()
    base = rng.normal(*shape).abs() + 0.1
    if rng.chance(0.6):
        exponent = rng.pick((2, 3, 0.5, -1, 1.5, -0.5, 0, 1))
        if exponent in (2, 3, 1, 0):
            base = away_from_zero(rng.normal(*shape))
        return draft([base], {"exponent": float(exponent)})
    if rng.chance(0.25):
        return draft([rng.normal(*shape)], {"self": float(rng.pick((2.0, 0.5, 1.0, 10.0)))})
    # Nearer to 0 a power in the second derivative overflows f16, in PyTorch too.
    return draft([base + 0.2, rng.normal(*rng.broadcast(shape))])


def make_atan2(rng):
    shape = rng.shape()
    return draft([away_from_zero(rng.normal(*shape)), away_from_zero(rng.normal(*rng.broadcast(shape)))])


def make_where(rng):
    shape = rng.shape()
    condition = rng.uniform(0, 1, *rng.broadcast(shape)) < 0.5
    values = [condition, values_for(rng, "where", shape), values_for(rng, "where", rng.broadcast(shape))]
    return draft(values, {}, [1, 2], fixed={0: torch.bool})


def make_clamp(rng):
    attrs = rng.pick(({"min": -0.5, "max": 0.75}, {"min": 0.25}, {"max": -0.125}))
    return draft([values_for(rng, "clamp", rng.shape())], dict(attrs))


def dims_of(rng, rank):
    count = int(rng.numpy.integers(1, rank + 1))
    dims = sorted(int(d) for d in rng.numpy.choice(rank, count, replace=False))
    return [d - rank if rng.chance(0.3) else d for d in dims]


def given_type(rng):
    """A requested result type, sometimes."""
    return {"dtype": rng.pick(("float32", "float16", "bfloat16", "float64"))} if rng.chance(0.15) else {}


def reduction(rng):
    shape = rng.shape(0, 4)
    attrs = given_type(rng)
    if shape and rng.chance(0.7):
        dims = dims_of(rng, len(shape))
        attrs.update({"dim": dims[0] if rng.chance(0.2) else dims, "keepdim": bool(rng.chance(0.5))})
    return draft([rng.normal(*shape, scale=rng.pick((1.0, 1.0, 50.0)))], attrs)


def make_cat(rng):
    shape = rng.shape(1, 3, 600)
    dim = int(rng.numpy.integers(len(shape)))
    values = []
    for _ in range(int(rng.numpy.integers(1, 4))):
        part = list(shape)
        part[dim] = rng.pick(SIZES[:5])
        values.append(rng.normal(*part))
    return draft(values, {"dim": dim - len(shape) if rng.chance(0.3) else dim},
                 names=[f"0.{i}" for i in range(len(values))])


def make_dropout(rng):
    shape = rng.shape(1, 3)
    p = rng.pick((0.1, 0.25, 0.5))
    return draft([rng.normal(*shape), rng.uniform(0, 1, *shape) >= p], {"p": p}, [0], fixed={1: torch.bool})


def in_place(op):
    """The left side is written to, so it has the shape and the type of the result."""
    def generate(rng):
        shape = rng.shape()
        base = op.rstrip("_")
        values = [values_for(rng, base, shape)]
        if op == "pow_":
            values = [rng.normal(*shape).abs() + 0.3]
        if op in ("add_", "mul_", "pow_") and rng.chance(0.2):
            return draft(values, {"exponent" if op == "pow_" else "other": float(rng.pick((2.0, -0.5, 3.0, 0.1)))})
        if op in ("add_", "mul_", "pow_", "copy_"):
            values.append(values_for(rng, base, rng.broadcast(shape)))
        return draft(values)
    return generate


def make_to(rng):
    return draft([rng.normal(*rng.shape(), scale=rng.pick((1.0, 300.0, 1e-6)))],
                 {"dtype": rng.pick(("float32", "float16", "bfloat16"))})


def make_shape_op(op):
    def generate(rng):
        shape = rng.shape(2, 4)
        rank = len(shape)
        order = [int(d) for d in rng.numpy.permutation(rank)]
        attrs = {
            "reshape": {"shape": rng.pick(([-1], [math.prod(shape)], [shape[0], -1], [-1, shape[-1]],
                                           [*shape[:-1], 1, shape[-1]]))},
            "permute": {"dims": order},
            "transpose": {"dim0": order[0], "dim1": order[1] - rank if rng.chance(0.5) else order[1]},
            "flatten": {"start_dim": rng.pick((0, 1)), "end_dim": -1},
        }[op]
        return draft([rng.normal(*shape)], attrs)
    return generate


def make_narrow(rng):
    shape = rng.shape(1, 4)
    dim = int(rng.numpy.integers(len(shape)))
    start = int(rng.numpy.integers(shape[dim]))
    length = int(rng.numpy.integers(0, shape[dim] - start + 1))
    return draft([rng.normal(*shape)], {"dim": dim - len(shape) if rng.chance(0.3) else dim,
                                        "start": start - shape[dim] if rng.chance(0.2) else start, "length": length})


def make_expand(rng):
    size = rng.shape(1, 4)
    shape = rng.broadcast(size)
    lead = len(size) - len(shape)
    asked = [-1 if i >= lead and shape[i - lead] == n and rng.chance(0.3) else n for i, n in enumerate(size)]
    return draft([rng.normal(*shape)], {"size": asked})


GENERATORS = {
    **{op: unary(op) for op in ("neg", "abs", "exp", "expm1", "log", "log1p", "log2", "log10", "sqrt", "rsqrt",
                               "reciprocal", "tanh", "sigmoid", "logsigmoid", "relu", "gelu", "square", "sin", "cos",
                               "erf", "contiguous")},
    **{op: binary(op) for op in ("add", "sub", "mul", "div", "maximum", "minimum")},
    **{op: comparison(op) for op in ("eq", "ne", "lt", "le", "gt", "ge")},
    **{op: in_place(op) for op in ("add_", "mul_", "exp_", "pow_", "copy_", "zero_")},
    **{op: make_shape_op(op) for op in ("reshape", "permute", "transpose", "flatten")},
    "pow": make_pow, "atan2": make_atan2, "where": make_where, "clamp": make_clamp, "to": make_to,
    "sum": reduction, "mean": reduction, "argmax": make_argmax, "narrow": make_narrow,
    "cat": make_cat, "dropout": make_dropout, "expand": make_expand, **NN_GENERATORS,
}

# Kernels of these refuse operands of different types unless a region casts them first.
EQUAL_TYPES = {"linear", "matmul", "mm", "bmm", "addmm", "conv2d", "mv", "dot", "nll_loss", "cross_entropy",
               "mse_loss", "l1_loss", "binary_cross_entropy_with_logits", "binary_cross_entropy"}


def choose_types(rng, op, made, mode):
    """The type of each argument, and the region. Modes: f32, f64, fp16, bf16 (regions), half (low without region),
    mixed (without region, where the op promotes)."""
    autocast = mode if mode in ("fp16", "bf16") else None
    if mode == "f64":
        base = [torch.float64]
        autocast = rng.pick((None, None, "fp16", "bf16"))
    elif mode == "f32":
        base = [torch.float32]
    elif mode == "half":
        base = [rng.pick((torch.float16, torch.bfloat16))]
    elif mode == "mixed":
        base = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
    else:
        low = torch.float16 if mode == "fp16" else torch.bfloat16
        base = [low, low, torch.float32]
    mixing = len(base) > 1 and not (op in EQUAL_TYPES and (autocast is None or policy(op) == "none"))
    common = rng.pick(base)
    types = []
    for i, value in enumerate(made.values):
        fixed = made.fixed.get(i)
        if isinstance(fixed, torch.dtype):
            types.append(fixed)
        elif fixed == "single":  # batch norm's parameters and statistics: never narrower than f32
            types.append(torch.float64 if types[0] == torch.float64 else torch.float32)
        else:
            types.append(rng.pick(base) if mixing else common)
        if fixed == 0:  # of the first argument's type
            types[-1] = types[0]
        assert value.dtype in (torch.float64, torch.bool, torch.int64)
    return types, autocast


def permuted_strides(rng, shape):
    """Strides of a dense tensor with another order of its dimensions."""
    order = [int(d) for d in rng.numpy.permutation(len(shape))]
    strides, step = [0] * len(shape), 1
    for d in reversed(order):
        strides[d] = step
        step *= shape[d]
    return strides
