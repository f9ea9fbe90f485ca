#!/usr/bin/env python3
"""network_pytorch.py PROGRAM [--black BLACK]: imports what `halftone network --to pytorch` writes for each template and each kind of layer,
and compares it with what `halftone network --json` says: names, shapes and order of the parameters, shape of the output. load() reads a
safetensors file of random weights with strict=True, and a step changes every parameter that is used. --black: a program that also checks the layout.
"""
import argparse
import importlib.util
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

import torch

# Lines of a body behind "image" (3 x 12 x 12), "features" (24), "tokens" (50 words) and "indices" (3 columns of 7 rows).
KINDS = {
    "Linear": "Linear(5, bias=false) from features", "Conv1d": "Flatten(2) from image\nConv1d(6, 3, stride=2, padding=1, groups=3)",
    "Conv2d": "Conv2d(6, [3, 5], padding=same, dilation=2, padding_mode=reflect) from image",
    "Conv3d": "Unsqueeze(2) from image\nConv3d(4, [1, 3, 3], bias=false)", "ConvTranspose1d": "Flatten(2) from image\nConvTranspose1d(4, 3, stride=2, output_padding=1)",
    "ConvTranspose2d": "ConvTranspose2d(4, 3, stride=2, padding=1) from image", "ConvTranspose3d": "Unsqueeze(2) from image\nConvTranspose3d(4, 3, dilation=2)",
    "BatchNorm1d": "BatchNorm1d(eps=1e-4) from features", "BatchNorm2d": "BatchNorm2d(momentum=0.2, affine=false) from image",
    "BatchNorm3d": "Unsqueeze(2) from image\nBatchNorm3d", "LayerNorm": "LayerNorm(dims=2, bias=false) from image", "RMSNorm": "RMSNorm(eps=1e-5) from image",
    "GroupNorm": "GroupNorm(3) from image", "InstanceNorm2d": "InstanceNorm2d(affine=true) from image", "PReLU": "PReLU(num_parameters=3) from image",
    **{name: f"{name} from image" for name in ("ReLU", "SiLU", "Sigmoid", "Tanh", "ELU", "SELU", "CELU", "Hardswish", "Hardsigmoid", "ReLU6", "Mish", "Softplus",
                                               "Softsign", "LogSigmoid", "Identity", "Abs", "Square", "Exp")},
    "GELU": "GELU(approximate=tanh) from image", "LeakyReLU": "LeakyReLU(0.2) from image", "Softmax": "Softmax(1) from image", "LogSoftmax": "LogSoftmax(-1) from image",
    "Activation": "Activation(log_sigmoid) from image", "Sqrt": "Square from image\nSqrt", "Log": "Exp from image\nLog",
    "MaxPool1d": "Flatten(2) from image\nMaxPool1d(3, stride=2, padding=1)", "MaxPool2d": "MaxPool2d([3, 2], dilation=2, ceil_mode=true) from image",
    "MaxPool3d": "Unsqueeze(2) from image\nMaxPool3d([1, 2, 2])", "AvgPool1d": "Flatten(2) from image\nAvgPool1d(4)",
    "AvgPool2d": "AvgPool2d(3, stride=2, padding=1, count_include_pad=false) from image", "AvgPool3d": "Unsqueeze(2) from image\nAvgPool3d([1, 3, 3])",
    "LPPool1d": "Flatten(2) from image\nLPPool1d(2, 3)", "LPPool2d": "LPPool2d(2, 3, stride=2) from image", "LPPool3d": "Unsqueeze(2) from image\nLPPool3d(2, [1, 2, 2])",
    "AdaptiveAvgPool1d": "Flatten(2) from image\nAdaptiveAvgPool1d(5)", "AdaptiveAvgPool2d": "AdaptiveAvgPool2d([2, 3]) from image",
    "AdaptiveAvgPool3d": "Unsqueeze(2) from image\nAdaptiveAvgPool3d(1)", "AdaptiveMaxPool1d": "Flatten(2) from image\nAdaptiveMaxPool1d(5)",
    "AdaptiveMaxPool2d": "AdaptiveMaxPool2d(2) from image", "AdaptiveMaxPool3d": "Unsqueeze(2) from image\nAdaptiveMaxPool3d(1)",
    "Dropout": "Dropout(0.5) from image", "Dropout1d": "Flatten(2) from image\nDropout1d(0.5)", "Dropout2d": "Dropout2d(0.5) from image",
    "Dropout3d": "Unsqueeze(2) from image\nDropout3d(0.5)", "DropPath": "DropPath(0.5) from image", "Flatten": "Flatten(1, end_dim=2) from image",
    "Unflatten": "Unflatten(1, [-1, 3]) from image", "Reshape": "Reshape(-1, 12) from image", "Permute": "Permute(0, 2, 3, 1) from image",
    "Transpose": "Transpose(1, -1) from image", "Squeeze": "Unsqueeze(1) from image\nSqueeze(1)", "Unsqueeze": "Unsqueeze(-1) from image",
    "Select": "Select(1, -1) from image", "Slice": "Slice(2, 1, -1, step=2) from image", "Split": "Split(3, 1, 4) from image", "Flip": "Flip(2, 3) from image",
    "Roll": "Roll([1, 2], [2, 3]) from image", "Upsample": "Upsample(1.5, mode=bilinear) from image", "PixelShuffle": "Conv2d(4, 1) from image\nPixelShuffle(2)",
    "PixelUnshuffle": "PixelUnshuffle(2) from image", "Pad": "Pad([1, 2], mode=reflect) from image", "Embedding": "Embedding(4) from tokens\nMean(1)",
    "EmbeddingTables": "EmbeddingTables(4) from indices", "EmbeddingBag": "EmbeddingBag(4, mode=sum) from indices", "Positions": "e: Embedding(4) from tokens\npos: Positions(20)\nAdd from above, e\nMean(1)",
    "RNN": "Flatten(2) from image\nr: RNN(4, bias=false)\nAdd from r, r", "GRU": "Flatten(2) from image\ng: GRU(4, num_layers=2, bidirectional=true)\nAbs from g.hidden",
    "LSTM": "Flatten(2) from image\nl: LSTM(4, carry=true)\nAdd from l.hidden, l.cell", "MultiheadAttention": "Flatten(2) from image\nMultiheadAttention(4, causal=true)",
    "Attention": "x = Flatten(2) from image\nAttention(2, causal=true) from x, x, x", "Rotary": "q = Flatten(2) from image\nUnflatten(2, [4, 36])\nRotary(base=100)\nFlatten(2)\nAttention(4) from above, q, q",
    "Where": "p: Parameter([12])\nWhere from image, image, p", "Parameter": "p: Parameter([3, 1, 12], init=ones)\nMul from image, p",
    "Buffer": "b: Buffer([12])\nAdd from image, b", "Constant": "c = Constant(2)\nMul from image, c", "Scale": "Scale(0.5) from image", "Clamp": "Clamp(-1, 1) from image",
    "Mean": "Mean([2, 3], keepdim=true) from image", "Sum": "Sum(1) from image", "Max": "Max([2, 3]) from image", "Normalize": "Normalize(1) from image",
    "CosineSimilarity": "CosineSimilarity(dim=2) from image, image", "Add": "Add from image, image, image", "Sub": "Sub from image, image", "Mul": "Mul from image, image",
    "Div": "Div from image, image", "Maximum": "Maximum from image, image, image", "Minimum": "Minimum from image, image", "MatMul": "MatMul from image, image",
    "Concat": "p: Parameter([1, 1, 12, 12])\nConcat(dim=1) from p, image", "Stack": "p: Parameter([12])\nStack(1) from image, p",
}
FORMS = {
    "a mask of heads": "x = Flatten(2) from image\nm: Parameter([4, 1, 3], init=ones)\nMultiheadAttention(4, mask=m) from x, x, x\nAttention(4, mask=m)",
    "a mask of samples": "x = Flatten(2) from image\nm = Transpose(1, 2)\nMatMul from x, m\nscores = Unsqueeze(1)\nMultiheadAttention(4, mask=scores) from x",
    "a block with a skip that some uses lack": "a: Residual(24) from features\nb: Residual(24)\nc: Residual(8)",
    "a module that runs again inside a container": "f: Linear(24) from features\nc: from f\n  x = f from in\n  Linear(24, weight=f.weight)\n  Add from above, x\nc from above",
    "a container that runs again with other layers": "c: from features\n  Linear(8) if in.width > 8\n  Abs\nd = Slice(1, 0, 8) from features\ne = c from d\nConcat from e, c",
    "values called as functions of the file": "x = Flatten(2) from image\nUnflatten(2, [4, 36])\nrotary: Rotary\nmask_of_heads = Flatten(2)\nm: Parameter([4, 1, 3], init=ones)\n"
                                              "attention: MultiheadAttention(4, mask=m) from mask_of_heads\nsum = Add from attention, mask_of_heads\nagain = Flatten(2) from rotary\nAdd from sum, again",
    **{f"a parameter {sizes} with {rule}": f"p: Parameter({sizes}, init={rule})\nMul from image, p" for rule in (
        "constant(0.1)", "uniform(0.5)", "normal(0.02)", "trunc_normal(0.02)", "xavier_uniform", "xavier_normal", "kaiming_uniform(fan_in, relu)",
        "kaiming_normal(fan_out, linear)", "orthogonal") for sizes in ("[12]", "[3, 12, 12]")},
    "names that modules of PyTorch have": "half: Linear(24) from features\ntype: Parameter([24])\nAdd from half, type\n\"a-b\": Linear(24)\nclass: Linear(24)\nT.x: Linear(3)",
}
HEAD = "block Residual(n):\n  fc: Linear(n)\n  fit: Linear(n, bias=false) from in if in.width != n\n  Add from fc, fit if in.width < 30\n  ReLU\n"
INPUTS = {"image": ("3x12x12", lambda: torch.rand(2, 3, 12, 12)), "features": ("24", lambda: torch.rand(2, 24)),
          "tokens": ("50", lambda: torch.randint(0, 50, (2, 9))), "indices": ("3x7", lambda: torch.randint(0, 7, (2, 3)))}
