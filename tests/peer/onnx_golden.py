"""Writes golden/onnx_imports.safetensors.xz: small ONNX models, as both of PyTorch's exporters and onnx.helper make them, each
with an input and what PyTorch or onnxruntime gives for it. Needs torch, onnx, onnxscript and onnxruntime."""
import io
import tempfile
import warnings

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

import golden_file

warnings.filterwarnings("ignore")
torch.manual_seed(0)
torch.set_num_threads(1)


class Residual(nn.Module):
    def __init__(self, width, out, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(width, out, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(out)
        self.relu = nn.ReLU()
        self.conv2 = nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(out)
        self.downsample = None if stride == 1 else nn.Sequential(nn.Conv2d(width, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        return self.relu(y + (x if self.downsample is None else self.downsample(x)))


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 4, 3, 2, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(4)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        self.layer1 = nn.Sequential(Residual(4, 4, 1), Residual(4, 4, 1))
        self.layer2 = nn.Sequential(Residual(4, 6, 2), Residual(6, 6, 1))
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(6, 5)

    def forward(self, x):
        x = self.maxpool(self.bn1(self.conv1(x)).relu())
        return self.fc(self.avgpool(self.layer2(self.layer1(x))).flatten(1))


class LeNet(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Conv2d(1, 3, 5, padding=2), nn.BatchNorm2d(3), nn.Hardswish(), nn.MaxPool2d(2), nn.Conv2d(3, 6, 3, groups=3), nn.SiLU(),
                         nn.AvgPool2d(2), nn.Flatten(), nn.Linear(24, 8), nn.ReLU6(), nn.Dropout(0.25), nn.Linear(8, 4))


class Mlp(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 8), nn.GELU(), nn.Linear(8, 3), nn.Softmax(-1))


class Text(nn.Module):
    def __init__(self, kind=nn.LSTM, **arguments):
        super().__init__()
        self.emb = nn.Embedding(9, 4)
        self.rnn = kind(4, 3, batch_first=True, **arguments)
        self.fc = nn.Linear(6 if arguments.get("bidirectional") else 3, 4)

    def forward(self, x):
        return self.fc(self.rnn(self.emb(x))[0][:, -1])


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x):
        n, t, f = x.shape
        q, k, v = self.qkv(self.norm1(x)).reshape(n, t, 3, self.heads, f // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        y = nn.functional.scaled_dot_product_attention(q, k, v)
        x = x + self.proj(y.transpose(1, 2).reshape(n, t, f))
        return x + self.mlp(self.norm2(x))


class Vit(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch = nn.Conv2d(3, 8, 4, 4)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, 8))
        self.pos_embed = nn.Parameter(torch.zeros(1, 5, 8))
        self.blocks = nn.Sequential(Block(8, 2), Block(8, 2))
        self.norm = nn.LayerNorm(8)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls_token.expand(x.shape[0], -1, -1), x], 1) + self.pos_embed
        return self.head(self.norm(self.blocks(x))[:, 0])


def few_bits(model):
    """Numbers that pack well, and statistics that are not those of a new norm."""
    with torch.no_grad():
        for name, tensor in model.state_dict().items():
            if tensor.is_floating_point():
                low, high = (0.5, 1.5) if "var" in name or ("norm" in name or "bn" in name) and name.endswith("weight") else (-0.5, 0.5)
                tensor.copy_((torch.empty_like(tensor).uniform_(low, high) * 16).round() / 16)
    return model


def stripped(model):
    """The model without what is not read: places in sources, types between the nodes."""
    del model.graph.value_info[:]
    del model.metadata_props[:]
    for node in model.graph.node:
        node.doc_string = ""
        kept = [each for each in node.metadata_props if each.key == "pkg.torch.onnx.name_scopes"]
        del node.metadata_props[:]
        node.metadata_props.extend(kept)
    for each in list(model.graph.input) + list(model.graph.output) + list(model.graph.initializer):
        each.doc_string = ""
        del each.metadata_props[:]
    return model


def legacy(model, x, **options):
    out = io.BytesIO()
    torch.onnx.export(model, (x,), out, dynamo=False, input_names=["x"], dynamic_axes={"x": {0: "N"}}, **options)
    return stripped(onnx.load_model_from_string(out.getvalue()))


def dynamo(model, x, **options):
    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
        torch.onnx.export(model, (x,), file.name, dynamo=True, external_data=False, verbose=False, **options)
        return stripped(onnx.load(file.name))


