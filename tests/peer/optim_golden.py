#!/usr/bin/env python3
"""Writes golden/optim.safetensors.xz: PyTorch's optimizers and its GradScaler over 20 updates of two small tensors.

w.K              initial weights (K: 0, 1), on a grid of 2^-7, so that every type holds them
g.T.K            gradients of update T, on the same grid
NAME.DTYPE.w.K   weights after the last update; DTYPE f32 or f64
NAME.DTYPE.STATE.K   momentum_buffer, exp_avg, exp_avg_sq, max_exp_avg_sq, sum
NAME.DTYPE.first.K   weights after the first update
sparse.w, sparse.i.T, sparse.v.T   a table of (6, 3) with the places and values of its sparse gradients
sparse.DTYPE.w, sparse.DTYPE.STATE   the same under SparseAdam
sparse.NAME.DTYPE.w, sparse.NAME.DTYPE.STATE   and under the variants of SGD and Adagrad of the metadata's `sparse`
scaled.NAME.w.K, scaled.NAME.scales   the f32 run under a GradScaler, an inf in the gradients of some updates
late.NAME.DTYPE.w.K, late.NAME.DTYPE.STATE.K   under a GradScaler, tensor 1 without a gradient in some updates, the first
                 among them; its first gradient comes in a skipped one. STATE as above, or step: the updates applied to it

The metadata's `variants` is the list of settings as JSON; `scaler` holds the scaler's settings and the spoiled updates,
`late` the updates in which tensor 1 has no gradient and the spoiled ones.
Learning rates are powers of two: they are the same number in f32 and f64.
"""

import json
import sys

import torch

import golden_file

