

# Operations that autocast has rules for, by the name of PyTorch's function: their name in `precision.force`, and the rule
# of the CUDA lists. "low": computes in 16 bits; "wide": in FP32; "same": in its input's type.
RULES = {
    "linear": ("linear", "low"), "conv2d": ("conv2d", "low"), "conv_transpose2d": ("conv_transpose2d", "low"),
    "addmm": ("addmm", "low"), "matmul": ("matmul", "low"), "bmm": ("bmm", "low"),
    "layer_norm": ("layer_norm", "wide"), "cross_entropy": ("cross_entropy", "wide"), "mse_loss": ("mse_loss", "wide"),
    "binary_cross_entropy_with_logits": ("binary_cross_entropy_with_logits", "wide"),
    "batch_norm": ("batch_norm", "same"), "relu": ("relu", "same"), "relu_": ("relu", "same"),
    "hardtanh": ("relu6", "same"), "gelu": ("gelu", "same"), "sigmoid": ("sigmoid", "same"), "tanh": ("tanh", "same"),
    "max_pool2d": ("max_pool2d", "same"), "adaptive_avg_pool2d": ("adaptive_avg_pool2d", "same"),
    "add": ("add", "same"), "__add__": ("add", "same"), "__iadd__": ("add", "same"), "cat": ("cat", "same"),
    "embedding": ("embedding", "same"),
}


class Force:
    """The rules of `precision.force`: the longest module name decides, then a key that names the operation."""

    def __init__(self, force, modules):
        self.rules = []
        for key, name in force.items():
            module, colon, op = key.partition(":")
            if not colon and key not in modules:
                module, op = "", key
            self.rules.append((module, op, NAMED[name]))
        self.rules.sort(key=lambda rule: (len(rule[0]), bool(rule[1])), reverse=True)

    def find(self, module, op):
        for outer, name, dtype in self.rules:
            inside = not outer or module == outer or module.startswith(outer + ".")
            if inside and name in ("", op):
                return dtype
        return None


def is_floating(value):
    return isinstance(value, torch.Tensor) and value.dtype in (torch.float32, torch.float16, torch.bfloat16)


def cast_all(values, dtype):
    """Tensors of other floating types as this one, in lists too."""
    if isinstance(values, (list, tuple)):
        return type(values)(cast_all(value, dtype) for value in values)
    return values.to(dtype) if is_floating(values) and values.dtype != dtype else values


def tensors_in(values):
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from tensors_in(value)
        elif is_floating(value):
            yield value


class Casting(torch.overrides.TorchFunctionMode):
    """Casts as autocast and `precision.force` do at every operation, on any device by CUDA's lists. On a CPU a product of
    16-bit values is computed in FP32 and rounded once, as Tensor Cores do. Keeps the module that computes."""

    def __init__(self, model, low, force, trace):
        super().__init__()
        self.low, self.trace, self.modules = low, trace, [""]
        names = {name for name, _ in model.named_modules()}
        self.force = Force(force, names)
        for name, module in model.named_modules():
            module.register_forward_pre_hook(lambda *_, name=name: self.modules.append(name))
            module.register_forward_hook(self.leave_module, always_call=True)

    def leave_module(self, *_):
        self.modules.pop()

    @property
    def module(self):
        return self.modules[-1]

    def __torch_function__(self, function, types, args=(), kwargs=None):
        name, kwargs = getattr(function, "__name__", ""), kwargs or {}
        if name not in RULES:
            return function(*args, **kwargs)
        op, rule = RULES[name]
        if name == "__iadd__":  # out of place, so that its input stays as it was recorded
            function = torch.add
        return self.call(op, rule, lambda *a: function(*a, **kwargs), args)

    def call(self, op, rule, function, args, composed=False):
        """function(*args) in the type that the rules give. `composed`: it rounds its products by itself."""
        forced = self.force.find(self.module, op)
        natural = self.natural(rule, args)
        dtype = forced or natural
        before = list(tensors_in(args))
        # batch_norm takes 16-bit values with FP32 parameters, and additions promote.
        keeps = not forced and rule == "same"
        cast = args if keeps else cast_all(args, dtype)
        after = list(tensors_in(cast))
        self.trace.enter(self.module, op, before, after)
        low = rule == "low" and dtype != torch.float32 and not composed
        if low and not after[0].is_cuda:
            out = function(*cast_all(cast, torch.float32)).to(dtype)
        else:
            out = function(*cast)
        if forced and self.low is None:
            out = cast_all(out, natural)
        self.trace.leave(self.module, op, out)
        return out

    def natural(self, rule, args):
        """The type without force."""
        given = [each.dtype for each in tensors_in(args)]
        if self.low is not None and rule != "same":
            return self.low if rule == "low" else torch.float32
        return given[0] if given else torch.float32


def rounded(x, dtype):
    """x as it would be stored in this type, in FP32; its gradient is rounded likewise."""
    return x.to(dtype).float()


class WeightedValues(torch.autograd.Function):
    """Attention's weights (FP32) times the values. The product takes the weights in the values' type; their gradient stays in
    FP32."""

    @staticmethod
    def forward(ctx, weights, values, dtype):
        ctx.save_for_backward(weights, values)
        ctx.dtype = dtype
        return (weights.to(dtype).float() @ values).to(dtype).float()

    @staticmethod
    def backward(ctx, g):
        weights, values = ctx.saved_tensors
        g = g.to(ctx.dtype).float()
        return g @ values.mT, (weights.to(ctx.dtype).float().mT @ g).to(ctx.dtype).float(), None


class Scores(torch.autograd.Function):
    """q k^T * scale in FP32; backward the gradient is rounded for the two products."""

    @staticmethod
    def forward(ctx, q, k, scale, dtype):
        ctx.save_for_backward(q, k)
        ctx.rest = scale, dtype
        return q @ k.mT * scale

    @staticmethod
    def backward(ctx, g):
        (q, k), (scale, dtype) = ctx.saved_tensors, ctx.rest
        g = g.to(dtype).float()
        return (g @ k * scale).to(dtype).float(), (g.mT @ q * scale).to(dtype).float(), None, None


def attention(q, k, v, is_causal, p, masks):
    """(samples, heads, tokens, width) of one type; scores and weights are FP32."""
    dtype, first = q.dtype, None
    q, k, v = q.float(), k.float(), v.float()
    scores = Scores.apply(q, k, 1 / math.sqrt(q.shape[-1]), dtype)
    if is_causal:
        above = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
        scores = scores.masked_fill(above, -math.inf)
    weights = dropout(torch.softmax(scores, -1), p, masks)
    return WeightedValues.apply(weights, v, dtype).to(dtype)
