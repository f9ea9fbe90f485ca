"""The recurrent language model and the regression network with every rounding of mixed precision written out, and the
bound that follows from them.

As in rounded_layers.py every op computes in f32 or f64 by PyTorch, adds a perturbation as large as another order of
its sums would make, and rounds its result to the low type where one is stored. A recurrent layer follows the CUDA column:
input, states, weights and biases go to the low type; each product with its bias is rounded once, and so is each state;
gates are f32. PyTorch's 16-bit cells on a CPU also round the sums and the gates (its bf16 LSTM is oneDNN's), so they are
measured beside the reference and are not the reference. In f64 and without a low type the network must be PyTorch's own
to 2^-36: agree().

An error is measured in the norm of its tensor. It may be FACTOR times the largest difference that perturbed runs make.
Perturbed runs may agree by chance, so two more roundings are always allowed: one element as large as the tensor's largest
may be rounded to the other side, 2 u max|g|, and the loss may move as one rounding of each logit moves it,
2 u rms(logits) / sqrt(rows), and by 2^-23 of itself.
"""

import dataclasses
import json
import math
import pathlib
import statistics
import subprocess

import safetensors.torch
import torch
from torch import nn
from torch.nn import functional as F

import rounded_layers
from rounded_layers import Linear, Rounded, U32

FACTOR = 4.0
LOSS_SCALE = 65536.0
# Error of exp and tanh, ours and PyTorch's: RESULTS.md has 3 units in the last place at most.
FUNCTION_UNITS = 4.0
GATES = {"rnn-tanh": 1, "rnn-relu": 1, "lstm": 4, "gru": 3}


class Arithmetic(rounded_layers.Arithmetic):
    """Computes in place: the logits of a large vocabulary are 200 MB."""

    def store(self, t, terms, low=True):
        if self.noise is not None:
            unit = torch.rand(t.shape, generator=self.noise, dtype=t.dtype).mul_(2).sub_(1)
            scale = math.sqrt(terms) * U32 * float(t.norm()) / math.sqrt(max(t.numel(), 1))
            t = t.abs().mul_(U32).add_(scale).mul_(unit).add_(t)
        return self.round(t) if low else t


@dataclasses.dataclass
class Precision:
    """The casts of a preset on a CPU."""
    low: torch.dtype | None = None
    scale: float = 1.0
    low_weights: bool = False  # the weights themselves are of the low type
    low_loss: bool = False

    @property
    def unit(self):
        return {None: 2.0**-24, torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8}[self.low]

    @property
    def dtype(self):
        """The type in which the reference computes."""
        return torch.float64 if self.low is None else torch.float32


PRECISIONS = {"fp32": Precision(),
              "amp-fp16": Precision(torch.float16, LOSS_SCALE),
              "amp-bf16": Precision(torch.bfloat16),
              "o2-fp16": Precision(torch.float16, LOSS_SCALE, low_weights=True),
              "pure-fp16": Precision(torch.float16, low_weights=True, low_loss=True)}


@dataclasses.dataclass
class Step:
    """The results of one training step; gradients are unscaled."""
    loss: float
    gradients: dict
    state: list  # h, and c of lstm, in the form that the next step reads
    magnitude: float  # change of the loss for a relative change of 1 of each output
    rows: int
    error: float = 0.0  # mean squared, of the outputs, in regression

    def finite(self):
        return all(bool(g.isfinite().all()) for g in self.gradients.values())


class RnnLm(nn.Module):
    """Embedding, recurrent layers, decoder; PyTorch's modules under the engine's names."""

    def __init__(self, cell, words, embedding=200, hidden=200, layers=2, tied=False):
        super().__init__()
        self.cell, self.layers, self.hidden = cell, layers, hidden
        self.encoder = nn.Embedding(words, embedding)
        if cell in ("lstm", "gru"):
            self.rnn = getattr(nn, cell.upper())(embedding, hidden, layers)
        else:
            self.rnn = nn.RNN(embedding, hidden, layers, nonlinearity=cell[4:])
        self.decoder = nn.Linear(hidden, words)
        if tied:
            self.decoder.weight = self.encoder.weight
        with torch.no_grad():
            self.encoder.weight.uniform_(-0.1, 0.1)
            self.decoder.weight.uniform_(-0.1, 0.1)
            self.decoder.bias.zero_()

    def zero_state(self, streams):
        return [torch.zeros(self.layers, streams, self.hidden) for _ in range(2 if self.cell == "lstm" else 1)]

    def forward(self, tokens, state):
        """tokens (window, streams): logits (window * streams, words) and the new state."""
        x, new = self.rnn(self.encoder(tokens), tuple(state) if self.cell == "lstm" else state[0])
        return self.decoder(x.flatten(0, 1)), list(new) if self.cell == "lstm" else [new]


