"""References and bounds of batch norm and pools, and the table of all ops of several steps; see op_reference.py."""

import torch
from torch.nn import functional as F

from op_composite import Composite, LogSoftmax, Softmax
from op_reference_loss import BceWithLogits, BinaryCrossEntropy, CrossEntropy, L1Loss, MseLoss, NllLoss


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
        return torch.argmax(x[0], attrs.get("dim"), attrs.get("keepdim", False))

    def value_magnitude(self, inputs, attrs, y):
        return 0.0, 0.0


COMPOSITE = {"argmax": Argmax, "softmax": Softmax, "log_softmax": LogSoftmax, "nll_loss": NllLoss,
             "cross_entropy": CrossEntropy, "mse_loss": MseLoss, "l1_loss": L1Loss,
             "binary_cross_entropy": BinaryCrossEntropy, "binary_cross_entropy_with_logits": BceWithLogits,
             "batch_norm": BatchNorm, "batch_norm_relu": BatchNormRelu, "max_pool2d": MaxPool2d}
