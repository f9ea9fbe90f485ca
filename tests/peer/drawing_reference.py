"""The autoencoder and the DCGAN with every rounding of mixed precision written out, as rounded_layers.py does it, and the
same networks of PyTorch's modules under the engine's names.

Products with a bias are rounded once. Sigmoid and tanh run in the low type: their inputs are rounded, they are computed in f32
and rounded. The losses are f32. The discriminator's loss is two, of real and of drawn images, whose gradients meet in f32; the
generator's follows from the same images once the discriminator has taken a step of plain SGD.
"""

import dataclasses

import torch
from torch import nn
from torch.nn import functional as F

from rounded_layers import Arithmetic, BatchNorm, Conv, Rounded
from task_reference import Linear, Step, function_of, _leaves

SLOPE = 0.2
RATE = 0.05  # of the discriminator's step


class Bias(torch.autograd.Function):
    """x + bias by channel. The sum of the product and the bias is rounded once, so x is unrounded here."""

    @staticmethod
    def forward(ctx, x, bias, a):
        ctx.arithmetic = a
        return a.round(x + a.round(bias)[None, :, None, None])

    @staticmethod
    def backward(ctx, g):
        return g, ctx.arithmetic.store(g.sum((0, 2, 3)), g[:, 0].numel()), None


class Unrounded(Arithmetic):
    """Stores the result of a product whose bias is added later: both are rounded together."""

    def __init__(self, a):
        super().__init__(a.low, a.noise)
        self.first = True

    def store(self, t, terms, low=True):
        first, self.first = self.first, False
        return super().store(t, terms, low and not first)


class ConvTranspose(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, stride, padding, a):
        low = a.round(weight)
        ctx.save_for_backward(x, low)
        ctx.rest = stride, padding, a
        return a.store(F.conv_transpose2d(x, low, None, stride, padding), weight[:, 0].numel())

    @staticmethod
    def backward(ctx, g):
        x, weight = ctx.saved_tensors
        stride, padding, a = ctx.rest
        wanted = ctx.needs_input_grad
        gx, gw, _ = torch.ops.aten.convolution_backward(
            g, x, weight, None, [stride] * 2, [padding] * 2, [1, 1], True, [0, 0], 1, [wanted[0], True, False])
        return (a.store(gx, weight[0].numel()) if wanted[0] else None, a.store(gw, g[:, 0].numel()), None, None, None)


class Function(torch.autograd.Function):
    """sigmoid or tanh in the low type: rounded, like its gradient, which is computed from the rounded output."""

    @staticmethod
    def forward(ctx, x, name, a):
        y = a.store(function_of(getattr(torch, name)(x), a), 1)
        ctx.save_for_backward(y)
        ctx.rest = name, a
        return y

    @staticmethod
    def backward(ctx, g):
        (y,), (name, a) = ctx.saved_tensors, ctx.rest
        return a.store(g * (y * (1 - y) if name == "sigmoid" else 1 - y * y), 3), None, None


class LeakyRelu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, a):
        ctx.save_for_backward(x > 0)
        ctx.arithmetic = a
        return a.store(F.leaky_relu(x, SLOPE), 1)

    @staticmethod
    def backward(ctx, g):
        return ctx.arithmetic.store(torch.where(ctx.saved_tensors[0], g, SLOPE * g), 1), None


def conv(p, name, x, stride, padding, a):
    if f"{name}.bias" not in p:
        return Conv.apply(x, p[f"{name}.weight"], stride, padding, a)
    return Bias.apply(Conv.apply(x, p[f"{name}.weight"], stride, padding, Unrounded(a)), p[f"{name}.bias"], a)


def up(p, name, x, stride, padding, a):
    if f"{name}.bias" not in p:
        return ConvTranspose.apply(x, p[f"{name}.weight"], stride, padding, a)
    return Bias.apply(ConvTranspose.apply(x, p[f"{name}.weight"], stride, padding, Unrounded(a)), p[f"{name}.bias"], a)


