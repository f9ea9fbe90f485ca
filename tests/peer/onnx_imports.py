#!/usr/bin/env python3
"""Reads ONNX models with the program and computes them two ways: onnxruntime runs the file, PyTorch the source and weights that
the program makes of it. `python3 onnx_imports.py PROGRAM FILE.onnx...`; needs torch, onnxruntime and numpy."""
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnxruntime
import torch


def run(*arguments):
    result = subprocess.run([str(each) for each in arguments], capture_output=True, text=True)
    if result.returncode:
        raise RuntimeError((result.stderr or result.stdout).strip().split("\n")[0][:300])
    return result.stdout


def sizes_of(session):
    """The shape of the input with a batch of 2, and whether it holds tokens."""
    given = session.get_inputs()[0]
    fixed = [each if isinstance(each, int) else None for each in given.shape]
    return given.name, [fixed[0] or 2] + [each or 12 for each in fixed[1:]], "int" in given.type


def check(program, file):
    session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    name, shape, tokens = sizes_of(session)
    rng = np.random.default_rng(0)
    x = rng.integers(0, 9, shape) if tokens else rng.standard_normal(shape).astype(np.float32)
    expected = session.run(None, {name: x})[0]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        text, source = folder / "model.network", folder / "model.py"
        begun = time.perf_counter()
        report = run(program, "network", file, "--to", "network", "-o", text)
        seconds = time.perf_counter() - begun
        run(program, "network", file, "--to", "pytorch", "-o", source)
        spec = importlib.util.spec_from_file_location("model", source)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        network = module.load(str(folder / "model.safetensors")).eval()
        lines = len(text.read_text().splitlines())
    with torch.no_grad():
        ours = network(torch.from_numpy(x))
    if "is left out: the loss takes scores" in report:
        ours = torch.softmax(ours, -1)
    error = np.abs(ours.numpy() - expected).max() / np.abs(expected).max()
    tensors = next(line for line in report.split("\n") if line.startswith("Tensors"))
    return f"{error:.1e} of the largest output; {lines} lines; {seconds:.2f} s; {tensors}"


if __name__ == "__main__":
    failed = 0
    for file in map(pathlib.Path, sys.argv[2:]):
        try:
            print(file.stem, check(sys.argv[1], file), flush=True)
        except Exception as error:
            failed += 1
            print(file.stem, "FAILED", error, flush=True)
    sys.exit(failed > 0)
