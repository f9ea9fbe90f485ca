"""Reductions, running sums and order statistics of `halftone op` against PyTorch; see op_family.py.

Names are PyTorch's. JSON has no infinity, so p and ord are written as "inf" and "-inf".
"""

import functools
import itertools
import math

import torch

from op_draft import away_from_zero, draft
from op_family import constant, mark, op, tap
from op_generators import dims_of, given_type
from op_norm import norm

FAMILY = "reductions"


def small(rng, low_rank=0, high_rank=4):
    return rng.shape(low_rank, high_rank, 60)


def some_dims(rng, rank, keepdim=True):
    """No dim, one dim, or a list of dims."""
    attrs = {}
    if rank and rng.chance(0.75):
        dims = dims_of(rng, rank)
        attrs["dim"] = dims[0] if rng.chance(0.3) else dims
        if keepdim:
            attrs["keepdim"] = bool(rng.chance(0.5))
    return attrs


def one_dim(rng, rank):
    """A dimension of a tensor of that rank; a scalar has dimension 0 as well."""
    d = int(rng.numpy.integers(max(rank, 1)))
    return d - max(rank, 1) if rng.chance(0.3) else d


def dim_of(attrs):
    """In the form of torch's functions: a list, or None for all."""
    dim = attrs.get("dim")
    return [dim] if isinstance(dim, int) else dim


def keep(attrs):
    return attrs.get("keepdim", False)


