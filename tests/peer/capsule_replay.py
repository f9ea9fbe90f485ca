"""Capsules of steps: computed again by Halftone they are the same bits, and the PyTorch script of each finds the same first
non-finite tensor, or none, and comes to the same loss and norms of gradients.

A norm, and the loss, may differ by the bounds of the capsule: four times what they became when each weight was changed by one
rounding. Perturbed steps may agree by chance, so one rounding of the step's precision is always allowed. Where such a change makes
other gradients overflow (`overflow_varies`), so may another order of sums: norms that are finite on one side alone then settle
nothing, and the first tensor that we name must be one that PyTorch names for some change of the weights by one rounding. Small
batches through batch norm are badly conditioned: of ResNet-18 in fp32 with 8 pictures PyTorch's own
norms are up to 1.2e-3 off its f64 ones, ours 4.1e-7."""

import argparse
import json
import math
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

import numpy as np

import halftone

SMALL = {"dataset.kind": "glyphs", "dataset.train_limit": 64, "dataset.test_limit": 16, "epochs": 1, "batch_size": 16,
         "precision.preset": "amp-fp16", "device": "cpu"}
TEXT = {"dataset.kind": "text-generated", "batch_size": 8, "dataset.train_limit": 4000}
RNN = {**TEXT, "model.kind": "rnn-lm", "model.options.embedding": 32, "model.options.hidden": 32}
TRANSFORMER = {**TEXT, "model.kind": "transformer-lm", "model.options.width": 32}
BERT = {**TEXT, "model.kind": "bert", "model.options.width": 32, "model.options.layers": 2}
DLRM = {"dataset.kind": "clicks-generated", "model.kind": "dlrm", "batch_size": 64, "dataset.train_limit": 1024}
DRAWN = {"model.kind": "autoencoder", "batch_size": 8}
TOO_LARGE = 2.0 ** 40
# Settings of a run, and the number of its step.
CASES = {
    "lenet, scale too large": ({"model.kind": "lenet", "scaler.init_scale": 2 ** 22, "max_steps": 2}, 1),
    "lenet, second step": ({"model.kind": "lenet", "scaler.init_scale": 2 ** 23, "max_steps": 2}, 2),
    "lenet, 16-bit weights": ({"model.kind": "lenet", "precision.preset": "o2-fp16", "scaler.init_scale": 2 ** 24,
                               "max_steps": 1}, 1),
    "lenet, finite": ({"model.kind": "lenet", "max_steps": 2}, 2),
    "lenet, forced": ({"model.kind": "lenet", "max_steps": 2, "precision.force.conv1": "fp32",
                       "precision.force.fc2:linear": "bf16"}, 2),
    "lenet, forced in fp32": ({"model.kind": "lenet", "max_steps": 2, "precision.preset": "fp32",
                               "precision.force.linear": "fp16"}, 2),
    "mlp, scale too large": ({"dataset.kind": "spirals", "model.kind": "mlp", "scaler.init_scale": 2 ** 24,
                              "max_steps": 1}, 1),
    "mlp, learning rate too high": ({"dataset.kind": "spirals", "model.kind": "mlp", "optimizer.lr": 1e6,
                                     "schedule.kind": "constant", "scaler.init_scale": 64, "max_steps": 3}, 3),
    "mlp, fp32": ({"dataset.kind": "spirals", "model.kind": "mlp", "precision.preset": "fp32", "max_steps": 3}, 3),
    "resnet18, scale too large": ({"model.kind": "resnet18", "batch_size": 8, "scaler.init_scale": 2 ** 21,
                                   "max_steps": 1}, 1),
    # At the usual scale some perturbed steps overflow, so there is no bound.
    "resnet18, finite": ({"model.kind": "resnet18", "batch_size": 8, "scaler.init_scale": 1024, "max_steps": 1}, 1),
    "resnext50, scale too large": ({"model.kind": "resnext50", "batch_size": 4, "scaler.init_scale": TOO_LARGE,
                                    "max_steps": 1}, 1),
    "mobilenetv2, scale too large": ({"model.kind": "mobilenetv2", "batch_size": 4, "scaler.init_scale": TOO_LARGE,
                                      "max_steps": 1}, 1),
    # Gradients at the limit of FP16's range: rounding decides which one overflows first.
    "resnext50, at the edge": ({"model.kind": "resnext50", "batch_size": 4, "max_steps": 1}, 1),
    "mobilenetv2, at the edge": ({"model.kind": "mobilenetv2", "batch_size": 4, "max_steps": 1}, 1),
    "autoencoder, finite": ({**DRAWN, "max_steps": 2}, 2),
    "autoencoder, scale too large": ({**DRAWN, "scaler.init_scale": TOO_LARGE, "max_steps": 1}, 1),
    "rnn-lm, finite": ({**RNN, "max_steps": 3}, 3),
    "rnn-lm, accumulated": ({**RNN, "accumulate": 2, "max_steps": 3}, 3),
    "rnn-lm, gru in 16-bit weights": ({**RNN, "model.options.cell": "gru", "precision.preset": "o2-fp16", "max_steps": 3}, 3),
    "rnn-lm, scale too large": ({**RNN, "scaler.init_scale": TOO_LARGE, "max_steps": 1}, 1),
    "transformer-lm, finite": ({**TRANSFORMER, "max_steps": 2}, 2),
    "transformer-lm, bf16": ({**TRANSFORMER, "precision.preset": "amp-bf16", "max_steps": 2}, 2),
    "transformer-lm, forced": ({**TRANSFORMER, "max_steps": 2,
                                "precision.force.transformer.h.0.attn:scaled_dot_product_attention": "fp32"}, 2),
    "transformer-lm, scale too large": ({**TRANSFORMER, "scaler.init_scale": TOO_LARGE, "max_steps": 1}, 1),
    "bert, finite": ({**BERT, "max_steps": 2}, 2),
    "bert, scale too large": ({**BERT, "scaler.init_scale": TOO_LARGE, "max_steps": 1}, 1),
    "dlrm, finite": ({**DLRM, "max_steps": 2}, 2),
    "dlrm, scale too large": ({**DLRM, "scaler.init_scale": TOO_LARGE, "max_steps": 1}, 1),
}
ROUNDING = {"fp32": 2.0 ** -20, "amp-bf16": 2.0 ** -8}  # fp16: 2^-11
PERTURBATIONS = 16


