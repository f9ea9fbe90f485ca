"""For each op: its value and gradients in f64 by PyTorch, and how far a correct engine may be from them.

The bounds follow op_bounds.py. `inputs` are the operands as the kernel sees them, widened to f64.
"""

import math

import torch
from torch.nn import functional as F

from op_bounds import Expected


def reduce_to(full, shape):
    """Sum over broadcast dimensions, and how many terms each sum has."""
    return full.sum_to_size(shape), full.numel() // max(1, math.prod(shape))


# ---- functions of elements -------------------------------------------------------------------------------------

def _scaled(at, b):
    return at.get("alpha", 1) * b


def _other(x, at, name="other"):
    return x[1] if len(x) > 1 else torch.tensor(float(at[name]), dtype=torch.float64)


def _clamp(x, at):
    """Without a gradient at the bounds themselves, as PyTorch has it from 2.15 on."""
    low, high = at.get("min"), at.get("max")
    inside = torch.ones_like(x[0], dtype=torch.bool)
    if low is not None:
        inside &= x[0] > low
    if high is not None:
        inside &= x[0] < high
    return torch.where(inside, x[0], x[0].clamp(low, high).detach())


FUNCTIONS = {
    "add": lambda x, at: x[0] + _scaled(at, _other(x, at)),
    "sub": lambda x, at: x[0] - _scaled(at, _other(x, at)),
    "mul": lambda x, at: x[0] * _other(x, at),
    "div": lambda x, at: x[0] / _other(x, at),
    "neg": lambda x, at: -x[0],
    "abs": lambda x, at: x[0].abs(),
    "exp": lambda x, at: x[0].exp(),
    "log": lambda x, at: x[0].log(),
    "sqrt": lambda x, at: x[0].sqrt(),
    "rsqrt": lambda x, at: x[0].rsqrt(),
    "reciprocal": lambda x, at: x[0].reciprocal(),
    "tanh": lambda x, at: x[0].tanh(),
    "sigmoid": lambda x, at: x[0].sigmoid(),
    "relu": lambda x, at: x[0].relu(),
    "expm1": lambda x, at: x[0].expm1(),
    "log1p": lambda x, at: x[0].log1p(),
    "log2": lambda x, at: x[0].log2(),
    "log10": lambda x, at: x[0].log10(),
    "sin": lambda x, at: x[0].sin(),
    "cos": lambda x, at: x[0].cos(),
    "erf": lambda x, at: x[0].erf(),
    "logsigmoid": lambda x, at: F.logsigmoid(x[0]),
    "to": lambda x, at: x[0] * 1,
    "add_": lambda x, at: x[0] + _other(x, at),
    "mul_": lambda x, at: x[0] * _other(x, at),
    "exp_": lambda x, at: x[0].exp(),
    "pow_": lambda x, at: torch.pow(x[0], _other(x, at, "exponent")),
    "copy_": lambda x, at: x[1] + 0 * x[0],
    "zero_": lambda x, at: 0 * x[0],
    "gelu": lambda x, at: F.gelu(x[0], approximate=at.get("approximate", "none")),
    "square": lambda x, at: x[0].square(),
    "pow": lambda x, at: torch.pow(at["self"], x[0]) if "self" in at else torch.pow(x[0], _other(x, at, "exponent")),
    "atan2": lambda x, at: torch.atan2(x[0], x[1]),
    "maximum": lambda x, at: torch.maximum(x[0], x[1]),
    "minimum": lambda x, at: torch.minimum(x[0], x[1]),
    "where": lambda x, at: torch.where(x[0].bool(), x[1], x[2]),
    "clamp": _clamp,
    **{op: (lambda x, at, f=getattr(torch, op): f(x[0], _other(x, at)))
       for op in ("eq", "ne", "lt", "le", "gt", "ge")},
}
EXACT = {"neg", "abs", "relu", "maximum", "minimum", "where", "clamp"}
COMPARISONS = {"eq", "ne", "lt", "le", "gt", "ge"}
# Roundings of the accumulator in the value: 1 for what IEEE arithmetic rounds correctly, more for a polynomial.
ROUNDINGS = {"exp": 4, "expm1": 6, "log1p": 6, "log2": 6, "log10": 6, "sin": 6, "cos": 6, "erf": 8, "logsigmoid": 12,
             "exp_": 4, "pow_": 8, "log": 4, "tanh": 8, "sigmoid": 6, "atan2": 8, "rsqrt": 4, "pow": 8}
