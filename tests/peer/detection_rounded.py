#!/usr/bin/env python3
"""Writes golden/detection_rounded.safetensors.xz: steps of detection_model.py's small Mask R-CNN in amp-fp16 and amp-bf16, for
detection_pass_test.

The network is torchvision's with our roundings written out (rounded_layers.py): what autocast runs in 16 bits is rounded once an
operation, sums of the pyramid, geometry and losses are f32. The proposals are given to both sides, because a rounding could
choose others. A figure carries how far ours may be from it: FACTOR times the farthest of RUNS networks in which each result is
moved as another order of its sums would move it, and at the least a rounding of its largest element. The script prints which
gradients of a step in fp32 the figures reject: single roundings of a network with many layers move them by as much, so few.
"""

import torch
import torchvision
from torch.nn import functional as F
from torchvision.models.detection import roi_heads
from torchvision.models.resnet import BasicBlock
from torchvision.ops import FrozenBatchNorm2d, MultiScaleRoIAlign
from torchvision.ops import boxes as box_ops
from torchvision.ops.feature_pyramid_network import FeaturePyramidNetwork

import detection_model as plain
import golden_file
from rounded_layers import Arithmetic, BatchNorm, BatchNormAdd, Conv, Fork, Linear, MaxPool, Rounded

RUNS = 4
SCALE = 1024.0
PRECISIONS = {"amp-fp16": (torch.float16, SCALE, 2.0**-11), "amp-bf16": (torch.bfloat16, 1.0, 2.0**-8)}


class Biased(torch.autograd.Function):
    """A convolution or transposed convolution with a bias, which is added before the one rounding."""

    @staticmethod
    def forward(ctx, x, weight, bias, stride, padding, transposed, a):
        low = a.round(weight)
        ctx.save_for_backward(x, low)
        ctx.rest = stride, padding, transposed, a
        y = torch.ops.aten.convolution(x, low, a.round(bias), [stride] * 2, [padding] * 2, [1, 1], transposed, [0, 0], 1)
        return a.store(y, low[0].numel())

    @staticmethod
    def backward(ctx, g):
        x, weight = ctx.saved_tensors
        stride, padding, transposed, a = ctx.rest
        gx, gw, gb = torch.ops.aten.convolution_backward(g, x, weight, [g.shape[1]], [stride] * 2, [padding] * 2, [1, 1], transposed,
                                                         [0, 0], 1, [True, True, True])
        terms = g[:, 0].numel()
        return a.store(gx, weight[:, 0].numel()), a.store(gw, terms), a.store(gb, terms), None, None, None, None


class Frozen(torch.autograd.Function):
    """FrozenBatchNorm2d and a shortcut's sum, which may be 0, rounded once."""

    @staticmethod
    def forward(ctx, x, scale, shift, shortcut, a):
        ctx.save_for_backward(scale)
        ctx.arithmetic = a
        return a.store(x * scale + shift + shortcut, 4)

    @staticmethod
    def backward(ctx, g):
        scale, = ctx.saved_tensors
        return ctx.arithmetic.store(g * scale, 2), None, None, g, None


class Product(torch.autograd.Function):
    """One class's mask logits of each region: (R, P, C) by (R, C), plus (R)."""

    @staticmethod
    def forward(ctx, x, weight, bias, a):
        ctx.save_for_backward(x, weight)
        ctx.arithmetic = a
        return a.store(torch.einsum("rpc,rc->rp", x, weight) + bias[:, None], x.shape[2])

    @staticmethod
    def backward(ctx, g):
        x, weight = ctx.saved_tensors
        a, terms = ctx.arithmetic, g.shape[1]
        return (a.store(g[:, :, None] * weight[:, None], 2), a.store(torch.einsum("rp,rpc->rc", g, x), terms), a.store(g.sum(1), terms), None)


class Stored(torch.autograd.Function):
    """A result that is made of `terms` and rounded to the low type, as its gradient is."""

    @staticmethod
    def forward(ctx, x, terms, a):
        ctx.rest = terms, a
        return a.store(x, terms)

    @staticmethod
    def backward(ctx, g):
        terms, a = ctx.rest
        return a.store(g, terms), None, None


def forks(x, count, a):
    """x for so many readers, whose gradients are added in the low type one after the other."""
    out = []
    while len(out) + 1 < count:
        x, each = Fork.apply(x, a)
        out.append(each)
    return [*out, x]


