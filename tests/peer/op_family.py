"""Ops whose allowed difference is derived by a program: one entry an op, with a generator and PyTorch's function.

A family file (op_family_NAME.py) calls `op(...)` for each of its ops. From an entry come the comparison of op_cases.py
and the golden cases of make_golden.py.

The bound. The engine widens its operands to an accumulator (f32; f64 for f64), computes, and rounds once on store. It
may then give the exact result of operands that are each off by k units in the last place of the accumulator, k being the
number of roundings that an operand goes through ("mixed stability", Higham, "Accuracy and Stability of Numerical
Algorithms", 1.5); that is the k-fold of

    S(y) = sum over the operands of |dy/dx| |x|,

which PyTorch's own f64 derivatives give, element by element. For a gradient or second derivative the function is that
gradient, its operands the inputs, the output's gradient and the weights v; S comes from the next derivative. So

    |got - y| <= u_out |y| + u_acc k S(y) + u_run c S(y),

with c the number of times that an op stores a value of its own type on the way (`low_steps`; 0 for most). For an op that
is linear in each operand (`multilinear`) S is the function itself on absolute values: the sum of the magnitudes of all
terms, in which every rounding of a term or of a partial sum is at most its unit times the whole. A second
derivative adds up to three: the gradients that meet there are stored each and then added in the op's type.

Some ops are not stable in that sense: their own formula subtracts intermediate results that nearly cancel, while the
answer hardly depends on the operands (a norm of two elements). Their function marks those intermediates by `tap(t)`:
S(y) then counts |dy/dt| |t| as well, and the same for the gradients that arrive at t, which the backward pass computes
and rounds.

Below the smallest normal number of f32 roundings are absolute: no smaller than that of this number. So |x| and |t| count
as 2^-126 at least. (f64 is granted it too: its results below some 2^-150 are not judged.)
"""

import contextlib
import dataclasses
from typing import Callable

import torch

from op_bounds import Expected
import op_policy

LEAST_NORMAL = 2.0**-126

REGISTRY = {}


@dataclasses.dataclass
class FamilyOp:
    """One op. `function(x, attrs)` computes it in f64 by PyTorch; x maps argument names ("0", "1", "2.0") to tensors and
    gives None for one that is absent. A result is a tensor or a tuple of them."""
    name: str
    family: str
    policy: str
    generate: Callable
    function: Callable
    # "same": floating arguments must have one type where no cast makes them so; "free": they promote natively;
    # "first": they may differ and the result has the first one's type.
    types: str = "same"
    roundings: int = 24
    low_steps: int = 0
    # Without an entry, but built of ops that have one: the policy that decides the result's type in a region. The
    # arguments themselves are not cast.
    through: str | None = None
    # Stable only as a whole (a decomposition, a transform): k S(y) is then replaced by its largest element.
    normwise: bool = False
    # Sums of products, one factor from each operand (alpha and beta are factors too).
    multilinear: bool = False
    # Whether second derivatives are compared; may be a function of the attributes.
    second: bool | Callable = True
    # PyTorch's own function where `function` writes its formula out: the values must agree, and special values are its.
    native: Callable | None = None
    # Other orders of the same arithmetic that PyTorch's own kernels use (its CPU, its GPU, by size and memory format): a
    # special value may be of the kind that any of them gives. Each says whose it is.
    also: tuple = ()
    # Whether op_special_families.py asks it; a tuple: which arguments take special values.
    specials: bool | tuple = True
    # How many arguments, from the first on, have a say in the type of policy promote; None: all. The rest are cast too.
    consulted: int | None = None
    # For an op that has no entry but is built of ops that have: the policy whose casts show in its types.
    acts: str | None = None
    # Whether one row may stand for all of an argument; not where equal rows have no derivative.
    repeats: bool = True
    # (types by name after the casts, type of the run) -> type of each result; None: the type of the run.
    result: Callable | None = None
    flat: tuple = ()  # places of the results that have no gradient, though the function here has one
    # The generator must keep values away from places where the function has no derivative.


def op(name, family, policy, generate, function, **settings):
    """Registers an op. `policy` is the CUDA column's, as `halftone ops` writes it, put down here by hand
    (autocast.md#operation-lists, 1.9), not asked of the engine."""
    REGISTRY[name] = FamilyOp(name, family, policy, generate, function, **settings)
    op_policy.FAMILY_POLICIES[name] = policy


class Arguments(dict):
    def __missing__(self, key):
        return None

    def list(self, position):
        """The members of a list argument, in order."""
        members = [(int(k.split(".")[1]), v) for k, v in self.items() if k.split(".")[0] == str(position) and "." in k]
        return [v for _, v in sorted(members, key=lambda pair: pair[0])]


_tapped = None  # the intermediates of the current computation, while they are recorded


def _keep(t):
    if _tapped is not None and t.requires_grad:
        _tapped.append(t)
        t.register_hook(_keep)


