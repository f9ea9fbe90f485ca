"""Runs the halftone program for the comparisons: its catalogs, its single operations, its training runs."""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile

import safetensors.torch
import torch

DTYPES = {"float64": torch.float64, "float32": torch.float32, "float16": torch.float16,
          "bfloat16": torch.bfloat16}
DEVICE = "cpu"
LOW = {"fp16": torch.float16, "bf16": torch.bfloat16}


def default_binary():
    root = pathlib.Path(__file__).resolve().parents[2]
    return str(root / "build" / "release" / "halftone")


class _SetDevice(argparse.Action):
    def __call__(self, parser, namespace, value, option_string=None):
        global DEVICE
        DEVICE = value


def add_binary_option(parser):
    """--halftone, the program, and --device, where it computes."""
    parser.add_argument("--halftone", default=default_binary(), help="the program (default: the release build)")
    parser.add_argument("--device", action=_SetDevice, help="where it computes: cpu (default) or cuda")


def add_share_option(parser):
    """--share, for processes that share the ops."""
    parser.add_argument("--share", default="1/1", help="of the ops: 2/4 is the second of four shares (default: all)")


def share_of(ops, share):
    """Every N-th item from the K-th on, for "K/N"."""
    number, count = map(int, share.split("/"))
    return ops[number - 1::count]


# The version with which the references were written; it can check every case.
PEER = (2, 15)


def what_peer_lacks(error):
    """Why an older PyTorch cannot check a case. Raises the error again if that is not the reason."""
    version = tuple(int(n) for n in torch.__version__.split(".")[:2])
    words = str(error)
    if version < PEER and ("not implemented" in words or "has no attribute" in words):
        return f"PyTorch {torch.__version__}: {words.splitlines()[0][:100]}"
    raise error


def run(binary, *arguments, timeout=None, env=None):
    """Standard output of one call. Raises an error with the program's own message if it fails."""
    if arguments[0] in ("train", "compare", "bench"):
        arguments = (*arguments, "--set", f"device={DEVICE}")
    result = subprocess.run([binary, *arguments], capture_output=True, text=True, timeout=timeout, check=False,
                            env={**os.environ, **(env or {})})
    if result.returncode != 0:
        raise RuntimeError(f"halftone {' '.join(arguments[:6])}: exit code {result.returncode}\n"
                           f"{result.stdout[-500:]}{result.stderr[-2000:]}")
    return result.stdout


def events(text):
    """The JSON lines of --json, as objects."""
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def op_catalog(binary):
    """{name: entry} of `halftone ops --json`."""
    catalog = json.loads(run(binary, "ops", "--json"))
    entries = catalog["ops"] if isinstance(catalog, dict) else catalog
    return {entry["name"]: entry for entry in entries}


def run_cases(binary, cases, folder=None):
    """Runs the cases through one `halftone op` process.

    A case is {"op", "tensors": {name: tensor}, "attrs", "autocast", "grad", "grad_grad"}; the answer is a list of
    ({name: tensor}, None) or (None, error text), one a case.
    """
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(folder or temporary)
        script = folder / "cases.jsonl"
        with script.open("w") as lines:
            for i, case in enumerate(cases):
                safetensors.torch.save_file(case["tensors"], folder / f"case{i}.safetensors")
                lines.write(json.dumps({
                    "op": case["op"], "in": str(folder / f"case{i}.safetensors"),
                    "out": str(folder / f"result{i}.safetensors"), "attrs": case["attrs"],
                    "autocast": case["autocast"], "grad": case.get("grad", True),
                    "grad_grad": case.get("grad_grad", False), "device": DEVICE}) + "\n")
        answers = events(run(binary, "op", "--script", str(script)))
        if len(answers) != len(cases):
            raise RuntimeError(f"{len(cases)} cases gave {len(answers)} lines")
        results = []
        for i, answer in enumerate(answers):
            if "error" in answer:
                results.append((None, answer["error"]))
            else:
                results.append((safetensors.torch.load_file(folder / f"result{i}.safetensors"), None))
        return results
