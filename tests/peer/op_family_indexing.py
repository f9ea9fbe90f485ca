"""Ops that read and write by index."""

import torch

from op_draft import draft
from op_family import agreed, op

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
    """A shape that is not larger in any dimension; `but` is free."""
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
    """PyTorch has no gradient of scatter if the index is smaller than the source."""
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
        theirs = torch.nn.functional.embedding(index, x["1"], a.get("padding_idx"), scale_grad_by_freq=True)
        return agreed(y, theirs)
    return y


op("embedding", "indexing", "none", embedding_case, embedding)


def embedding_bag_case(rng):
    rows, width, bags = rng.pick((1, 2, 5, 9)), rng.pick((1, 3, 6)), rng.pick((1, 2, 4))
    attrs = {"mode": rng.pick(("sum", "mean"))}
    if rng.chance(0.4):
        attrs["padding_idx"] = int(rng.numpy.integers(-rows, rows))
    if rng.chance(0.3):
        index = places(rng, rows, bags, rng.pick((1, 1, 3)))
        names, arguments = ["0", "1"], [i32_sometimes(rng, index), values_of(rng, rows, width)]
    else:
        n = rng.pick((1, 4, 9))
        index = places(rng, rows, n)
        offsets = sorted(int(o) for o in rng.numpy.integers(0, n + 1, bags - 1))
        if rng.chance(0.4):
            attrs["include_last_offset"] = True
            offsets.append(n)
        names = ["0", "1", "2"]
        arguments = [index, values_of(rng, rows, width), torch.tensor([0, *offsets], dtype=torch.int64)]
    wanted = [1]
    if attrs["mode"] == "sum" and rng.chance(0.4):
        wanted.append(len(arguments))
        names.append("3")
        arguments.append(values_of(rng, *index.shape))
    return draft(arguments, attrs, wanted, names)


def embedding_bag(x, a):
    """PyTorch has no second derivative of it: rows of the table added up by their bags, written out."""
    index, weight, factors = x["0"].long(), x["1"], x["3"]
    bags = index.shape[0] if index.dim() == 2 else len(x["2"]) - int(a.get("include_last_offset", False))
    if index.dim() == 2:
        bag = torch.arange(bags).repeat_interleave(index.shape[1])
    else:
        bag = torch.bucketize(torch.arange(len(index)), x["2"][:bags].long(), right=True) - 1
    rows = weight[index.flatten()]
    if factors is not None:
        rows = rows * factors.flatten()[:, None]
    padding = a.get("padding_idx")
    taken = torch.ones(index.numel(), dtype=torch.bool)
    if padding is not None:
        taken = index.flatten() != padding % len(weight)
    sums = torch.zeros(bags, weight.shape[1], dtype=weight.dtype).index_add(0, bag[taken], rows[taken])
    if a["mode"] == "mean":
        sums = sums / torch.bincount(bag[taken], minlength=bags).clamp(min=1)[:, None]
    theirs = torch.nn.functional.embedding_bag(
        index, weight, None if x["2"] is None else x["2"].long(), mode=a["mode"], per_sample_weights=factors,
        include_last_offset=a.get("include_last_offset", False), padding_idx=padding)
    return agreed(sums, theirs)


op("embedding_bag", "indexing", "none", embedding_bag_case, embedding_bag)


def distinct(rng, shape, dim, bound):
    """Indices that are distinct along `dim`: if several name one place, PyTorch guarantees no order."""
    rows = rng.numpy.permuted(rng.numpy.permuted(
        torch.arange(bound).expand(*replaced(shape, dim, 1), bound).numpy(), axis=-1)[..., :shape[dim]], axis=-1)
    return torch.tensor(rows).squeeze(dim).movedim(-1, dim).contiguous()


def scatter_put_case(rng):
    shape = shape_of(rng, 1, 3, 30)
    dim, asked = a_dim(rng, shape)
    part = smaller(rng, shape)
    index = distinct(rng, part, dim, shape[dim])
    x = values_of(rng, *shape)
    if rng.chance(0.3):
        return draft([x, index], {"dim": asked, "value": rng.pick((0.5, -2, 0))}, [0])
    return draft([x, index, values_of(rng, *[n + int(rng.numpy.integers(2)) for n in part])], {"dim": asked}, [0, 2])


