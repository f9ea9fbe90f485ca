#!/usr/bin/env python3
"""`transformer-lm` and `bert` on tinyshakespeare (characters) and WikiText-2 (words), one step at a time against transformers'
GPT2LMHeadModel and BertForMaskedLM, as language_model_steps.py does for `rnn-lm`: each step starts from PyTorch's weights, on
its batch, and the loss and every gradient are compared, in fp32, amp-fp16 and amp-bf16.

The reference and the bound: transformer_reference.py. 20 streams, windows of 35, two layers of 128 with 4 heads, no dropout
(masks are not the same), SGD with the norm clipped to 0.25. BERT's masks are the engine's, made here again from the same random numbers. In the middle
of the amp-fp16 runs one step has a loss scale that overflows: it must be skipped, with every weight as before.

First the state dicts: what transformers saves must load here, and what the engine exports there with strict=True, with the
same names and shapes (exported_models.py compares logits of trained models). That the engine's own reader makes the same batches and
masks is checked by a run of `halftone train`, as for `rnn-lm`.
"""

import argparse
import pathlib
import sys
import tempfile

import safetensors.torch
import torch
from torch.nn import functional as F

import halftone
import language_model_steps
import task_reference
import transformer_reference as reference
from language_model_steps import COMPARED, DATA, SEED, STREAMS, WINDOW, windows

WIDTH, LAYERS, HEADS = 128, 2, 4


def low_linear(x, weight, bias, low):
    return F.linear(x.to(low), weight.to(low), None if bias is None else bias.to(low))