class Autoencoder(nn.Module):
    """The network of models/autoencoder.cpp."""

    def __init__(self, channels, side, code, width):
        super().__init__()
        inner = side // 4
        self.encoder = nn.Sequential(nn.Conv2d(channels, width, 3, 2, 1), nn.ReLU(), nn.Conv2d(width, 2 * width, 3, 2, 1),
                                     nn.ReLU(), nn.Flatten(), nn.Linear(2 * width * inner**2, code))
        self.decoder = nn.Sequential(nn.Linear(code, 2 * width * inner**2), nn.ReLU(), nn.Unflatten(1, (2 * width, inner, inner)),
                                     nn.ConvTranspose2d(2 * width, width, 4, 2, 1), nn.ReLU(),
                                     nn.ConvTranspose2d(width, channels, 4, 2, 1), nn.Sigmoid())

    def forward(self, x):
        return self.decoder(self.encoder(x))


class Dcgan(nn.Module):
    """The network of models/dcgan.cpp, for images whose side is 4 doubled `doublings` times."""

    def __init__(self, channels, doublings, latent, width):
        super().__init__()
        layers, out = [], width << (doublings - 1)
        layers += [nn.ConvTranspose2d(latent, out, 4, 1, 0, bias=False), nn.BatchNorm2d(out), nn.ReLU()]
        for _ in range(doublings - 1):
            layers += [nn.ConvTranspose2d(out, out // 2, 4, 2, 1, bias=False), nn.BatchNorm2d(out // 2), nn.ReLU()]
            out //= 2
        layers += [nn.ConvTranspose2d(out, channels, 4, 2, 1, bias=False), nn.Tanh()]
        self.generator = nn.Sequential()
        self.generator.main = nn.Sequential(*layers)
        layers, out = [nn.Conv2d(channels, width, 4, 2, 1, bias=False), nn.LeakyReLU(SLOPE)], width
        for _ in range(doublings - 1):
            layers += [nn.Conv2d(out, 2 * out, 4, 2, 1, bias=False), nn.BatchNorm2d(2 * out), nn.LeakyReLU(SLOPE)]
            out *= 2
        layers += [nn.Conv2d(out, 1, 4, 1, 0, bias=False)]
        self.discriminator = nn.Sequential()
        self.discriminator.main = nn.Sequential(*layers)
        for module in self.modules():
            if isinstance(module, (nn.Conv2d, nn.ConvTranspose2d)):
                nn.init.normal_(module.weight, 0, 0.02)

    def draw(self, latent):
        return self.generator.main(latent[:, :, None, None])

    def judged(self, images, wanted):
        logits = self.discriminator.main(images).flatten()
        return F.binary_cross_entropy_with_logits(logits, torch.full_like(logits, wanted))

    def discriminator_loss(self, images, drawn):
        return self.judged(images, 1.0) + self.judged(drawn.detach(), 0.0)

    def generator_loss(self, drawn):
        return self.judged(drawn, 1.0)


def autoencoder_step(weights, images, precision, noise=None):
    """One step; images (N, C, S, S) in [0, 1]."""
    a = Arithmetic(precision.low, noise)
    p = _leaves(weights, precision, a)
    x = a.round(images.to(precision.dtype))
    h = torch.relu(conv(p, "encoder.0", x, 2, 1, a))
    h = torch.relu(conv(p, "encoder.2", h, 2, 1, a))
    side = h.shape[2]
    h = Linear.apply(h.flatten(1), p["encoder.5.weight"], p["encoder.5.bias"], a)
    h = torch.relu(Linear.apply(h, p["decoder.0.weight"], p["decoder.0.bias"], a))
    h = torch.relu(up(p, "decoder.3", h.reshape(len(h), -1, side, side), 2, 1, a))
    drawn = Rounded.apply(Function.apply(up(p, "decoder.5", h, 2, 1, a), "sigmoid", a), a)
    error = drawn - images.to(precision.dtype)
    loss = error.square().mean()
    (loss * precision.scale).backward()
    gradients = {name: w.grad / precision.scale for name, w in p.items()}
    slope = 2 * float(error.detach().square().mean().sqrt() * drawn.detach().square().mean().sqrt())
    value = float(a.store(loss.detach(), drawn.numel(), low=False))
    return Step(value, gradients, [], slope, len(images))


def generate(p, layers, latent, a):
    h = up(p, "generator.main.0", latent[:, :, None, None], 1, 0, a)
    for i in range(1, layers):
        h = torch.relu(BatchNorm.apply(h, p[f"generator.main.{3 * i - 2}.weight"], p[f"generator.main.{3 * i - 2}.bias"], a))
        h = up(p, f"generator.main.{3 * i}", h, 2, 1, a)
    return Function.apply(h, "tanh", a)


def discriminate(p, layers, images, a):
    h = LeakyRelu.apply(conv(p, "discriminator.main.0", images, 2, 1, a), a)
    for i in range(1, layers - 1):
        name = f"discriminator.main.{3 * i - 1}"
        h = conv(p, name, h, 2, 1, a)
        name = f"discriminator.main.{3 * i}"
        h = LeakyRelu.apply(BatchNorm.apply(h, p[f"{name}.weight"], p[f"{name}.bias"], a), a)
    return conv(p, f"discriminator.main.{3 * layers - 4}", h, 1, 0, a).flatten()


def judged(logits, wanted, a):
    """Cross entropy with 1 or 0, in f32, from logits of the low type, whose gradient is rounded to it."""
    logits = Rounded.apply(logits, a)
    return F.binary_cross_entropy_with_logits(logits, torch.full_like(logits, wanted))


@dataclasses.dataclass
class PairStep:
    """The discriminator's step and the generator's."""
    discriminator: Step
    generator: Step


def dcgan_step(weights, images, latent, precision, noise=None):
    """One step of both networks; images in [-1, 1]."""
    a = Arithmetic(precision.low, noise)
    p = _leaves(weights, precision, a)
    layers = sum(name.startswith("generator") and w.dim() == 4 for name, w in weights.items())
    drawn = generate(p, layers, a.round(latent.to(precision.dtype)), a)
    ours = {name: w for name, w in p.items() if name.startswith("discriminator.")}
    answers = [discriminate(p, layers, x, a) for x in (a.round(images.to(precision.dtype)), drawn.detach())]
    real, fake = (judged(logits, wanted, a) for logits, wanted in zip(answers, (1.0, 0.0)))
    gradients = {name: torch.zeros_like(w) for name, w in ours.items()}
    for loss in (real, fake):  # each is differentiated by itself; the sum is f32
        for name, g in zip(ours, torch.autograd.grad(loss * precision.scale, list(ours.values()))):
            gradients[name] = a.store(gradients[name] + g, 1, low=False)
    value = a.store((real + fake).detach(), len(images), low=False)
    slope = max(float(x.detach().square().mean().sqrt()) for x in answers)
    first = Step(float(value), {n: g / precision.scale for n, g in gradients.items()}, [], slope, len(images))
    with torch.no_grad():
        for name, w in ours.items():
            w.copy_(a.store(w - RATE * first.gradients[name], 1, low=False))
    logits = discriminate(p, layers, drawn, a)
    loss = judged(logits, 1.0, a)
    theirs = {name: w for name, w in p.items() if name.startswith("generator.")}
    found = torch.autograd.grad(loss * precision.scale, list(theirs.values()))
    second = Step(float(a.store(loss.detach(), len(images), low=False)),
                  {n: g / precision.scale for n, g in zip(theirs, found)}, [],
                  float(logits.detach().square().mean().sqrt()), len(images))
    return PairStep(first, second)
