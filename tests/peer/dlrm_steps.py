#!/usr/bin/env python3
"""The recommendation model, one step at a time against PyTorch: each step starts from PyTorch's weights, on its batch, and the
loss and every gradient are compared, in fp32, amp-fp16 and amp-bf16. The engine's gradients of the tables are sparse.

The reference and the bound: dlrm_reference.py. PyTorch trains with Adagrad. In the middle of the amp-fp16 run one step has a
loss scale that overflows: it must be skipped, with every weight as before. Names and shapes of the reference
implementation's state_dict must be those of a checkpoint of `halftone train`, both ways.
"""

import argparse
import dataclasses
import pathlib
import sys
import tempfile

import safetensors.torch
import torch
from torch.nn import functional as F

from dlrm_reference import dlrm_step
import halftone
from peer_models import Dlrm
import task_reference
from task_reference import PRECISIONS, weights_of

OVERFLOWING, LOSS_SCALE = 2.0**60, 2.0**12
COMPARED = ("fp32", "amp-fp16", "amp-bf16")
SEED, BATCH, NUMBERS, TABLES, ROWS, WIDTH = 1, 128, 13, 8, 100, 16
BOTTOM, TOP = [64, 32], [64, 32]


def batches(count):
    """Numbers, skewed ids, and clicks that a fixed rule decides."""
    generator = torch.Generator().manual_seed(SEED)
    own = torch.randn(TABLES, ROWS, generator=generator)
    for _ in range(count):
        dense = torch.randn(BATCH, NUMBERS, generator=generator)
        ids = (torch.rand(BATCH, TABLES, generator=generator)**3 * ROWS).long()
        logit = dense[:, :3].sum(1) + own[torch.arange(TABLES), ids].sum(1)
        yield dense, ids, (torch.rand(BATCH, generator=generator) < torch.sigmoid(logit)).long()


def model_of():
    torch.manual_seed(SEED)
    return Dlrm(NUMBERS, TABLES, ROWS, WIDTH, BOTTOM, TOP)


def model_settings():
    return {"kind": "dlrm", "options": {"bottom": BOTTOM, "top": TOP, "embedding": WIDTH}}


def settings():
    return {"dataset": {"kind": "clicks-generated", "tables": TABLES, "table_rows": ROWS}, "batch_size": BATCH,
            "threads": 1, "optimizer": {"kind": "adagrad"}, "model": model_settings()}


def precision_of(preset):
    """Gradients of the last layer reach 1, so a larger loss scale would make them overflow f16."""
    precision = PRECISIONS[preset]
    return dataclasses.replace(precision, scale=min(precision.scale, LOSS_SCALE))


def low_step(model, dense, ids, label, precision):
    """PyTorch's kernels on operands cast by hand as the CUDA column casts them, in f32 without a low type."""
    low = precision.low or torch.float32
    model.zero_grad()

    def layers(x, network, last_is_plain):
        for i in range(0, len(network), 2):
            x = F.linear(x, network[i].weight.to(low), network[i].bias.to(low))
            x = x if last_is_plain and i == len(network) - 2 else F.relu(x)
        return x

    x = layers(dense.to(low), model.bot_l, False)
    vectors = [F.embedding(ids[:, t], table.weight) for t, table in enumerate(model.emb_l)]
    joined = torch.stack([x.float(), *vectors], 1)
    products = torch.bmm(joined.to(low), joined.transpose(1, 2).to(low))
    i, j = torch.tril_indices(joined.shape[1], joined.shape[1], -1)
    logits = layers(torch.cat([x, products[:, i, j]], 1), model.top_l, True)
    loss = F.binary_cross_entropy_with_logits(logits.float(), label.float()[:, None])
    (loss * precision.scale).backward()
    return float(loss.detach()), {n: p.grad / precision.scale for n, p in model.named_parameters()}, []


def module_loss(model, batch):
    dense, ids, label = batch
    return F.binary_cross_entropy_with_logits(model(dense.double(), ids), label.double()[:, None]), []


def agree(model, batch, exact):
    """Raises an error unless the network written out is PyTorch's module, in f64."""
    loss, gradients, _ = task_reference.module_step(model, lambda m: module_loss(m, batch))
    apart = max(float((exact.gradients[n] - g.to_dense()).norm() / g.to_dense().norm()) for n, g in gradients.items())
    if not max(apart, abs(exact.loss - loss)) <= 2.0**-36:
        raise RuntimeError(f"the network written out differs from PyTorch's module by {apart:.1e}")


def compared(preset, steps):
    precision, model = precision_of(preset), model_of()
    return task_reference.Compared(
        preset, precision, model, torch.optim.Adagrad(model.parameters(), lr=0.05), list(batches(steps)), settings(), OVERFLOWING,
        tensors=lambda batch: dict(zip(("dense", "ids", "label"), batch)),
        reference=lambda weights, batch, noise: dlrm_step(weights, *batch, precision, noise),
        peer=lambda batch: low_step(model, *batch, precision), agree=agree)


def compare_names(options, folder):
    """Checks that a checkpoint's tensors are the state_dict of the reference implementation, and that one can be
    loaded. Returns whether not."""
    model = model_of()
    start = folder / "start.safetensors"
    safetensors.torch.save_file(weights_of(model), start)
    fields = {"dataset.kind": "clicks-generated", "dataset.tables": TABLES, "dataset.table_rows": ROWS,
              "model.kind": "dlrm", "model.options.bottom": BOTTOM, "model.options.top": TOP,
              "model.options.embedding": WIDTH, "model.init_from": start, "max_steps": 1, "optimizer.lr": 1e-30,
              "dataset.test_limit": 100, "precision.preset": "fp32", "optimizer.kind": "sparse-adam"}
    halftone.run(options.halftone, "train", *(w for f, v in fields.items() for w in ("--set", f"{f}={v}")),
                 "--out", str(folder / "run"), "--json")
    saved = safetensors.torch.load_file(folder / "run" / "checkpoint-1" / "weights.safetensors")
    model.load_state_dict(saved, strict=True)
    same = all(torch.equal(saved[name], w) for name, w in safetensors.torch.load_file(start).items())
    print(f"state_dict: {len(saved)} tensors, loaded with strict=True; as they were given: {same}")
    return not same


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    halftone.add_binary_option(parser)
    task_reference.add_program_option(parser)
    parser.add_argument("--precision", action="append", choices=COMPARED)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--perturbations", type=int, default=8, help="perturbed reference runs a step")
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(task_reference.STEPS_HEADER)
    with tempfile.TemporaryDirectory() as folder:
        program = task_reference.Program(options.program, folder, halftone.DEVICE)
        failed = sum(task_reference.compare_steps(compared(preset, options.steps), options.perturbations, program)
                     for preset in options.precision or COMPARED)
        failed += compare_names(options, pathlib.Path(folder))
    print(f"{failed} comparisons beyond their bounds")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
