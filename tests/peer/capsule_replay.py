"""Capsules of skipped steps: computed again by Halftone they are the same bits, and the PyTorch script of each finds
the same first non-finite tensor."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import halftone

SMALL = {"dataset.kind": "glyphs", "dataset.train_limit": 64, "dataset.test_limit": 16, "epochs": 1, "batch_size": 16,
         "precision.preset": "amp-fp16", "device": "cpu"}
# Settings of a run, and the number of its step.
CASES = {
    "lenet, scale too large": ({"model.kind": "lenet", "scaler.init_scale": 2 ** 22, "max_steps": 2}, 1),
    "lenet, second step": ({"model.kind": "lenet", "scaler.init_scale": 2 ** 23, "max_steps": 2}, 2),
    "lenet, 16-bit weights": ({"model.kind": "lenet", "precision.preset": "o2-fp16", "scaler.init_scale": 2 ** 24,
                               "max_steps": 1}, 1),
    "mlp, scale too large": ({"dataset.kind": "spirals", "model.kind": "mlp", "scaler.init_scale": 2 ** 24,
                              "max_steps": 1}, 1),
    "mlp, learning rate too high": ({"dataset.kind": "spirals", "model.kind": "mlp", "optimizer.lr": 1e6,
                                     "schedule.kind": "constant", "scaler.init_scale": 64, "max_steps": 3}, 3),
    "resnet18, scale too large": ({"model.kind": "resnet18", "batch_size": 8, "scaler.init_scale": 2 ** 21,
                                   "max_steps": 1}, 1),
}


def program(binary, *arguments, env):
    done = subprocess.run([binary, *map(str, arguments)], env=env, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, arguments))}: {done.stderr or done.stdout}")
    return done.stdout


def same_tensor(ours, theirs):
    """PyTorch is looked at module by module: an operation outside all modules is the gradient that reaches the next
    one, and a weight's gradient is seen in f32, after its cast."""
    if theirs is None or ours["stage"] != theirs["stage"]:
        return False
    if ours["stage"] == "backward" and ours["name"]:
        return ours["name"] == theirs["name"] and ours["tensor"]["shape"] == theirs["shape"]
    if ours["module"] and ours["module"] != theirs["module"]:
        return False
    return ours["tensor"]["shape"] == theirs["shape"]


def check(binary, name, folder, env):
    settings, step = CASES[name]
    run = folder / name.replace(" ", "-").replace(",", "")
    overrides = [part for key, value in {**SMALL, **settings}.items() for part in ("--set", f"{key}={value}")]
    program(binary, "train", *overrides, "--out", run, env=env)
    capsule, script = run.with_suffix(".capsule"), run.with_suffix(".py")
    program(binary, "skips", run, step, "--capsule", capsule, env=env)
    replay = json.loads(program(binary, "replay", capsule, "--json", env=env))
    program(binary, "replay", capsule, "--to", "pytorch", "-o", script, env=env)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{name}: {done.stderr}")
    theirs, ours = json.loads(done.stdout), replay["report"]["first"]
    same = ours is not None and same_tensor(ours, theirs["first"])
    print(f"{name}: {replay['report']['cause']}, {'same bits' if replay['identical'] else 'OTHER BITS'}; "
          f"{'same first tensor' if same else 'ANOTHER FIRST TENSOR'}: "
          f"{ours and (ours['stage'], ours['module'], ours['name'] or ours['op'], ours['tensor']['shape'])}"
          + ("" if same else f" and {theirs['first']}"))
    return replay["identical"] and same


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