def parts():
    """Layers that older exporters take apart, in opset 11, and windows with uneven pads."""
    rng = np.random.default_rng(0)
    tensors, nodes = [], []

    def constant(name, value):
        tensors.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def numbers(name, *shape):
        return constant(name, (rng.integers(-8, 9, shape) / 16).astype(np.float32))

    def scalar(value):
        return constant(f"s{len(tensors)}", np.float32(value))

    def node(op, *inputs, **attributes):
        nodes.append(helper.make_node(op, inputs, [f"v{len(nodes)}"], **attributes))
        return nodes[-1].output[0]

    x = node("Conv", "x", numbers("conv.weight", 4, 2, 3, 3), numbers("conv.bias", 4), strides=[2, 2], pads=[0, 0, 1, 1])
    x = node("Div", node("Mul", x, node("Clip", node("Add", x, scalar(3)), scalar(0), scalar(6))), scalar(6))
    x = node("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = node("ConvTranspose", x, numbers("up.weight", 4, 3, 2, 2), strides=[2, 2])
    x = node("Mul", x, node("Sigmoid", x))
    x = node("Resize", x, constant("roi", np.zeros(0, np.float32)), constant("scales", np.array([1, 1, 2, 2], np.float32)), mode="linear", coordinate_transformation_mode="half_pixel")
    x = node("Slice", x, constant("from", np.array([1])), constant("to", np.array([7])), constant("axes", np.array([2])), constant("steps", np.array([2])))
    x = node("Pad", x, constant("pads", np.array([0, 0, 1, 0, 0, 0, 0, 2])), mode="constant")
    x = node("Transpose", node("Reshape", x, constant("shape", np.array([0, 3, -1]))), perm=[0, 2, 1])
    d = node("Sub", x, node("ReduceMean", x, axes=[-1]))
    v = node("ReduceMean", node("Pow", d, scalar(2)), axes=[-1])
    x = node("Div", d, node("Sqrt", node("Add", v, scalar(1e-3))))
    x = node("Add", node("Mul", x, numbers("ln.weight", 3)), numbers("ln.bias", 3))
    x = node("Add", numbers("fc1.bias", 6), node("MatMul", x, numbers("fc1.weight_t", 3, 6)))
    x = node("Mul", node("Mul", x, node("Add", node("Erf", node("Div", x, scalar(np.sqrt(2)))), scalar(1))), scalar(0.5))
    x = node("Concat", x, node("LeakyRelu", node("Neg", x), alpha=0.1), axis=2)
    nodes.append(helper.make_node("Split", [x], ["a", "b"], axis=2, split=[4, 8]))
    x = node("Add", node("ReduceMean", "a", axes=[1, 2], keepdims=0), node("ReduceMax", "b", axes=[1, 2], keepdims=0))
    x = node("Unsqueeze", x, axes=[1])
    x = node("Gemm", x, numbers("fc2.weight", 1, 3), numbers("fc2.bias", 3))
    graph = helper.make_graph(nodes, "parts", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 2, 9, 9])],
                              [helper.make_tensor_value_info(x, TensorProto.FLOAT, ["N", 3])], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)], ir_version=8)


def main():
    tensors = {}

    def add(name, model, x, y=None):
        data = model.SerializeToString()
        if y is None:
            session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
            y = torch.from_numpy(session.run(None, {session.get_inputs()[0].name: x.numpy()})[0])
        tensors[name] = torch.frombuffer(bytearray(data), dtype=torch.uint8)
        tensors[name + ".x"], tensors[name + ".y"] = x.clone(), y.detach().contiguous()
        print(name, len(data), sorted({node.op_type for node in model.graph.node}))

    def image(*sizes):
        return (torch.empty(2, *sizes).uniform_(-1, 1) * 16).round() / 16

    def both(name, model, x):
        add(name + "_legacy", legacy(model.eval(), x), x)
        add(name + "_dynamo", dynamo(model.eval(), x), x)

    both("mlp", few_bits(Mlp()), image(6))
    both("lenet", few_bits(LeNet()), image(1, 12, 12))
    tokens = torch.arange(10).reshape(2, 5) % 9
    both("lstm", few_bits(Text(num_layers=2, bidirectional=True)), tokens)
    add("gru_legacy", legacy(few_bits(Text(nn.GRU)).eval(), tokens), tokens)
    both("vit", few_bits(Vit()), image(3, 8, 8))
    # With all that training needs: the result is that of the module in eval().
    for name, export in (("legacy", lambda m, x: legacy(m, x, training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False)),
                         ("dynamo", lambda m, x: dynamo(m, x, optimize=False))):
        resnet, x = few_bits(ResNet()), image(3, 32, 32)
        exported = export(resnet.train(), x)
        # The older exporter runs the module, which moves its statistics: the result is that of the file's.
        resnet.load_state_dict({each.name: torch.from_numpy(numpy_helper.to_array(each).copy()) for each in exported.graph.initializer}, strict=False)
        add(f"resnet_{name}", exported, x, resnet.eval()(x))
    add("parts", parts(), image(2, 9, 9))
    path = golden_file.write_tensors("onnx_imports", tensors)
    print(path, path.stat().st_size)


if __name__ == "__main__":
    main()
