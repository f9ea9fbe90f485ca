"""References and bounds of the losses; see op_reference.py and op_bounds.py."""

import torch
from torch.nn import functional as F

from op_composite import Composite, LogSoftmax


def _nll(x, target, weight, attrs):
    return F.nll_loss(x, target, weight, ignore_index=attrs.get("ignore_index", -100),
                      reduction=attrs.get("reduction", "mean"))


def second_of_loss(attrs, g, by_inputs, by_g):
    """Magnitudes of a loss's second derivative from those of one element's: by the inputs still without g, by g not yet
    summed. n elements are summed, and four rounded results lead to each."""
    reduction = attrs.get("reduction", "mean")
    share = g.abs() / by_g.numel() if reduction == "mean" else g.abs()
    total = by_g if reduction == "none" else by_g.mean() if reduction == "mean" else by_g.sum()
    roundings = by_g.numel() + 64
    return {**{i: (share * each, roundings) for i, each in by_inputs.items()}, "output": (total, roundings)}


class NllLoss(Composite):
    """A weighted mean of picked elements: n products and one division."""

    def function(self, x, attrs):
        return _nll(x[0], x[1], x[2] if len(x) > 2 else None, attrs)

    def value_magnitude(self, inputs, attrs, y):
        magnitude = -self.function([-inputs[0].abs().neg(), *inputs[1:]], attrs)
        magnitude = magnitude.abs()
        return (inputs[1].numel() + 6) * magnitude, magnitude

    def tiny(self, index, inputs, attrs, g):
        return 4.0  # g by the total weight, then times a weight of at most 1.5

    def second_magnitude(self, inputs, attrs, g, vs):
        by_g = self.function([vs[0].abs(), *inputs[1:]], attrs).abs()
        return {0: (torch.zeros_like(inputs[0]), 1.0), "output": (by_g, inputs[1].numel() + 16)}

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

    def second_magnitude(self, inputs, attrs, g, vs):
        # The loss is linear in the log-probabilities, so all of it is log_softmax's with the loss's gradient as g; by
        # g the loss of log_softmax's own.
        z = torch.log_softmax(inputs[0], 1).requires_grad_(True)
        inner, = torch.autograd.grad(self._linear(z, inputs, attrs), z, g)
        parts = LogSoftmax().magnitudes(inputs[0], 1, inner.abs(), vs[0].abs())
        by_g, roundings = parts["output"]
        return {0: parts[0], "output": (self._linear(by_g, inputs, attrs).abs(), roundings + 2 * inputs[1].numel())}

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

    def tiny(self, index, inputs, attrs, g):
        # dx_i = d_i - p_i sum(d): to each d lead at most four stored results, each then multiplied by a weight of at
        # most 1.5.
        z = torch.log_softmax(inputs[0], 1)
        return 6 * (1 + z.exp() * z.shape[1])


class MseLoss(Composite):
    def function(self, x, attrs):
        return F.mse_loss(x[0], x[1], reduction=attrs.get("reduction", "mean"))

    def value_magnitude(self, inputs, attrs, y):
        n = 1 if attrs.get("reduction") == "none" else inputs[0].numel()
        return (n + 4) * y.abs(), 2 * y.abs()

    def tiny(self, index, inputs, attrs, g):
        # g / n is multiplied by x - t twice, and the two products are added.
        return 2 * (inputs[0] - inputs[1]).abs() + 2

    def second_magnitude(self, inputs, attrs, g, vs):
        v = vs[0].abs() + vs[1].abs()
        return second_of_loss(attrs, g, {0: 2 * v, 1: 2 * v}, 2 * v * (inputs[0] - inputs[1]).abs())

    def gradient_magnitude(self, index, inputs, attrs, g, gradient):
        return 6 * gradient.abs(), 3 * gradient.abs()


class L1Loss(MseLoss):
    def function(self, x, attrs):
        return F.l1_loss(x[0], x[1], reduction=attrs.get("reduction", "mean"))

    def second_magnitude(self, inputs, attrs, g, vs):
        v = vs[0].abs() + vs[1].abs()
        return second_of_loss(attrs, g, {0: 0 * v, 1: 0 * v}, v)


class BinaryCrossEntropy(Composite):
    """-(t log x + (1 - t) log(1 - x)); both terms have one sign. Backward divides by x (1 - x)."""

    def function(self, x, attrs):
        return F.binary_cross_entropy(x[0], x[1], x[2] if len(x) > 2 else None,
                                      reduction=attrs.get("reduction", "mean"))

    def tiny(self, index, inputs, attrs, g):
        # g / n, then times the weight, then times at most 1 / (x q).
        scale = inputs[2] if len(inputs) > 2 else torch.ones_like(inputs[0])
        return 2 * (1 + scale) / (inputs[0] * (1 - inputs[0]))

    def second_magnitude(self, inputs, attrs, g, vs):
        # By x the gradient is (x - t) / (x q), q = 1 - x; its own derivative 1 / (x q) - (x - t) (q - x) / (x q)^2.
        x, t, v = inputs[0], inputs[1], vs[0].abs() * (inputs[2] if len(inputs) > 2 else 1)
        both = x * (1 - x)
        return second_of_loss(attrs, g, {0: v * (1 / both + (x + t) / both**2)}, v * (x + t) / both)

    def twice_differentiable(self, x, attrs):
        # PyTorch's own second derivative moves x by 1e-12 away from 0 and 1, which f64 shows.
        each = -(x[1] * x[0].log() + (1 - x[1]) * torch.log1p(-x[0])) * (x[2] if len(x) > 2 else 1)
        reduction = attrs.get("reduction", "mean")
        return each if reduction == "none" else each.mean() if reduction == "mean" else each.sum()

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

    def tiny(self, index, inputs, attrs, g):
        # g / n, then times the weight, then times one of the factors below; each product is stored as well.
        x, t, scale, positive, p = self._parts(inputs, attrs)
        return 2 * (1 + scale) * ((1 - t).abs() + positive + x.abs() + ((p - 1).abs() + 1) * F.softplus(-x) + 4)

    def second_magnitude(self, inputs, attrs, g, vs):
        # By x the gradient is (1 - t) - l s(-x), by t -x - (p - 1) log s(x): every term on its own.
        x, t, scale, positive, p = self._parts(inputs, attrs)
        soft, more = F.softplus(-x), (p - 1).abs() * (0 if self._arguments(inputs, attrs)[3] is None else 1)
        v, w = scale * vs[0].abs(), scale * vs[1].abs()
        slope = torch.sigmoid(-x)
        mixed = 1 + more * slope
        curve = positive * slope * (1 + slope)
        by_g = v * ((1 - t).abs() + positive * slope) + w * (x.abs() + more * soft)
        return second_of_loss(attrs, g, {0: v * curve + w * mixed, 1: v * mixed}, by_g)

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