def program(binary, *arguments, env):
    done = subprocess.run([binary, *map(str, arguments)], env=env, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, arguments))}: {done.stderr or done.stdout}")
    return done.stdout


def same_tensor(ours, theirs):
    if ours is None or theirs is None:
        return ours is None and theirs is None
    if ours["stage"] != theirs["stage"]:
        return False
    if ours["stage"] in ("state", "batch"):
        return ours["name"] == theirs["name"]
    return ours["module"] == theirs["module"] and ours["tensor"]["shape"] == theirs["shape"]


def description_of(capsule):
    with open(capsule, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        return json.loads(json.loads(file.read(size))["__metadata__"]["halftone_capsule"])


def perturbed(capsule, out, seed, rounding):
    """A copy in which each FP32 weight is changed by one rounding, up or down."""
    raw = bytearray(capsule.read_bytes())
    (size,) = struct.unpack("<Q", raw[:8])
    random = np.random.default_rng(seed)
    for name, entry in json.loads(raw[8:8 + size]).items():
        if not name.startswith("weights/") or entry["dtype"] != "F32":
            continue
        begin, end = (8 + size + at for at in entry["data_offsets"])
        values = np.frombuffer(raw[begin:end], "<f4").astype(np.float64)
        raw[begin:end] = (values * (1 + rounding * random.choice((-1, 1), values.size))).astype("<f4").tobytes()
    out.write_bytes(raw)


def run_script(binary, capsule, env):
    """PyTorch's results with the script of a capsule."""
    script = capsule.with_suffix(".py")
    program(binary, "replay", capsule, "--to", "pytorch", "-o", script, env=env)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{capsule.stem}: {done.stderr}")
    return json.loads(done.stdout)


def is_named_for_a_rounding(binary, capsule, ours, rounding, env):
    """Whether some change of the weights by one rounding makes this tensor PyTorch's first."""
    other = capsule.with_name("perturbed.capsule")
    for seed in range(1, PERTURBATIONS + 1):
        perturbed(capsule, other, seed, rounding)
        if same_tensor(ours, run_script(binary, other, env)["first"]):
            return True
    return False


def worst_norm(recorded, theirs, bound, rounding, overflow_varies):
    """The largest share of its bound that a norm differs by; infinite if only one is finite and must not be."""
    ours = {name: float(norm) for name, norm in recorded.items()}
    largest = max((norm for norm in ours.values() if math.isfinite(norm)), default=0.0)
    worst, where = 0.0, ""
    for name, norm in ours.items():
        other = float(theirs.get(name, "nan"))
        if math.isfinite(norm) != math.isfinite(other):
            if overflow_varies:
                continue
            return math.inf, name
        if not math.isfinite(norm) or norm == other:
            continue
        allowed = max(bound, rounding) * max(norm, other) + rounding ** 2 * largest
        if abs(norm - other) / allowed > worst:
            worst, where = abs(norm - other) / allowed, name
    return worst, where


def check(binary, name, folder, env):
    settings, step = CASES[name]
    run = folder / name.replace(" ", "-").replace(",", "")
    overrides = [part for key, value in {**SMALL, **settings}.items() for part in ("--set", f"{key}={value}")]
    program(binary, "train", *overrides, "--out", run, env=env)
    capsule = run.with_suffix(".capsule")
    program(binary, "skips", run, step, "--capsule", capsule, env=env)
    replay = json.loads(program(binary, "replay", capsule, "--json", env=env))
    theirs, ours, recorded = run_script(binary, capsule, env), replay["report"]["first"], description_of(capsule)
    rounding = ROUNDING.get(recorded["config"]["precision"]["preset"], 2.0 ** -11)
    varies = recorded["overflow_varies"]
    same, first = same_tensor(ours, theirs["first"]), "same first tensor"
    if not same:
        same = varies and is_named_for_a_rounding(binary, capsule, ours, rounding / 2, env)
        first = "another first tensor, which a rounding makes the same" if same else "ANOTHER FIRST TENSOR"
    worst, where = worst_norm(recorded["gradients"]["norms"], theirs["norms"], recorded["bound"], rounding, varies)
    losses = float(recorded["loss"]), float(theirs["loss"])
    allowed = max(rounding, recorded["loss_bound"]) * abs(losses[0])
    near = not all(map(math.isfinite, losses)) or abs(losses[0] - losses[1]) <= allowed
    print(f"{name}: {'same bits' if replay['identical'] else 'OTHER BITS'}; {first}: "
          f"{ours and (ours['stage'], ours['module'], ours['name'] or ours['op'], ours['tensor']['shape'])}"
          + ("" if first == "same first tensor" else f" and {theirs['first']}")
          + f"; losses {losses[0]:.6g} and {losses[1]:.6g}{'' if near else ' DIFFER'}; norms {worst:.2g} of the bound"
          + f" of {recorded['bound']:.2g}"
          + ("" if worst <= 1 else f" TOO FAR at {where}"), flush=True)
    return replay["identical"] and same and near and worst <= 1


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    halftone.add_binary_option(parser)
    parser.add_argument("--case", choices=CASES, action="append", help="one of the cases (default: all)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        env = {**os.environ, "XDG_DATA_HOME": str(folder / "data")}
        good = [check(os.path.abspath(arguments.halftone), case, folder, env) for case in arguments.case or CASES]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
