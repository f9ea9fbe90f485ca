"""References and bounds of softmax, losses, norms and pools; see op_reference.py and op_bounds.py."""

import torch
from torch.nn import functional as F

from op_bounds import Expected


class Composite:
    """Gradients by PyTorch's autograd in f64; each op adds its magnitudes. Second derivatives are bounded by PyTorch's
    own error: sixteen times the worst error of its f32 result, and 64 units of the largest value."""

    def function(self, x, attrs):
        raise NotImplementedError

    def forward(self, inputs, attrs):
        y = self.function(inputs, attrs)
        acc, low = self.value_magnitude(inputs, attrs, y)
        return Expected(y, acc, low, self.exact())

    def exact(self):
        return False

    def value_magnitude(self, inputs, attrs, y):
        raise NotImplementedError

    def gradient_magnitude(self, index, inputs, attrs, g, gradient):
        raise NotImplementedError

    def gradients(self, inputs, attrs, g, differentiable):
        leaves = [t.clone().requires_grad_(i in differentiable) for i, t in enumerate(inputs)]
        found = torch.autograd.grad(self.function(leaves, attrs), [leaves[i] for i in differentiable], g)
        answers = {}
        for i, value in zip(differentiable, found):
            acc, low = self.gradient_magnitude(i, inputs, attrs, g, value)
            answers[i] = Expected(value, acc, low)
        return answers

    def _second(self, inputs, attrs, g, vs, differentiable, dtype):
        leaves = [t.to(dtype) if t.is_floating_point() else t for t in inputs]
        leaves = [t.clone().requires_grad_(i in differentiable) for i, t in enumerate(leaves)]
        wanted = [leaves[i] for i in differentiable]
        g = g.to(dtype).requires_grad_(True)
        first = torch.autograd.grad(self.function(leaves, attrs), wanted, g, create_graph=True)
        total = sum((d * vs[i].to(dtype)).sum() for i, d in zip(differentiable, first))
        found = torch.autograd.grad(total, [*wanted, g], allow_unused=True)
        return [torch.zeros_like(t) if d is None else d for t, d in zip([*wanted, g], found)]

    def second(self, inputs, attrs, g, vs, differentiable):
        exact = self._second(inputs, attrs, g, vs, differentiable, torch.float64)
        single = self._second(inputs, attrs, g, vs, differentiable, torch.float32)
        answers = {}
        for key, value, peer in zip([*differentiable, "output"], exact, single):
            error = float((peer.double() - value).abs().max()) if value.numel() else 0.0
            largest = float(value.abs().max()) if value.numel() else 0.0
            answers[key] = Expected(value, 16 * error * 2.0**24 + 64 * largest, 16 * largest)
        return answers


class Softmax(Composite):
    """y = exp(x - max) / sum. The argument's rounding |x - max| u becomes a relative error of exp. Backward is
    y (g - sum(g y)), with y as stored."""

    def function(self, x, attrs):
        return torch.softmax(x[0], attrs["dim"])

    def _spread(self, x, dim):
        return (x - x.amax(dim, keepdim=True)).abs()

    def value_magnitude(self, inputs, attrs, y):
        dim = attrs["dim"]
        spread = self._spread(inputs[0], dim)
        return y * (inputs[0].shape[dim] + 8 + spread + (y * spread).sum(dim, keepdim=True)), 0.0

    def gradient_magnitude(self, index, inputs, attrs, g, gradient):
        dim = attrs["dim"]
        y = torch.softmax(inputs[0], dim)
        magnitude = y * (g.abs() + (g.abs() * y).sum(dim, keepdim=True))
        spread = self._spread(inputs[0], dim)
        relative = inputs[0].shape[dim] + 8 + spread + (y * spread).sum(dim, keepdim=True)
        worst = relative.amax(dim, keepdim=True)
        return (2 * worst + inputs[0].shape[dim] + 4) * magnitude, 3 * magnitude