def low_attention(q, k, v, tokens, low, causal):
    parts = (x.view(-1, tokens, HEADS, WIDTH // HEADS).transpose(1, 2).to(low) for x in (q, k, v))
    return F.scaled_dot_product_attention(*parts, is_causal=causal).transpose(1, 2).flatten(0, 1).flatten(1)


class Gpt2Case(language_model_steps.Case):
    model_kind = "transformer-lm"

    def __init__(self, options, dataset):
        super().__init__(options, dataset, self.model_kind, True)
        self.batches = [tuple(t.t().contiguous() for t in batch) for batch in windows(self.tokens, options.steps)]

    def module(self):
        return reference.gpt2_module(self.vocabulary(), WIDTH, LAYERS, HEADS, WINDOW).eval()

    def model(self):
        torch.manual_seed(SEED)
        return self.module()

    def vocabulary(self):
        return self.words

    def settings(self):
        return {**super().settings(), "task": {"kind": "auto"},
                "model": {"kind": self.model_kind, "options": {"layers": LAYERS, "width": WIDTH, "heads": HEADS, "dropout": 0.0}}}

    def label(self):
        return f"{self.dataset} | {self.model_kind}"

    def first_state(self, model):
        return []

    def rate(self):
        return 1.0

    def tensors(self, batch):
        return {"tokens": batch[0], "target": batch[1], "words": torch.tensor(self.words)}

    def forward(self, batch, p, a):
        return reference.gpt2(p, HEADS, batch[0], a)

    def wanted(self, batch):
        return batch[1].flatten()

    def scored(self, model, batch):
        return model(batch[0]).logits.flatten(0, 1)

    def module_loss(self, model, batch, state):
        return F.cross_entropy(self.scored(model, batch), self.wanted(batch)), []

    def reference(self, model, batch, state, precision, seed=None):
        noise = None if seed is None else torch.Generator().manual_seed(seed)
        weights = {name: p.detach() for name, p in model.named_parameters()}
        return reference.step(lambda p, a: self.forward(batch, p, a), weights, self.wanted(batch), precision, noise)

    def peer_step(self, model, batch, state, precision):
        """PyTorch's kernels on operands cast by hand as the CUDA column casts them."""
        model.zero_grad()
        logits = self.low_forward(dict(model.named_parameters()), batch, precision.low or torch.float32)
        loss = F.cross_entropy(logits.float(), self.wanted(batch))
        (loss * precision.scale).backward()
        return float(loss.detach()), {n: p.grad / precision.scale for n, p in model.named_parameters()}, []

    def low_forward(self, p, batch, low):
        def norm(x, name):
            return F.layer_norm(x, (WIDTH,), p[f"{name}.weight"], p[f"{name}.bias"], 1e-5)

        def conv1d(x, name):
            return low_linear(x, p[f"{name}.weight"].t(), p[f"{name}.bias"], low)

        x = (p["transformer.wte.weight"][batch[0]] + p["transformer.wpe.weight"]).flatten(0, 1)
        for layer in range(LAYERS):
            block = f"transformer.h.{layer}"
            h = conv1d(norm(x, f"{block}.ln_1"), f"{block}.attn.c_attn")
            x = x + conv1d(low_attention(*h.chunk(3, 1), WINDOW, low, True), f"{block}.attn.c_proj")
            h = F.gelu(conv1d(norm(x, f"{block}.ln_2"), f"{block}.mlp.c_fc"), approximate="tanh")
            x = x + conv1d(h, f"{block}.mlp.c_proj")
        return low_linear(norm(x, "transformer.ln_f"), p["transformer.wte.weight"], None, low)


class BertCase(Gpt2Case):
    model_kind = "bert"

    def __init__(self, options, dataset):
        super().__init__(options, dataset)
        self.batches = [(batch[0], *reference.masked(batch[0], self.words, k * STREAMS * WINDOW, SEED, epoch=0))
                        for k, batch in enumerate(self.batches)]

    def module(self):
        return reference.bert_module(self.vocabulary(), WIDTH, LAYERS, HEADS, WINDOW).eval()

    def vocabulary(self):
        return self.words + 1

    def rate(self):
        return 0.5

    def tensors(self, batch):
        original, shown, places = batch
        rest = torch.zeros(STREAMS, WINDOW - places.shape[1], dtype=torch.int64)
        return {"tokens": shown, "target": original, "masked": torch.cat([places, rest], 1), "words": torch.tensor(self.words)}

    def forward(self, batch, p, a):
        return reference.bert(p, HEADS, batch[1], batch[2], a)

    def wanted(self, batch):
        return batch[0].gather(1, batch[2]).flatten()

    def rows(self, batch):
        return (torch.arange(STREAMS)[:, None] * WINDOW + batch[2]).flatten()

    def scored(self, model, batch):
        return model(batch[1]).logits.flatten(0, 1)[self.rows(batch)]

    def low_forward(self, p, batch, low):
        def norm(x, name):
            return F.layer_norm(x.float(), (WIDTH,), p[f"{name}.weight"], p[f"{name}.bias"], 1e-12)

        def linear(x, name):
            return low_linear(x, p[f"{name}.weight"], p[f"{name}.bias"], low)

        names = (f"bert.embeddings.{n}_embeddings.weight" for n in ("word", "token_type", "position"))
        words, segments, positions = (p[name] for name in names)
        x = norm((words[batch[1]] + segments[0] + positions).flatten(0, 1), "bert.embeddings.LayerNorm")
        for layer in range(LAYERS):
            block = f"bert.encoder.layer.{layer}"
            parts = (linear(x, f"{block}.attention.self.{n}") for n in ("query", "key", "value"))
            h = linear(low_attention(*parts, WINDOW, low, False), f"{block}.attention.output.dense")
            x = norm(h + x, f"{block}.attention.output.LayerNorm")
            h = linear(F.gelu(linear(x, f"{block}.intermediate.dense")), f"{block}.output.dense")
            x = norm(h + x, f"{block}.output.LayerNorm")
        h = F.gelu(linear(x[self.rows(batch)], "cls.predictions.transform.dense"))
        h = norm(h, "cls.predictions.transform.LayerNorm")
        return low_linear(h, words, p["cls.predictions.bias"], low)


CASES = {"transformer-lm": Gpt2Case, "bert": BertCase}


def exported(case, model, options, folder):
    """The engine's state dict after it has loaded PyTorch's and made one step at a rate of 1e-30."""
    run = folder / "run-fp32"
    home = {"XDG_DATA_HOME": str(folder)}
    language_model_steps.train(case, model, "fp32", 1, folder)
    halftone.run(options.halftone, "export", str(run), "--to", "safetensors", "-o", str(folder / "out.safetensors"), env=home)
    return safetensors.torch.load_file(folder / "out.safetensors")


def compare_state_dicts(case, options, folder):
    """Compares names, shapes and values in both directions. Returns whether something is wrong. A 0 may have changed by
    the rate."""
    model = case.model()
    theirs, ours = model.state_dict(), exported(case, model, options, folder)
    same = {n: tuple(t.shape) for n, t in theirs.items()} == {n: tuple(t.shape) for n, t in ours.items()}
    other = case.module()
    other.load_state_dict(ours, strict=True)
    same = same and all(torch.allclose(t, ours[n], rtol=0, atol=1e-25) for n, t in theirs.items())
    print(f"{case.label()}: {len(theirs)} names and shapes {'are equal' if same else 'DIFFER'}; strict=True both ways", flush=True)
    return not same


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    halftone.add_binary_option(parser)
    task_reference.add_program_option(parser)
    shared = pathlib.Path(__file__).resolve().parents[3] / "shared" / "data"
    parser.add_argument("--tinyshakespeare", default=str(shared / "tinyshakespeare" / "input.txt"), help="the text")
    parser.add_argument("--wikitext2", default=str(shared / "wikitext-2"), help="folder of train, valid and test.txt.gz")
    parser.add_argument("--data", action="append", choices=list(DATA))
    parser.add_argument("--model", action="append", choices=list(CASES))
    parser.add_argument("--precision", action="append", choices=COMPARED)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--perturbations", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    cases = [CASES[kind](options, dataset) for dataset in options.data or DATA for kind in options.model or CASES]
    failed = 0
    for case in cases:
        with tempfile.TemporaryDirectory() as folder:
            failed += compare_state_dicts(case, options, pathlib.Path(folder))
    print("\n| data | model | precision | loss | skips | ours: loss | gradients, the worst | bound, median and widest | state "
          "| PyTorch's: loss | gradients | state |")
    print("| --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for case in cases:
        with tempfile.TemporaryDirectory() as folder:
            program = task_reference.Program(options.program, folder, halftone.DEVICE)
            failed += sum(language_model_steps.compare(case, preset, program) for preset in options.precision or COMPARED)
            failed += language_model_steps.compare_reader(case, pathlib.Path(folder))
    print(f"{failed} comparisons beyond their bounds")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
