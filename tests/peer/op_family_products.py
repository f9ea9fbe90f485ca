"""Matrix, vector and tensor products beyond mm and matmul: the scaled sums of the addmm family and their in-place forms,
chains, einsum, tensordot, bilinear, cross and their relatives."""

import functools

import torch

from op_draft import draft
from op_family import op

FAMILY = "products"
SIZES = (1, 1, 2, 3, 4, 5, 7)
FACTORS = (1.0, 1.0, 0.0, 0.5, -2.0, 3.0)
SCALES = (1.0, 1.0, 1.0, 30.0, 1e-2)


def sizes(rng, count):
    return [rng.pick(SIZES) for _ in range(count)]


def normals(rng, *shapes):
    return [rng.normal(*shape, scale=rng.pick(SCALES)) for shape in shapes]


def factors(rng):
    """alpha and beta, each sometimes omitted."""
    return {name: rng.pick(FACTORS) for name in ("alpha", "beta") if rng.chance(0.7)}


def addend(rng, shape, in_place):
    return list(shape) if in_place else rng.broadcast(shape)


def make_addmm(rng, in_place=False):
    n, k, m = sizes(rng, 3)
    return draft(normals(rng, addend(rng, [n, m], in_place), [n, k], [k, m]), factors(rng))


def make_baddbmm(rng, in_place=False):
    b, n, k, m = sizes(rng, 4)
    return draft(normals(rng, addend(rng, [b, n, m], in_place), [b, n, k], [b, k, m]), factors(rng))


def make_addbmm(rng, in_place=False):
    b, n, k, m = sizes(rng, 4)
    return draft(normals(rng, addend(rng, [n, m], in_place), [b, n, k], [b, k, m]), factors(rng))


def make_addmv(rng, in_place=False):
    n, k = sizes(rng, 2)
    return draft(normals(rng, addend(rng, [n], in_place), [n, k], [k]), factors(rng))


def make_addr(rng, in_place=False):
    n, m = sizes(rng, 2)
    shape = addend(rng, [n, m], in_place)
    # A 0-d addend that is wider than the rest is rounded to their type first: products_test has that.
    return draft(normals(rng, shape or [1], [n], [m]), factors(rng))


SUMS = {"addmm": (torch.addmm, make_addmm), "baddbmm": (torch.baddbmm, make_baddbmm),
        "addbmm": (torch.addbmm, make_addbmm), "addmv": (torch.addmv, make_addmv), "addr": (torch.addr, make_addr)}


def scaled_sum(function):
    return lambda x, attrs: function(x["0"], x["1"], x["2"], beta=attrs.get("beta", 1), alpha=attrs.get("alpha", 1))


class UnreadProduct(torch.autograd.Function):
    """a b for alpha = 0 as a BLAS has it, which does not read the matrices then; the gradients are products times 0."""

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a.new_zeros((a.shape[0], a.shape[1], b.shape[2]))

    @staticmethod
    def backward(ctx, dy):
        a, b = ctx.saved_tensors
        return (dy @ b.mT) * 0.0, (a.mT @ dy) * 0.0


def by_blas(name):
    """cuBLAS and MKL; PyTorch's own loop for small matrices on a CPU reads them, and addmm and addmv there do not."""
    def compute(x, attrs):
        c, a, b, beta = x["0"], x["1"], x["2"], attrs.get("beta", 1)
        if attrs.get("alpha", 1) != 0:
            return scaled_sum(SUMS[name][0])(x, attrs)
        if name == "addmv":
            y = UnreadProduct.apply(a[None], b[None, :, None])[0, :, 0]
        elif name == "baddbmm":
            y = UnreadProduct.apply(a, b)
        elif name == "addbmm":
            y = UnreadProduct.apply(a, b).sum(0)
        else:
            y = UnreadProduct.apply(a[None], b[None])[0]
        return y + 0 * c.nan_to_num(0, 0, 0) if beta == 0 else beta * c + y
    return compute