class LogSoftmax(Composite):
    """y = (x - max) - log(sum): absolute errors of both parts. Backward is g - exp(y) sum(g), with y as stored."""

    def function(self, x, attrs):
        return torch.log_softmax(x[0], attrs["dim"])

    def absolute_error(self, x, dim):
        top = x.amax(dim, keepdim=True)
        spread = (x - top).abs()
        p = torch.softmax(x, dim)
        logs = torch.logsumexp(x - top, dim, keepdim=True).abs()
        return spread + 2 * logs + x.shape[dim] + 8 + (p * spread).sum(dim, keepdim=True)

    def value_magnitude(self, inputs, attrs, y):
        return self.absolute_error(inputs[0], attrs["dim"]), 0.0

    def gradient_magnitude(self, index, inputs, attrs, g, gradient):
        dim = attrs["dim"]
        y = torch.log_softmax(inputs[0], dim)
        total = g.abs().sum(dim, keepdim=True)
        magnitude = g.abs() + y.exp() * total
        error = self.absolute_error(inputs[0], dim)
        acc = (inputs[0].shape[dim] + 10) * magnitude + y.exp() * (error + y.abs()) * total
        return acc, 2 * magnitude + y.exp() * y.abs() * total


def _nll(x, target, weight, attrs):
    return F.nll_loss(x, target, weight, ignore_index=attrs.get("ignore_index", -100),
                      reduction=attrs.get("reduction", "mean"))


class NllLoss(Composite):
    """A weighted mean of picked elements: n products and one division."""

    def function(self, x, attrs):
        return _nll(x[0], x[1], x[2] if len(x) > 2 else None, attrs)

    def value_magnitude(self, inputs, attrs, y):
        magnitude = -self.function([-inputs[0].abs().neg(), *inputs[1:]], attrs)
        magnitude = magnitude.abs()
        return (inputs[1].numel() + 6) * magnitude, magnitude

    def gradient_magnitude(self, index, inputs, attrs, g, gradient):
        return (inputs[1].numel() + 6) * gradient.abs(), 2 * gradient.abs()


class CrossEntropy(Composite):
    """log_softmax, then a loss linear in it: the errors of the first pass through the second."""

    def _linear(self, z, inputs, attrs):
        """The loss as a function of the log-probabilities; linear, with coefficients of one sign."""
        target, weight = inputs[1], inputs[2] if len(inputs) > 2 else None
        smoothing = attrs.get("label_smoothing", 0.0)
        reduction = attrs.get("reduction", "mean")
        ignore = attrs.get("ignore_index", -100)
        hard = _nll(z, target, weight, attrs)
        if smoothing == 0.0:
            return hard
        weights = torch.ones(z.shape[1], dtype=z.dtype) if weight is None else weight
        shape = [1, -1] + [1] * (z.dim() - 2)
        soft = -(z * weights.reshape(shape)).sum(1) / z.shape[1]
        kept = target != ignore
        soft = torch.where(kept, soft, torch.zeros_like(soft))
        if reduction == "mean":
            total = weights[target.clamp_min(0)][kept].sum()
            soft = soft.sum() / total
        elif reduction == "sum":
            soft = soft.sum()
        return (1 - smoothing) * hard + smoothing * soft

    def function(self, x, attrs):
        return F.cross_entropy(x[0], x[1], x[2] if len(x) > 2 else None,
                               ignore_index=attrs.get("ignore_index", -100),
                               reduction=attrs.get("reduction", "mean"),
                               label_smoothing=attrs.get("label_smoothing", 0.0))

    def value_magnitude(self, inputs, attrs, y):
        z = torch.log_softmax(inputs[0], 1)
        error = LogSoftmax().absolute_error(inputs[0], 1).expand(z.shape)
        magnitude = self._linear(z.abs(), inputs, attrs).abs()
        acc = self._linear(error, inputs, attrs).abs() + (z.numel() + 8) * magnitude
        return acc, 3 * magnitude

    def gradient_magnitude(self, index, inputs, attrs, g, gradient):
        z = torch.log_softmax(inputs[0], 1)
        leaf = z.clone().requires_grad_(True)
        inner, = torch.autograd.grad(self._linear(leaf, inputs, attrs), leaf, g)
        total = inner.abs().sum(1, keepdim=True)
        magnitude = inner.abs() + z.exp() * total
        error = LogSoftmax().absolute_error(inputs[0], 1)
        acc = (z.shape[1] + inputs[1].numel() + 12) * magnitude + z.exp() * (error + z.abs()) * total
        return acc, 3 * magnitude + z.exp() * z.abs() * total


