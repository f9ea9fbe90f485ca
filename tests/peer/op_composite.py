"""Shared by references of several steps, and softmax's own; see op_reference.py and op_bounds.py."""

import torch

from op_bounds import Expected


class Composite:
    """Gradients by PyTorch's autograd in f64; each op adds its magnitudes. Second derivatives: from `second_magnitude`
    where the op writes it out, else bounded by PyTorch's own error: sixteen times the worst error of its f32 result,
    and 64 units of the largest value."""

    def function(self, x, attrs):
        raise NotImplementedError

    def forward(self, inputs, attrs):
        y = self.function(inputs, attrs)
        acc, low = self.value_magnitude(inputs, attrs, y)
        return Expected(y, acc, low, self.exact())

    def exact(self):
        return False

    def twice_differentiable(self, x, attrs):
        """The function in a form of which second derivatives can be taken."""
        return self.function(x, attrs)

    def tiny(self, index, inputs, attrs, g):
        """T of the gradient."""
        return 0.0

    def second_magnitude(self, inputs, attrs, g, vs):
        """{index or "output": (magnitude, roundings of the accumulator)}: the second derivative with every sum and
        difference taken of absolute values. On the way at most twelve results are stored, each an error of u_run times
        that."""
        return None

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
            answers[i] = Expected(value, acc, low, tiny=self.tiny(i, inputs, attrs, g))
        return answers

    def _second(self, inputs, attrs, g, vs, differentiable, dtype):
        leaves = [t.to(dtype) if t.is_floating_point() else t for t in inputs]
        leaves = [t.clone().requires_grad_(i in differentiable) for i, t in enumerate(leaves)]
        wanted = [leaves[i] for i in differentiable]
        g = g.to(dtype).clone().requires_grad_(True)
        first = torch.autograd.grad(self.twice_differentiable(leaves, attrs), wanted, g, create_graph=True)
        total = sum((d * vs[i].to(dtype)).sum() for i, d in zip(differentiable, first))
        found = torch.autograd.grad(total, [*wanted, g], allow_unused=True)
        return [torch.zeros_like(t) if d is None else d for t, d in zip([*wanted, g], found)]

    def _tiny(self, g, vs):
        """Whatever is stored on the way is multiplied by products of g, v and numbers up to 2 from then on, and each
        of at most four such reaches every sum."""
        largest = (1 + g.abs().max()) * (1 + max(v.abs().max() for v in vs.values())) if g.numel() else 1.0
        return 8 * largest * max(v.numel() for v in vs.values())

    def second(self, inputs, attrs, g, vs, differentiable):
        exact = self._second(inputs, attrs, g, vs, differentiable, torch.float64)
        derived = self.second_magnitude(inputs, attrs, g, vs)
        if derived is not None:
            return {key: Expected(value, derived[key][1] * derived[key][0], 12 * derived[key][0], tiny=self._tiny(g,
                                                                                                                  vs))
                    for key, value in zip([*differentiable, "output"], exact)}
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

    def second_magnitude(self, inputs, attrs, g, vs):
        # Gradients of sum(v y (g - sum(g y))): by y v (g - sum(g y)) - g sum(v y), which goes back through y (. - sum(.
        # y)) to x.
        dim, v = attrs["dim"], vs[0].abs()
        y, g = torch.softmax(inputs[0], dim), g.abs()

        def total(t):
            return t.sum(dim, keepdim=True)
        by_y = v * (g + total(g * y)) + g * total(v * y)
        worst = self._spread(inputs[0], dim).max() if inputs[0].numel() else 0.0
        roundings = 6 * inputs[0].shape[dim] + 12 * worst + 64 if inputs[0].dim() else 64
        return {0: (y * (by_y + total(by_y * y)), roundings), "output": (y * (v + total(v * y)), roundings)}

    def tiny(self, index, inputs, attrs, g):
        # y_i is multiplied by g_i - sum(g y), each y_j of that sum by g_j y_i.
        y = torch.softmax(inputs[0], attrs["dim"])
        total = (g.abs() * y).sum(attrs["dim"], keepdim=True)
        return g.abs() + total + y * g.abs().sum(attrs["dim"], keepdim=True)


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

    def second_magnitude(self, inputs, attrs, g, vs):
        # Gradients of sum(v (g - p sum(g))), p = exp(y) with y as stored, an error of u |y| p: by y -v p sum(g), then
        # back to x.
        return self.magnitudes(inputs[0], attrs["dim"], g.abs(), vs[0].abs())

    def magnitudes(self, x, dim, g, v):
        def total(t):
            return t.sum(dim, keepdim=True)
        y = torch.log_softmax(x, dim)
        p = y.exp() * (1 + y.abs())
        by_y = v * p * total(g)
        roundings = 6 * (x.shape[dim] if x.dim() else 1) + 4 * (self.absolute_error(x,
                                                                                    dim).max() if x.numel() else 0) + 64
        return {0: (by_y + p * total(by_y), roundings), "output": (v + total(v * p), roundings)}

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