def distinct(rng, *shape):
    """Multiples of 1/4 in random order: no two equal, in 16 bits as well."""
    n = math.prod(shape)
    return (torch.from_numpy(rng.numpy.permutation(n)).double() - n // 2).div(4).reshape(shape)


# Sums, products, norms.

def make_logsumexp(rng):
    shape = small(rng, 1)
    dims = dims_of(rng, len(shape))
    return draft([rng.normal(*shape, scale=rng.pick((1.0, 1.0, 5.0)))],
                 {"dim": dims[0] if rng.chance(0.3) else dims, "keepdim": bool(rng.chance(0.5))})


def logsumexp(x, attrs):
    """The gradient s dy, with s = exp(x - y), is computed from the rounded y. The second derivative s (v - sum of s v)
    has one term directly and one through y: where one s is nearly 1 the two cancel, and the rounding of either exceeds
    their difference. As an intermediate y counts with its rounding, and so does the gradient that arrives at it."""
    return mark(torch.logsumexp(x["0"], dim_of(attrs), keep(attrs)))


op("logsumexp", FAMILY, "f32", make_logsumexp, logsumexp)


def factors(rng, *shape):
    """Factors of both signs, neither large nor small, sometimes with zeros."""
    x = away_from_zero(rng.normal(*shape), 0.4)
    if rng.chance(0.3):
        x = torch.where(rng.uniform(0, 1, *shape) < rng.pick((0.05, 0.3)), torch.zeros_like(x), x)
    return x


def make_prod(rng):
    shape = small(rng)
    attrs = given_type(rng)
    if shape and rng.chance(0.7):
        attrs.update({"dim": one_dim(rng, len(shape)), "keepdim": bool(rng.chance(0.5))})
    return draft([factors(rng, *shape)], attrs)


# One factor after the other: PyTorch's gradients divide the product by x, which leaves crumbs of f64 where they should
# be 0, and NaN beside an infinity.

def prod(x, attrs):
    dim = attrs.get("dim")
    t = x["0"].reshape(-1) if dim is None or x["0"].dim() == 0 else x["0"].movedim(dim, 0)
    y = functools.reduce(torch.mul, t.unbind(0))
    return y.unsqueeze(dim) if keep(attrs) and x["0"].dim() and dim is not None else y


def cumprod(x, attrs):
    if x["0"].dim() == 0:
        return x["0"] * 1
    return torch.stack(list(itertools.accumulate(x["0"].unbind(attrs["dim"]), torch.mul)), attrs["dim"])


def halves(x, attrs):
    """The product as a tree, such as the threads of a GPU form: which of the partial products leave the range, and meet
    an infinity as 0, is another question there."""
    dim = attrs.get("dim")
    t = x["0"].reshape(-1) if dim is None or x["0"].dim() == 0 else x["0"].movedim(dim, 0)
    while len(t) > 1:
        half = (len(t) + 1) // 2
        t = torch.cat([t[:len(t) - half] * t[half:], t[len(t) - half:half]])
    y = t[0] if len(t) else t.new_ones(t.shape[1:])
    return y.unsqueeze(dim) if keep(attrs) and x["0"].dim() and dim is not None else y


op("prod", FAMILY, "f32_dtype", make_prod, prod, also=(halves,))


def make_cumulative(values):
    def generate(rng):
        shape = small(rng)
        return draft([values(rng, *shape)], {"dim": one_dim(rng, len(shape)), **given_type(rng)})
    return generate


op("cumsum", FAMILY, "f32_dtype", make_cumulative(lambda rng, *shape: rng.normal(*shape, scale=rng.pick((1.0, 30.0)))),
   lambda x, a: torch.cumsum(x["0"], a["dim"]))
op("cumprod", FAMILY, "f32_dtype", make_cumulative(factors), cumprod)


def make_softmin(rng):
    shape = small(rng, 1)
    return draft([rng.normal(*shape, scale=rng.pick((1.0, 3.0)))], {"dim": one_dim(rng, len(shape)), **given_type(rng)})


def softmin(x, attrs):
    """The gradient y (dy - sum of dy y) reads y as stored, in the op's own type: it is softmax's, with y marked. The value
    has the roundings of exp and of the sum, which stand beside it without a gradient."""
    t = -x["0"]
    p = mark(torch.softmax(t, attrs["dim"]))
    e = constant(torch.exp(t - t.amax(attrs["dim"], keepdim=True)).detach())
    y = tap(e / tap(e.sum(attrs["dim"], keepdim=True)))
    return p + (y - y.detach())


op("softmin", FAMILY, "f32_dtype", make_softmin, softmin, low_steps=2,
   native=lambda x, a: torch.nn.functional.softmin(x["0"], a["dim"]))

ORDERS = (2, 2, 1, 0, 3, 0.5, 1.5, 2.5, -1, -0.5, "inf", "-inf")


def make_vector_norm(name):
    def generate(rng):
        shape = small(rng, 1, 3)
        attrs = {name: rng.pick(ORDERS)}
        if rng.chance(0.15):
            attrs["dtype"] = "float64"  # the given type may not be narrower
        if rng.chance(0.6):
            attrs.update({"dim": dims_of(rng, len(shape)), "keepdim": bool(rng.chance(0.5))})
        return draft([away_from_zero(rng.normal(*shape), 0.2)], attrs)
    return generate


def vector_norm(x, order, attrs, function=norm):
    return function(x["0"], float(order), dim_of(attrs), keep(attrs))


def own_norm(name):
    def native(x, attrs):
        order = 2 if attrs[name] == "fro" else attrs[name]
        return vector_norm(x, order, attrs, torch.linalg.vector_norm)
    return native


def make_norm(rng):
    made = make_vector_norm("p")(rng)
    if rng.chance(0.1):
        made.attrs["p"] = "fro"
    return made


op("norm", FAMILY, "f32_append", make_norm, lambda x, a: vector_norm(x, 2 if a["p"] == "fro" else a["p"], a),
   native=own_norm("p"))
op("linalg_vector_norm", FAMILY, "f32_dtype", make_vector_norm("ord"), lambda x, a: vector_norm(x, a["ord"], a),
   native=own_norm("ord"))


# Norms of matrices. Singular values of their own, apart from one another and from 0: equal ones have no second
# derivative, and where one is 0 the first is not unique. A decomposition is stable as a whole only (`normwise`): both
# ours and LAPACK's, which the f64 cases are held against.

def matrices(rng, shape, dims):
    """A tensor of this shape with matrices in `dims`: orthogonal factors about singular values 1, 2, 3, ... in random order."""
    m, n = (shape[d] for d in dims)
    k = min(m, n)
    rest = [size for d, size in enumerate(shape) if d not in dims]
    u = torch.linalg.qr(rng.normal(*rest, m, k)).Q
    v = torch.linalg.qr(rng.normal(*rest, n, k)).Q
    values = torch.from_numpy(rng.numpy.permutation(k)).double() + rng.uniform(0.8, 1.2, *rest, k)
    x = (u * values.unsqueeze(-2)) @ v.mT * rng.pick((1.0, 1.0, 0.1, 20.0))
    order = [d for d in range(len(shape)) if d not in dims] + list(dims)
    return x.permute([order.index(d) for d in range(len(shape))])


def matrix_draft(rng, attrs, given=True):
    shape = [rng.pick((1, 2, 3, 4)) for _ in range(rng.pick((2, 2, 3, 4)))]
    while math.prod(shape) > 48:
        shape.pop(0)
    dims = [len(shape) - 2, len(shape) - 1]
    if given and rng.chance(0.6):
        dims = [int(d) for d in rng.numpy.permutation(len(shape))[:2]]
        attrs["dim"] = [d - len(shape) if rng.chance(0.3) else d for d in dims]
    if rng.chance(0.5):
        attrs["keepdim"] = True
    return draft([matrices(rng, shape, dims)], attrs)


def make_matrix_norm(rng):
    attrs = {"ord": rng.pick(("fro", "nuc", "nuc", 1, -1, 2, -2, "inf", "-inf"))} if rng.chance(0.9) else {}
    if rng.chance(0.15):
        attrs["dtype"] = "float64"
    return matrix_draft(rng, attrs)


def native_matrix_norm(x, attrs):
    order = attrs.get("ord", "fro")
    order = order if order in ("fro", "nuc") else float(order)
    return torch.linalg.matrix_norm(x["0"], order, attrs.get("dim", (-2, -1)), keep(attrs))


def matrix_norm(x, attrs):
    """The Frobenius norm by its formula. In its second derivative v / n - x (x v) / n^3 the terms cancel: for a matrix
    of one element to 0, which is sensitive to no operand, while each term was rounded. The sum of squares is the
    intermediate that the second term comes through."""
    if attrs.get("ord", "fro") == "fro":
        return norm(x["0"], 2, attrs.get("dim", (-2, -1)), keep(attrs))
    return native_matrix_norm(x, attrs)


op("linalg_matrix_norm", FAMILY, "f32_dtype", make_matrix_norm, matrix_norm, native=native_matrix_norm, normwise=True,
   repeats=False, specials=False)


def make_frobenius(rng):
    shape = small(rng, 1, 3)
    dims = dims_of(rng, len(shape))[:2]
    return draft([away_from_zero(rng.normal(*shape), 0.2)],
                 {"dim": dims[0] if rng.chance(0.2) else dims, "keepdim": bool(rng.chance(0.5))})


op("frobenius_norm", FAMILY, "f32", make_frobenius, lambda x, a: norm(x["0"], 2, dim_of(a), keep(a)),
   native=lambda x, a: torch.linalg.vector_norm(x["0"], 2, dim_of(a), keep(a)))


def make_nuclear(rng):
    made = matrix_draft(rng, {})
    if made.values[0].dim() > 2 and "dim" not in made.attrs:
        made.attrs["dim"] = [-2, -1]
    return made


op("nuclear_norm", FAMILY, "f32", make_nuclear,
   lambda x, a: torch.linalg.matrix_norm(x["0"], "nuc", a.get("dim", (-2, -1)), keep(a)), normwise=True, repeats=False,
   specials=False)


# Moments, and sums that pass over NaN.

def make_moments(rng):
    shape = small(rng, 1)
    attrs = some_dims(rng, len(shape))
    count = math.prod(shape[d] for d in (dim_of(attrs) or range(len(shape))))
    if rng.chance(0.3):
        attrs["unbiased"] = count > 1 and bool(rng.chance(0.5))
    else:
        attrs["correction"] = 0 if count == 1 else rng.pick((0, 1, 1, 0.5))
    return draft([rng.normal(*shape, scale=rng.pick((1.0, 1.0, 20.0))) + rng.pick((0.0, 0.0, 3.0))], attrs)


def make_deviation(rng):
    """Two elements or more, which differ: at a standard deviation of 0 there is no second derivative."""
    while True:
        made = make_moments(rng)
        shape = made.values[0].shape
        count = math.prod(shape[d] for d in (dim_of(made.attrs) or range(len(shape))))
        if count > 1:
            made.values[0] = distinct(rng, *shape) + rng.pick((0.0, 3.0))
            return made


def correction(attrs):
    return int(attrs["unbiased"]) if "unbiased" in attrs else attrs["correction"]


def moment(function):
    return lambda x, a: function(x["0"], dim_of(a), correction=correction(a), keepdim=keep(a))


def deviation(x, attrs):
    """The root of the variance, written out: of two elements its second derivative is 0, by cancellation."""
    t, dim = x["0"], dim_of(attrs) or list(range(x["0"].dim()))
    squares = tap((t - tap(t.mean(dim, keepdim=True))) ** 2).sum(dim, keep(attrs))
    count = t.numel() // max(squares.numel(), 1)
    variance = tap(squares / (count - correction(attrs)))
    none = variance == 0  # no slope there
    root = torch.sqrt(torch.where(none, torch.ones_like(variance), variance))
    return torch.where(none, torch.zeros_like(variance), root)


def with_mean(function):
    """The mean as torch.mean has it: that of torch.var_mean is NaN beside an infinity."""
    return lambda x, a: (function(x, a), x["0"].mean(dim_of(a) or list(range(x["0"].dim())), keep(a)))


# No special values for the root: PyTorch's CPU kernel takes it of a variance in f64, where that of f32 is infinite.
# The variance of equal rows is 0 but for the square of the mean's rounding, which a bound of first order does not hold.
op("var", FAMILY, "none", make_moments, moment(torch.var), repeats=False)
op("var_mean", FAMILY, "none", make_moments, with_mean(moment(torch.var)), repeats=False)
op("std", FAMILY, "none", make_deviation, deviation, native=moment(torch.std), specials=False)
op("std_mean", FAMILY, "none", make_deviation, with_mean(deviation), native=with_mean(moment(torch.std)),
   specials=False)


def make_with_nan(rng):
    shape = small(rng)
    x = rng.normal(*shape)
    x = torch.where(rng.uniform(0, 1, *shape) < rng.pick((0.0, 0.2)), torch.full_like(x, math.nan), x)
    return draft([x], {**some_dims(rng, len(shape)), **given_type(rng)})


op("nansum", FAMILY, "none", make_with_nan, lambda x, a: torch.nansum(x["0"], dim_of(a), keep(a)))
op("nanmean", FAMILY, "none", make_with_nan, lambda x, a: torch.nanmean(x["0"], dim_of(a), keep(a)))


# Largest and least.

def grid(rng, *shape):
    """Multiples of 1/4, some of them equal."""
    return torch.round(rng.normal(*shape) * rng.pick((1, 4))) / 4


def make_extremum(rng):
    shape = small(rng)
    return draft([grid(rng, *shape)], some_dims(rng, len(shape)))


def all_dims(attrs):
    return dim_of(attrs) or ()


op("amax", FAMILY, "none", make_extremum, lambda x, a: torch.amax(x["0"], all_dims(a), keep(a)))
op("amin", FAMILY, "none", make_extremum, lambda x, a: torch.amin(x["0"], all_dims(a), keep(a)))


def make_argmin(rng):
    shape = small(rng, 1, 3)
    attrs = {"keepdim": bool(rng.chance(0.5))}
    if rng.chance(0.8):
        attrs["dim"] = one_dim(rng, len(shape))
    return draft([grid(rng, *shape)], attrs, [])


op("argmin", FAMILY, "none", make_argmin, lambda x, a: torch.argmin(x["0"], a.get("dim"), keep(a)))


# Order. Which of equal elements is chosen PyTorch leaves open: the reference takes the first, by a stable sort.

def make_order(attributes, integers=False):
    def generate(rng):
        shape = small(rng)
        x = distinct(rng, *shape) if rng.chance(0.5) else grid(rng, *shape)
        if integers and rng.chance(0.15):
            return draft([(4 * x).long()], attributes(rng, shape), [])
        return draft([x], attributes(rng, shape))
    return generate


def in_order(x, dim, descending):
    return torch.sort(x["0"], dim=dim, descending=descending, stable=True)


def sort_attrs(rng, shape):
    attrs = {"dim": one_dim(rng, len(shape))} if rng.chance(0.8) else {}
    if rng.chance(0.5):
        attrs["descending"] = bool(rng.chance(0.6))
    if rng.chance(0.3):
        attrs["stable"] = bool(rng.chance(0.5))
    return attrs


def argsort_draft(rng):
    made = make_order(sort_attrs, True)(rng)
    made.differentiable = []
    return made


op("sort", FAMILY, "none", make_order(sort_attrs, True),
   lambda x, a: in_order(x, a.get("dim", -1), a.get("descending", False)))
op("argsort", FAMILY, "none", argsort_draft,
   lambda x, a: in_order(x, a.get("dim", -1), a.get("descending", False)).indices)


def topk_attrs(rng, shape):
    attrs = {"dim": one_dim(rng, len(shape))} if rng.chance(0.8) else {}
    size = shape[attrs.get("dim", -1)] if shape else 1
    attrs["k"] = int(rng.numpy.integers(0 if size > 1 else 1, size + 1))
    if rng.chance(0.5):
        attrs["largest"] = bool(rng.chance(0.4))
    if rng.chance(0.2):
        attrs["sorted"] = bool(rng.chance(0.5))  # without it any order would do: this one does
    return attrs


def topk(x, attrs):
    dim, scalar = attrs.get("dim", -1), x["0"].dim() == 0
    values, indices = in_order(x, dim, attrs.get("largest", True))
    return (values, indices) if scalar else (values.narrow(dim, 0, attrs["k"]), indices.narrow(dim, 0, attrs["k"]))


op("topk", FAMILY, "none", make_order(topk_attrs, True), topk)


def chosen_attrs(rng, shape):
    return {"dim": one_dim(rng, len(shape)), "keepdim": bool(rng.chance(0.5))} if rng.chance(0.75) else {}


def median(x, attrs):
    if "dim" not in attrs:
        return torch.median(x["0"])
    t, dim = x["0"], attrs["dim"]
    if t.dim() == 0:
        return torch.median(t, dim)
    _, order = in_order(x, dim, False)
    none = torch.isnan(t)
    middle = order.narrow(dim, (t.shape[dim] - 1) // 2, 1)
    place = torch.where(none.any(dim, True), none.byte().argmax(dim, True), middle)
    values = torch.gather(t, dim, place)
    return (values, place) if attrs["keepdim"] else (values.squeeze(dim), place.squeeze(dim))


def extremum(function):
    return lambda x, a: function(x["0"], a["dim"], a["keepdim"]) if "dim" in a else function(x["0"])


op("median", FAMILY, "none", make_order(chosen_attrs), median)
op("max", FAMILY, "none", make_order(chosen_attrs), extremum(torch.max))
op("min", FAMILY, "none", make_order(chosen_attrs), extremum(torch.min))


# Counts.

def make_count(keepdim):
    def generate(rng):
        shape = small(rng)
        x = torch.round(rng.normal(*shape) * rng.pick((0.5, 4.0)))
        kind = rng.pick(("float", "bool", "int"))
        x = x != 0 if kind == "bool" else x.long() if kind == "int" else x
        return draft([x], some_dims(rng, len(shape), keepdim), [])
    return generate


def truth(function):
    return lambda x, a: function(x["0"] != 0, dim_of(a) or list(range(x["0"].dim())), keepdim=keep(a))


op("all", FAMILY, "none", make_count(True), truth(torch.all))
op("any", FAMILY, "none", make_count(True), truth(torch.any))
op("count_nonzero", FAMILY, "none", make_count(False), lambda x, a: torch.count_nonzero(x["0"], dim_of(a)))