class MseLoss(Composite):
    def function(self, x, attrs):
        return F.mse_loss(x[0], x[1], reduction=attrs.get("reduction", "mean"))

    def value_magnitude(self, inputs, attrs, y):
        n = 1 if attrs.get("reduction") == "none" else inputs[0].numel()
        return (n + 4) * y.abs(), 2 * y.abs()

    def gradient_magnitude(self, index, inputs, attrs, g, gradient):
        return 6 * gradient.abs(), 3 * gradient.abs()


class L1Loss(MseLoss):
    def function(self, x, attrs):
        return F.l1_loss(x[0], x[1], reduction=attrs.get("reduction", "mean"))


class BinaryCrossEntropy(Composite):
    """-(t log x + (1 - t) log(1 - x)); both terms have one sign. Backward divides by x (1 - x)."""

    def function(self, x, attrs):
        return F.binary_cross_entropy(x[0], x[1], x[2] if len(x) > 2 else None,
                                      reduction=attrs.get("reduction", "mean"))

    def value_magnitude(self, inputs, attrs, y):
        # 1 - x is stored in the op's type before its logarithm: an absolute error of u there is u / (1 - x).
        x, t = inputs[0], inputs[1]
        each = (t * x.log()).abs() + ((1 - t) * (1 - x).log()).abs() + (1 - t).abs() / (1 - x)
        scale = inputs[2] if len(inputs) > 2 else torch.ones_like(x)
        reduction = attrs.get("reduction", "mean")
        each = each * scale
        total = each if reduction == "none" else each.mean() if reduction == "mean" else each.sum()
        return ((1 if reduction == "none" else x.numel()) + 12) * total, 6 * total

    def gradient_magnitude(self, index, inputs, attrs, g, gradient):
        x, t = inputs[0], inputs[1]
        share = g.abs() / x.numel() if attrs.get("reduction", "mean") == "mean" else g.abs()
        scale = inputs[2] if len(inputs) > 2 else torch.ones_like(x)
        magnitude = share * scale * (t.abs() / x + (1 - t).abs() / (1 - x)) / torch.minimum(x, 1 - x)
        return 14 * magnitude, 6 * magnitude


