"""Random cases for `halftone op`: shapes, values, attributes and types of every op of the catalog."""

import dataclasses
import math

import numpy
import torch

from op_policy import policy

SIZES = (1, 2, 3, 5, 7, 16, 31, 33)


@dataclasses.dataclass
class Draft:
    """Arguments in order: names in the case file, f64 values (rounded to their types later), attributes."""
    names: list
    values: list
    attrs: dict
    differentiable: list
    fixed: dict = dataclasses.field(default_factory=dict)  # index -> dtype that the mode does not choose


class Random:
    def __init__(self, seed):
        self.numpy = numpy.random.default_rng(seed)
        self.torch = torch.Generator().manual_seed(int(self.numpy.integers(1 << 60)))

    def pick(self, options):
        return options[int(self.numpy.integers(len(options)))]

    def chance(self, probability):
        return self.numpy.random() < probability

    def normal(self, *shape, scale=1.0):
        return torch.randn(shape, generator=self.torch, dtype=torch.float64) * scale

    def uniform(self, low, high, *shape):
        return torch.rand(shape, generator=self.torch, dtype=torch.float64) * (high - low) + low

    def shape(self, low_rank=0, high_rank=4, limit=4000):
        while True:
            shape = [self.pick(SIZES) for _ in range(int(self.numpy.integers(low_rank, high_rank + 1)))]
            if math.prod(shape) <= limit:
                return shape

    def broadcast(self, shape):
        """A shape that broadcasts to `shape`."""
        kept = shape[int(self.numpy.integers(len(shape) + 1)):] if self.chance(0.3) else list(shape)
        return [1 if self.chance(0.25) else n for n in kept]


def draft(values, attrs=None, differentiable=None, names=None, fixed=None):
    names = names or [str(i) for i in range(len(values))]
    if differentiable is None:
        differentiable = list(range(len(values)))
    return Draft(names, values, attrs or {}, differentiable, fixed or {})


def away_from_zero(x, distance=0.1):
    return torch.where(x < 0, x - distance, x + distance)


def values_for(rng, op, shape):
    """Operands inside the function's domain, now and then large or tiny."""
    x = rng.normal(*shape)
    if op in ("log", "sqrt", "rsqrt"):
        return x.abs() + 0.05
    if op in ("reciprocal", "div"):
        return away_from_zero(x)
    if op in ("add", "sub", "mul", "neg", "abs", "relu", "maximum", "minimum", "clamp", "where"):
        return x * rng.pick((1.0, 1.0, 1.0, 100.0, 1e-3))
    if op in ("exp", "tanh", "sigmoid"):
        return x * rng.pick((1.0, 1.0, 3.0, 1e-2))
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
            attrs["alpha"] = float(rng.pick((2.0, -0.5, 0.1)))
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
    dim = int(rng.numpy.integers(len(shape)))
    return draft([torch.round(rng.normal(*shape) * 4) / 4], {"dim": dim, "keepdim": bool(rng.chance(0.5))}, [])


def make_pow(rng):
    shape = rng.shape()
    base = rng.normal(*shape).abs() + 0.1
    if rng.chance(0.6):
        exponent = rng.pick((2, 3, 0.5, -1, 1.5, -0.5, 0, 1))
        if exponent in (2, 3, 1, 0):
            base = away_from_zero(rng.normal(*shape))
        return draft([base], {"exponent": float(exponent)})
    return draft([base, rng.normal(*rng.broadcast(shape))])


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


def reduction(rng):
    shape = rng.shape(0, 4)
    attrs = {}
    if shape and rng.chance(0.7):
        attrs = {"dim": dims_of(rng, len(shape)), "keepdim": bool(rng.chance(0.5))}
    return draft([rng.normal(*shape, scale=rng.pick((1.0, 1.0, 50.0)))], attrs)


def make_norm(rng):
    shape = rng.shape(1, 3)
    attrs = {"p": float(rng.pick((2, 2, 2, 1)))}
    if rng.chance(0.5):
        attrs.update({"dim": dims_of(rng, len(shape)), "keepdim": bool(rng.chance(0.5))})
    return draft([away_from_zero(rng.normal(*shape))], attrs)


def softmax(rng):
    shape = rng.shape(1, 4)
    dim = int(rng.numpy.integers(len(shape)))
    dim = dim - len(shape) if rng.chance(0.5) else dim
    return draft([rng.normal(*shape, scale=rng.pick((1.0, 4.0)))], {"dim": dim})


def labels(rng, count, classes, shape=()):
    return torch.from_numpy(rng.numpy.integers(0, classes, (count, *shape))).to(torch.int64)