for name, (torch_function, generate) in SUMS.items():
    blas = () if name == "addr" else (by_blas(name),)
    if name != "addmm":  # which op_generators.py has
        op(name, FAMILY, "low", generate, scaled_sum(torch_function), multilinear=True,
           types="free" if name == "addr" else "same", also=blas)
    op(name + "_", FAMILY, "none", functools.partial(generate, in_place=True), scaled_sum(torch_function),
       multilinear=True, types="first" if name == "addr" else "same", also=blas)


def make_chain(rng, vectors=False, least=1):
    count = int(rng.numpy.integers(least, 6))
    ends = sizes(rng, count + 1)
    shapes = [[a, b] for a, b in zip(ends, ends[1:])]
    if vectors and rng.chance(0.4):
        shapes[0] = shapes[0][1:]
    if vectors and rng.chance(0.4):
        shapes[-1] = shapes[-1][:1]
    # No large numbers: five of them overflow f16 in between, in PyTorch too.
    values = [rng.normal(*shape, scale=rng.pick((1.0, 1.0, 1e-2))) for shape in shapes]
    return draft(values, names=[f"0.{i}" for i in range(count)])


def in_order(x, _attrs):
    """The product in any order: in f64 they are equal."""
    return functools.reduce(torch.matmul, x.list(0))


def multi_dot(x, _attrs):
    """In PyTorch's order, which decides where an infinity meets a zero."""
    matrices = x.list(0)
    return matrices[0] * 1 if len(matrices) == 1 else torch.linalg.multi_dot(matrices)


# Up to five matrices: each of the at most four products is stored, one on the other.
op("chain_matmul", FAMILY, "low", make_chain, in_order, multilinear=True, low_steps=4, native=multi_dot)
op("linalg_multi_dot", FAMILY, "low", functools.partial(make_chain, vectors=True, least=2), in_order, multilinear=True,
   low_steps=4, native=multi_dot)


def make_vecdot(rng):
    shape = rng.shape(1, 3, 60)
    attrs = {"dim": int(rng.numpy.integers(-len(shape), len(shape)))} if rng.chance(0.7) else {}
    left, right = list(shape), [1 if rng.chance(0.2) else n for n in shape]
    return draft(normals(rng, left, right) if rng.chance(0.5) else normals(rng, right, left), attrs)


op("linalg_vecdot", FAMILY, "low", make_vecdot,
   lambda x, attrs: (x["0"] * x["1"]).sum(attrs.get("dim", -1)), multilinear=True)


def make_pair(rng):
    n = rng.pick((1, 2, 5, 16, 33))
    return draft(normals(rng, [n], [n]))


def make_vectors(rng):
    return draft(normals(rng, *[[n] for n in sizes(rng, 2)]))


def make_kron(rng):
    left, right = rng.shape(1, 3, 8), rng.shape(1, 3, 8)
    return draft(normals(rng, left, right))


op("vdot", FAMILY, "promote", make_pair, lambda x, _: torch.vdot(x["0"], x["1"]), multilinear=True)
op("outer", FAMILY, "none", make_vectors, lambda x, _: torch.outer(x["0"], x["1"]), types="free", multilinear=True)
op("kron", FAMILY, "none", make_kron, lambda x, _: torch.kron(x["0"], x["1"]), types="free", multilinear=True)


def make_cross(rng, named):
    rank = int(rng.numpy.integers(1, 4))
    dim = int(rng.numpy.integers(rank))
    shape = [rng.pick((1, 2, 4, 5)) for _ in range(rank)]  # so that the first of size 3 is this one
    shape[dim] = 3
    other = [n if i == dim else rng.pick((n, 1)) for i, n in enumerate(shape)]
    attrs = {"dim": dim - rank if rng.chance(0.5) else dim} if named or rng.chance(0.5) else {}
    return draft(normals(rng, shape, other) if rng.chance(0.5) else normals(rng, other, shape), attrs)


def cross(x, attrs):
    dim = attrs.get("dim", list(x["0"].shape).index(3))
    return torch.linalg.cross(x["0"], x["1"], dim=dim)


op("cross", FAMILY, "promote", functools.partial(make_cross, named=False), cross)
op("linalg_cross", FAMILY, "none", functools.partial(make_cross, named=True), cross)


