"""Operations on single elements: trigonometric and hyperbolic functions, activations, rounding, remainders, and the
three-operand forms."""

import torch
import torch.nn.functional as F

from op_draft import away_from_zero, draft
from op_family import mark, op, tap

FAMILY = "pointwise"


def shape_of(rng, low_rank=0):
    return rng.shape(low_rank, 4, 60)


def spread(rng, shape, *scales):
    """Normal values, sometimes larger or smaller."""
    return rng.normal(*shape, scale=rng.pick(scales or (1.0, 1.0, 3.0, 1e-2)))


def off(x, *corners, gap=2.0**-6):
    """x moved away from places where the function has no derivative, by more than a rounding to bf16."""
    for corner in corners:
        near = (x - corner).abs() < gap
        x = torch.where(near, torch.full_like(x, corner + 2 * gap), x)
    return x


def one(make):
    def generate(rng):
        return draft([make(rng, shape_of(rng))])
    return generate


def with_attrs(make, **choices):
    """Attributes picked from lists. One that has a default is sometimes omitted."""
    def generate(rng):
        attrs = {name: rng.pick(options) for name, options in choices.items() if rng.chance(0.8)}
        return draft([make(rng, shape_of(rng), attrs)], attrs)
    return generate


def inside(rng, shape):
    # Nearer to 1 an intermediate of the second derivative overflows f16.
    return rng.uniform(-0.97, 0.97, *shape)


def bound_to(low, high):
    def make(rng, shape):
        return rng.uniform(low, high, *shape) * rng.pick((1.0, 1.0, 1e-2))
    return make


def plain(rng, shape):
    return spread(rng, shape)


def unary(name, make, function, policy="none", **settings):
    op(name, FAMILY, policy, one(make), lambda x, at: function(x["0"]), **settings)


unary("acos", inside, torch.acos, "f32")
unary("asin", inside, torch.asin, "f32")
unary("tan", bound_to(-1.4, 1.4), torch.tan, "f32")
unary("cosh", bound_to(-8, 8), torch.cosh, "f32")
unary("sinh", bound_to(-8, 8), torch.sinh, "f32")
unary("erfinv", inside, torch.erfinv, "f32")
unary("atan", lambda rng, shape: spread(rng, shape, 1.0, 3.0, 30.0, 1e-2), torch.atan)
unary("acosh", lambda rng, shape: 1.05 + rng.normal(*shape).abs() * rng.pick((1.0, 30.0)), torch.acosh)
unary("asinh", lambda rng, shape: spread(rng, shape, 1.0, 3.0, 30.0, 1e-2), torch.asinh)
unary("atanh", inside, torch.atanh)
unary("erfc", lambda rng, shape: spread(rng, shape, 1.0, 2.0, 1e-2).clamp(-4, 4), torch.erfc)
unary("exp2", lambda rng, shape: spread(rng, shape, 1.0, 3.0, 1e-2).clamp(-12, 12), torch.exp2)


class Sigmoid(torch.autograd.Function):
    """With the gradient s(x) s(-x): PyTorch's own is s (1 - s), which cancels for large x."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.sigmoid(x)

    @staticmethod
    def backward(ctx, dy):
        x, = ctx.saved_tensors
        return dy * Sigmoid.apply(x) * Sigmoid.apply(-x)


class Tanh(torch.autograd.Function):
    """With the gradient 4 s(2 x) s(-2 x): PyTorch's own is 1 - tanh(x)^2, which cancels for large x."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.tanh(x)

    @staticmethod
    def backward(ctx, dy):
        x, = ctx.saved_tensors
        return dy * 4 * Sigmoid.apply(2 * x) * Sigmoid.apply(-2 * x)


