#!/usr/bin/env python3
"""The language model on tinyshakespeare (characters) and WikiText-2 (words), one step at a time against PyTorch: each step
starts from PyTorch's weights and carried state, on its batch, and the loss, every gradient and the new state are compared,
for each cell in fp32, amp-fp16 and amp-bf16.

The reference and the bound: task_reference.py. Sizes and batches are those of PyTorch's word language model example: 20
streams, windows of 35, two layers of 200, no dropout (masks are not the same), SGD with the norm clipped to 0.25. In the
middle of the amp-fp16 runs one step has a loss scale that overflows: it must be skipped, with every weight as before, and
the state must go on as PyTorch's does. So must any step whose gradients overflow in the reference, which halves the scale.

That the engine's own reader makes the same batches is checked by a run of `halftone train` over the first steps with a rate
too small to move a weight: the loss of every step must be PyTorch's.
"""

import argparse
import dataclasses
import gzip
import pathlib
import sys
import tempfile

import safetensors.torch
import torch
from torch.nn import functional as F

import halftone
import task_reference
from task_reference import language_step, PRECISIONS, RnnLm, Shares, shares

STREAMS, WINDOW = 20, 35
OVERFLOWING = 2.0**40
COMPARED = ("fp32", "amp-fp16", "amp-bf16")
SEED = 1
READ = 5  # steps of the engine's own reader


def characters(path):
    """Numbers of the characters, in the order of their code points, of the first nine tenths; how many there are."""
    text = pathlib.Path(path).read_text(encoding="utf-8")
    known = {c: i for i, c in enumerate(sorted(set(text)))}
    return torch.tensor([known[c] for c in text[:len(text) - round(0.1 * len(text))]]), len(known)


def words(folder):
    """Numbers of the words in the order in which they first occur, each line followed by <eos>; how many there are."""
    known, train = {}, []
    for part in ("train", "valid", "test"):
        with gzip.open(pathlib.Path(folder) / f"{part}.txt.gz", "rt", encoding="utf-8") as lines:
            numbers = [known.setdefault(w, len(known)) for line in lines for w in line.split() + ["<eos>"]]
        train = train or numbers
    return torch.tensor(train), len(known)


DATA = {"tinyshakespeare": ("text-chars", characters), "wikitext-2": ("text-words", words)}


def windows(tokens, count):
    """`count` windows of all streams and what follows them, each (window, streams)."""
    length = len(tokens) // STREAMS
    streams = tokens[:length * STREAMS].view(STREAMS, length).t()
    return [(streams[i:i + WINDOW].contiguous(), streams[i + 1:i + 1 + WINDOW].contiguous())
            for i in range(0, count * WINDOW, WINDOW)]


def low_step(model, tokens, target, state, precision):
    """PyTorch's kernels on operands cast by hand as the CUDA column casts them, in f32 without a low type."""
    low = precision.low or torch.float32
    model.zero_grad()
    weights = [w.to(low) for w in model.rnn.parameters()]
    x, state = model.encoder(tokens).to(low), [s.to(low) for s in state]
    kind = model.cell.replace("-", "_")
    given = state if model.cell == "lstm" else state[0]
    y, *new = getattr(torch._VF, kind)(x, given, weights, True, model.layers, 0.0, True, False, False)
    logits = F.linear(y.flatten(0, 1), model.decoder.weight.to(low), model.decoder.bias.to(low))
    loss = F.cross_entropy(logits.float(), target.flatten())
    (loss * precision.scale).backward()
    gradients = {name: p.grad / precision.scale for name, p in model.named_parameters()}
    return float(loss.detach()), gradients, [s.detach().float() for s in new]