# Low-precision roundings in the gradient beyond the store, if its formula is several ops in PyTorch.
LOW_STEPS = {"div": 3, "atan2": 6, "pow": 4, "reciprocal": 2, "rsqrt": 3, "sqrt": 1, "tanh": 1, "sigmoid": 1, "add": 1,
             "sub": 1, "sin": 1, "cos": 1, "maximum": 1, "minimum": 1, "gelu": 4, "square": 2,
             "expm1": 2, "log1p": 2, "log2": 2, "log10": 2, "erf": 4, "logsigmoid": 4, "add_": 1, "mul_": 2, "pow_": 5,
             "exp_": 2, "copy_": 1}


def _scalar_sensitivity(op, x, at, y):
    """Change of the value for a relative change of 1 of a 0-d operand."""
    if op in ("add", "sub"):
        return x[0].abs() + (_scaled(at, _other(x, at))).abs()
    return 2 * y.abs() if op in ("mul", "div") else 0.0


def _value_magnitude(op, x, at, y):
    """A of the value: roundings of the accumulator times the magnitudes they apply to."""
    if op == "gelu":  # x Phi(x): the tail 1 - |erf| of negative x is a difference of numbers near 1
        return 8 * y.abs() + 4 * x[0].abs()
    if op in ("add", "sub", "add_"):  # a plain number is rounded to f32, and so is alpha times it
        return y.abs() + 2 * _scaled(at, _other(x, at)).abs()
    if op in ("pow", "pow_"):
        return (ROUNDINGS["pow"] + (y.abs().clamp_min(1e-300).log()).abs()) * y.abs()
    return ROUNDINGS.get(op, 1) * y.abs()


def _saved_sensitivity(op, y, gradient, g):
    """Change of the gradient for a relative change of 1 of the saved result y."""
    if op == "tanh":
        return 2 * y * y * g.abs()
    if op == "sigmoid":
        return (y * (1 - 2 * y)).abs() * g.abs()
    if op == "expm1":  # backward is g (y + 1)
        return (y.abs() + 1) * g.abs()
    factor = {"exp_": 1, "pow_": 1, "sqrt": 1, "rsqrt": 3, "reciprocal": 2, "exp": 1, "pow": 1, "div": 1}.get(op, 0)
    return factor * gradient.abs()


def _second_magnitude(op, x, g, vs, parts):
    """Sum of the magnitudes of the terms of the second derivative, or more if these cancel internally."""
    total = sum(part.abs() for part in parts)
    weight = g.abs() * sum(v.abs() for v in vs)
    if op == "tanh":
        y = x[0].tanh()
        return total + weight * y.abs() * (2 + 6 * y * y)
    if op == "sigmoid":
        y = x[0].sigmoid()
        return total + weight * (y + 6 * y**2 + 6 * y**3)
    if op == "erf":
        return total + 4 * x[0] ** 2 * total
    if op == "expm1":
        return total + weight * (1 + x[0].exp())
    if op == "logsigmoid":
        return total + weight
    if op == "gelu":
        return total + 4 * weight * (1 + x[0] ** 2)
    if op == "atan2":
        return total + 4 * weight / (x[0] ** 2 + x[1] ** 2)
    if op in ("pow", "pow_") and len(x) > 1:
        base, exponent = x[0].abs(), x[1]
        logs = (1 + base.log().abs()) ** 2
        return total + weight * base ** (exponent - 2) * (1 + exponent.abs()) ** 2 * logs * (1 + base) ** 2
    return total


