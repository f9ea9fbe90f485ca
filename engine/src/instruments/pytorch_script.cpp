#include "instruments/pytorch_script.h"

namespace engine {

const char* const pytorch_script = R"PY(
import contextlib
import json
import math
import os
import struct
import sys

import torch
from torch import nn
from torch.nn import functional as F

DTYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
          "I64": torch.int64, "I32": torch.int32, "U8": torch.uint8, "BOOL": torch.bool}


def read_capsule(path):
    """Tensors by name, and the description."""
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
        data = bytearray(file.read())
    metadata = header.pop("__metadata__")
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        values = torch.frombuffer(data[begin:end] or bytearray(8), dtype=DTYPES[entry["dtype"]])
        tensors[name] = values[:math.prod(entry["shape"])].reshape(entry["shape"]).clone()
    return tensors, json.loads(metadata["halftone_capsule"])


class Mlp(nn.Module):
    def __init__(self, weights):
        super().__init__()
        self.count = sum(name.endswith(".weight") for name in weights)
        for i in range(1, self.count + 1):
            outputs, inputs = weights[f"fc{i}.weight"].shape
            setattr(self, f"fc{i}", nn.Linear(inputs, outputs))

    def forward(self, x):
        x = torch.flatten(x, 1)
        for i in range(1, self.count + 1):
            x = getattr(self, f"fc{i}")(x)
            if i < self.count:
                x = F.relu(x)
        return x


class LeNet(nn.Module):
    def __init__(self, weights):
        super().__init__()
        self.conv1 = nn.Conv2d(weights["conv1.weight"].shape[1], 6, 5)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(weights["fc1.weight"].shape[1], 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, weights["fc3.weight"].shape[0])

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = torch.flatten(x, 1)
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))


def resnet(kind, weights):
    import torchvision
    model = getattr(torchvision.models, kind)(num_classes=weights["fc.weight"].shape[0])
    outputs, inputs, side, _ = weights["conv1.weight"].shape
    if side == 3:  # the stem for CIFAR
        model.conv1 = nn.Conv2d(inputs, outputs, 3, 1, 1, bias=False)
        model.maxpool = nn.Identity()
    return model


def twin(weights):
    model = {"mlp": Mlp, "lenet": LeNet}[KIND](weights) if KIND in ("mlp", "lenet") else resnet(KIND, weights)
    model.load_state_dict(weights, strict=False)
    model = model.to(DEVICE)
    if WEIGHTS == "fp16":
        model.half()
        if BATCH_NORM == "fp32":
            for module in model.modules():
                if isinstance(module, nn.modules.batchnorm._BatchNorm):
                    module.float()
    return model.train()


class Trace:
    """Non-finite tensors in the order in which they come up."""

    def __init__(self, model):
        self.found = []
        for name, module in model.named_modules():
            if not list(module.children()):
                module.register_forward_hook(self.forward_hook(name))
        for name, parameter in model.named_parameters():
            parameter.register_hook(self.gradient_hook(name.rpartition(".")[0], name + ".grad"))

    def see(self, stage, module, name, tensor):
        bad = ~torch.isfinite(tensor)
        if bad.any():
            index = bad.nonzero()[0].tolist()
            self.found.append({"stage": stage, "module": module, "name": name,
                               "dtype": str(tensor.dtype).removeprefix("torch."), "shape": list(tensor.shape),
                               "bad": int(bad.sum()), "index": index, "value": str(tensor[tuple(index)].item())})

    def gradient_hook(self, module, name):
        return lambda gradient: self.see("backward", module, name, gradient)

    def forward_hook(self, name):
        def hook(module, inputs, output):
            self.see("forward", name, "", output)
            if output.requires_grad:
                output.register_hook(self.gradient_hook(name, "gradient of its output"))
        return hook

    def first(self, loss):
        """Of the forward pass only if it reaches the loss."""
        stages = ("forward",) if not math.isfinite(loss) else ("backward",)
        return next((each for each in self.found if each["stage"] in stages), None)


def fields_of(tensors, description, batch):
    """Input and target. Pictures lie as N, H, W, C."""
    x = target = None
    for field in description["fields"]:
        tensor = tensors[f"batch/{batch}/{field['name']}"].to(DEVICE)
        if field["kind"] == "image":
            x = tensor.permute(0, 3, 1, 2)
        elif field["kind"] == "features":
            x = tensor
        elif field["kind"] in ("label", "value"):
            target = tensor
    return x, target


def loss_of(output, target):
    return F.mse_loss(output, target) if target.is_floating_point() else F.cross_entropy(output, target)


def main():
    path = CAPSULE if os.path.isabs(CAPSULE) else os.path.join(os.path.dirname(os.path.abspath(__file__)), CAPSULE)
    tensors, description = read_capsule(path)
    weights = {name.removeprefix("weights/"): tensor for name, tensor in tensors.items() if name.startswith("weights/")}
    model = twin(weights)
    trace = Trace(model)
    low = {"fp16": torch.float16, "bf16": torch.bfloat16}.get(AUTOCAST)
    losses = []
    for batch in range(len(description["batches"])):
        x, target = fields_of(tensors, description, batch)
        trace.see("batch", "", "input", x)
        if target.is_floating_point():
            trace.see("batch", "", "target", target)
        region = torch.autocast(DEVICE, dtype=low) if low else contextlib.nullcontext()
        with region:
            output = model(x.half() if WEIGHTS == "fp16" else x)
            loss = loss_of(output.float() if MASTERS else output, target)
        losses.append(loss.item())
        (loss / ACCUMULATE * SCALE).backward()
    loss = sum(losses) / len(losses)
    bad_weights = [name for name, tensor in weights.items() if tensor.is_floating_point() and not tensor.isfinite().all()]
    batch = next((each for each in trace.found if each["stage"] == "batch"), None)
    first = {"stage": "state", "name": bad_weights[0]} if bad_weights else batch or trace.first(loss)
    print(json.dumps({"torch": torch.__version__, "device": DEVICE, "loss": loss if math.isfinite(loss) else str(loss),
                      "loss_scale": SCALE, "first": first}))


if __name__ == "__main__":
    sys.exit(main())
)PY";

}  // namespace engine