def function_of(y, a, more=0.0):
    """y = exp, tanh or the logistic function of something, as another implementation gives it; `more` units are added."""
    if a.noise is None:
        return y
    unit = torch.rand(y.shape, generator=a.noise, dtype=y.dtype) * 2 - 1
    return y * (1 + unit * (U32 * (FUNCTION_UNITS + more)))


def cell_step(cell, gx, gh, state, a):
    """h and c after a time step, not rounded. state: c of lstm, h of gru."""
    def sigmoid(x):
        return function_of(torch.sigmoid(x), a)

    def tanh(x):
        return function_of(torch.tanh(x), a)

    if cell == "rnn-tanh":
        return tanh(gx + gh), None
    if cell == "rnn-relu":
        return torch.relu(gx + gh), None
    if cell == "lstm":
        i, f, g, o = (gx + gh).chunk(4, 1)
        c = sigmoid(f) * state + sigmoid(i) * tanh(g)
        return sigmoid(o) * tanh(c), c
    (xr, xz, xn), (hr, hz, hn) = gx.chunk(3, 1), gh.chunk(3, 1)
    n = tanh(xn + sigmoid(xr + hr) * hn)
    return n + sigmoid(xz + hz) * (state - n), None


class Layer(torch.autograd.Function):
    """x (window * streams, in), h0 and c0 (streams, hidden): outputs, h_n, c_n. The states have no gradient: each step is
    detached from the one before."""

    @staticmethod
    def forward(ctx, x, w_ih, w_hh, b_ih, b_hh, h0, c0, cell, a):
        w_ih, w_hh, b_ih, b_hh = (a.round(w) for w in (w_ih, w_hh, b_ih, b_hh))
        gx = a.store(F.linear(x, w_ih, b_ih), x.shape[1])
        h, c, outputs, cells = h0, c0, [], []
        for row in gx.split(len(h0)):
            gh = a.store(F.linear(h, w_hh, b_hh), h.shape[1])
            h, c = cell_step(cell, row, gh, c if cell == "lstm" else h, a)
            h = a.store(h, 1)
            outputs.append(h)
            if cell == "lstm":
                c = a.store(c, 1)
                cells.append(c)
        before = torch.cat([h0, *outputs[:-1]])
        states = torch.cat([c0, *cells[:-1]]) if cell == "lstm" else before
        ctx.save_for_backward(x, w_ih, w_hh, b_hh, gx, before, states)
        ctx.rest = cell, a, len(h0)
        return torch.cat(outputs), h, c if cell == "lstm" else h

    @staticmethod
    def backward(ctx, g, *_):
        x, w_ih, w_hh, b_hh, gx, before, states = ctx.saved_tensors
        cell, a, streams = ctx.rest
        gh = a.store(F.linear(before, w_hh, b_hh), before.shape[1])
        dh_next = dc = torch.zeros_like(g[:streams])
        d_inputs, d_hidden = [], []
        for rows in reversed(torch.arange(len(g)).split(streams)):
            leaves = [t[rows].detach().requires_grad_(True) for t in (gx, gh, states)]
            with torch.enable_grad():
                h, c = cell_step(cell, *leaves, a)
            made, seeds = ([h, c], [g[rows] + dh_next, dc]) if cell == "lstm" else ([h], [g[rows] + dh_next])
            d_x, d_h, d_state = torch.autograd.grad(made, leaves, seeds, allow_unused=True)
            d_x = a.store(d_x, 1)
            if cell == "gru":  # the gates r and z read the sum of both products
                width = d_x.shape[1] // 3 * 2
                d_h = torch.cat([d_x[:, :width], a.store(d_h[:, width:], 1)], 1)
                dh_next = a.store(d_h @ w_hh + a.store(d_state, 1), d_h.shape[1])
            else:
                d_h = d_x
                dh_next = a.store(d_h @ w_hh, d_h.shape[1])
                dc = a.store(d_state, 1) if cell == "lstm" else dc
            d_inputs.append(d_x)
            d_hidden.append(d_h)
        d_x, d_h, terms = torch.cat(d_inputs[::-1]), torch.cat(d_hidden[::-1]), len(g)
        return (a.store(d_x @ w_ih, d_x.shape[1]), a.store(d_x.t() @ x, terms), a.store(d_h.t() @ before, terms),
                a.store(d_x.sum(0), terms), a.store(d_h.sum(0), terms), None, None, None, None)


