"""Losses beyond those of the base comparison."""

import torch
import torch.nn.functional as F

from op_draft import draft
from op_family import agreed, mark, op, tap
from op_family_pointwise import log_one_plus_exp

FAMILY = "losses"
REDUCTIONS = ("mean", "sum", "none")


def shape_of(rng, low_rank=0, high_rank=3):
    return rng.shape(low_rank, high_rank, 60)


def pick_attrs(rng, **choices):
    """One of each list; left out now and then, where the op has a default."""
    return {name: rng.pick(options) for name, options in choices.items() if rng.chance(0.8)}


def reduced(losses, at):
    return {"mean": torch.mean, "sum": torch.sum, "none": lambda x: x}[at.get("reduction", "mean")](losses)


def hold(name, x, *pairs):
    """Compares the formula written out here with PyTorch's own in f64, for operands away from kinks."""
    if x.dtype == torch.float64 and bool((x.abs() < 1e3).all()):
        for ours, theirs in pairs:
            assert torch.allclose(ours.detach(), theirs.detach(), rtol=1e-9, atol=1e-9), name


def off_bend(x, target, *bends, gap=2.0**-5):
    """x, moved if x - target is so near to a kink of the loss that rounding could cross it."""
    for bend in bends:
        distance = x - target
        x = torch.where((distance - bend).abs() < gap * (1 + x.abs()), x + 3 * gap * (1 + x.abs()), x)
    return x


def make_bent(name, values):
    def generate(rng):
        attrs = pick_attrs(rng, reduction=REDUCTIONS, **{name: values})
        shape, bend = shape_of(rng), attrs.get(name, 1.0)
        target = rng.normal(*(shape if rng.chance(0.8) else rng.broadcast(shape)))
        x = rng.normal(*shape, scale=rng.pick((1.0, 1.0, 10.0)))
        return draft([off_bend(x, target, bend, -bend, 0.0), target], attrs)
    return generate


def of_pair(function):
    """PyTorch's loss of two tensors, broadcast to one shape. PyTorch itself broadcasts with a warning."""
    return lambda x, at: function(*torch.broadcast_tensors(x["0"], x["1"]), **at)


op("smooth_l1_loss", FAMILY, "f32", make_bent("beta", (1.0, 0.5, 2.0, 0.0)), of_pair(F.smooth_l1_loss), types="free")
op("huber_loss", FAMILY, "f32", make_bent("delta", (1.0, 0.5, 2.0)), of_pair(F.huber_loss), types="free")


def make_gaussian(rng):
    shape = shape_of(rng, 1)
    var = [shape, [*shape[:-1], 1], shape[:-1]][int(rng.numpy.integers(3))]
    if not var and shape[-1:] != [1]:
        var = shape
    attrs = pick_attrs(rng, reduction=REDUCTIONS, full=(True, False), eps=(1e-6, 0.25))
    variance = rng.normal(*var).abs() * 2 + 0.01
    # A variance at eps would lie on either side of it by its rounding.
    eps = attrs.get("eps", 1e-6)
    variance = torch.where((variance - eps).abs() < 0.02, variance + 0.05, variance)
    return draft([rng.normal(*shape), rng.normal(*shape), variance], attrs)


def gaussian(x, at):
    value, target, var = x["0"], x["1"], x["2"]
    if var.shape != value.shape and var.dim() == value.dim() - 1:
        var = var.unsqueeze(-1)
    if bool((var < 0).any()):
        raise ValueError("PyTorch refuses a negative variance")
    # PyTorch lifts the variance under no_grad: the gradient passes, and there is no second derivative of the lift.
    var = torch.where(var < at.get("eps", 1e-6), at.get("eps", 1e-6) + (var - var.detach()), var)
    losses = 0.5 * (torch.log(var) + (value - target)**2 / var)
    return reduced(losses + (0.9189385332046727 if at.get("full") else 0.0), at)


# The sensitivity to a lifted variance is that to eps, an attribute and no operand: x's share bounds it.
op("gaussian_nll_loss", FAMILY, "none", make_gaussian, gaussian, types="free", through="f32")


