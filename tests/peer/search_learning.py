#!/usr/bin/env python3
"""Compares what `halftone search-precision` finds for ResNet-18 on CIFAR-100 and for a transformer on tinyshakespeare, and
whether training with it comes to the same: three seeds with the `precision.force` that was found, in amp-fp16 and in fp32. Loss
(and accuracy) of the test part after the last step; means may be apart by twice the larger spread over seeds (learning.py).

ResNet-18 has the ImageNet stem, at 32 x 32: the CIFAR stem takes seven times as long.
"""

import argparse
import json
import pathlib
import sys
import tempfile

import cifar
import halftone
import learning

SHARED = pathlib.Path(__file__).resolve().parents[3] / "shared" / "data"
COMMON = {"device": "cpu", "schedule.kind": "constant", "checkpoint.best": "false", "checkpoint.at_end": "false"}
FOUND, OTHERS = "found", ("amp-fp16", "fp32")


def models(options):
    """For each model its settings and the metrics of its test part."""
    pictures = {"dataset.kind": "cifar100", "dataset.path": options.cifar, "dataset.normalize": "false",
                "dataset.augment": "false", "dataset.train_limit": 2500, "dataset.test_limit": 1000, "batch_size": 50,
                "model.kind": "resnet18", "model.options.stem": "imagenet", "optimizer.kind": "sgd", "optimizer.lr": 0.02,
                "optimizer.momentum": 0.9, "optimizer.weight_decay": 5e-4, "epochs": options.epochs}
    text = {"dataset.kind": "text-chars", "dataset.path": options.tinyshakespeare, "dataset.train_limit": 200000,
            "dataset.test_limit": 20000, "batch_size": 16, "model.kind": "transformer-lm", "model.options.layers": 2,
            "model.options.width": 128, "model.options.heads": 4, "optimizer.kind": "adamw", "optimizer.lr": 1e-3,
            "max_steps": options.steps, "epochs": 1000}
    return {"resnet18": (pictures, ("loss", "accuracy")), "transformer-lm": (text, ("loss",))}


def settings_of(fields):
    return [part for field, value in fields.items() for part in ("--set", f"{field}={value}")]


def search(options, fields, home):
    more = ("--tolerance", options.tolerance) if options.tolerance else ()
    found = json.loads(halftone.run(options.halftone, "search-precision", *settings_of(fields), *more, "--json",
                                    env={"XDG_DATA_HOME": str(home)}))
    print(f"    {len(found['fp32'])} of {found['operations']} operations stay in FP32, {found['trial_steps']} trials; error of "
          f"the gradients {found['error']:.3g}, allowed {found['tolerance']:.3g}, amp-fp16 {found['amp_error']:.3g}; after "
          f"{found['confirmed_steps']} steps, {found['skipped']} skipped, loss {found['loss']:.4f}, in fp32 "
          f"{found['fp32_loss']:.4f}\n"
          f"    precision.force: {json.dumps(found['force'])}", flush=True)
    return found["force"]


def result(options, fields, metrics, precision, force, seed, folder):
    preset = {"precision.preset": "amp-fp16" if precision == FOUND else precision}
    forced = {f"precision.force.{key}": kind for key, kind in force.items()} if precision == FOUND else {}
    done = learning.train(options.halftone, {**fields, **preset, **forced, "seed": seed}, folder / f"{precision}-{seed}", folder)
    return {metric: done[f"test_{metric}"] for metric in metrics}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    halftone.add_binary_option(parser)
    parser.add_argument("--cifar", default=str(cifar.default_folder()), help="folder of the CIFAR-100 pack")
    parser.add_argument("--tinyshakespeare", default=str(SHARED / "tinyshakespeare" / "input.txt"), help="the text")
    parser.add_argument("--model", action="append", choices=("resnet18", "transformer-lm"))
    parser.add_argument("--epochs", type=int, default=4, help="of ResNet-18's 2,500 pictures")
    parser.add_argument("--steps", type=int, default=400, help="of the transformer")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--scale", type=float, help="the first loss scale (default: the program's, at which the first step or two "
                        "may be skipped, which moves a run more than its types do)")
    parser.add_argument("--tolerance", help="largest error of the gradients (default: the program's)")
    options = parser.parse_args()
    known, failed = models(options), 0
    for name in options.model or known:
        fields, metrics = known[name]
        fields = {**COMMON, **fields, "threads": options.threads}
        if options.scale:
            fields["scaler.init_scale"] = options.scale
        with tempfile.TemporaryDirectory() as folder:
            home = pathlib.Path(folder)
            force = search(options, fields, home)
            found = learning.learn(name, options.seeds, {
                precision: (lambda seed, precision=precision: result(options, fields, metrics, precision, force, seed, home))
                for precision in (FOUND, *OTHERS)})
        learning.print_results({name: found}, {metric: None for metric in metrics})
        print("\n| means of | apart | spread | apart in spreads |\n| --- | ---: | ---: | ---: |")
        for metric in metrics:
            for other in OTHERS:
                failed += learning.judge(f"{name}, {metric}: {FOUND} and {other}", learning.values(found, FOUND, metric),
                                         learning.values(found, other, metric))
    print(f"{failed} beyond twice the spread")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