def tanhshrink(x):
    """By Lambert's fraction near 0, where x - tanh(x) of f64 has lost its digits."""
    small = torch.where(x.abs() < 1, x, torch.zeros_like(x))
    c = torch.zeros_like(x)
    for odd in range(25, 1, -2):
        c = small * small / (odd + c)
    return torch.where(x.abs() < 1, small * c / (1 + c), x - tap(Tanh.apply(x)))


# At their lowest points they are not sensitive to x, but their factors are rounded all the same.
unary("silu", plain, lambda x: x * tap(Sigmoid.apply(x)))
unary("mish", plain, lambda x: x * tap(Tanh.apply(tap(F.softplus(x)))))
unary("softsign", lambda rng, shape: spread(rng, shape, 1.0, 30.0, 1e-2), lambda x: x / (1 + x.abs()))
unary("tanhshrink", plain, tanhshrink)
class CudaHardswish(torch.autograd.Function):
    """Activation's CUDA kernels, whose comparisons are false for a NaN: its slope is 1. Those of the CPU keep the NaN in
    whole vectors and do as these in what is left of a row."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return F.hardswish(x)

    @staticmethod
    def backward(ctx, dy):
        x, = ctx.saved_tensors
        return torch.where(x < -3, torch.zeros_like(x), torch.where(x <= 3, dy * (x / 3 + 0.5), dy))


def hardswish(x):
    """With its factor marked, which is rounded even where the product is flat. Kinks are left to PyTorch's own
    function."""
    number = torch.where(x.isfinite(), x, torch.zeros_like(x))
    return torch.where(~x.isfinite(), F.hardswish(x), number * tap(F.relu6(number + 3) / 6))


def cuda_selu(x, _at):
    """As for elu below: the slope at a NaN is the scale."""
    return 1.0507009873554804934193349852946 * elu(x["0"], 1.6732632423543772848170429916717, 1.0)


# By elu's formula, whose expm1 is rounded where x has no say in the result.
unary("selu", lambda rng, shape: off(spread(rng, shape), 0), lambda x: cuda_selu({"0": x}, None),
      native=lambda x, _at: F.selu(x["0"]), also=(cuda_selu,))
unary("relu6", lambda rng, shape: off(spread(rng, shape, 1.0, 6.0), 0, 6), F.relu6)
unary("hardsigmoid", lambda rng, shape: off(spread(rng, shape, 1.0, 4.0), -3, 3), lambda x: tap(F.relu6(tap(x + 3))) / 6)  # PyTorch's has no second derivative
unary("hardswish", lambda rng, shape: off(spread(rng, shape, 1.0, 4.0), -3, 3), hardswish,
      also=(lambda x, _at: CudaHardswish.apply(x["0"]),))


def gelu(x, at):
    v = x["0"]
    # 1 + erf(u) and 1 + tanh(u), as PyTorch has them, cancel for negative u; these are the same numbers.
    if at.get("approximate") != "tanh":
        return 0.5 * v * tap(torch.erfc(-v * 0.5**0.5))
    return v * tap(Sigmoid.apply(tap(2 * (2 / torch.pi)**0.5 * (v + 0.044715 * v**3))))


# The exact form's kernels take Phi by erfc, whose argument is rounded: in the tail that is x^2 / 2 roundings more, and
# the sensitivity of Phi to x already holds them. Both forms are flat at their lowest point, where only the marked
# factors' own roundings are seen.
op("gelu", FAMILY, "none", with_attrs(lambda rng, shape, at: spread(rng, shape), approximate=("tanh", "tanh", "none")),
   gelu)


def off_zero(rng, shape, at):
    return off(spread(rng, shape), 0)


def make_softplus(rng, shape, at):
    beta, threshold = at.get("beta", 1.0), at.get("threshold", 20.0)
    return off(spread(rng, shape, 1.0, 3.0, 20.0), threshold / beta, gap=2.0**-6 * max(1.0, abs(threshold / beta)))


def log_one_plus_exp(z):
    """log(1 + exp(z)) = max(z, 0) + log(1 + exp(-|z|)), which neither overflows nor cancels in f64. exp and log1p are
    rounded each. Near z = 0 the value log 2 is not sensitive to z, so only these intermediates carry the roundings."""
    return z.clamp_min(0) + tap(torch.log1p(mark(torch.exp(-z.abs()))))


def softplus(x, at):
    v, beta, threshold = x["0"], at.get("beta", 1.0), at.get("threshold", 20.0)
    b = v * beta
    return torch.where(b > threshold, v, log_one_plus_exp(b) / beta)


op("softplus", FAMILY, "f32", with_attrs(make_softplus, beta=(1.0, 0.5, 2.0, 3.0), threshold=(20.0, 1.0, 4.0)), softplus)
class Expm1(torch.autograd.Function):
    """With the gradient exp(x): PyTorch's own is expm1(x) + 1, which cancels."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.expm1(x)

    @staticmethod
    def backward(ctx, dy):
        x, = ctx.saved_tensors
        return dy * torch.exp(x)