def scatter(x, a):
    if "value" in a:
        return torch.scatter(x["0"], a["dim"], x["1"], a["value"])
    return torch.scatter(x["0"], a["dim"], x["1"], cut(x["2"], x["1"].shape))


op("scatter", "indexing", "none", scatter_put_case, scatter)


def scatter_reduce_case(rng):
    shape, _, asked, index, source = scatter_case(rng)
    reduce = rng.pick(("sum", "prod", "mean", "amax", "amin"))
    x, y = values_of(rng, *shape), values_of(rng, *source)
    if reduce in ("amax", "amin") and rng.chance(0.4):
        x, y = x.round(), y.round()  # equal extremes
    if reduce == "prod":
        x, y = rng.normal(*shape), rng.normal(*source)
        if rng.chance(0.3) and y.numel():
            y.flatten()[0] = 0
    attrs = {"dim": asked, "reduce": reduce} | ({"include_self": False} if rng.chance(0.4) else {})
    return draft([x, index, y], attrs, [0, 2])


def scattered_product(x, dim, index, source, include_self):
    """PyTorch divides by an element and by its square, and their difference is its second derivative where that is 0;
    here one multiplication after the other."""
    y, index, source = (t.movedim(dim, 0) for t in (x, index, source))
    margin = [amount for n, m in zip(reversed(y.shape[1:]), reversed(index.shape[1:])) for amount in (0, n - m)]
    rows = torch.arange(len(y)).reshape(-1, *[1] * (y.dim() - 1))
    here = [rows == torch.nn.functional.pad(i, margin, value=-1) for i in index]
    if not include_self:
        touched = torch.stack(here).any(0)
        y = torch.where(touched, torch.ones_like(y), y)
    for mask, factor in zip(here, source):
        y = y * torch.where(mask, torch.nn.functional.pad(factor, margin, value=1.0), torch.ones_like(y))
    return y.movedim(0, dim)


def scatter_reduce(x, a):
    source, include_self = cut(x["2"], x["1"].shape), a.get("include_self", True)
    theirs = torch.scatter_reduce(x["0"], a["dim"], x["1"], source, a["reduce"], include_self=include_self)
    if a["reduce"] == "prod":
        return agreed(scattered_product(x["0"], a["dim"], x["1"], source, include_self), theirs)
    return theirs


# The second derivative of a product is compared with finite differences alone (EveryOp): as a quotient y / x it is the
# difference of two numbers that are equal where it is 0, so it has no bound relative to itself, in PyTorch neither.
op("scatter_reduce", "indexing", "none", scatter_reduce_case, scatter_reduce, second=lambda a: a["reduce"] != "prod")


def index_copy_case(rng):
    shape = shape_of(rng, 1, 3, 40)
    dim, asked = a_dim(rng, shape)
    count = int(rng.numpy.integers(0, shape[dim] + 1))
    index = torch.tensor(rng.numpy.permutation(shape[dim])[:count])
    return draft([values_of(rng, *shape), index, values_of(rng, *replaced(shape, dim, count))], {"dim": asked}, [0, 2])


op("index_copy", "indexing", "none", index_copy_case,
   lambda x, a: torch.index_copy(x["0"], a["dim"], x["1"], x["2"]))


def indices_case(rng, shape, distinct_places=False):
    """Index tensors of the first dimensions, broadcasting and counting from the end."""
    count = int(rng.numpy.integers(1, len(shape) + 1))
    common = [rng.pick((1, 2, 3)) for _ in range(int(rng.numpy.integers(0, 3)))]
    if distinct_places:
        total = torch.Size(shape[:count]).numel()
        common = common if torch.Size(common).numel() <= total else [1]
        flat = torch.tensor(rng.numpy.permutation(total)[:torch.Size(common).numel()]).reshape(common)
        found = [f.to(torch.int64) for f in torch.unravel_index(flat, shape[:count])]
    else:
        found = [places(rng, n, *rng.broadcast(common)) for n in shape[:count]]
    found = [torch.where(torch.rand(f.shape, generator=rng.torch) < 0.3, f - n, f) for f, n in zip(found, shape)]
    return found


def index_case(rng):
    shape = shape_of(rng, 1, 4, 40)
    found = indices_case(rng, shape)
    return draft([values_of(rng, *shape), *found], {}, [0], names=["0", *(f"1.{i}" for i in range(len(found)))])