class BceWithLogits(Composite):
    """(1 - t) x + l (log1p(exp(-|x|)) + max(-x, 0)) with l = 1 + (pos_weight - 1) t, times weight."""

    def _arguments(self, inputs, attrs):
        given = list(attrs.get("given", [0, 1]))
        by_name = dict(zip(given, inputs))
        return by_name[0], by_name[1], by_name.get(2), by_name.get(3)

    def function(self, x, attrs):
        logits, target, weight, pos_weight = self._arguments(x, attrs)
        return F.binary_cross_entropy_with_logits(logits, target, weight, pos_weight=pos_weight,
                                                  reduction=attrs.get("reduction", "mean"))

    def _reduced(self, each, attrs):
        reduction = attrs.get("reduction", "mean")
        return each if reduction == "none" else each.mean() if reduction == "mean" else each.sum()

    def _parts(self, inputs, attrs):
        x, t, w, p = self._arguments(inputs, attrs)
        scale = torch.ones_like(x) if w is None else w.expand(x.shape)
        positive = torch.ones_like(x) if p is None else 1 + (p - 1).abs() * t.abs()
        return x, t, scale.abs(), positive, torch.zeros_like(x) if p is None else p.expand(x.shape)

    def value_magnitude(self, inputs, attrs, y):
        x, t, scale, positive, _ = self._parts(inputs, attrs)
        soft = torch.log1p(torch.exp(-x.abs())) + torch.clamp_min(-x, 0)
        each = scale * ((1 - t).abs() * x.abs() + positive * soft)
        n = 1 if attrs.get("reduction") == "none" else x.numel()
        return (n + 12) * self._reduced(each, attrs), 6 * self._reduced(each, attrs)

    def gradient_magnitude(self, index, inputs, attrs, g, gradient):
        x, t, scale, positive, p = self._parts(inputs, attrs)
        share = g.abs() / x.numel() if attrs.get("reduction", "mean") == "mean" else g.abs()
        if index == 0:
            magnitude = share * scale * ((1 - t).abs() + positive)
        else:
            soft = torch.log1p(torch.exp(-x.abs())) + torch.clamp_min(-x, 0)
            magnitude = share * scale * (x.abs() + (p - 1).abs() * soft + soft)
        return 14 * magnitude, 4 * magnitude


class Norm(Composite):
    """(sum |x|^p)^(1/p): n terms of one sign, so a relative error of n units; backward divides by it."""

    def function(self, x, attrs):
        p = attrs.get("p", 2)
        p = float(p) if not isinstance(p, str) else p
        if "dim" in attrs:
            return torch.norm(x[0], p, attrs["dim"], attrs.get("keepdim", False))
        return torch.norm(x[0], p)

    def value_magnitude(self, inputs, attrs, y):
        return (inputs[0].numel() + 12) * y.abs(), 0.0

    def gradient_magnitude(self, index, inputs, attrs, g, gradient):
        return (2 * inputs[0].numel() + 24) * gradient.abs(), 4 * gradient.abs()