def elu(x, alpha, rate):
    """As PyTorch's CUDA kernels have it, for a NaN too: its slope is 1 there. Written out, since its CPU kernels disagree
    about that, and its backward of celu takes 1 / alpha in f32 whatever the type of x."""
    below = torch.where(x <= 0, x, torch.zeros_like(x))
    # Far below zero x has no say in the result, and alpha and expm1 are rounded all the same.
    return torch.where(x <= 0, alpha * tap(Expm1.apply(below * rate)), x)


op("elu", FAMILY, "none", with_attrs(off_zero, alpha=(1.0, 0.3, 2.0)),
   lambda x, at: elu(x["0"], at.get("alpha", 1.0), 1.0))
op("celu", FAMILY, "none", with_attrs(off_zero, alpha=(1.0, 0.3, 2.0, -1.5)),
   lambda x, at: elu(x["0"], at.get("alpha", 1.0), 1 / at.get("alpha", 1.0)))
op("leaky_relu", FAMILY, "none", with_attrs(off_zero, negative_slope=(0.01, 0.3, -0.5, 2.0)),
   lambda x, at: F.leaky_relu(x["0"], at.get("negative_slope", 0.01)))
op("hardtanh", FAMILY, "none",
   with_attrs(lambda rng, shape, at: off(spread(rng, shape), at.get("min_val", -1.0), at.get("max_val", 1.0)),
              min_val=(-1.0, -0.5, -2.5), max_val=(1.0, 0.25, 3.0)),
   lambda x, at: F.hardtanh(x["0"], at.get("min_val", -1.0), at.get("max_val", 1.0)))


def make_threshold(rng):
    attrs = {"threshold": rng.pick((0.0, 0.5, -1.0)), "value": rng.pick((0.0, 20.0, -0.3))}
    return draft([off(spread(rng, shape_of(rng)), attrs["threshold"])], attrs)


op("threshold", FAMILY, "none", make_threshold, lambda x, at: F.threshold(x["0"], at["threshold"], at["value"]))


def make_prelu(rng):
    shape = shape_of(rng)
    channels = shape[1] if len(shape) >= 2 and rng.chance(0.7) else 1
    return draft([off(spread(rng, shape), 0), rng.normal(channels)])


op("prelu", FAMILY, "low", make_prelu, lambda x, at: F.prelu(x["0"], x["1"]))



def whole(name, function):
    unary(name, lambda rng, shape: spread(rng, shape, 1.0, 3.0, 40.0), function)


whole("floor", torch.floor)
whole("ceil", torch.ceil)
whole("round", torch.round)
whole("trunc", torch.trunc)
whole("sign", torch.sign)


def make_remainder(rng):
    shape = shape_of(rng)
    if rng.chance(0.2):
        return draft([spread(rng, shape, 3.0, 30.0)], {"other": rng.pick((1.5, -0.75, 4.0))})
    left, right = shape, rng.broadcast(shape)
    if rng.chance(0.3):
        left, right = right, left
    return draft([spread(rng, left, 3.0, 30.0), away_from_zero(rng.normal(*right), 0.3)])