def make_kl(rng):
    shape = shape_of(rng)
    attrs = pick_attrs(rng, reduction=(*REDUCTIONS, "batchmean"), log_target=(True, False))
    x, target = rng.normal(*shape), rng.normal(*(shape if rng.chance(0.8) else rng.broadcast(shape)))
    if not attrs.get("log_target"):
        target = target.abs() + 0.05
    return draft([x, target], attrs)


def kl_div(x, at):
    reduction = at.get("reduction", "mean")
    losses = F.kl_div(x["0"], x["1"], reduction="none", log_target=at.get("log_target", False))
    if reduction != "batchmean":
        return reduced(losses, at)
    return losses.sum() / (x["0"].shape[0] if x["0"].dim() else 1)


op("kl_div", FAMILY, "f32", make_kl, kl_div, types="free")


def make_poisson(rng):
    shape = shape_of(rng)
    attrs = pick_attrs(rng, reduction=REDUCTIONS, log_input=(True, False), full=(True, False), eps=(1e-8, 0.01))
    x, target = rng.normal(*shape), (rng.normal(*shape) * rng.pick((1.0, 4.0))).abs() + 0.1
    target = torch.where((target - 1).abs() < 0.02, target + 0.05, target)
    if not attrs.get("log_input", True):
        x = x.abs() + 0.1
    return draft([x, target], attrs)


def poisson(x, at):
    return reduced(F.poisson_nll_loss(x["0"], x["1"], log_input=at.get("log_input", True), full=at.get("full", False),
                                      eps=at.get("eps", 1e-8), reduction="none"), at)


def poisson_formula(x, at):
    """Near x = 0 exp(x) - t x is not sensitive to x, but exp is rounded."""
    v, t = x["0"], x["1"]
    losses = mark(torch.exp(v)) - t * v if at.get("log_input", True) else v - t * torch.log(v + at.get("eps", 1e-8))
    if at.get("full", False):
        large = torch.where(t > 1, t, torch.ones_like(t))
        stirling = large * torch.log(large) - large + 0.5 * torch.log(2 * torch.pi * large)
        losses = losses + torch.where(t > 1, stirling, torch.zeros_like(t))
    return reduced(losses, at)


op("poisson_nll_loss", FAMILY, "f32", make_poisson, poisson_formula, types="free", native=poisson)


def make_soft_labels(rng):
    shape = shape_of(rng, 1)
    values = [rng.normal(*shape, scale=rng.pick((1.0, 5.0))), rng.uniform(0, 1, *shape)]
    if rng.chance(0.5):
        values.append(rng.uniform(0.5, 2, shape[-1]))
    return draft(values, pick_attrs(rng, reduction=REDUCTIONS))


def soft_labels(x, at):
    likelihood = x["1"] * tap(F.logsigmoid(x["0"])) + (1 - x["1"]) * tap(F.logsigmoid(-x["0"]))
    if x["2"] is not None:
        likelihood = likelihood * x["2"]
    return reduced(-likelihood.mean(-1), at)


op("multilabel_soft_margin_loss", FAMILY, "none", make_soft_labels, soft_labels, types="free", through="f32")


def target_type(rng, position):
    """A target that is only compared with: of f32, or whole numbers."""
    return {position: rng.pick((torch.float32, torch.int64))}


def signs(rng, shape):
    return torch.where(rng.uniform(0, 1, *shape) < 0.5, -1.0, 1.0).double()


def make_cosine(rng):
    batch = [rng.pick((1, 2, 5, 7))] if rng.chance(0.8) else []
    features = rng.pick((1, 2, 3, 7))
    attrs = pick_attrs(rng, reduction=REDUCTIONS, margin=(0.0, 0.5, -0.5))
    target = signs(rng, batch)
    while True:
        values = [rng.normal(*batch, features), rng.normal(*batch, features)]
        cosine = F.cosine_similarity(*values, -1)
        # Not so near to the margin that a rounding of the operands crosses it.
        if ((cosine - attrs.get("margin", 0.0)).abs() > 0.03).all():
            return draft([*values, target], attrs, [0, 1], fixed=target_type(rng, 2))