def _tiny_first(op, x, y, g):
    """T of the gradient before it is summed: what the underflow of the saved result, or of a product stored on the
    way, is multiplied by."""
    size = g.abs()
    if op == "tanh":  # g (1 - y^2)
        return 2 * y.abs() * size
    if op in ("sigmoid", "exp", "exp_", "sin", "cos", "logsigmoid", "expm1"):  # g times one stored function
        return 2 * size
    if op == "reciprocal":  # g y^2
        return size * (1 + 2 * y.abs())
    if op == "square":  # 2 (g x)
        return 2 * torch.ones_like(y)
    if op == "erf":  # g (c bell)
        return 2.2 * size + 1
    if op == "div":  # g ((a / b) / b)
        return size * (1 + 1 / x[-1].detach().abs()) + 1
    if op in ("pow", "pow_"):  # g (b a^(b - 1)), g (a^b log a)
        exponent = x[1].detach().abs() if len(x) > 1 else 3.0
        return size * (1 + exponent + x[0].detach().abs().log().abs()) + 1
    return torch.zeros_like(y)


def _tiny_second(op, key, x, g, vs, attrs):
    """T of the second derivative: what the underflow of stored results on the way is multiplied by.

    erf's gradient is g m with m = c bell, bell = exp(-x^2), c = 2 / sqrt(pi): far out bell, m and all that follow are
    subnormal. By x the gradient of v g m goes through v g (times c bell 2|x|), v g c (times bell 2|x|), times bell
    (times 2|x|), times x twice, and uses bell once (times |v g c| 2|x|); by g it is v m with m and bell on the way.
    """
    v = vs[0].abs()
    # Where all factors beside v and g are at most F, four stored results are each multiplied by at most 2 F |v| |g|.
    both, near = 8 * (1 + v) * (1 + g.abs()), 1 + 1 / x[-1].detach().abs()
    if op in ("tanh", "sigmoid", "sin", "cos", "logsigmoid"):
        return both
    if op in ("exp", "exp_", "expm1"):  # every factor is exp(x)
        return both * (1 + x[0].detach().exp())
    if op in ("pow", "pow_") and len(x) > 1:  # powers from b - 2 up, b and log a
        base, exponent = x[0].detach().abs(), x[1].detach()
        logs = (1 + base.log().abs()) ** 2
        return both * base ** (exponent - 2) * (1 + base) ** 2 * (1 + exponent.abs()) ** 2 * logs
    if op == "pow" and "self" in attrs:
        return both * (1 + attrs["self"] ** x[0].detach()) * (1 + abs(math.log(attrs["self"]))) ** 2
    if op in ("pow", "pow_"):  # the power and its two derivatives
        a, b = x[0].detach().abs(), attrs["exponent"]
        powers = [(1, b), (b, b - 1), (b * (b - 1), b - 2)]
        return both * (1 + sum(abs(factor) * a**power for factor, power in powers if factor))
    if op in ("log", "log2", "log10", "log1p", "sqrt"):
        return both * near**2
    if op in ("reciprocal", "rsqrt"):
        return both * near**3
    if op == "div":
        v = sum(each.abs() for each in vs)
        return 8 * (1 + v) * (1 + g.abs()) * (1 + x[0].detach().abs()) * near**3
    if op in ("mul", "mul_", "square", "add", "sub", "add_"):
        return 8 * (1 + sum(each.abs() for each in vs)) * (1 + g.abs()) * (1 + sum(t.detach().abs() for t in x))
    if op != "erf":
        return None
    c, far = 2 / math.sqrt(math.pi), 2 * x[0].detach().abs()
    if key == "output":
        return v * (1 + c) + 1
    return far * (c * v * g.abs() + c + 2) + 3