class Case:
    """One cell with one kind of decoder on one data set."""

    def __init__(self, options, dataset, cell, tied):
        self.options, self.dataset, self.cell, self.tied = options, dataset, cell, tied
        self.path = getattr(options, dataset.replace("-", ""))
        self.kind, read = DATA[dataset]
        self.tokens, self.words = read(self.path)
        self.batches = windows(self.tokens, options.steps)

    def model(self):
        torch.manual_seed(SEED)
        return RnnLm(self.cell, self.words, tied=self.tied)

    def settings(self):
        return {"dataset": {"kind": self.kind, "path": self.path}, "task": {"kind": "language-model"},
                "batch_size": STREAMS, "bptt": WINDOW, "threads": self.options.threads,
                "model": {"kind": "rnn-lm", "options": {"cell": self.cell, "dropout": 0, "tied": self.tied}}}

    def model_fields(self):
        """Task and model as --set takes them."""
        settings = self.settings()
        fields = {"task.kind": settings["task"]["kind"], "model.kind": settings["model"]["kind"]}
        return fields | {f"model.options.{name}": str(value).lower() if isinstance(value, bool) else value
                         for name, value in settings["model"]["options"].items()}

    def label(self):
        return f"{self.dataset} | {self.cell}{', tied' if self.tied else ''}"

    def is_large(self):
        return self.words > 1000

    def measures_peer(self, precision):
        """PyTorch's f16 products on a CPU take ten times as long as f32 ones, so they are not measured."""
        return precision.low != torch.float16 or not self.is_large()

    def first_state(self, model):
        return model.zero_state(STREAMS)

    def rate(self):
        """A learning rate at which nothing diverges."""
        return 0.5 if self.cell == "rnn-relu" else 2.0

    def tensors(self, batch):
        """The tensors of the engine's batch."""
        return {"tokens": batch[0].t(), "target": batch[1].t()}

    def module_loss(self, model, batch, state):
        """PyTorch's own loss and state, in f64."""
        logits, new = model(batch[0], [s.double() for s in state])
        return F.cross_entropy(logits, batch[1].flatten()), new

    def peer_step(self, model, batch, state, precision):
        return low_step(model, *batch, state, precision)

    def reference(self, model, batch, state, precision, seed=None):
        noise = None if seed is None else torch.Generator().manual_seed(seed)
        weights = {name: p.detach() for name, p in model.named_parameters()}
        return language_step(weights, self.cell, *batch, state, precision, noise)


def engine_step(program, case, model, batch, state, preset, loss_scale):
    tensors = {name: p for name, p in model.named_parameters()}
    tensors |= {f"state.{i}": s.float() for i, s in enumerate(state)}
    tensors |= case.tensors(batch)
    return program.step(task_reference.settings_of(case.settings(), preset, loss_scale), tensors)


def advance(model, gradients, rate):
    """The example's update."""
    for name, parameter in model.named_parameters():
        parameter.grad = gradients[name].float()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
    torch.optim.SGD(model.parameters(), lr=rate).step()