op("index", "indexing", "none", index_case, lambda x, a: x["0"][tuple(x.list(1))])


def index_put_case(rng):
    shape = shape_of(rng, 1, 3, 30)
    accumulate = rng.chance(0.5)
    found = indices_case(rng, shape, not accumulate)
    target = list(torch.empty(shape)[tuple(found)].shape)
    values = values_of(rng, *(rng.broadcast(target) if rng.chance(0.4) else target))
    names = ["0", *(f"1.{i}" for i in range(len(found))), "2"]
    return draft([values_of(rng, *shape), *found, values], {"accumulate": True} if accumulate else {},
                 [0, len(found) + 1], names=names)


def index_put(x, a):
    return torch.index_put(x["0"], tuple(x.list(1)), x["2"], a.get("accumulate", False))


op("index_put", "indexing", "promote", index_put_case, index_put)
op("index_put_", "indexing", "none", index_put_case, index_put)


def take_along_dim_case(rng):
    shape = shape_of(rng, 1, 3, 30)
    dim, asked = a_dim(rng, shape)
    other = [1 if rng.chance(0.3) else n for n in shape]
    own = [1 if rng.chance(0.2) else n for n in shape]
    other[dim], own[dim] = rng.pick((1, 2, 4)), shape[dim]
    return draft([values_of(rng, *own), places(rng, shape[dim], *other)], {"dim": asked}, [0])


op("take_along_dim", "indexing", "none", take_along_dim_case,
   lambda x, a: torch.take_along_dim(x["0"], x["1"], a["dim"]))


def mask_of(rng, *shape):
    return torch.rand(shape, generator=rng.torch) < rng.pick((0.0, 0.5, 0.5, 1.0))


def masked_fill_case(rng):
    shape = shape_of(rng, 0, 3, 60)
    mask = mask_of(rng, *rng.broadcast(shape))
    if rng.chance(0.5):
        return draft([values_of(rng, *shape), mask], {"value": rng.pick((0.5, -3, 0))}, [0])
    return draft([values_of(rng, *shape), mask, rng.normal()], {}, [0, 2])


op("masked_fill", "indexing", "none", masked_fill_case,
   lambda x, a: torch.masked_fill(x["0"], x["1"], a["value"] if "value" in a else x["2"]),
   types="first")


def masked_scatter_case(rng):
    shape = shape_of(rng, 1, 3, 40)
    mask = mask_of(rng, *rng.broadcast(shape))
    count = int(mask.expand(shape).sum()) + rng.pick((0, 1, 5))
    return draft([values_of(rng, *shape), mask, values_of(rng, max(count, 1))], {}, [0, 2])


op("masked_scatter", "indexing", "none", masked_scatter_case,
   lambda x, a: torch.masked_scatter(x["0"], x["1"], x["2"]))


def triangle_case(rng):
    shape = shape_of(rng, 2, 4)
    return draft([values_of(rng, *shape)], {"diagonal": int(rng.numpy.integers(-3, 4))} if rng.chance(0.7) else {})


op("tril", "indexing", "none", triangle_case, lambda x, a: torch.tril(x["0"], a.get("diagonal", 0)))
op("triu", "indexing", "none", triangle_case, lambda x, a: torch.triu(x["0"], a.get("diagonal", 0)))


def one_dim_case(rng, attrs):
    """A tensor, and the attributes `attrs(size of the dimension)` in addition to `dim`."""
    shape = shape_of(rng, 1, 4)
    dim, asked = a_dim(rng, shape)
    return draft([values_of(rng, *shape)], {"dim": asked} | attrs(shape[dim]))


def slice_case(rng):
    def attrs(size):
        bound = lambda: int(rng.numpy.integers(-size - 1, size + 2))
        return {name: value for name, value in (("start", bound()), ("end", bound()), ("step", rng.pick((1, 2, 3))))
                if rng.chance(0.7)}
    return one_dim_case(rng, attrs)


op("slice", "indexing", "none", slice_case,
   lambda x, a: torch.ops.aten.slice(x["0"], a["dim"], a.get("start"), a.get("end"), a.get("step", 1)))
op("select", "indexing", "none",
   lambda rng: one_dim_case(rng, lambda size: {"index": int(rng.numpy.integers(-size, size))}),
   lambda x, a: torch.select(x["0"], a["dim"], a["index"]))