class Elementwise:
    """Broadcast functions of elements; gradients are taken element by element and then summed to the shapes."""

    def __init__(self, op):
        self.op = op

    def _expanded(self, inputs, differentiable):
        shape = torch.broadcast_shapes(*(t.shape for t in inputs))
        expanded = [t.expand(shape).clone() for t in inputs]
        for i in differentiable:
            expanded[i].requires_grad_(True)
        return expanded

    def forward(self, inputs, attrs):
        y = FUNCTIONS[self.op](inputs, attrs)
        if self.op in COMPARISONS:
            return Expected(y, exact=True)
        wide = attrs.get("wide_scalar", False)
        low = _scalar_sensitivity(self.op, inputs, attrs, y) if wide else 0.0
        return Expected(y, _value_magnitude(self.op, inputs, attrs, y), low, self.op in EXACT and not wide)

    def gradients(self, inputs, attrs, g, differentiable):
        x = self._expanded(inputs, differentiable)
        y = FUNCTIONS[self.op](x, attrs)
        found = torch.autograd.grad(y, [x[i] for i in differentiable], g.expand(y.shape), allow_unused=True)
        answers = {}
        for i, full in zip(differentiable, found):
            full = torch.zeros_like(x[i]) if full is None else full
            sensitivity = _saved_sensitivity(self.op, y.detach(), full, g)
            value, n = reduce_to(full, inputs[i].shape)
            magnitude = reduce_to(full.abs(), inputs[i].shape)[0]
            sensitive = reduce_to(sensitivity, inputs[i].shape)[0]
            steps = LOW_STEPS.get(self.op, 0) + (1 if n > 1 else 0) + (3 if attrs.get("wide_scalar") else 0)
            low = steps * magnitude + sensitive
            acc = (n + 6) * magnitude + ROUNDINGS.get(self.op, 1) * sensitive
            tiny = reduce_to(_tiny_first(self.op, x, y.detach(), g) + (1 if n > 1 else 0), inputs[i].shape)[0]
            if self.op == "gelu":
                acc = acc + 12 * reduce_to(g.abs() * (1 + inputs[i].abs()), inputs[i].shape)[0]
            if self.op == "erf":  # g c exp(-x^2) with x^2 and exp() stored, as in PyTorch: x^2 errs by u x^2
                squared = reduce_to(full.abs() * inputs[i] ** 2, inputs[i].shape)[0]
                low, acc = low + squared, acc + 4 * squared
            if self.op == "expm1":
                acc = acc + 4 * reduce_to(g.abs() * inputs[i].exp() + g.abs(), inputs[i].shape)[0]
            if self.op == "logsigmoid":
                acc = acc + 8 * reduce_to(full.abs() * (1 + inputs[i].abs()), inputs[i].shape)[0]
            if self.op in ("pow", "pow_"):
                if len(inputs) > 1:  # the stored exponent b - 1 errs by u |b - 1|, the power by log(a) times that
                    base, exponent = x[0].detach().abs(), x[1].detach()
                    low = low + reduce_to(full.abs() * (exponent - 1).abs() * base.log().abs(), inputs[i].shape)[0]
                acc = acc + 2 * reduce_to(full.abs() * (1 + full.abs().clamp_min(1e-300).log().abs()),
                                          inputs[i].shape)[0]
            exact = self.op in EXACT and n == 1 and self.op not in ("maximum", "minimum")
            answers[i] = Expected(value, acc, low, exact, tiny)
        return answers

    def second(self, inputs, attrs, g, vs, differentiable):
        x = self._expanded(inputs, differentiable)
        g_full = g.clone().requires_grad_(True)
        y = FUNCTIONS[self.op](x, attrs)
        leaves = [x[i] for i in differentiable]
        found = torch.autograd.grad(y, leaves, g_full, create_graph=True, allow_unused=True)
        parts = {i: [] for i in [*differentiable, "output"]}
        for i, full in zip(differentiable, found):
            if full is None or not full.requires_grad:
                continue
            v = vs[i].expand(y.shape)
            more = torch.autograd.grad((full * v).sum(), [*leaves, g_full], retain_graph=True, allow_unused=True)
            for key, part in zip([*differentiable, "output"], more):
                parts[key].append(torch.zeros_like(y) if part is None else part.detach())
        answers = {}
        for key, terms in parts.items():
            shape = y.shape if key == "output" else inputs[key].shape
            terms = terms or [torch.zeros_like(y)]
            value, n = reduce_to(sum(terms), shape)
            v_full = [vs[i].expand(y.shape) for i in differentiable]
            each = sum(t.abs() for t in terms) if key == "output" else \
                _second_magnitude(self.op, [t.detach() for t in x], g, v_full, terms)
            if key == "output":
                each = each + sum(_saved_sensitivity(self.op, y.detach(), torch.zeros_like(y), v) for v in v_full)
                if self.op == "erf":
                    each = each * (1 + 4 * x[0].detach() ** 2)
                if self.op == "gelu":
                    each = each + sum(v.abs() for v in v_full) * (1 + x[0].detach().abs())
            magnitude = reduce_to(each, shape)[0]
            tiny = _tiny_second(self.op, key, x, g, v_full, attrs)
            answers[key] = Expected(value, (n + 32) * magnitude, 12 * magnitude,
                                    tiny=0.0 if tiny is None else reduce_to(tiny, shape)[0])
        return answers