class Comparison:
    """The steps of one cell in one precision."""

    def __init__(self, case, preset, program):
        self.case, self.preset, self.program = case, preset, program
        self.precision, self.model = PRECISIONS[preset], case.model()
        self.state = case.first_state(self.model)
        self.ours, self.peer, self.losses, self.skips, self.wrong = Shares(), Shares(), [], 0, []

    def check_module(self, exact, batch):
        task_reference.agree(self.model, lambda m: self.case.module_loss(m, batch, self.state), exact)

    def one_step(self, k, batch):
        case, precision, model = self.case, self.precision, self.model
        exact = case.reference(model, batch, self.state, precision)
        if k == 0 and precision.low is None:
            self.check_module(exact, batch)
        # The loss is one number, which a single perturbed run may leave almost as it is: several are needed for its bound.
        perturbed = [case.reference(model, batch, self.state, precision, 1000 * k + i)
                     for i in range(case.options.perturbations)]
        forced = self.preset == "amp-fp16" and k == case.options.steps // 2
        out = engine_step(self.program, case, model, batch, self.state, self.preset,
                          OVERFLOWING if forced else precision.scale)
        skipped = bool(out["found_inf"])
        self.check_flags(k, out, {True} if forced else {not run.finite() for run in (exact, *perturbed)})
        loss, gradients, new = task_reference.unpacked(out)
        mine = shares(exact, perturbed, precision.unit, (loss, None if skipped else gradients, new))
        if mine.failed():
            self.wrong.append(f"step {k}: loss {mine.loss:.2f}, {mine.worst} {mine.gradient:.2f}, state {mine.state:.2f}")
        self.ours = self.ours.worse_of(mine)
        if not skipped:
            if case.measures_peer(precision):
                theirs = case.peer_step(model, batch, self.state, precision)
                self.peer = self.peer.worse_of(shares(exact, perturbed, precision.unit, theirs))
            advance(model, exact.gradients, case.rate())
        elif not forced:
            self.precision = dataclasses.replace(precision, scale=precision.scale / 2)
        self.skips += skipped
        self.losses.append(exact.loss)
        self.state = [s.float() for s in exact.state]

    def check_flags(self, k, out, may_skip):
        """Checks that overflow occurs where PyTorch has it. A gradient at the very limit of f16 may go either way."""
        found, changed, resets = bool(out["found_inf"]), int(out["changed"]), int(out["resets"])
        if found not in may_skip or (changed == 0) != found or resets != 0:
            self.wrong.append(f"step {k}: found_inf {found}, weights changed {changed}, streams reset {resets}")

    def row(self):
        ours, peer = self.ours, self.peer
        theirs = " | ".join(f"{x:.2f}" for x in (peer.loss, peer.gradient, peer.state))
        if not self.case.measures_peer(self.precision):
            theirs = "- | - | -"
        return (f"| {self.case.label()} | {self.preset} | {self.losses[0]:.3f} - {self.losses[-1]:.3f} | {self.skips} | "
                f"{ours.loss:.2f} | {ours.gradient:.2f} {ours.worst} | {ours.bound()} | {ours.state:.2f} | "
                f"{theirs} |")


def compare(case, preset, program):
    """Prints a row of the table; whether something is beyond its bound."""
    comparison = Comparison(case, preset, program)
    for k, batch in enumerate(case.batches):
        comparison.one_step(k, batch)
    print(comparison.row(), flush=True)
    for line in comparison.wrong:
        print(f"    beyond the bound: {line}", flush=True)
    return bool(comparison.wrong)


def readable(case, folder):
    """The text with a tiny test part. WikiText-2's training part contains every word."""
    if case.kind == "text-chars":
        return case.path
    source, here = pathlib.Path(case.path), folder / "text"
    here.mkdir()
    (here / "train.txt.gz").symlink_to((source / "train.txt.gz").resolve())
    with gzip.open(source / "test.txt.gz", "rt", encoding="utf-8") as lines:
        (here / "test.txt").write_text("".join(next(lines) for _ in range(20)), encoding="utf-8")
    return here


def train(case, model, preset, steps, folder):
    """The events of `halftone train` over the first steps, with weights that do not move."""
    weights = folder / "weights.safetensors"
    safetensors.torch.save_file({n: p.detach().contiguous() for n, p in model.named_parameters()}, weights)
    fields = {"dataset.kind": case.kind, "dataset.path": readable(case, folder), "dataset.test_limit": 1000,
              **case.model_fields(), "model.init_from": weights,
              "precision.preset": preset, "batch_size": STREAMS, "bptt": WINDOW, "threads": case.options.threads,
              "max_steps": steps, "optimizer.lr": 1e-30, "optimizer.momentum": 0, "optimizer.weight_decay": 0,
              "schedule.kind": "constant"}
    output = halftone.run(case.options.halftone, "train", *(w for f, v in fields.items() for w in ("--set", f"{f}={v}")),
                          "--out", str(folder / f"run-{preset}"), "--json")
    return halftone.events(output)


