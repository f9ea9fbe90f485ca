#!/usr/bin/env python3
"""The exponent histograms of a run against NumPy's of the same tensors, bin by bin.

Trains a few steps with a sample in each; `halftone microscope --json` gives the run's histograms. They are compared twice:

- with the tensors of `microscope --dump`, of all four kinds, and in FP32 with `--shadow`;
- with tensors that reach a file by another way: step 1's gradients by --dump-gradients, weights and updates of the later
  steps by the checkpoints around them. The dumped tensors of these must equal them too.

Exits with 1 on any difference.
"""

import argparse
import collections
import json
import pathlib
import sys
import tempfile

import ml_dtypes  # NumPy's type for BF16, which safetensors.numpy needs  # noqa: F401
import numpy as np
import safetensors.numpy

import halftone

FIRST, LAST = -48, 17
RUNS = {
    "mlp": {"dataset.kind": "spirals", "model.kind": "mlp"},
    "lenet": {"dataset.kind": "glyphs", "model.kind": "lenet"},
    "resnet18": {"dataset.kind": "glyphs", "model.kind": "resnet18", "dataset.train_limit": 64},
    "rnn-lm": {"dataset.kind": "text-generated", "model.kind": "rnn-lm"},
    "transformer-lm": {"dataset.kind": "text-generated", "model.kind": "transformer-lm"},
}
KINDS = ("gradients", "activations", "weights", "updates")
PRECISIONS = ("fp32", "amp-fp16", "amp-bf16", "o2-fp16", "pure-fp16")


def histogram(arrays):
    """Counts by NumPy's frexp, in the form of `microscope --json`."""
    values = np.abs(np.concatenate([array.reshape(-1).astype(np.float64) for array in arrays]))
    finite = values[np.isfinite(values) & (values > 0)]
    exponents = np.frexp(finite)[1] - 1
    return {"values": values.size, "zero": int((values == 0).sum()), "below": int((exponents < FIRST).sum()),
            "infinite": int(np.isinf(values).sum()), "nan": int(np.isnan(values).sum()),
            "largest": float(finite.max()) if finite.size else 0.0,
            "smallest": float(finite.min()) if finite.size else 0.0,
            "bins": np.bincount(np.minimum(exponents[exponents >= FIRST], LAST) - FIRST,
                                minlength=LAST - FIRST + 1).tolist()}


def by_layer(tensors):
    layers = collections.defaultdict(list)
    for name, tensor in tensors.items():
        layers[name.rpartition(".")[0]].append(tensor)
    return layers


def microscope(binary, run, step, kind, *more):
    found = json.loads(halftone.run(binary, "microscope", str(run), str(step), "--kind", kind, "--json", *more))
    assert found["step"] == step, found["step"]
    return found


def compare(what, found, tensors, scale=1.0):
    """The number of layers, and of those that differ."""
    layers = by_layer(tensors)
    reported = {each["layer"]: each for each in found["layers"]}
    wrong = 0
    for layer in sorted(set(layers) | set(reported)):
        if layer not in layers or layer not in reported:
            print(f"  {what}: {layer}: only {'reported' if layer in reported else 'in the file'}")
            wrong += 1
            continue
        wanted = histogram([tensor.astype(np.float64) * scale for tensor in layers[layer]])
        different = [key for key, value in wanted.items() if reported[layer][key] != value]
        if different:
            print(f"  {what}: {layer}: {', '.join(different)} differ")
            wrong += 1
    return len(layers), wrong


def weights_of(run, step):
    """The weights after a step; for 16-bit weights the f32 masters."""
    folder = run / f"checkpoint-{step}"
    weights = safetensors.numpy.load_file(folder / "weights.safetensors")
    masters = safetensors.numpy.load_file(folder / "optimizer.safetensors")
    return {name: masters.get(f"{name}.master", value) for name, value in weights.items()}


def dumped(folder, kind):
    return safetensors.numpy.load_file(folder / f"{kind}.safetensors")


def compare_dump(binary, run, step, folder):
    """Compares the run's own histograms with the tensors of the step computed again, and those of the shadow pass."""
    layers = wrong = 0
    shadow = folder / "shadow"
    for kind in KINDS:
        more = ("--shadow", "--dump", str(shadow)) if kind == KINDS[0] else ("--shadow",)
        computed = microscope(binary, run, step, kind, *more)
        if kind == KINDS[0]:
            microscope(binary, run, step, kind, "--dump", str(folder))
        for what, found, place in (("", microscope(binary, run, step, kind), folder), (", shadow", computed, shadow)):
            more, different = compare(f"{kind} of step {step}{what}", found, dumped(place, kind))
            layers, wrong = layers + more, wrong + different
    return layers, wrong


def compare_values(what, tensors, others):
    """The number of tensors whose values differ from those of the same name."""
    wrong = [name for name, values in tensors.items() if name not in others or not np.array_equal(
        values.astype(np.float32), others[name].astype(np.float32), equal_nan=True)]
    for name in wrong:
        print(f"  {what}: the dumped {name} has other values")
    return len(wrong)


def check(binary, name, precision, folder):
    settings = {**RUNS[name], "precision.preset": precision, "batch_size": 8, "max_steps": 3,
                "instruments.histograms_every": 1, "checkpoint.every_steps": 1, "checkpoint.keep": 10,
                "dataset.test_limit": 64, "optimizer.kind": "adam", "optimizer.lr": 0.001}
    options = [part for path, value in settings.items() for part in ("--set", f"{path}={value}")]
    run, gradient_file, dump = folder / "run", folder / "gradients.safetensors", folder / "dump"
    halftone.run(binary, "train", *options, "--dump-gradients", str(gradient_file), "--out", str(run), "--json")

    gradients = safetensors.numpy.load_file(gradient_file)
    gradients = {key.removeprefix("grad."): value for key, value in gradients.items() if key != "loss"}
    found = microscope(binary, run, 1, "gradients")
    layers, wrong = compare("gradients", found, gradients, found["loss_scale"])
    for step in (1, 2, 3):
        more, different = compare_dump(binary, run, step, dump)
        layers, wrong = layers + more, wrong + different
        if step == 1:
            unscaled = {key: value.astype(np.float32) / np.float32(found["loss_scale"])
                        for key, value in dumped(dump, "gradients").items()}
            wrong += compare_values("gradients", unscaled, gradients)
            continue
        before, after = weights_of(run, step - 1), weights_of(run, step)
        trained = {key: value for key, value in before.items() if key in gradients}
        for kind, tensors in (("weights", trained),
                              ("updates", {key: after[key].astype(np.float32) - value.astype(np.float32)
                                           for key, value in trained.items()})):
            more, different = compare(f"{kind} of step {step}", microscope(binary, run, step, kind), tensors)
            layers, wrong = layers + more, wrong + different
            wrong += compare_values(f"{kind} of step {step}", dumped(dump, kind), tensors)
    return layers, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    halftone.add_binary_option(parser)
    parser.add_argument("--models", nargs="+", default=list(RUNS), choices=list(RUNS))
    parser.add_argument("--precisions", nargs="+", default=list(PRECISIONS))
    arguments = parser.parse_args()
    total = failures = 0
    for name in arguments.models:
        for precision in arguments.precisions:
            with tempfile.TemporaryDirectory() as folder:
                layers, wrong = check(arguments.halftone, name, precision, pathlib.Path(folder))
            print(f"{name:15} {precision:10} {layers:4} histograms, {wrong} differ", flush=True)
            total, failures = total + layers, failures + wrong
    print(f"{total} histograms, {failures} differ")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