# ---- functions linear in each operand --------------------------------------------------------------------------

def _conv2d(x, at):
    return F.conv2d(x[0], x[1], x[2] if len(x) > 2 else None, at.get("stride", 1), at.get("padding", 0),
                    at.get("dilation", 1), at.get("groups", 1))


def _avg_pool2d(x, at):
    return F.avg_pool2d(x[0], at["kernel_size"], at.get("stride"), at.get("padding", 0), at.get("ceil_mode", False),
                        at.get("count_include_pad", True), at.get("divisor_override"))


def _sum(x, at, function):
    if "dim" not in at:
        return function(x[0])
    return function(x[0], at["dim"], at.get("keepdim", False))


MULTILINEAR = {
    "linear": lambda x, at: F.linear(x[0], x[1], x[2] if len(x) > 2 else None),
    "matmul": lambda x, at: torch.matmul(x[0], x[1]),
    "mv": lambda x, at: torch.mv(x[0], x[1]),
    "dot": lambda x, at: torch.dot(x[0], x[1]),
    "mm": lambda x, at: torch.mm(x[0], x[1]),
    "bmm": lambda x, at: torch.bmm(x[0], x[1]),
    "addmm": lambda x, at: torch.addmm(x[0], x[1], x[2], beta=at.get("beta", 1), alpha=at.get("alpha", 1)),
    "conv2d": _conv2d,
    "avg_pool2d": _avg_pool2d,
    "adaptive_avg_pool2d": lambda x, at: F.adaptive_avg_pool2d(x[0], at["output_size"]),
    "sum": lambda x, at: _sum(x, at, torch.sum),
    "mean": lambda x, at: _sum(x, at, torch.mean),
    "cat": lambda x, at: torch.cat(x, at.get("dim", 0)),
    "dropout": lambda x, at: x[0] * x[1] / (1 - at["p"]),
    "reshape": lambda x, at: x[0].reshape(at["shape"]),
    "permute": lambda x, at: x[0].permute(at["dims"]),
    "transpose": lambda x, at: x[0].transpose(at["dim0"], at["dim1"]),
    "flatten": lambda x, at: torch.flatten(x[0], at.get("start_dim", 0), at.get("end_dim", -1)),
    "expand": lambda x, at: x[0].expand(at["size"]),
    "narrow": lambda x, at: x[0].narrow(at["dim"], at["start"], at["length"]),
    "contiguous": lambda x, at: x[0] * 1,
}
MOVES = {"cat", "narrow", "contiguous", "reshape", "permute", "transpose", "flatten"}
AVERAGES = {"mean", "avg_pool2d", "adaptive_avg_pool2d", "dropout"}