class Embed(torch.autograd.Function):
    """Rows of the table, cast to the low type by their reader; the gradient's sums are f32."""

    @staticmethod
    def forward(ctx, weight, tokens, a):
        ctx.save_for_backward(weight, tokens)
        ctx.arithmetic = a
        return a.round(weight[tokens])

    @staticmethod
    def backward(ctx, g):
        weight, tokens = ctx.saved_tensors
        gw = torch.zeros_like(weight).index_add_(0, tokens, g)
        counts = torch.bincount(tokens, minlength=len(weight))
        there = counts > 0
        gw[there] = ctx.arithmetic.store(gw[there], int(counts.max()), low=False)
        return gw, None, None


class CrossEntropy(torch.autograd.Function):
    """Mean over the rows, from f32 log-probabilities; the gradient is rounded to the logits' type once."""

    @staticmethod
    def forward(ctx, x, target, a):
        lse = torch.logsumexp(x, 1, keepdim=True)
        if a.noise is not None:
            unit = torch.rand(lse.shape, generator=a.noise, dtype=x.dtype) * 2 - 1
            lse = lse + unit * U32 * (math.sqrt(x.shape[1]) + lse.abs())
        log_probs = x - lse
        ctx.save_for_backward(log_probs, target)
        ctx.arithmetic = a
        return -a.store(log_probs.gather(1, target[:, None]), 1, low=False).mean()

    @staticmethod
    def backward(ctx, g):
        log_probs, target = ctx.saved_tensors
        # A log-probability is rounded, too, which moves its exponential by that much of itself.
        d = function_of(log_probs.exp(), ctx.arithmetic, log_probs.abs())
        d[torch.arange(len(target)), target] -= 1
        return ctx.arithmetic.store(d.mul_(g / len(target)), 1), None, None


def _leaves(weights, precision, a):
    return {name: (a.round(w) if precision.low_weights else w).to(precision.dtype, copy=True).requires_grad_(True)
            for name, w in weights.items()}


def _finished(loss, leaves, precision, a, state, output, slope=1.0):
    (loss * precision.scale).backward()
    gradients = {name: (a.round(w.grad) if precision.low_weights else w.grad) / precision.scale
                 for name, w in leaves.items()}
    loss = a.store(loss.detach(), len(output), low=False)  # a sum over the rows
    return Step(float(a.round(loss) if precision.low_loss else loss), gradients, [s.detach() for s in state],
                slope * float(output.detach().square().mean().sqrt()), len(output))