class BatchNorm(Composite):
    """y = (x - m) r w + b with m, r of the batch or given. With n values a channel, in units of the accumulator:
    the mean errs by n mean|x|; the variance, even as E[x^2] - E[x]^2, by n E[x^2], so r by half n E[x^2] / (var + eps)
    relative; the normalised value by both."""

    def function(self, x, attrs):
        mean, var = x[1].detach().clone(), x[2].detach().clone()
        return F.batch_norm(x[0], mean, var, x[3] if len(x) > 3 else None, x[4] if len(x) > 4 else None,
                            attrs.get("training", False), attrs.get("momentum", 0.1), attrs.get("eps", 1e-5))

    def _shape(self, t, x):
        return t.reshape([1, -1] + [1] * (x.dim() - 2))

    def _parts(self, inputs, attrs):
        x = inputs[0]
        dims = [d for d in range(x.dim()) if d != 1]
        eps = attrs.get("eps", 1e-5)
        weight = self._shape(inputs[3], x).abs() if len(inputs) > 3 else torch.ones(1, dtype=x.dtype)
        n = float(x.numel() // x.shape[1])
        if attrs.get("training", False):
            mean = x.mean(dims, keepdim=True)
            var = ((x - mean) ** 2).mean(dims, keepdim=True)
            mean_error = n * x.abs().mean(dims, keepdim=True)
            r_error = 0.5 * n * (x * x).mean(dims, keepdim=True) / (var + eps) + 4
        else:
            mean, var = self._shape(inputs[1], x), self._shape(inputs[2], x)
            mean_error, r_error = mean.abs(), torch.full_like(mean, 4.0)
        r = (var + eps).rsqrt()
        normal = (x - mean) * r
        normal_error = r * (x.abs() + mean.abs() + mean_error) + normal.abs() * r_error
        return x, dims, n, weight, r, r_error, normal, normal_error

    def value_magnitude(self, inputs, attrs, y):
        x, _, _, weight, _, _, normal, normal_error = self._parts(inputs, attrs)
        bias = self._shape(inputs[4], x).abs() if len(inputs) > 4 else 0.0
        return weight * (normal_error + 4 * normal.abs()) + 2 * bias + 2 * y.abs(), 0.0

    def gradient_magnitude(self, index, inputs, attrs, g, gradient):
        x, dims, n, weight, r, r_error, normal, normal_error = self._parts(inputs, attrs)
        if index == 4:
            return (n + 2) * g.abs().sum(dims), 0.0
        if index == 3:
            return ((n + 4) * (g * normal).abs() + g.abs() * normal_error).sum(dims), 0.0
        if not attrs.get("training", False):
            return (r_error + 6) * gradient.abs(), 0.0
        mean_g = g.abs().mean(dims, keepdim=True)
        mean_gn = (g * normal).abs().mean(dims, keepdim=True)
        all_terms = g.abs() + mean_g + normal.abs() * mean_gn
        acc = (r_error + 6) * all_terms + n * mean_g + normal_error * mean_gn
        acc = acc + normal.abs() * (n * mean_gn + (g.abs() * normal_error).mean(dims, keepdim=True))
        return weight * r * acc, 0.0


class BatchNormRelu(BatchNorm):
    """relu(batch_norm(x) + residual), rounded once; the gradient is let through where the result is positive."""

    def function(self, x, attrs):
        y = super().function(x[:5], attrs)
        return F.relu(y + x[5] if len(x) > 5 else y)

    def value_magnitude(self, inputs, attrs, y):
        acc, low = super().value_magnitude(inputs[:5], attrs, y)
        return acc + (2 * inputs[5].abs() if len(inputs) > 5 else 0.0), low

    def gradient_magnitude(self, index, inputs, attrs, g, gradient):
        if index == 5:
            return gradient.abs(), 0.0
        passed = torch.where(self.function(inputs, attrs) > 0, g, torch.zeros_like(g))
        return super().gradient_magnitude(index, inputs[:5], attrs, passed, gradient)


class MaxPool2d(Composite):
    """Picks elements: exact. Its gradient adds what overlapping windows send to one element."""

    def exact(self):
        return True

    def function(self, x, attrs):
        return F.max_pool2d(x[0], attrs["kernel_size"], attrs.get("stride"), attrs.get("padding", 0),
                            attrs.get("dilation", 1), attrs.get("ceil_mode", False))

    def value_magnitude(self, inputs, attrs, y):
        return 0.0, 0.0

    def gradient_magnitude(self, index, inputs, attrs, g, gradient):
        leaf = inputs[0].clone().requires_grad_(True)
        magnitude, = torch.autograd.grad(self.function([leaf], attrs), leaf, g.abs())
        kernel = attrs["kernel_size"]
        terms = kernel * kernel if isinstance(kernel, int) else kernel[0] * kernel[1]
        return terms * magnitude, 0.0


class Argmax(Composite):
    """The index of the first largest."""

    def exact(self):
        return True

    def function(self, x, attrs):
        return torch.argmax(x[0], attrs["dim"], attrs.get("keepdim", False))

    def value_magnitude(self, inputs, attrs, y):
        return 0.0, 0.0


COMPOSITE = {"argmax": Argmax, "softmax": Softmax, "log_softmax": LogSoftmax, "nll_loss": NllLoss,
             "cross_entropy": CrossEntropy, "mse_loss": MseLoss, "l1_loss": L1Loss,
             "binary_cross_entropy": BinaryCrossEntropy, "batch_norm_relu": BatchNormRelu, "binary_cross_entropy_with_logits": BceWithLogits, "norm": Norm,
             "batch_norm": BatchNorm, "max_pool2d": MaxPool2d}