def make_tensordot(rng):
    count = rng.pick((0, 1, 1, 2, 2))
    shared = sizes(rng, count)
    left, right = sizes(rng, rng.pick((0, 1, 2))), sizes(rng, rng.pick((0, 1, 2)))
    if rng.chance(0.5):
        return draft(normals(rng, left + shared, shared + right), {} if count == 2 else {"dims": count})
    shapes, dims = [], []
    for rest in (left, right):
        order = [int(i) for i in rng.numpy.permutation(count + len(rest))]
        sides = shared + rest
        shapes.append([sides[i] for i in order])
        dims.append([order.index(i) - (len(order) if rng.chance(0.3) else 0) for i in range(count)])
    if count and rng.chance(0.2):  # of size 1, it stands for its value repeated
        shapes[rng.pick((0, 1))][dims[0][0] if len(left) == len(right) == 0 else 0] = 1
        if not fits(shapes, dims):
            return make_tensordot(rng)
    return draft(normals(rng, *shapes), {"dims_self": dims[0], "dims_other": dims[1]})


def fits(shapes, dims):
    return all(1 in (shapes[0][a], shapes[1][b]) or shapes[0][a] == shapes[1][b] for a, b in zip(*dims))


def tensordot(x, attrs):
    dims = (attrs["dims_self"], attrs["dims_other"]) if "dims_self" in attrs else attrs.get("dims", 2)
    return torch.tensordot(x["0"], x["1"], dims)


# Beside a dimension of size 1 the longer one is summed, stored, and then multiplied.
op("tensordot", FAMILY, "promote", make_tensordot, tensordot, multilinear=True, low_steps=1)


def make_bilinear(rng):
    out, in1, in2 = (rng.pick((1, 2, 3, 4)) for _ in range(3))
    lead = [rng.pick((1, 2, 3)) for _ in range(rng.pick((0, 1, 1, 2)))]
    shapes = [[*lead, in1], [*lead, in2], [out, in1, in2]] + ([[out]] if rng.chance(0.6) else [])
    return draft(normals(rng, *shapes))


op("bilinear", FAMILY, "promote", make_bilinear,
   lambda x, _: torch.nn.functional.bilinear(x["0"], x["1"], x["2"], x["3"]), multilinear=True,
   consulted=3)

EQUATIONS = ("ij,jk->ik", "ij,jk", "bij,bjk->bik", "bij,bkj->kib", "i,j->ij", "ij,ij->", "ij,ij->ij", "ij,j->i", "ii->i",
             "ii->", "ii", "ijk->ki", "ijk->", "iij,jk->ki", "ijj,kjj->ik", "...ij,...jk->...ik", "...ij->...ji", "ij...->...",
             "i...,i...", "b...j,jk->b...k", "ij,kj,lk->il", "i,i,i->", "i,ij,j->", "ijk,jl,km->ilm", "bhid,bhjd->bhij",
             "ba,b,ac->c", "Aij,ijk->Ak", " i j , j -> i ", "ij,kl->", "a...,...->a")


def make_einsum(rng):
    equation = rng.pick(EQUATIONS)
    terms = equation.replace(" ", "").split("->")[0].split(",")
    size = {letter: rng.pick((1, 2, 3, 4)) for letter in sorted(set("".join(terms)) - {"."})}
    more = sizes(rng, rng.pick((0, 1, 2)))
    shapes = []
    for term in terms:
        shape = []
        for part in term.replace("...", "."):
            if part != ".":
                shape.append(size[part])
            else:  # a size of 1, or fewer of them, broadcasts
                kept = more if rng.chance(0.7) else more[int(rng.numpy.integers(len(more) + 1)):]
                shape += [1 if rng.chance(0.15) else n for n in kept]
        # So does a letter that occurs twice at most, here.
        shapes.append([1 if len(set(term)) == len(term) and rng.chance(0.05) else n for n in shape])
    return draft(normals(rng, *shapes), {"equation": equation}, names=[f"0.{i}" for i in range(len(shapes))])


def einsum(x, attrs):
    return torch.einsum(attrs["equation"], *x.list(0))


# Three operands are two steps, and letters of one operand alone are summed and stored before each.
op("einsum", FAMILY, "low", make_einsum, einsum, multilinear=True, low_steps=4)