def tap(t):
    """t as an intermediate result of its own, rounded where it is computed."""
    own = t * 1
    _keep(own)
    return own


def mark(t):
    """Marks t itself: a result that its own derivative is computed from, such as tanh's."""
    _keep(t)
    return t


def constant(t):
    """t, computed and rounded from sizes and attributes alone, as an intermediate result of its own."""
    return t if _tapped is None else mark(t.requires_grad_(True))


@contextlib.contextmanager
def tapped():
    """Records the intermediates marked within, as a list."""
    global _tapped
    before, _tapped = _tapped, []
    try:
        yield _tapped
    finally:
        _tapped = before


def as_tuple(result):
    return tuple(result) if isinstance(result, (tuple, list)) else (result,)


only_peer = False  # set to use PyTorch's own function even if a formula replaces it


def agreed(formula, theirs):
    """The formula's results, compared with those of PyTorch's own function, which lacks derivatives or taps."""
    if only_peer:
        return theirs
    for mine, other in zip(as_tuple(formula), as_tuple(theirs), strict=True):
        assert torch.allclose(mine, other, rtol=1e-9, atol=1e-9), "the formula is not PyTorch's function"
    return formula


def flows(tensor):
    return tensor.is_floating_point() and tensor.requires_grad


def gradients(outputs, seeds, inputs, create_graph):
    """d sum(outputs * seeds) / d inputs; zeros where there is no path."""
    pairs = [(o, s) for o, s in zip(outputs, seeds) if flows(o)]
    if not pairs or not inputs:
        return [torch.zeros_like(x) for x in inputs]
    found = torch.autograd.grad([o for o, _ in pairs], inputs, [s for _, s in pairs], create_graph=create_graph,
                                allow_unused=True, retain_graph=True)
    return [torch.zeros_like(x) if g is None else g for x, g in zip(inputs, found)]


def rows_of_jacobian(y, inputs):
    """[(m, *shape)] for the m elements of y."""
    eye = torch.eye(y.numel(), dtype=y.dtype).reshape(y.numel(), *y.shape)
    try:
        return torch.autograd.grad(y, inputs, eye, is_grads_batched=True, retain_graph=True, allow_unused=True)
    except RuntimeError:  # an op without a batched form
        rows = [torch.autograd.grad(y, inputs, seed, retain_graph=True, allow_unused=True) for seed in eye]
        return [None if rows[0][i] is None else torch.stack([row[i] for row in rows]) for i in range(len(inputs))]


def sensitivity(y, inputs):
    """S(y), and the plain sum of |dy/dx|, each of y's shape."""
    total, plain = torch.zeros(y.numel(), dtype=torch.float64), torch.zeros(y.numel(), dtype=torch.float64)
    if not flows(y) or y.numel() == 0 or not inputs:
        return total.reshape(y.shape), plain.reshape(y.shape)
    for x, jacobian in zip(inputs, rows_of_jacobian(y, inputs)):
        if jacobian is None:
            continue
        size = jacobian.detach().abs().reshape(y.numel(), -1)
        # 0 * inf is no sensitivity
        total += torch.nan_to_num(size * x.detach().abs().clamp_min(LEAST_NORMAL).reshape(1, -1), nan=0.0).sum(1)
        plain += torch.nan_to_num(size, nan=0.0).sum(1)
    return total.reshape(y.shape), plain.reshape(y.shape)


class Magnitudes:
    """Results of a multilinear op, its gradient and its second derivative if all terms are added by their magnitudes,
    with `more` on every operand: 0 for S, 1 for what one subnormal error on the way may be multiplied by."""

    def __init__(self, reference, more):
        self.more = more
        self.inputs = [self.size(x) if x.is_floating_point() else x for x in reference.inputs]
        self.leaves = [self.inputs[i] for i in reference.differentiable]
        attrs = {k: abs(v) if k in ("alpha", "beta") else v for k, v in reference.attrs.items()}
        self.outputs = as_tuple(reference.entry.function(Arguments(zip(reference.names, self.inputs)), attrs))

    def size(self, x):
        return (x.detach().abs() + self.more).requires_grad_(True)

    def first(self, seeds):
        return gradients(self.outputs, [self.size(s) for s in seeds], self.leaves, False)

    def second(self, seeds, vs):
        seeds = [self.size(s) for s in seeds]
        found = gradients(self.outputs, seeds, self.leaves, True)
        return gradients(found, [self.size(v) for v in vs], [*self.leaves, *seeds], False)


