#!/usr/bin/env python3
"""network_onnx.py PROGRAM FORWARD: each template and each kind of layer as ONNX, fp32: onnx's checker accepts the file, and onnxruntime
computes from its initial weights what the engine computes, for two batch sizes. So does the model.py that PROGRAM writes. PROGRAM: halftone; FORWARD: onnx_forward (ninja onnx_forward).

The bound for an output is BOUND of its largest value: a few hundred sums in another order. Kinds of layers whose export is
refused are printed; REFUSED lists those that have no nodes.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy
import onnx
import onnx.numpy_helper
import onnxruntime
import safetensors.torch
import torch

import network_pytorch

BOUND = 2e-4
REFUSED = {"LPPool1d", "LPPool2d", "AdaptiveMaxPool1d"}
FIELDS = {"image": "image 3 12 12", "features": "features 24", "tokens": "tokens 9", "indices": "ids 3 7"}
SIDES = {"lenet": (1, 28), "lstm": (1, 28), "vit": (3, 32), "unet": (3, 64)}
TEMPLATES = {"clicks": ("features 24, ids 3 7", 1), "mlp": ("features 24", 10), "siamese": ("features 24", 10)}


def inputs_of(fields, rows, words):
    out = []
    for field in fields.split(", "):
        name, *sizes = field.split()
        sizes = [int(size) for size in sizes]
        if name == "ids":
            out.append(torch.randint(0, sizes[1], (rows, sizes[0])))
        elif name == "tokens":
            out.append(torch.randint(0, words, (rows, sizes[0])))
        else:
            out.append(torch.rand(rows, *sizes))
    return out


class Checker:
    def __init__(self, program, forward, folder):
        self.program, self.forward, self.folder, self.wrong, self.count, self.largest = program, forward, folder, 0, 0, 0.0

    def engine(self, text, fields, outputs, inputs):
        (self.folder / "settings.json").write_text(json.dumps({"model": {"kind": "file", "network": text.splitlines()}}))
        safetensors.torch.save_file({str(i): t for i, t in enumerate(inputs)}, self.folder / "in.safetensors")
        done = subprocess.run([self.forward, self.folder / "settings.json", fields, str(outputs), "fp32", self.folder / "in.safetensors",
                               self.folder / "out.safetensors", self.folder / "model.onnx"], capture_output=True, text=True)
        if done.returncode != 0:
            raise ValueError(done.stderr.strip())
        found = safetensors.torch.load_file(self.folder / "out.safetensors")
        return [found[str(i)] for i in range(len(found))]

    def pytorch(self, text, fields, outputs, inputs):
        """The generated modules with the weights of the ONNX file, in evaluation mode."""
        file, model = self.folder / "a.network", self.folder / "model.py"
        file.write_text(text)
        sizes = []
        for field in fields.split(", "):
            name, *numbers = field.split()
            given = {"ids": f"indices={'x'.join(numbers)}", "tokens": f"tokens={outputs}"}.get(name, f"{name}={'x'.join(numbers)}")
            sizes += ["--input", given]
        subprocess.run([self.program, "network", file, *sizes, "--outputs", str(outputs), "--to", "pytorch", "-o", model], check=True, capture_output=True)
        network = network_pytorch.imported(model).Network().eval()
        stored = {t.name: torch.from_numpy(onnx.numpy_helper.to_array(t).copy()) for t in onnx.load(self.folder / "model.onnx").graph.initializer}
        # A tied weight stands there once, and the counters of batch norms not at all.
        network.load_state_dict({name: stored[name] for name in network.state_dict() if name in stored}, strict=False)
        with torch.no_grad():
            return network(*inputs)

    def check(self, what, text, fields, outputs):
        self.count += 1
        try:
            torch.manual_seed(self.count)
            many = inputs_of(fields, 5, outputs)
            ours = self.engine(text, fields, outputs, many)
            onnx.checker.check_model(onnx.load(self.folder / "model.onnx"), full_check=True)
            session = onnxruntime.InferenceSession(self.folder / "model.onnx", providers=["CPUExecutionProvider"])
            states = [port.shape for port in session.get_inputs()[len(many):]]

            def run(inputs):
                fed = [*inputs, *(torch.zeros([len(inputs[0]) if isinstance(size, str) else size for size in shape]) for shape in states)]
                return session.run(None, {port.name: value.numpy() for port, value in zip(session.get_inputs(), fed, strict=True)})
            theirs = run(many)
            if [list(t.shape) for t in ours] != [list(t.shape) for t in theirs]:
                raise ValueError(f"shapes {[t.shape for t in theirs]}, not {[t.shape for t in ours]}")
            for a, b in zip(ours, theirs):
                apart = float(numpy.abs(a.numpy() - b).max()) / max(1e-6, float(a.abs().max()))
                self.largest = max(self.largest, apart)
                if not apart <= BOUND:
                    raise ValueError(f"{apart:.2g} of the largest value apart")
            generated = self.pytorch(text, fields, outputs, many).numpy()
            apart = float(numpy.abs(generated.reshape(ours[0].shape) - ours[0].numpy()).max()) / max(1e-6, float(ours[0].abs().max()))
            self.largest = max(self.largest, apart)
            if not apart <= BOUND:
                raise ValueError(f"model.py: {apart:.2g} of the largest value apart")
            few = [t[:2] for t in many]
            apart = float(numpy.abs(run(few)[0] - self.engine(text, fields, outputs, few)[0].numpy()).max())
            if not apart <= BOUND * max(1e-6, float(ours[0].abs().max())):
                raise ValueError(f"with two rows {apart:.2g} apart")
            if what in REFUSED:
                raise ValueError("is no longer refused")
        except Exception as error:  # whatever the file does
            if what in REFUSED and "cannot be exported to ONNX" in str(error):
                return
            self.wrong += 1
            print(f"{what}: {type(error).__name__}: {str(error)[:300]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("forward")
    parser.add_argument("--only", help="kinds and templates whose name begins with this")
    arguments = parser.parse_args()

    def wanted(name):
        return not arguments.only or name.startswith(arguments.only)
    with tempfile.TemporaryDirectory() as folder:
        checker = Checker(arguments.program, arguments.forward, pathlib.Path(folder))
        for kind, lines in {**network_pytorch.KINDS, **network_pytorch.FORMS}.items():
            if kind == "Buffer" or not wanted(kind):  # needs a file of weights
                continue
            # Inputs that a text does not read would be no inputs of the graph.
            used = [name for name in FIELDS if name in lines]
            text = network_pytorch.text_of(lines).replace("image, features, tokens, indices", ", ".join(used))
            checker.check(kind, text, ", ".join(FIELDS[name] for name in used), 50 if "tokens" in used else 5)
        names = ("clicks", "lenet", "lstm", "mlp", "resnet18", "siamese", "unet", "vgg11", "vit", "resnet50", "resnext50", "mobilenetv2", "autoencoder")
        for name in filter(wanted, names):
            text = subprocess.run([arguments.program, "network", "--template", name], capture_output=True, text=True, check=True).stdout
            channels, side = SIDES.get(name, (3, 64))
            fields, outputs = TEMPLATES.get(name, (f"image {channels} {side} {side}", 10))
            checker.check(name, text, fields, outputs)
    print(f"{checker.count} networks, {checker.wrong} wrong, at most {checker.largest:.1e} of the largest value apart")
    return 1 if checker.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