def classification(with_smoothing):
    def generate(rng):
        count, classes = rng.pick(SIZES[1:]), rng.pick((2, 3, 10, 31, 100))
        x = rng.normal(count, classes, scale=2.0)
        x = x if with_smoothing else torch.log_softmax(x, 1)
        target = labels(rng, count, classes)
        attrs = {"reduction": rng.pick(("mean", "mean", "sum", "none"))}
        if rng.chance(0.3):
            attrs["ignore_index"] = int(target[0])
            if bool((target == target[0]).all()):
                target[-1] = (target[0] + 1) % classes
                target[0] = attrs["ignore_index"]
        values = [x, target]
        if rng.chance(0.3):
            values.append(rng.uniform(0.5, 1.5, classes))
        if with_smoothing and rng.chance(0.3):
            attrs["label_smoothing"] = 0.1
        return draft(values, attrs, [0], fixed={1: torch.int64, 2: "input" if with_smoothing else None})
    return generate


def make_mse(rng):
    shape = rng.shape(1, 3)
    return draft([rng.normal(*shape), rng.normal(*shape)], {"reduction": rng.pick(("mean", "sum", "none"))})


def make_bce(rng):
    shape = rng.shape(1, 3)
    given, values = [0, 1], [rng.normal(*shape, scale=2.0), rng.uniform(0, 1, *shape)]
    if rng.chance(0.3):
        given.append(2)
        values.append(rng.uniform(0.5, 1.5, *shape))
    if rng.chance(0.3):
        given.append(3)
        values.append(rng.uniform(0.5, 2.0, shape[-1]))
    attrs = {"reduction": rng.pick(("mean", "sum", "none"))}
    made = draft(values, attrs, [0, 1], [str(i) for i in given])
    made.given = given
    return made


def inner(rng):
    return rng.pick((1, 3, 16, 31, 33, 128, 300))


def make_linear(rng):
    lead = rng.shape(1, 3, 64)
    k, n = inner(rng), rng.pick(SIZES)
    values = [rng.normal(*lead, k), rng.normal(n, k)]
    if rng.chance(0.6):
        values.append(rng.normal(n))
    return draft(values)


def make_matmul(rng):
    m, k, n = rng.pick(SIZES), inner(rng), rng.pick(SIZES)
    form = rng.pick(("mm", "mm", "vector", "left", "right", "batch", "broadcast"))
    batch = rng.shape(1, 2, 12)
    shapes = {"mm": ([m, k], [k, n]), "vector": ([k], [k]), "left": ([k], [k, n]), "right": ([m, k], [k]),
              "batch": ([*batch, m, k], [*batch, k, n]), "broadcast": ([*batch, m, k], [k, n])}[form]
    return draft([rng.normal(*shapes[0]), rng.normal(*shapes[1], scale=rng.pick((1.0, 1.0, 60.0)))])


def make_mm(rng):
    m, k, n = rng.pick(SIZES), inner(rng), rng.pick(SIZES)
    return draft([rng.normal(m, k), rng.normal(k, n)])


def make_bmm(rng):
    b, m, k, n = rng.pick((1, 2, 5)), rng.pick(SIZES), inner(rng), rng.pick(SIZES)
    return draft([rng.normal(b, m, k), rng.normal(b, k, n)])


def make_addmm(rng):
    m, k, n = rng.pick(SIZES), inner(rng), rng.pick(SIZES)
    attrs = {"beta": float(rng.pick((1.0, 0.5))), "alpha": float(rng.pick((1.0, 2.0)))} if rng.chance(0.4) else {}
    c = rng.pick(([m, n], [n], [1, n], [m, 1]))
    return draft([rng.normal(*c), rng.normal(m, k), rng.normal(k, n)], attrs)