class Multilinear:
    """Linear in each operand: the same function on absolute values gives the sum of magnitudes, on ones the number of
    terms in each sum (an average divides by it, so there the number of elements that feed it stands in)."""

    def __init__(self, op):
        self.op = op
        self.function = MULTILINEAR[op]

    def _terms(self, ones_result, inputs):
        if self.op in AVERAGES:
            return float(max(t.numel() for t in inputs))
        return ones_result

    def _absolute(self, attrs):
        return {k: abs(v) if k in ("alpha", "beta") else v for k, v in attrs.items()}

    def _ones(self, attrs):
        return {k: 1 if k in ("alpha", "beta") else v for k, v in attrs.items()}

    def forward(self, inputs, attrs):
        y = self.function(inputs, attrs)
        magnitude = self.function([t.abs() for t in inputs], self._absolute(attrs))
        count = self._terms(self.function([torch.ones_like(t) for t in inputs], self._ones(attrs)), inputs)
        return Expected(y, (count + 3) * magnitude, 0.0, self.op in MOVES or self.op == "expand")

    def _first(self, inputs, attrs, g, differentiable):
        leaves = [t.clone().requires_grad_(i in differentiable) for i, t in enumerate(inputs)]
        y = self.function(leaves, attrs)
        return torch.autograd.grad(y, [leaves[i] for i in differentiable], g)

    def _second(self, inputs, attrs, g, vs, differentiable):
        leaves = [t.clone().requires_grad_(i in differentiable) for i, t in enumerate(inputs)]
        wanted = [leaves[i] for i in differentiable]
        g = g.clone().requires_grad_(True)
        first = torch.autograd.grad(self.function(leaves, attrs), wanted, g, create_graph=True)
        total = sum((d * vs[i]).sum() for i, d in zip(differentiable, first))
        found = torch.autograd.grad(total, [*wanted, g], allow_unused=True)
        return [torch.zeros_like(t) if d is None else d for t, d in zip([*wanted, g], found)]

    def _answers(self, keys, values, magnitudes, counts, steps, slack, inputs):
        answers = {}
        for key, value, magnitude, count in zip(keys, values, magnitudes, counts):
            acc = (self._terms(count, inputs) + slack) * magnitude
            answers[key] = Expected(value, acc, steps * magnitude, self.op in MOVES and slack == 3)
        return answers

    def gradients(self, inputs, attrs, g, differentiable):
        values = self._first(inputs, attrs, g, differentiable)
        magnitudes = self._first([t.abs() for t in inputs], self._absolute(attrs), g.abs(), differentiable)
        counts = self._first([torch.ones_like(t) for t in inputs], self._ones(attrs), torch.ones_like(g),
                             differentiable)
        # A batched product may store each batch's gradient before summing it over a broadcast batch; addmm scales
        # a stored gradient by alpha or beta.
        steps = 1 if self.op in ("matmul", "addmm", "dropout", "mean") else 0
        return self._answers(differentiable, values, magnitudes, counts, steps, 3, inputs)

    def second(self, inputs, attrs, g, vs, differentiable):
        values = self._second(inputs, attrs, g, vs, differentiable)
        magnitudes = self._second([t.abs() for t in inputs], self._absolute(attrs), g.abs(),
                                  {i: v.abs() for i, v in vs.items()}, differentiable)
        counts = self._second([torch.ones_like(t) for t in inputs], self._ones(attrs), torch.ones_like(g),
                              {i: torch.ones_like(v) for i, v in vs.items()}, differentiable)
        # v is cast to the op's type, each of the at most four terms is stored in it, and so is their sum.
        return self._answers([*differentiable, "output"], values, magnitudes, counts, 6, 16, inputs)