def cosine_embedding(x, at):
    """PyTorch's formula with its intermediates marked: of one feature, or of vectors almost parallel, the cosine is 1
    whatever the operands are, while its numerator and denominator are rounded all the same."""
    def inner(a, b):
        return tap(tap(a * b).sum(-1))
    first, second = x["0"], x["1"]
    squares = tap((inner(first, first) + 1e-12) * (inner(second, second) + 1e-12))
    cosine = tap(inner(first, second) / tap(squares.sqrt()))
    apart = (cosine - at.get("margin", 0.0)).clamp_min(0)
    y = reduced(torch.where(x["2"] == 1, 1 - cosine, apart), at)
    theirs = F.cosine_embedding_loss(first.detach(), second.detach(), x["2"], margin=at.get("margin", 0.0),
                                     reduction=at.get("reduction", "mean"))
    hold("cosine_embedding_loss", first, (y, theirs))
    return y


# The target is only compared with: it widens nothing.
op("cosine_embedding_loss", FAMILY, "f32", make_cosine, cosine_embedding, types="free",
   result=lambda types, run: torch.promote_types(types["0"], types["1"]))


def make_triplet(rng):
    shape = shape_of(rng, 1)
    attrs = pick_attrs(rng, reduction=REDUCTIONS, margin=(1.0, 0.25, 3.0), p=(2.0, 1.0, 3.0, 1.5), eps=(1e-6, 0.01),
                       swap=(True, False))
    for _ in range(200):
        anchor, positive, negative = (rng.normal(*shape) for _ in range(3))
        parts = [anchor - positive, anchor - negative, positive - negative]
        near, far, across = (torch.linalg.vector_norm(d + attrs.get("eps", 1e-6), attrs.get("p", 2.0), -1) for d in parts)
        away = torch.minimum(far, across) if attrs.get("swap") else far
        # Off the corners: of the loss, of the smaller distance, and of each norm at a difference of 0.
        gaps = [(near - away + attrs.get("margin", 1.0)).abs() / (1 + near), *(d.abs() for d in parts)]
        if attrs.get("swap"):
            gaps.append((far - across).abs() / (1 + far))
        if all(bool((gap > 0.03).all()) for gap in gaps):
            break
    return draft([anchor, positive, negative], attrs)


def triplet(x, at):
    """PyTorch's formula with its intermediates marked: the norm of one number has no curvature, which comes about by
    cancelling."""
    p = at.get("p", 2.0)

    def distance(a, b):
        powers = tap(tap(a - b + at.get("eps", 1e-6)).abs()**p)
        return tap(tap(powers.sum(-1))**(1 / p))
    near, far = distance(x["0"], x["1"]), distance(x["0"], x["2"])
    if at.get("swap"):
        far = torch.minimum(far, distance(x["1"], x["2"]))
    return reduced((near - far + at.get("margin", 1.0)).clamp_min(0), at)


op("triplet_margin_loss", FAMILY, "f32", make_triplet, triplet, types="free")


def make_hinge(rng):
    shape = shape_of(rng)
    attrs = pick_attrs(rng, reduction=REDUCTIONS, margin=(1.0, 0.5, -0.25))
    target = torch.where(rng.uniform(0, 1, *shape) < 0.2, torch.zeros(shape, dtype=torch.float64), signs(rng, shape))
    x = rng.normal(*shape)
    x = torch.where((x - attrs.get("margin", 1.0)).abs() < 0.02, x + 0.1, x)
    return draft([x, target], attrs, [0], fixed=target_type(rng, 1))


def hinge(x, at):
    """PyTorch's formula with its intermediate marked: a target of 0 adds margin - x and x."""
    value, target = x["0"], x["1"]
    apart = torch.where(target != 1, tap(at.get("margin", 1.0) - value).clamp_min(0), torch.zeros_like(value))
    return reduced(apart + torch.where(target != -1, value, torch.zeros_like(value)), at)


op("hinge_embedding_loss", FAMILY, "f32", make_hinge, hinge, types="free", result=lambda types, run: types["0"])


def make_ranking(rng):
    shape = shape_of(rng)
    attrs = pick_attrs(rng, reduction=REDUCTIONS, margin=(0.0, 0.5, -0.25))
    first, second, target = rng.normal(*shape), rng.normal(*shape), signs(rng, shape)
    border = (-target * (first - second) + attrs.get("margin", 0.0)).abs() < 0.1
    first = torch.where(border, first + 0.5, first)
    return draft([first, second, target], attrs, [0, 1])