UPDATES = 20
SHAPES = ((5,), (3, 4))
VARIANTS = (
    {"name": "sgd", "kind": "sgd", "lr": 2**-4},
    {"name": "sgd_decay", "kind": "sgd", "lr": 2**-4, "weight_decay": 0.01},
    {"name": "sgd_momentum", "kind": "sgd", "lr": 2**-4, "momentum": 0.9, "weight_decay": 0.0005},
    {"name": "sgd_dampening", "kind": "sgd", "lr": 2**-4, "momentum": 0.9, "dampening": 0.3},
    {"name": "sgd_nesterov", "kind": "sgd", "lr": 2**-4, "momentum": 0.9, "weight_decay": 0.01, "nesterov": True},
    {"name": "adamw", "kind": "adamw", "lr": 2**-7},
    {"name": "adamw_no_decay", "kind": "adamw", "lr": 2**-7, "weight_decay": 0.0},
    {"name": "adamw_other", "kind": "adamw", "lr": 2**-7, "beta1": 0.8, "beta2": 0.95, "eps": 1e-3, "weight_decay": 0.1},
    {"name": "adamw_amsgrad", "kind": "adamw", "lr": 2**-7, "amsgrad": True, "beta2": 0.9},
    {"name": "adam", "kind": "adam", "lr": 2**-7},
    {"name": "adam_decay", "kind": "adam", "lr": 2**-7, "weight_decay": 0.1},
    {"name": "adam_amsgrad", "kind": "adam", "lr": 2**-7, "weight_decay": 0.01, "amsgrad": True, "beta2": 0.9},
    {"name": "adagrad", "kind": "adagrad", "lr": 2**-4},
    {"name": "adagrad_other", "kind": "adagrad", "lr": 2**-4, "lr_decay": 0.1, "weight_decay": 0.1,
     "initial_accumulator_value": 0.5, "eps": 1e-3},
)
SCALER = {"init_scale": 1024.0, "growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 3, "spoiled": [4, 5, 11]}

SPARSE = (
    {"name": "sgd", "kind": "sgd", "lr": 2**-4},
    {"name": "sgd_momentum", "kind": "sgd", "lr": 2**-4, "momentum": 0.9},
    {"name": "sgd_dampening", "kind": "sgd", "lr": 2**-4, "momentum": 0.9, "dampening": 0.3},
    {"name": "sgd_nesterov", "kind": "sgd", "lr": 2**-4, "momentum": 0.9, "nesterov": True},
    {"name": "adagrad", "kind": "adagrad", "lr": 2**-4},
    {"name": "adagrad_other", "kind": "adagrad", "lr": 2**-4, "lr_decay": 0.1, "initial_accumulator_value": 0.5,
     "eps": 1e-3},
)
LATE = {"absent": [0, 1, 2, 9, 10], "spoiled": [3, 6]}
STATES = ("momentum_buffer", "exp_avg", "exp_avg_sq", "max_exp_avg_sq", "sum")


def make_optimizer(variant, weights):
    settings = {k: v for k, v in variant.items() if k not in ("name", "kind")}
    if variant["kind"] == "sgd":
        return torch.optim.SGD(weights, **settings)
    if variant["kind"] == "adagrad":
        return torch.optim.Adagrad(weights, **settings)
    betas = (settings.pop("beta1", 0.9), settings.pop("beta2", 0.999))
    return {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[variant["kind"]](weights, betas=betas, **settings)


def draw(generator):
    return [torch.randint(-128, 128, shape, generator=generator) / 128 for shape in SHAPES]


def run(variant, start, grads, dtype, out):
    weights = [w.to(dtype, copy=True).requires_grad_() for w in start]
    optimizer = make_optimizer(variant, weights)
    prefix = f"{variant['name']}.{'f64' if dtype == torch.float64 else 'f32'}"
    for t, gradients in enumerate(grads):
        for w, g in zip(weights, gradients):
            w.grad = g.to(dtype)
        optimizer.step()
        if t == 0:
            out.update({f"{prefix}.first.{k}": w.detach().clone() for k, w in enumerate(weights)})
    for k, w in enumerate(weights):
        out[f"{prefix}.w.{k}"] = w.detach().clone()
        for name in STATES:
            if optimizer.state[w].get(name) is not None:
                out[f"{prefix}.{name}.{k}"] = optimizer.state[w][name].clone()


def run_late(variant, start, grads, dtype, out):
    weights = [w.to(dtype, copy=True).requires_grad_() for w in start]
    optimizer = make_optimizer(variant, weights)
    scaler = torch.amp.GradScaler("cpu", init_scale=SCALER["init_scale"])
    scaler.scale(torch.zeros(()))
    for t, gradients in enumerate(grads):
        for w, g in zip(weights, gradients):
            w.grad = (g * scaler.get_scale()).to(dtype)
        if t in LATE["absent"]:
            weights[1].grad = None
        if t in LATE["spoiled"]:
            weights[0].grad[2] = torch.inf
        scaler.step(optimizer)
        scaler.update()
    prefix = f"late.{variant['name']}.{'f64' if dtype == torch.float64 else 'f32'}"
    for k, w in enumerate(weights):
        out[f"{prefix}.w.{k}"] = w.detach().clone()
        for name in (*STATES, "step"):
            if optimizer.state[w].get(name) is not None:
                out[f"{prefix}.{name}.{k}"] = optimizer.state[w][name].clone()


def run_sparse(generator, out):
    """Four places per update, sometimes the same one twice. Update 7 has none."""
    start = torch.randint(-128, 128, (6, 3), generator=generator) / 128
    places = [torch.randint(0, 6, (0 if t == 7 else 4,), generator=generator) for t in range(UPDATES)]
    values = [torch.randint(-128, 128, (len(p), 3), generator=generator) / 128 for p in places]
    out["sparse.w"] = start
    for t, (p, v) in enumerate(zip(places, values)):
        out[f"sparse.i.{t}"], out[f"sparse.v.{t}"] = p.double(), v

    def run_table(make, dtype, prefix):
        table = start.to(dtype, copy=True).requires_grad_()
        optimizer = make([table])
        for p, v in zip(places, values):
            table.grad = torch.sparse_coo_tensor(p[None], v.to(dtype), (6, 3))
            optimizer.step()
        out[f"{prefix}.w"] = table.detach().clone()
        for state in STATES:
            if optimizer.state[table].get(state) is not None:
                out[f"{prefix}.{state}"] = optimizer.state[table][state].to_dense().clone()

    for dtype, name in ((torch.float32, "f32"), (torch.float64, "f64")):
        run_table(lambda weights: torch.optim.SparseAdam(weights, lr=2**-7), dtype, f"sparse.{name}")
        for variant in SPARSE:
            run_table(lambda weights, v=variant: make_optimizer(v, weights), dtype, f"sparse.{variant['name']}.{name}")


def run_scaled(variant, start, grads, out):
    weights = [w.clone().requires_grad_() for w in start]
    optimizer = make_optimizer(variant, weights)
    settings = {k: v for k, v in SCALER.items() if k != "spoiled"}
    scaler = torch.amp.GradScaler("cpu", **settings)
    scaler.scale(torch.zeros(()))
    scales = []
    for t, gradients in enumerate(grads):
        for w, g in zip(weights, gradients):
            w.grad = g * scaler.get_scale()
        if t in SCALER["spoiled"]:
            weights[1].grad[2, 1] = torch.inf
        scaler.step(optimizer)
        scaler.update()
        scales.append(scaler.get_scale())
    prefix = f"scaled.{variant['name']}"
    out.update({f"{prefix}.w.{k}": w.detach().clone() for k, w in enumerate(weights)})
    out[f"{prefix}.scales"] = torch.tensor(scales)


def main():
    generator = torch.Generator().manual_seed(17)
    start = draw(generator)
    grads = [draw(generator) for _ in range(UPDATES)]
    out = {f"w.{k}": w.clone() for k, w in enumerate(start)}
    out.update({f"g.{t}.{k}": g for t, gradients in enumerate(grads) for k, g in enumerate(gradients)})
    for variant in VARIANTS:
        for dtype in (torch.float32, torch.float64):
            run(variant, start, grads, dtype, out)
            run_late(variant, start, grads, dtype, out)
        run_scaled(variant, start, grads, out)
    run_sparse(generator, out)
    metadata = {"variants": json.dumps(VARIANTS), "scaler": json.dumps(SCALER), "late": json.dumps(LATE),
                "sparse": json.dumps(SPARSE), "torch": torch.__version__}
    path = golden_file.write_tensors("optim", out, metadata)
    print(f"{len(out)} tensors, {path.stat().st_size / 1e3:.1f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