TEMPLATES = {"lenet": {"image": "1x28x28"}, "lstm": {"image": "1x28x28"}, "vit": {"image": "3x32x32"}, "unet": {"image": "3x64x64"}}
TYPES = {torch.float32: "F32", torch.int64: "I64"}


def text_of(kind_lines):
    """Lines that end with N x outputs, so that the text has no fault."""
    body = "".join(f"  {line}\n" for line in kind_lines.split("\n"))
    return f"{HEAD}network(image, features, tokens, indices):\n{body}  Flatten(1)\n  head: Linear(outputs)\n"


def write_safetensors(path, tensors):
    head, data = {}, b""
    for name, value in tensors.items():
        raw = value.contiguous().numpy().tobytes()
        head[name] = {"dtype": TYPES[value.dtype], "shape": list(value.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(head).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def imported(path):
    spec = importlib.util.spec_from_file_location("model", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def is_own_tensor(network, name):
    """Whether the tensor is one of a class that the file defines, and none of a layer of PyTorch."""
    owner = network
    for part in name.split(".")[:-1]:  # get_submodule() finds no module that is called as a function of its owner
        owner = owner._modules[part]
    return type(owner) is torch.nn.Module or type(owner).__module__ == "model" and type(owner).__name__ != "Positions"


class Checker:
    def __init__(self, program, black, folder):
        self.program, self.black, self.folder, self.wrong, self.count = program, black, folder, 0, 0

    def run(self, *arguments):
        return subprocess.run([self.program, "network", *arguments], capture_output=True, text=True)

    def check(self, what, text, inputs, outputs):
        self.count += 1
        file, model = self.folder / "a.network", self.folder / "model.py"
        file.write_text(text)
        sizes = [word for name, given in inputs.items() for word in ("--input", f"{name}={given[0]}")] + ["--outputs", str(outputs)]
        checked = self.run(str(file), *sizes, "--json")
        if not checked.stdout:
            raise RuntimeError(f"{what}: {checked.stderr}")
        said = json.loads(checked.stdout)
        done = self.run(str(file), *sizes, "--to", "pytorch", "-o", str(model))
        try:
            if done.returncode != 0:
                raise ValueError(f"exit code {done.returncode}: {done.stderr.strip()}")
            self.compare(said, imported(model), [given[1]() for given in inputs.values()])
            if self.black and subprocess.run([self.black, "-q", "--check", str(model)]).returncode != 0:
                raise ValueError("black lays it out otherwise")
        except Exception as error:  # whatever the generated file does
            self.wrong += 1
            print(f"{what}: {type(error).__name__}: {error}")

    def compare(self, said, model, values):
        torch.manual_seed(1)
        network = model.Network()
        tensors = network.state_dict(keep_vars=True)
        # A shared weight stands under each of its names.
        first = {id(value): name for name, value in reversed(tensors.items())}
        have = [[name, list(value.shape)] for name, value in tensors.items() if first[id(value)] == name
                and not name.endswith(("running_mean", "running_var", "num_batches_tracked"))]
        want = [[each["name"], each["sizes"]] for each in said["parameters"]]
        if have != want:
            raise ValueError(f"parameters {have}, not {want}")
        shape = " x ".join(["N", *map(str, network(*values).shape[1:])])
        if "T" not in said["shape"] and shape != said["shape"]:
            raise ValueError(f"gives {shape}, not {said['shape']}")
        # A parameter of its own begins with the values of its line.
        for each in said["parameters"]:
            rule, value = each["initial"], tensors[each["name"]].detach()
            kind, _, number = rule.partition("(")
            if not is_own_tensor(network, each["name"]) or each["fixed"]:
                continue
            expected = {"zeros": 0.0, "ones": 1.0, "constant": float(number[:-1]) if kind == "constant" else 0.0}.get(kind)
            if (value != expected).any() if expected is not None else not value.any():
                raise ValueError(f"{each['name']} begins with {value.flatten()[:3].tolist()}, not {rule}")
        weights = {name: torch.rand_like(value) + 0.1 if value.is_floating_point() else value for name, value in network.state_dict().items()}
        weights = {name: weights[first[id(value)]] for name, value in tensors.items()}
        write_safetensors(self.folder / "model.safetensors", weights)
        loaded = model.load(self.folder / "model.safetensors")
        for name, value in loaded.state_dict().items():
            if not torch.equal(value, weights[name]):
                raise ValueError(f"{name} was not loaded")
        loaded.train()(*values).square().mean().backward()
        if not any(value.grad is not None for value in loaded.parameters()):
            raise ValueError("no gradients")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--black")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        checker = Checker(arguments.program, arguments.black, pathlib.Path(folder))
        known = {each["name"] for each in json.loads(checker.run("--kinds", "--json").stdout)}
        for kind in sorted(known - set(KINDS)):
            print(f"{kind} is not tried")
        for kind, lines in {**KINDS, **FORMS}.items():
            checker.check(kind, text_of(lines), INPUTS, 5)
        for name in ("clicks", "lenet", "lstm", "mlp", "resnet18", "siamese", "unet", "vgg11", "vit", "resnet50", "resnext50", "mobilenetv2", "autoencoder"):
            text = checker.run("--template", name).stdout
            fields = {"clicks": ("features", "indices"), "mlp": ("features",), "siamese": ("features",)}.get(name, ("image",))
            inputs = dict.fromkeys(fields)
            for field in fields:
                size = TEMPLATES.get(name, {}).get(field, {"image": "3x64x64"}.get(field, INPUTS[field][0]))
                dims = [int(each) for each in size.split("x")]
                inputs[field] = (size, INPUTS[field][1] if field == "indices" else lambda dims=dims: torch.rand(2, *dims))
            checker.check(name, text, inputs, 1 if name == "clicks" else 10)
    print(f"{checker.count} networks, {checker.wrong} differ")
    return 1 if checker.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