op("margin_ranking_loss", FAMILY, "f32", make_ranking,
   lambda x, at: F.margin_ranking_loss(x["0"], x["1"], x["2"], margin=at.get("margin", 0.0),
                                       reduction=at.get("reduction", "mean")), types="free")


def make_soft_margin(rng):
    shape = shape_of(rng)
    return draft([rng.normal(*shape, scale=rng.pick((1.0, 5.0))), signs(rng, shape)],
                 pick_attrs(rng, reduction=REDUCTIONS), [0])


def soft_margin(x, at):
    """log(1 + exp(z)) for any z: PyTorch's is infinite from 709 on, in f32 from 89."""
    return reduced(log_one_plus_exp(-x["1"] * x["0"]), at)


op("soft_margin_loss", FAMILY, "f32", make_soft_margin, soft_margin, types="free")


def classes_of(rng):
    """(shape of x, its number of classes, shape of a target)."""
    batch, classes = [rng.pick((1, 2, 3, 5))] if rng.chance(0.8) else [], rng.pick((1, 2, 3, 5, 7))
    return [*batch, classes], classes, batch


def apart(rng, shape, margin):
    """Values whose differences are away from the margin."""
    for _ in range(500):
        x = rng.normal(*shape)
        differences = x.unsqueeze(-1) - x.unsqueeze(-2)
        if bool(((differences + margin).abs() > 0.03).all()):
            break
    return x


def make_multi_margin(rng):
    shape, classes, batch = classes_of(rng)
    attrs = pick_attrs(rng, reduction=REDUCTIONS, p=(1, 2), margin=(1.0, 0.5, 2.0))
    values = [apart(rng, shape, attrs.get("margin", 1.0)), torch.floor(rng.uniform(0, classes, *batch)).long()]
    if rng.chance(0.4):
        values.append(rng.uniform(0.5, 2, classes))
    return draft(values, attrs, [0])


def multi_margin(x, at):
    """PyTorch's kernel has no second derivative, so this is its formula, compared with it by value."""
    value = x["0"].reshape(-1, x["0"].shape[-1])
    target = x["1"].reshape(-1, 1)
    z = at.get("margin", 1.0) - value.gather(1, target) + value
    z = torch.where(torch.arange(value.shape[1]) != target, z, torch.zeros_like(z)).clamp_min(0)**at.get("p", 1)
    if x["2"] is not None:
        z = z * x["2"][target]
    y = reduced((z.sum(1) / value.shape[1]).reshape(x["1"].shape), at)
    theirs = F.multi_margin_loss(x["0"], x["1"], p=at.get("p", 1), margin=at.get("margin", 1.0),
                                 weight=None if x["2"] is None else x["2"].detach(), reduction=at.get("reduction", "mean"))
    return agreed(y, theirs)


op("multi_margin_loss", FAMILY, "f32", make_multi_margin, multi_margin)


def make_multilabel(rng):
    shape, classes, batch = classes_of(rng)
    rows = []
    for _ in range(batch[0] if batch else 1):
        count = int(rng.numpy.integers(0, classes + 1))
        row = [int(c) for c in rng.numpy.permutation(classes)[:count]]
        if count < classes:
            row += [-1] + [int(c) for c in rng.numpy.integers(-1, classes, classes - count - 1)]
        rows.append(row)
    target = torch.tensor(rows, dtype=torch.int64).reshape(shape)
    return draft([apart(rng, shape, 1.0), target], pick_attrs(rng, reduction=REDUCTIONS), [0])


def multilabel_margin(x, at):
    value, target = x["0"].reshape(-1, x["0"].shape[-1]), x["1"].reshape(-1, x["0"].shape[-1])
    losses = []
    for v, row in zip(value, target.tolist()):
        listed = row[:row.index(-1)] if -1 in row else row
        others = [k for k in range(len(row)) if k not in listed]
        terms = [(1 - v[j] + v[k]).clamp_min(0) for j in listed for k in others]
        losses.append(sum(terms, v[:0].sum()) / len(row))
    y = reduced(torch.stack(losses).reshape(x["0"].shape[:-1]), at)
    return agreed(y, F.multilabel_margin_loss(x["0"], x["1"], reduction=at.get("reduction", "mean")))


op("multilabel_margin_loss", FAMILY, "f32", make_multilabel, multilabel_margin)