op("unbind", "indexing", "none", lambda rng: one_dim_case(rng, lambda size: {}),
   lambda x, a: torch.unbind(x["0"], a["dim"]))
op("chunk", "indexing", "none", lambda rng: one_dim_case(rng, lambda size: {"chunks": rng.pick((1, 2, 3, 9))}),
   lambda x, a: torch.chunk(x["0"], a["chunks"], a["dim"]))


def split_case(rng):
    def attrs(size):
        if rng.chance(0.5):
            return {"split_size": rng.pick((1, 2, 3, 9))}
        first = int(rng.numpy.integers(0, size + 1))
        return {"split_sizes": [first, size - first]}
    return one_dim_case(rng, attrs)


op("split", "indexing", "none", split_case,
   lambda x, a: torch.split(x["0"], a["split_size"] if "split_size" in a else a["split_sizes"], a["dim"]))


def unsqueeze_case(rng):
    shape = shape_of(rng, 0, 4)
    return draft([values_of(rng, *shape)], {"dim": int(rng.numpy.integers(-len(shape) - 1, len(shape) + 1))})


op("unsqueeze", "indexing", "none", unsqueeze_case, lambda x, a: torch.unsqueeze(x["0"], a["dim"]))


def squeeze_case(rng):
    shape = [1 if rng.chance(0.4) else n for n in shape_of(rng, 1, 4)]
    if rng.chance(0.4):
        return draft([values_of(rng, *shape)])
    dims = rng.numpy.permutation(len(shape))[:int(rng.numpy.integers(1, len(shape) + 1))]
    return draft([values_of(rng, *shape)], {"dim": [int(d) for d in dims]})


op("squeeze", "indexing", "none", squeeze_case,
   lambda x, a: torch.squeeze(x["0"], tuple(a["dim"])) if "dim" in a else torch.squeeze(x["0"]))


def stack_case(rng):
    shape = shape_of(rng, 0, 3, 20)
    count = rng.pick((1, 2, 3))
    return draft([values_of(rng, *shape) for _ in range(count)],
                 {"dim": int(rng.numpy.integers(-len(shape) - 1, len(shape) + 1))},
                 names=[f"0.{i}" for i in range(count)])


op("stack", "indexing", "none", stack_case, lambda x, a: torch.stack(x.list(0), a["dim"]), types="free")


def some_dims(rng, shape):
    dims = rng.numpy.permutation(len(shape))[:int(rng.numpy.integers(1, len(shape) + 1))]
    return [int(d) - len(shape) if rng.chance(0.3) else int(d) for d in dims]


def flip_case(rng):
    shape = shape_of(rng, 1, 4)
    return draft([values_of(rng, *shape)], {"dims": some_dims(rng, shape)})


def roll_case(rng):
    shape = shape_of(rng, 1, 4)
    if rng.chance(0.3):
        return draft([values_of(rng, *shape)], {"shifts": [int(rng.numpy.integers(-9, 10))], "dims": []})
    dims = some_dims(rng, shape)
    return draft([values_of(rng, *shape)], {"shifts": [int(rng.numpy.integers(-9, 10)) for _ in dims], "dims": dims})


op("flip", "indexing", "none", flip_case, lambda x, a: torch.flip(x["0"], a["dims"]))
op("roll", "indexing", "none", roll_case, lambda x, a: torch.roll(x["0"], a["shifts"], a["dims"] or None))


def repeat_case(rng):
    shape = shape_of(rng, 0, 3, 12)
    return draft([values_of(rng, *shape)],
                 {"repeats": [rng.pick((1, 1, 2, 3)) for _ in range(len(shape) + rng.pick((0, 0, 1)))]})


def repeat_interleave_case(rng):
    shape = shape_of(rng, 1, 3, 24)
    attrs = {"repeats": rng.pick((1, 2, 3))} | ({"dim": a_dim(rng, shape)[1]} if rng.chance(0.7) else {})
    return draft([values_of(rng, *shape)], attrs)


op("repeat", "indexing", "none", repeat_case, lambda x, a: x["0"].repeat(a["repeats"]))
op("repeat_interleave", "indexing", "none", repeat_interleave_case,
   lambda x, a: torch.repeat_interleave(x["0"], a["repeats"], a.get("dim")))