def divisor(x, at):
    return at["other"] if x["1"] is None else x["1"]


# The result is what is left of a, so it is not sensitive to b by the quotient alone: torch's derivative says so.
op("fmod", FAMILY, "none", make_remainder, lambda x, at: torch.fmod(x["0"], divisor(x, at)), types="free")
op("remainder", FAMILY, "none", make_remainder, lambda x, at: torch.remainder(x["0"], divisor(x, at)), types="free")


def make_three(rng):
    shape = shape_of(rng)
    shapes = [shape, rng.broadcast(shape), rng.broadcast(shape)]
    order = [int(i) for i in rng.numpy.permutation(3)]
    scale = rng.pick((1.0, 1.0, 10.0))
    values = [rng.normal(*shapes[i], scale=scale) for i in order]
    return draft(values, {"value": rng.pick((2.0, -0.5, 0.1))} if rng.chance(0.6) else {})


def make_quotient(rng):
    made = make_three(rng)
    made.values[2] = away_from_zero(made.values[2], 0.4)
    return made


op("addcmul", FAMILY, "promote", make_three,
   lambda x, at: torch.addcmul(x["0"], x["1"], x["2"], value=at.get("value", 1.0)), types="free")
op("addcdiv", FAMILY, "promote", make_quotient,
   lambda x, at: torch.addcdiv(x["0"], x["1"], x["2"], value=at.get("value", 1.0)), types="free")


def make_lerp(rng):
    made = make_three(rng)
    made.attrs = {}
    if rng.chance(0.4):
        made = draft(made.values[:2], {"weight": rng.pick((0.0, 0.3, 0.5, 0.8, 1.0, -0.7, 1.5))})
    return made


op("lerp", FAMILY, "none", make_lerp,
   lambda x, at: torch.lerp(x["0"], x["1"], at["weight"] if x["2"] is None else x["2"]))


# Two ops, each of which stores a value of its type: 1 / x and its product with the number. On the way back the gradient
# times the number, the square of the stored 1 / x and their product are stored: four with 1 / x itself.
def make_left_number(rng):
    return draft([away_from_zero(spread(rng, shape_of(rng), 1.0, 3.0), 0.3)], {"other": rng.pick((1.0, 2.0, -0.5, 3.0))})


for _name in ("rdiv", "rtruediv"):  # reciprocal is f32 in a region
    op(_name, FAMILY, "none", make_left_number, lambda x, at: at["other"] / x["0"], through="f32", low_steps=4)
op("rpow", FAMILY, "none",
   lambda rng: draft([rng.normal(*shape_of(rng))], {"other": rng.pick((2.0, 0.5, 1.0, 10.0))}),
   lambda x, at: at["other"]**x["0"], through="f32", low_steps=4)


def make_question(rng):
    x = rng.normal(*shape_of(rng))
    strange = torch.tensor([float("nan"), float("inf"), -float("inf"), 0.0], dtype=torch.float64)
    chosen = torch.floor(rng.uniform(0, 8, *x.shape)).long()
    return draft([torch.where(chosen < 4, strange[chosen.clamp_max(3)], x)], {}, [])


def make_questions(rng):
    first = make_question(rng)
    second = first.values[0].roll(1) if first.values[0].dim() else first.values[0].clone()
    return draft([first.values[0], second], {}, [])


for _name in ("isnan", "isinf", "isfinite", "logical_not"):
    op(_name, FAMILY, "none", make_question, lambda x, at, f=getattr(torch, _name): f(x["0"]))
for _name in ("logical_and", "logical_or", "logical_xor"):
    op(_name, FAMILY, "none", make_questions, lambda x, at, f=getattr(torch, _name): f(x["0"], x["1"]), types="free")