def language_forward(p, cell, tokens, state, precision, a):
    """Logits and the new state. tokens (window, streams)."""
    x = Embed.apply(p["encoder.weight"], tokens.flatten(), a)
    state = [a.round(s.to(precision.dtype)) for s in state]
    new = []
    for layer in range(len(state[0])):
        weights = [p[f"rnn.{name}_l{layer}"] for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
        x, h, c = Layer.apply(x, *weights, state[0][layer], state[1][layer] if cell == "lstm" else None, cell, a)
        new.append((h, c) if cell == "lstm" else (h,))
    decoder = p.get("decoder.weight", p["encoder.weight"])
    return Linear.apply(x, decoder, p["decoder.bias"], a), [torch.stack(s) for s in zip(*new)]


def language_step(weights, cell, tokens, target, state, precision, noise=None):
    """One step; tokens and target (window, streams)."""
    a = Arithmetic(precision.low, noise)
    p = _leaves(weights, precision, a)
    logits, new = language_forward(p, cell, tokens, state, precision, a)
    return _finished(CrossEntropy.apply(logits, target.flatten(), a), p, precision, a, new, logits)


def regression_step(weights, features, target, precision, noise=None):
    """One step of the multilayer perceptron; target (rows, 1)."""
    a = Arithmetic(precision.low, noise)
    p = _leaves(weights, precision, a)
    x, layers = a.round(features.to(precision.dtype)), len(p) // 2
    for i in range(1, layers + 1):
        x = Linear.apply(x, p[f"fc{i}.weight"], p[f"fc{i}.bias"], a)
        x = F.relu(x) if i < layers else x
    x = Rounded.apply(x, a)
    wanted = target.to(precision.dtype)
    error = float((x.detach().double() - target.double()).square().mean())
    loss = F.mse_loss(x, a.round(wanted) if precision.low_loss else wanted)
    step = _finished(loss, p, precision, a, [], x, 2 * math.sqrt(error))
    step.error = error
    return step


def module_step(model, output_loss, dtype=torch.float64):
    """(loss, {name: gradient}, state) of PyTorch's own module. output_loss gives its loss and state."""
    model.to(dtype).zero_grad()
    loss, state = output_loss(model)
    loss.backward()
    found = float(loss.detach()), {name: p.grad.clone() for name, p in model.named_parameters()}, [s.detach() for s in state]
    model.float()
    return found


def agree(model, output_loss, exact):
    """Raises an error unless the network written out is PyTorch's module, in f64."""
    loss, gradients, state = module_step(model, output_loss)
    # A gradient that is 0 but for roundings (of a bias of keys, which moves a row's scores alike) has no norm to compare with.
    least = 2.0**-12 * max(float(g.norm()) for g in gradients.values())
    apart = max(float((exact.gradients[name] - g).norm()) / max(float(g.norm()), least) for name, g in gradients.items())
    apart = max([apart, abs(exact.loss - loss), *(float((a - b).norm()) for a, b in zip(exact.state, state))])
    if not apart <= 2.0**-36:
        raise RuntimeError(f"the network written out differs from PyTorch's module by {apart:.1e}")


def loss_bound(exact, perturbed, unit):
    return max(2.0**-23 * abs(exact.loss), 2 * unit * exact.magnitude / math.sqrt(exact.rows),
               *(FACTOR * abs(p.loss - exact.loss) for p in perturbed))


def tensor_bound(exact, perturbed, unit):
    """The bound of the norm of the difference."""
    return max(2 * unit * float(exact.abs().max()),
               *(FACTOR * float((p.double() - exact.double()).norm()) for p in perturbed))


@dataclasses.dataclass
class Shares:
    """Errors as shares of their bounds; more than 1 is a failure."""
    loss: float = 0.0
    gradient: float = 0.0
    worst: str = ""
    state: float = 0.0
    bounds: tuple = ()  # bounds of the gradients, relative to their norms

    def worse_of(self, other):
        first = self if self.gradient >= other.gradient else other
        return Shares(max(self.loss, other.loss), first.gradient, first.worst, max(self.state, other.state),
                      self.bounds + other.bounds)

    def bound(self):
        """The median of the gradients' bounds, and the largest."""
        return f"{statistics.median(self.bounds):.1e}, {max(self.bounds):.1e}"

    def failed(self):
        return not max(self.loss, self.gradient, self.state) <= 1


def _share(error, bound):
    if not error < math.inf:
        return math.inf
    return error / bound if bound > 0 else math.inf if error > 0 else 0.0


def shares(exact, perturbed, unit, got):
    """got: (loss, {name: gradient}, state); gradients None: they are not compared."""
    loss, gradients, state = got
    found = Shares(_share(abs(loss - exact.loss), loss_bound(exact, perturbed, unit)))
    for name, value in exact.gradients.items() if gradients is not None else ():
        bound = tensor_bound(value, [p.gradients[name] for p in perturbed], unit)
        share = _share(float((gradients[name].double() - value.double()).norm()), bound)
        if float(value.double().norm()) > bound:  # otherwise it is 0 up to rounding
            found.bounds += (bound / float(value.double().norm()),)
        if share >= found.gradient:
            found.gradient, found.worst = share, name
    for i, value in enumerate(exact.state):
        bound = tensor_bound(value, [p.state[i] for p in perturbed], unit)
        found.state = max(found.state, _share(float((state[i].double() - value.double()).norm()), bound))
    return found


def settings_of(config, preset, loss_scale=LOSS_SCALE):
    """The settings of a comparison's step, in addition to data set and model."""
    return {**config, "precision": {"preset": preset}, "scaler": {"init_scale": loss_scale},
            "schedule": {"kind": "constant"}}


def weights_of(model):
    return {name: p.detach().contiguous() for name, p in model.named_parameters()}


@dataclasses.dataclass
class Compared:
    """A model without carried state beside its reference, in one preset. Each function takes one of `batches`."""
    preset: str
    precision: Precision
    model: nn.Module
    optimizer: torch.optim.Optimizer
    batches: list
    settings: dict  # data set and model
    overflowing: float  # a loss scale at which amp-fp16's gradients overflow
    tensors: callable  # the batch by the names that task_steps reads
    reference: callable  # (weights, batch, noise or None) -> Step
    peer: callable  # PyTorch's (loss, gradients, state) on operands cast by hand
    agree: callable  # (model, batch, exact): raises where the reference in f64 is not PyTorch's module


class SteppedComparison:
    """A Compared step by step: each step starts from PyTorch's weights. In the middle of amp-fp16 one has a loss scale that
    overflows: it must be skipped, with every weight as before."""

    def __init__(self, case, perturbations, program):
        self.case, self.perturbations, self.program = case, perturbations, program
        self.ours, self.theirs, self.losses, self.wrong = Shares(), Shares(), [], []

    def engine_step(self, batch, skipped):
        case = self.case
        scale = case.overflowing if skipped else case.precision.scale
        return self.program.step(settings_of(case.settings, case.preset, scale), {**weights_of(case.model), **case.tensors(batch)})

    def one_step(self, k, batch):
        case, weights = self.case, weights_of(self.case.model)
        exact = case.reference(weights, batch, None)
        perturbed = [case.reference(weights, batch, torch.Generator().manual_seed(1000 * k + i))
                     for i in range(self.perturbations)]
        if k == 0 and case.precision.low is None:
            case.agree(case.model, batch, exact)
        skipped = case.preset == "amp-fp16" and k == len(case.batches) // 2
        out = self.engine_step(batch, skipped)
        loss, gradients, _ = unpacked(out)
        if bool(out["found_inf"]) != skipped or (int(out["changed"]) == 0) != skipped:
            self.wrong.append(f"step {k}: found_inf {int(out['found_inf'])}, weights changed {int(out['changed'])}")
        mine = shares(exact, perturbed, case.precision.unit, (loss, None if skipped else gradients, []))
        if mine.failed():
            self.wrong.append(f"step {k}: loss {mine.loss:.2f}, {mine.worst} {mine.gradient:.2f}")
        self.ours = self.ours.worse_of(mine)
        self.losses.append(exact.loss)
        if not skipped:
            self.advance(exact, perturbed, batch)

    def advance(self, exact, perturbed, batch):
        """Measures PyTorch's own step, and gives the reference's gradients to the optimizer."""
        case = self.case
        self.theirs = self.theirs.worse_of(shares(exact, perturbed, case.precision.unit, case.peer(batch)))
        for name, parameter in case.model.named_parameters():
            parameter.grad = exact.gradients[name].float()
        case.optimizer.step()

    def row(self):
        ours, theirs = self.ours, self.theirs
        return (f"| {self.case.preset} | {self.losses[0]:.3f} - {self.losses[-1]:.3f} | {ours.loss:.2f} | {ours.gradient:.2f} "
                f"{ours.worst} | {ours.bound()} | {theirs.loss:.2f} | {theirs.gradient:.2f} |")


STEPS_HEADER = ("| precision | loss | ours: loss | gradients, the worst | bound, median and widest | PyTorch's: loss | gradients |\n"
                "| --- | --- | ---: | ---: | ---: | ---: | ---: |")


def compare_steps(case, perturbations, program):
    """Prints a row under STEPS_HEADER. Returns whether something is beyond its bound."""
    comparison = SteppedComparison(case, perturbations, program)
    for k, batch in enumerate(case.batches):
        comparison.one_step(k, batch)
    print(comparison.row(), flush=True)
    for line in comparison.wrong:
        print(f"    beyond the bound: {line}")
    return bool(comparison.wrong)


class Program:
    """task_steps, which computes single steps."""

    def __init__(self, path, folder, device="cpu"):
        self.path, self.folder, self.device = path, pathlib.Path(folder), device

    def step(self, settings, tensors):
        """The engine's results for these tensors, by name."""
        config, given, out = (self.folder / name for name in ("settings.json", "in.safetensors", "out.safetensors"))
        config.write_text(json.dumps({**settings, "device": self.device}))
        safetensors.torch.save_file({name: t.detach().contiguous() for name, t in tensors.items()}, given)
        out.unlink(missing_ok=True)
        result = subprocess.run([self.path, config, given, out], capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise RuntimeError(f"{self.path}: {result.stderr[-2000:]}")
        return safetensors.torch.load_file(out)


def unpacked(out):
    """(loss, gradients, state) of a file of task_steps."""
    state = [out[name] for name in ("state.0", "state.1") if name in out]
    return float(out["loss"]), {n[5:]: t for n, t in out.items() if n.startswith("grad.")}, state


def default_program():
    root = pathlib.Path(__file__).resolve().parents[2]
    return str(root / "build" / "release" / "tests" / "peer" / "task_steps")


def add_program_option(parser):
    parser.add_argument("--program", default=default_program(), help="task_steps (default: the release build's)")