class Reference:
    """An op's results in f64 with the magnitudes of their bounds."""

    def __init__(self, entry, names, inputs, differentiable, attrs):
        self.entry, self.attrs, self.names, self.differentiable = entry, attrs, names, differentiable
        self.inputs = [x.detach().clone() for x in inputs]
        for x in self.inputs:
            if x.is_floating_point():
                x.requires_grad_(True)
        self.operands = [x for x in self.inputs if x.is_floating_point()]
        self.leaves = [self.inputs[i] for i in differentiable]
        with tapped() as self.taps:
            self.outputs = as_tuple(entry.function(Arguments(zip(names, self.inputs)), attrs))
        if entry.native:
            own = as_tuple(entry.native(Arguments(zip(names, (x.detach() for x in self.inputs))), attrs))
            for y, z in zip(self.outputs, own, strict=True):
                torch.testing.assert_close(y.detach(), z, rtol=1e-9, atol=1e-12, equal_nan=True)

    def expected(self, y, operands, low_steps=0, sizes=None):
        """`sizes`: S(y) and the plain sum, if they are known."""
        value = y.detach()
        low_steps += self.entry.low_steps
        if not value.is_floating_point():
            return Expected(value)
        total, plain = sizes or sensitivity(y, operands)
        if self.entry.normwise and total.numel():
            total = total.max().expand_as(total)
        longest = max((x.numel() for x in self.inputs), default=1)
        roundings = self.entry.roundings + longest
        return Expected(value, acc=roundings * total, low=low_steps * total, tiny=low_steps * (1 + plain))

    def sizes(self, ask, count):
        """S and the plain sum of each of `count` answers of a multilinear op; None for other ops."""
        if not self.entry.multilinear:
            return [None] * count
        return [(total.detach(), plain.detach())
                for total, plain in zip(ask(Magnitudes(self, 0)), ask(Magnitudes(self, 1)))]

    def values(self):
        sizes = self.sizes(lambda m: m.outputs, len(self.outputs))
        return [self.expected(y, [*self.operands, *self.taps], sizes=size) for y, size in zip(self.outputs, sizes)]

    def gradients(self, seeds):
        flows_back = [i for i in range(len(self.outputs)) if i not in self.entry.flat]
        return gradients([self.outputs[i] for i in flows_back], [seeds[i] for i in flows_back], self.leaves, True)

    def first(self, seeds):
        """Per leaf."""
        seeds = [s.detach().clone().requires_grad_(True) for s in seeds]
        with tapped() as taps:
            found = self.gradients(seeds)
        sizes = self.sizes(lambda m: m.first(seeds), len(found))
        operands = [*self.operands, *seeds, *self.taps, *taps]
        return [self.expected(g, operands, sizes=size) for g, size in zip(found, sizes)]

    def second(self, seeds, vs):
        """Per leaf, then per output."""
        seeds = [s.detach().clone().requires_grad_(True) for s in seeds]
        vs = [v.detach().clone().requires_grad_(True) for v in vs]
        with tapped() as taps:
            found = gradients(self.gradients(seeds), vs, [*self.leaves, *seeds], True)
        sizes = self.sizes(lambda m: m.second(seeds, vs), len(found))
        operands = [*self.operands, *seeds, *vs, *self.taps, *taps]
        return [self.expected(g, operands, 3, size) for g, size in zip(found, sizes)]


def acting(entry):
    return entry.acts or entry.policy


def choose_types(rng, entry, made, mode):
    """As op_generators.choose_types, for a registered op."""
    region = mode if mode in ("fp16", "bf16") else None
    if mode == "f64":
        base, region = [torch.float64], rng.pick((None, None, "fp16", "bf16"))
    elif mode == "f32":
        base = [torch.float32]
    elif mode == "half":
        base = [rng.pick((torch.float16, torch.bfloat16))]
    elif mode == "mixed":
        base = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
    else:
        low = torch.float16 if mode == "fp16" else torch.bfloat16
        base = [low, low, torch.float32]
    casts = region is not None and acting(entry) in ("low", "f32", "promote")
    common = rng.pick(base)
    types = []
    for i, value in enumerate(made.values):
        fixed = made.fixed.get(i)
        if isinstance(fixed, torch.dtype):
            types.append(fixed)
        elif not value.is_floating_point():
            types.append(value.dtype)
        elif entry.types == "free" or casts:
            types.append(rng.pick(base))
        else:
            types.append(common)
    return types, region


def cast_arguments(entry, tensors, low):
    """(the arguments after the casts of the policy, the type of the run)."""
    wide, policy = op_policy.eligible, acting(entry)
    if low is not None and policy == "low":
        tensors = [t.to(low) if wide(t) else t for t in tensors]
    elif low is not None and policy == "f32":
        tensors = [t.float() if wide(t) else t for t in tensors]
    elif low is not None and policy == "promote":
        to = torch.float32 if any(t.dtype == torch.float32 for t in tensors[:entry.consulted]) else low
        tensors = [t.to(to) if wide(t) else t for t in tensors]
    floats = [t for t in tensors if t.is_floating_point()]
    if not floats:
        return tensors, torch.float32
    run = floats[0].dtype if entry.types == "first" else op_policy.promoted(tensors)
    if low is not None and policy in ("f32_dtype", "f32_append") and wide(floats[0]):
        run = torch.float32
    if low is not None and entry.through == "f32" and run in op_policy.LOW_TYPES:
        run = torch.float32
    return tensors, run