def compare_reader(case, folder):
    """Whether a step's loss differs from PyTorch's."""
    model, precision, batches = case.model(), PRECISIONS["fp32"], case.batches[:READ]
    found = [e["loss"] for e in train(case, model, "fp32", len(batches), folder) if e["event"] == "step"]
    worst, state, moved = 0.0, case.first_state(model), case.first_state(model)
    for k, (batch, loss) in enumerate(zip(batches, found, strict=True)):
        exact = case.reference(model, batch, state, precision)
        perturbed = case.reference(model, batch, moved, precision, k)
        worst = max(worst, abs(loss - exact.loss) / task_reference.loss_bound(exact, [perturbed], precision.unit))
        state, moved = exact.state, perturbed.state
    print(f"| {case.label()} | the engine's reader | | | {worst:.2f} | | | | | | |", flush=True)
    return not worst <= 1


def compare_reset(case, folder):
    """If the state overflows f16, every stream must be reported. Returns whether that is not so."""
    model = case.model()
    with torch.no_grad():
        model.rnn.weight_hh_l0.copy_(2 * torch.eye(model.hidden))
        model.rnn.bias_hh_l0.fill_(1)
    new = case.reference(model, case.batches[0], model.zero_state(STREAMS), PRECISIONS["amp-fp16"]).state[0]
    lost = int((~new.isfinite().all(2).all(0)).sum())
    told = [e["message"] for e in train(case, model, "amp-fp16", 2, folder) if e["event"] == "warning"]
    said = [m for m in told if "carried state" in m and f" {lost} of the text's streams after step 1 " in m]
    print(f"{case.label()}, state out of f16: {lost} streams in PyTorch, {'the same' if said else told} reported")
    return lost == 0 or len(said) != 1


def decoders(dataset, cell):
    """Both decoders on the small vocabulary; one on the large vocabulary, where a step takes seconds."""
    if dataset == "tinyshakespeare":
        return "own", "tied"
    return ("tied",) if cell in ("gru", "rnn-relu") else ("own",)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    halftone.add_binary_option(parser)
    task_reference.add_program_option(parser)
    shared = pathlib.Path(__file__).resolve().parents[3] / "shared" / "data"
    parser.add_argument("--tinyshakespeare", default=str(shared / "tinyshakespeare" / "input.txt"), help="the text")
    parser.add_argument("--wikitext2", default=str(shared / "wikitext-2"), help="folder of train, valid and test.txt.gz")
    parser.add_argument("--data", action="append", choices=list(DATA))
    parser.add_argument("--cell", action="append", choices=list(task_reference.GATES))
    parser.add_argument("--decoder", action="append", choices=["own", "tied"])
    parser.add_argument("--precision", action="append", choices=COMPARED)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--perturbations", type=int, default=3, help="perturbed reference runs a step")
    parser.add_argument("--threads", type=int, default=1, help="of both sides; most ops are small")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    print("| data | cell | precision | loss | skips | ours: loss | gradients, the worst | bound, median and widest | state "
          "| PyTorch's: loss | gradients | state |")
    print("| --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    failed = 0
    for dataset in options.data or DATA:
        for cell in options.cell or task_reference.GATES:
            for decoder in options.decoder or decoders(dataset, cell):
                case = Case(options, dataset, cell, decoder == "tied")
                with tempfile.TemporaryDirectory() as folder:
                    program = task_reference.Program(options.program, folder, halftone.DEVICE)
                    failed += sum(compare(case, preset, program) for preset in options.precision or COMPARED)
                    failed += compare_reader(case, pathlib.Path(folder))
                    if cell == "rnn-relu" and dataset == "tinyshakespeare":  # no other cell's state can overflow f16
                        failed += compare_reset(case, pathlib.Path(folder))
    print(f"{failed} comparisons beyond their bounds")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