def norm(layer, x, a, shortcut=None):
    if isinstance(layer, FrozenBatchNorm2d):
        scale = (layer.weight * (layer.running_var + layer.eps).rsqrt()).view(1, -1, 1, 1)
        shift = (layer.bias - layer.running_mean * scale.flatten()).view(1, -1, 1, 1)
        return Frozen.apply(x, scale, shift, torch.zeros_like(x) if shortcut is None else shortcut, a)
    if shortcut is None:
        return BatchNorm.apply(x, layer.weight, layer.bias, a)
    return BatchNormAdd.apply(x, layer.weight, layer.bias, shortcut, a)


def block(self, x, a):
    x, around = Fork.apply(x, a)
    h = F.relu(norm(self.bn1, self.conv1(x), a))
    if self.downsample is not None:
        around = norm(self.downsample[1], self.downsample[0](around), a)
    return F.relu(norm(self.bn2, self.conv2(h), a, around))


def body(self, x, a):
    """The four stages; each is read by the pyramid and, but for the last, by the next one."""
    h = MaxPool.apply(F.relu(norm(self.bn1, self.conv1(x), a)), a)
    out = {}
    for k in (1, 2, 3, 4):
        h = self[f"layer{k}"](h)
        if k < 4:
            h, out[str(k - 1)] = Fork.apply(h, a)
        else:
            out[str(k - 1)] = h
    return out


def pyramid(self, maps, a):
    maps = list(maps.values())
    summed, out = None, [None] * 5
    for i in (3, 2, 1, 0):
        lateral = Rounded.apply(self.inner_blocks[i](maps[i]), a)
        summed = lateral if summed is None else lateral + F.interpolate(summed, size=lateral.shape[-2:], mode="nearest")
        out[i] = self.layer_blocks[i](Rounded.apply(summed, a))
    last, out[3] = Fork.apply(out[3], a)
    out[4] = Stored.apply(last[:, :, ::2, ::2], 1, a)
    return dict(zip(("0", "1", "2", "3", "pool"), out))


def lower(model, a):
    """Rounds in the layers of the model."""
    for layer in model.modules():
        if isinstance(layer, torch.nn.ConvTranspose2d):
            layer.forward = lambda x, m=layer: Biased.apply(x, m.weight, m.bias, 2, 0, True, a)
        elif isinstance(layer, torch.nn.Conv2d) and layer.bias is None:
            layer.forward = lambda x, m=layer: Conv.apply(x, m.weight, m.stride[0], m.padding[0], a)
        elif isinstance(layer, torch.nn.Conv2d):
            layer.forward = lambda x, m=layer: Biased.apply(x, m.weight, m.bias, 1, m.padding[0], False, a)
        elif isinstance(layer, torch.nn.Linear):
            layer.forward = lambda x, m=layer: Linear.apply(x, m.weight, m.bias, a)
        elif isinstance(layer, BasicBlock):
            layer.forward = lambda x, m=layer: block(m, x, a)
        elif isinstance(layer, FeaturePyramidNetwork):
            layer.forward = lambda x, m=layer: pyramid(m, x, a)
        elif isinstance(layer, MultiScaleRoIAlign):
            def pool(maps, boxes, shapes, m=layer):
                return Stored.apply(MultiScaleRoIAlign.forward(m, maps, boxes, shapes), 16, a)
            layer.forward = pool
    stages = model.backbone.body
    stages.forward = lambda x: body(stages, x, a)
    whole = model.backbone.forward
    model.backbone.forward = lambda x: whole(a.round(x))
    predictor = model.roi_heads.mask_predictor
    predictor.forward = lambda x: F.relu(predictor.conv5_mask(x))
    boxes = model.roi_heads.box_predictor

    def predicted(x):
        x = x.flatten(1)
        first, second = Fork.apply(x, a)
        return Rounded.apply(boxes.cls_score(first), a), Rounded.apply(boxes.bbox_pred(second), a)
    boxes.forward = predicted
    head = model.rpn.head

    def anchors(maps):
        logits, deltas = [], []
        for each in maps:
            h = F.relu(head.conv[0][0](each))
            first, second = Fork.apply(h, a)
            logits.append(Rounded.apply(head.cls_logits(first), a))
            deltas.append(Rounded.apply(head.bbox_pred(second), a))
        return logits, deltas
    head.forward = anchors


