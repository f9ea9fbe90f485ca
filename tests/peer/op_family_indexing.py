"""Ops that read and write by index."""

import torch

from op_draft import draft
from op_family import op

SIZES = (1, 2, 3, 4, 5, 7)


def shape_of(rng, low, high, limit=60):
    while True:
        shape = [rng.pick(SIZES) for _ in range(low + int(rng.numpy.integers(high - low + 1)))]
        if torch.Size(shape).numel() <= limit:
            return shape


def values_of(rng, *shape):
    return rng.normal(*shape, scale=rng.pick((1.0, 1.0, 1.0, 0.01, 100.0)))


def places(rng, bound, *shape):
    """Indices, sometimes few different ones."""
    high = bound if rng.chance(0.7) else min(bound, 2)
    return torch.tensor(rng.numpy.integers(0, high, shape), dtype=torch.int64).reshape(shape)


def a_dim(rng, shape):
    """A dimension from either end."""
    dim = int(rng.numpy.integers(len(shape)))
    return dim, dim - len(shape) if rng.chance(0.3) else dim


def replaced(shape, dim, size):
    return [*shape[:dim], size, *shape[dim + 1:]]


def i32_sometimes(rng, index):
    return index.to(torch.int32) if rng.chance(0.2) else index


def index_select_case(rng):
    shape = shape_of(rng, 1, 4)
    dim, asked = a_dim(rng, shape)
    index = i32_sometimes(rng, places(rng, shape[dim], rng.pick((0, 1, 2, 5, 8))))
    return draft([values_of(rng, *shape), index], {"dim": asked}, [0])


op("index_select", "indexing", "none", index_select_case,
   lambda x, a: torch.index_select(x["0"], a["dim"], x["1"]))


def smaller(rng, shape, but=None):
    """No larger in any dimension; `but` free."""
    return [n if rng.chance(0.6) else int(rng.numpy.integers(1, n + 1)) if i != but else rng.pick(SIZES)
            for i, n in enumerate(shape)]


def gather_case(rng):
    shape = shape_of(rng, 1, 4, 40)
    dim, asked = a_dim(rng, shape)
    return draft([values_of(rng, *shape), places(rng, shape[dim], *smaller(rng, shape, dim))], {"dim": asked}, [0])


op("gather", "indexing", "none", gather_case, lambda x, a: torch.gather(x["0"], a["dim"], x["1"]))


def index_add_case(rng):
    shape = shape_of(rng, 1, 3, 40)
    dim, asked = a_dim(rng, shape)
    count = rng.pick((0, 1, 3, 6))
    attrs = {"dim": asked} | ({"alpha": rng.pick((2, -0.5))} if rng.chance(0.4) else {})
    index = i32_sometimes(rng, places(rng, shape[dim], count))
    return draft([values_of(rng, *shape), index, values_of(rng, *replaced(shape, dim, count))], attrs, [0, 2])


op("index_add", "indexing", "none", index_add_case,
   lambda x, a: torch.index_add(x["0"], a["dim"], x["1"], x["2"], alpha=a.get("alpha", 1)))


def scatter_case(rng):
    """x, index, src: the index no larger than src, nor than x but in `dim`."""
    shape = shape_of(rng, 1, 3, 30)
    dim, asked = a_dim(rng, shape)
    index = places(rng, shape[dim], *smaller(rng, shape, dim))
    source = [n + int(rng.numpy.integers(3)) if rng.chance(0.3) else n for n in index.shape]
    return shape, dim, asked, index, source


def scatter_add_case(rng):
    shape, _, asked, index, source = scatter_case(rng)
    return draft([values_of(rng, *shape), index, values_of(rng, *source)], {"dim": asked}, [0, 2])


def cut(x, shape):
    """PyTorch has no gradient of scatter where the index is smaller than the source."""
    return x[tuple(slice(0, n) for n in shape)]


op("scatter_add", "indexing", "promote", scatter_add_case,
   lambda x, a: torch.scatter_add(x["0"], a["dim"], x["1"], cut(x["2"], x["1"].shape)))


def embedding_case(rng):
    rows, width = rng.pick((1, 2, 5, 9)), rng.pick((1, 3, 6))
    index = i32_sometimes(rng, places(rng, rows, *shape_of(rng, 0, 3, 12)))
    attrs = {}
    if rng.chance(0.4):
        attrs["padding_idx"] = int(rng.numpy.integers(-rows, rows))
    if rng.chance(0.3):
        attrs["scale_grad_by_freq"] = True
    return draft([index, values_of(rng, rows, width)], attrs, [1])


def embedding(x, a):
    """PyTorch has no second derivative with scale_grad_by_freq: a mean over the equal indices, written out."""
    index, weight = x["0"].long(), x["1"]
    padding = a.get("padding_idx")
    if padding is not None:
        at = torch.arange(len(weight)) == padding % len(weight)
        weight = torch.where(at[:, None], weight.detach(), weight)
    y = torch.nn.functional.embedding(index, weight)
    if a.get("scale_grad_by_freq"):
        share = 1 / torch.bincount(index.flatten(), minlength=len(weight)).double()[index][..., None]
        y = y * share + (y * (1 - share)).detach()
    return y


op("embedding", "indexing", "none", embedding_case, embedding)
