"""The convolutional networks of Halftone's catalog: torchvision's modules, and the same networks written out in the layers of
rounded_layers.py. Both take the stem "cifar" or "imagenet"."""

import torch
import torchvision
from torch import nn
from torch.nn import functional as F
from torchvision.models.resnet import BasicBlock, Bottleneck, ResNet

from rounded_layers import Add, BatchNorm, BatchNormAdd, Conv, Fork, Linear, MaxPool, Pool, Rounded

RESNETS = {"resnet18": torchvision.models.resnet18, "resnet34": torchvision.models.resnet34,
           "resnet50": torchvision.models.resnet50, "resnet101": torchvision.models.resnet101,
           "resnet152": torchvision.models.resnet152, "resnext50": torchvision.models.resnext50_32x4d,
           "resnext101": lambda **named: ResNet(Bottleneck, [3, 4, 23, 3], groups=32, width_per_group=4, **named)}
KINDS = (*RESNETS, "mobilenetv2")


def module(kind, classes, stem):
    """torchvision's network. Its parameters have the same names and shapes with either stem, but for conv1 of a ResNet."""
    if kind == "mobilenetv2":
        model = torchvision.models.mobilenet_v2(num_classes=classes, dropout=0.0)
        if stem == "cifar":
            model.features[0][0].stride = model.features[2].conv[1][0].stride = (1, 1)
        return model
    model = RESNETS[kind](num_classes=classes)
    if stem == "cifar":
        model.conv1 = nn.Conv2d(3, 64, 3, 1, 1, bias=False)
        model.maxpool = nn.Identity()
    return model


def narrow_blocks(model):
    """Weights of 0.25 in the last batch norm of each residual block: the blocks add little to their shortcuts, so random weights
    magnify roundings less, as in a trained network, and bounds are narrow."""
    for block in model.modules():
        if isinstance(block, (BasicBlock, Bottleneck)):
            nn.init.constant_(block.bn3.weight if isinstance(block, Bottleneck) else block.bn2.weight, 0.25)


def _norm(x, p, name, a):
    return BatchNorm.apply(x, p[f"{name}.weight"], p[f"{name}.bias"], a)


def _conv(x, p, name, stride, a):
    weight = p[f"{name}.weight"]
    return Conv.apply(x, weight, stride, weight.shape[-1] // 2, a)


def _block(x, p, name, stride, a, fused):
    last = 3 if f"{name}.conv3.weight" in p else 2
    y, shortcut = Fork.apply(x, a)
    for i in range(1, last + 1):
        y = _conv(y, p, f"{name}.conv{i}", stride if i == last - 1 else 1, a)
        if i < last:
            y = a.activate(_norm(y, p, f"{name}.bn{i}", a))
    if f"{name}.downsample.0.weight" in p:
        shortcut = _norm(_conv(shortcut, p, f"{name}.downsample.0", stride, a), p, f"{name}.downsample.1", a)
    norm = f"{name}.bn{last}"
    if fused:
        return a.activate(BatchNormAdd.apply(y, p[f"{norm}.weight"], p[f"{norm}.bias"], shortcut, a))
    return a.activate(Add.apply(_norm(y, p, norm, a), shortcut, a))


def resnet(p, x, a, stem, fused):
    x = a.activate(_norm(_conv(x, p, "conv1", 2 if stem == "imagenet" else 1, a), p, "bn1", a))
    x = MaxPool.apply(x, a) if stem == "imagenet" else x
    for stage in range(1, 5):
        block = 0
        while f"layer{stage}.{block}.conv1.weight" in p:
            x = _block(x, p, f"layer{stage}.{block}", 2 if stage > 1 and block == 0 else 1, a, fused)
            block += 1
    return Linear.apply(Pool.apply(x, a), p["fc.weight"], p["fc.bias"], a)


def mobilenetv2(p, x, a, stem, fused):
    def active(x, name, stride):
        return a.activate(_norm(_conv(x, p, f"{name}.0", stride, a), p, f"{name}.1", a), 6.0)

    halving = {2, 4, 7, 14} - ({2} if stem == "cifar" else set())
    x = active(x, "features.0", 2 if stem == "imagenet" else 1)
    for block in range(1, 18):
        name = f"features.{block}.conv"
        adds = block not in {1, 2, 4, 7, 11, 14, 17}  # elsewhere the size or the channels change
        y, shortcut = Fork.apply(x, a) if adds else (x, None)
        layers = 2 if block > 1 else 1
        for i in range(layers):
            y = active(y, f"{name}.{i}", 2 if i == layers - 1 and block in halving else 1)
        y = _norm(_conv(y, p, f"{name}.{layers}", 1, a), p, f"{name}.{layers + 1}", a)
        x = Add.apply(shortcut, y, a) if adds else y
    x = Pool.apply(active(x, "features.18", 1), a)
    return Linear.apply(x, p["classifier.1.weight"], p["classifier.1.bias"], a)


def network(kind):
    """f(parameters by name, x, arithmetic, stem, fused) -> logits, in training mode. fused: a block's last batch norm and its
    sum are rounded once, as the engine does it; else each by itself, as PyTorch does it."""
    return mobilenetv2 if kind == "mobilenetv2" else resnet


def step(kind, stem, fused, parameters, images, labels, arithmetic, dtype, loss_scale=1.0):
    """(loss, {name: gradient}, rms of the logits) of one batch, in training mode; gradients unscaled."""
    p = {name: t.to(dtype).requires_grad_(True) for name, t in parameters.items()}
    x = arithmetic.round(images.to(dtype))
    if dtype == torch.float32:
        x = x.contiguous(memory_format=torch.channels_last)
    logits = network(kind)(p, x, arithmetic, stem, fused)
    loss = F.cross_entropy(Rounded.apply(logits, arithmetic), labels)
    (loss * loss_scale).backward()
    gradients = {name: t.grad / loss_scale for name, t in p.items()}
    return float(loss.detach()), gradients, float(logits.detach().square().mean().sqrt())