def make_ctc(rng):
    time, classes = rng.pick((1, 2, 4, 6)), rng.pick((2, 3, 4))
    batch = [rng.pick((1, 2, 3))] if rng.chance(0.8) else []
    count = batch[0] if batch else 1
    attrs = pick_attrs(rng, reduction=REDUCTIONS, blank=(0, classes - 1), zero_infinity=(True,))
    blank = attrs.get("blank", 0)
    longest = rng.pick((1, 2, 3))
    # Only with targets that fit: PyTorch's gradient of an impossible one is NaN.
    labels = torch.floor(rng.uniform(0, classes - 1, count, longest)).long()
    labels = labels + (labels >= blank).long()
    lengths = torch.floor(rng.uniform(0, longest + 1, count)).long()
    inputs = torch.floor(rng.uniform(1, time + 1, count)).long()
    for i in range(count):
        while True:
            row = labels[i, :lengths[i]].tolist()
            if lengths[i] + sum(a == b for a, b in zip(row, row[1:])) <= inputs[i] or attrs.get("zero_infinity"):
                break
            lengths[i] -= 1
    log_probs = torch.log_softmax(rng.normal(time, *batch, classes, scale=rng.pick((1.0, 4.0))), -1)
    if batch and rng.chance(0.4):  # one behind the other
        labels = torch.cat([labels[i, :lengths[i]] for i in range(count)])
    elif not batch:
        labels, lengths, inputs = labels[0, :lengths[0]], lengths[0], inputs[0]
    # No kernel of 16 bits.
    types = {0: rng.pick((torch.float32, torch.float32, torch.float64)), **{i: torch.int64 for i in (1, 2, 3)}}
    return draft([log_probs, labels, inputs, lengths], attrs, [0], fixed=types)


def ctc(x, at):
    """PyTorch's kernel has no second derivative, from which the bound of the first comes: the recursion written out, its
    value and gradient held to PyTorch's. That gradient is the one of logits behind log_softmax."""
    value, blank = x["0"], at.get("blank", 0)
    log_probs = value if value.dim() == 3 else value.unsqueeze(1)
    inputs, lengths = x["2"].reshape(-1).tolist(), x["3"].reshape(-1).tolist()
    rows = [r[:n].tolist() for r, n in zip(x["1"], lengths)] if x["1"].dim() == 2 else \
        [part.tolist() for part in x["1"].split(lengths)]
    losses = []
    for b, (row, steps) in enumerate(zip(rows, inputs)):
        labels = [blank] + [label for pair in row for label in (pair, blank)]
        alpha = None
        for t in range(steps):
            emitted = [log_probs[t, b, label] for label in labels]
            if alpha is None:
                alpha = [e if i < 2 else None for i, e in enumerate(emitted)]
                continue
            ways = [[alpha[i], alpha[i - 1] if i > 0 else None,
                     alpha[i - 2] if i > 1 and labels[i] != blank and labels[i] != labels[i - 2] else None]
                    for i in range(len(labels))]
            alpha = [tap(torch.logsumexp(torch.stack([w for w in way if w is not None]), 0) + e)
                     if any(w is not None for w in way) else None for way, e in zip(ways, emitted)]
        ends = [a for a in alpha[-2:] if a is not None]
        share = tap(log_probs[:steps, b].exp()).sum()
        losses.append(share - share.detach() - torch.logsumexp(torch.stack(ends), 0) if ends else 0 * share)
    losses = torch.stack(losses)
    if at.get("reduction", "mean") == "mean":
        losses = losses / x["3"].reshape(-1).clamp_min(1)
    y = reduced(losses.reshape(value.shape[1:-1]), at)
    other = value.detach().clone().requires_grad_(True)
    theirs = F.ctc_loss(other, x["1"], x["2"], x["3"], **at)
    pair = [torch.autograd.grad(loss.sum(), v, retain_graph=True)[0] for loss, v in ((y, value), (theirs, other))]
    hold("ctc_loss", value, (y, theirs), pair)
    return y


# No special values: numbers above 0 are no logarithms of probabilities, and at -inf PyTorch's gradient is NaN (inf - inf)
# where the loss does not depend on that probability and the gradient here is 0 (tests/engine/ops/loss/loss_test.cpp).
op("ctc_loss", FAMILY, "none", make_ctc, ctc, second=False, specials=False)