def make_conv2d(rng):
    groups = rng.pick((1, 1, 1, 2))
    inputs, outputs = groups * rng.pick((1, 3, 8, 16)), groups * rng.pick((1, 4, 8, 17))
    kernel = rng.pick((1, 3, 3, 5))
    side, other = rng.pick((5, 8, 11)), rng.pick((5, 8, 11))
    attrs = {"stride": rng.pick((1, 1, 2)), "padding": rng.pick((0, 1, kernel // 2)), "dilation": 1,
             "groups": groups}
    if rng.chance(0.15) and kernel == 3:
        attrs["dilation"] = 2
    values = [rng.normal(rng.pick((1, 2, 3)), inputs, side, other),
              rng.normal(outputs, inputs // groups, kernel, kernel, scale=0.3)]
    if rng.chance(0.5):
        values.append(rng.normal(outputs))
    return draft(values, attrs)


def make_batch_norm(rng):
    n, c = rng.pick((2, 3, 7, 16)), rng.pick((1, 3, 8, 31))
    shape = [n, c, *rng.pick(((), (5, 5), (8, 3)))]
    values = [rng.normal(*shape) + rng.pick((0.0, 1.0)), rng.normal(c), rng.uniform(0.5, 2.0, c)]
    differentiable = [0]
    if rng.chance(0.8):
        values += [rng.uniform(0.5, 1.5, c), rng.normal(c)]
        differentiable = [0, 3, 4]
    attrs = {"training": bool(rng.chance(0.7)), "momentum": 0.1, "eps": 1e-5}
    return draft(values, attrs, differentiable,
                 fixed={1: "single", 2: "single", 3: "single", 4: "single"})


def pooling(op):
    def generate(rng):
        kernel = rng.pick((2, 2, 3))
        attrs = {"kernel_size": kernel, "stride": rng.pick((1, 2, kernel)), "padding": rng.pick((0, 0, 1))}
        if rng.chance(0.2):
            attrs["ceil_mode"] = True
        if op == "avg_pool2d" and rng.chance(0.3):
            attrs["count_include_pad"] = False
        return draft([rng.normal(rng.pick((1, 2)), rng.pick((1, 3, 16)), rng.pick((5, 8)), rng.pick((6, 9)))], attrs)
    return generate


def make_adaptive(rng):
    size = rng.pick((1, 1, 2, 3))
    return draft([rng.normal(rng.pick((1, 2)), rng.pick((1, 3, 16)), rng.pick((4, 7)), rng.pick((4, 8)))],
                 {"output_size": [size, size]})


def make_cat(rng):
    shape = rng.shape(1, 3, 600)
    dim = int(rng.numpy.integers(len(shape)))
    values = []
    for _ in range(int(rng.numpy.integers(1, 4))):
        part = list(shape)
        part[dim] = rng.pick(SIZES[:5])
        values.append(rng.normal(*part))
    return draft(values, {"dim": dim}, names=[f"0.{i}" for i in range(len(values))])


def make_dropout(rng):
    shape = rng.shape(1, 3)
    p = rng.pick((0.1, 0.25, 0.5))
    return draft([rng.normal(*shape), rng.uniform(0, 1, *shape) >= p], {"p": p}, [0], fixed={1: torch.bool})


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
    length = int(rng.numpy.integers(1, shape[dim] - start + 1))
    return draft([rng.normal(*shape)], {"dim": dim, "start": start, "length": length})


def make_expand(rng):
    size = rng.shape(1, 4)
    return draft([rng.normal(*rng.broadcast(size))], {"size": size})


GENERATORS = {
    **{op: unary(op) for op in ("neg", "abs", "exp", "log", "sqrt", "rsqrt", "reciprocal", "tanh", "sigmoid", "relu",
                               "gelu", "square", "contiguous")},
    **{op: comparison(op) for op in ("eq", "ne", "lt", "le", "gt", "ge")}, "argmax": make_argmax, "narrow": make_narrow,
    **{op: binary(op) for op in ("add", "sub", "mul", "div", "maximum", "minimum")},
    "pow": make_pow, "atan2": make_atan2, "where": make_where, "clamp": make_clamp,
    "sum": reduction, "mean": reduction, "norm": make_norm, "softmax": softmax, "log_softmax": softmax,
    "nll_loss": classification(False), "cross_entropy": classification(True), "mse_loss": make_mse,
    "binary_cross_entropy_with_logits": make_bce, "linear": make_linear, "matmul": make_matmul, "mm": make_mm,
    "bmm": make_bmm, "addmm": make_addmm, "conv2d": make_conv2d, "batch_norm": make_batch_norm,
    "max_pool2d": pooling("max_pool2d"), "avg_pool2d": pooling("avg_pool2d"), "adaptive_avg_pool2d": make_adaptive,
    "cat": make_cat, "dropout": make_dropout, "expand": make_expand,
    **{op: make_shape_op(op) for op in ("reshape", "permute", "transpose", "flatten")},
}

# Kernels of these refuse operands of different types unless a region casts them first.
EQUAL_TYPES = {"linear", "matmul", "mm", "bmm", "addmm", "conv2d", "nll_loss", "cross_entropy", "mse_loss",
               "binary_cross_entropy_with_logits"}


def choose_types(rng, op, made, mode):
    """The type of each argument, and the region. Modes: f32, f64, fp16, bf16 (regions), half (low without region)."""
    autocast = mode if mode in ("fp16", "bf16") else None
    if mode == "f64":
        base = [torch.float64]
        autocast = rng.pick((None, None, "fp16", "bf16"))
    elif mode == "f32":
        base = [torch.float32]
    elif mode == "half":
        base = [rng.pick((torch.float16, torch.bfloat16))]
    else:
        low = torch.float16 if mode == "fp16" else torch.bfloat16
        base = [low, low, torch.float32]
    mixing = len(base) > 1 and not (op in EQUAL_TYPES and policy(op) == "none")
    common = rng.pick(base)
    types = []
    for i, value in enumerate(made.values):
        fixed = made.fixed.get(i)
        if isinstance(fixed, torch.dtype):
            types.append(fixed)
        elif fixed == "single":  # batch norm's parameters and statistics: never narrower than f32
            types.append(torch.float64 if mode == "f64" else torch.float32)
        else:
            types.append(rng.pick(base) if mixing else common)
        assert value.dtype in (torch.float64, torch.bool, torch.int64)
    return types, autocast


def permuted_strides(rng, shape):
    """Strides of a dense tensor whose dimensions lie in another order."""
    order = [int(d) for d in rng.numpy.permutation(len(shape))]
    strides, step = [0] * len(shape), 1
    for d in reversed(order):
        strides[d] = step
        step *= shape[d]
    return strides