def mask_loss(model, a):
    """maskrcnn_loss() on the features in front of the last layer, one class a region."""
    last = model.roi_heads.mask_predictor.mask_fcn_logits

    def loss(features, proposals, masks, labels, matched):
        own = torch.cat([label[index] for label, index in zip(labels, matched)])
        targets = torch.cat([roi_heads.project_masks_on_boxes(m, p, i, features.shape[-1]) for m, p, i in zip(masks, proposals, matched)])
        count, channels = features.shape[:2]
        pixels = features.permute(0, 2, 3, 1).reshape(count, -1, channels)
        logits = Product.apply(pixels, Rounded.apply(last.weight[own, :, 0, 0], a), Rounded.apply(last.bias[own], a), a)
        return F.binary_cross_entropy_with_logits(Rounded.apply(logits, a), targets.flatten(1))
    return loss


def step(case, precision, proposals, noise=None):
    """Losses and gradients by name."""
    kind, frozen, masks, objects = case
    low, scale, _ = PRECISIONS[precision]
    a = Arithmetic(low, noise)
    model = plain.fill(plain.network(kind, frozen, True, masks).float()).train()
    lower(model, a)
    own = model.roi_heads.forward

    def heads(features, chosen, sizes, wanted):
        # The box head's pooling, then the mask head's, then the RPN read the maps.
        shared = {name: forks(each, 3, a) for name, each in features.items()}
        calls = iter((0, 1))
        for pooled in (model.roi_heads.box_roi_pool, model.roi_heads.mask_roi_pool):
            before = pooled.forward
            at = next(calls)
            pooled.forward = lambda maps, boxes, shapes, f=before, i=at: f({n: t[i] for n, t in shared.items()}, boxes, shapes)
        return own(features, proposals, sizes, wanted)
    model.roi_heads.forward = heads
    intact = roi_heads.maskrcnn_loss
    roi_heads.maskrcnn_loss = mask_loss(model, a)
    try:
        five, _, _, _ = plain.losses(model, objects, torch.float32, True)
    finally:
        roi_heads.maskrcnn_loss = intact
    total = sum(five[1:], five[0])
    (total * scale).backward()
    return ([float(each.detach()) for each in five] + [float(total.detach())],
            {n: p.grad.double() / scale for n, p in model.named_parameters()})


def main():
    if not torchvision.__version__.startswith("0.29.2"):
        raise SystemExit(f"needs torchvision 0.29.2, not {torchvision.__version__}")
    torch.set_num_threads(1)
    box_ops.batched_nms = box_ops._batched_nms_vanilla
    case = plain.CASES["frozen"]
    exact, exact_gradients, proposals = plain.step(case, torch.float64)
    proposals = [each.float() for each in proposals]
    tensors = {}
    for n, each in enumerate(proposals):
        tensors[f"proposals.{n}"] = each
    for precision, (_, _, unit) in PRECISIONS.items():
        losses, gradients = step(case, precision, proposals)
        runs = [step(case, precision, proposals, torch.Generator().manual_seed(i)) for i in range(RUNS)]
        figures = [(loss, max(plain.FACTOR * max(abs(run[0][i] - loss) for run in runs), unit / 4 * abs(loss))) for i, loss in enumerate(losses)]
        tensors[f"{precision}.losses"] = torch.tensor(figures, dtype=torch.float64)
        names = list(gradients)
        told = 0
        for i in range(plain.COMPARED):
            key = names[i * (len(names) - 1) // (plain.COMPARED - 1)]
            g = gradients[key]
            apart = max(plain.FACTOR * max(float((run[1][key] - g).norm()) for run in runs), 2 * unit * float(g.abs().max()))
            tensors[f"{precision}.{key}"] = torch.tensor([float(g.norm()), apart, *plain.kept(g).tolist()], dtype=torch.float64)
            away = float((exact_gradients[key] - g).norm())
            told += away > apart
            print(f"  {key} {float(g.norm()):.3e} +- {apart / float(g.norm()):.1e}, fp32 is {away / float(g.norm()):.1e} away")
        print(precision, [f"{x:.5f} +- {b:.1e} ({abs(x - e):.1e})" for (x, b), e in zip(figures, exact)], told, "gradients tell fp32")
    print(golden_file.write_tensors("detection_rounded", tensors).stat().st_size, "bytes")


if __name__ == "__main__":
    main()
