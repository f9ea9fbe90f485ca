#!/usr/bin/env python3
"""Runs onnx's own node tests: each case becomes a network, whose result is compared with that of the case.
`python3 onnx_node_cases.py ONNX_CASES [OPERATOR...]`, the program of onnx_cases.cpp; needs onnx and numpy. Prints the counts and one line for each reason
to refuse; ends with 1 if a case is computed otherwise.

A case stands behind an input of features, whose numbers are its real tensors. In some operators the first dimension is the
batch, in others the case is one sample. A case without real tensors is computed while it is read."""
import collections
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

warnings.filterwarnings("ignore")

# The operators of the table in the handbook whose first dimension is that of samples; other inputs than the first are weights.
BATCHED = set("""Conv ConvTranspose Gemm BatchNormalization InstanceNormalization GroupNormalization MaxPool AveragePool LpPool GlobalAveragePool
GlobalMaxPool GlobalLpPool PRelu Resize Upsample DepthToSpace SpaceToDepth LSTM GRU RNN Attention""".split())
SAMPLE = set("""MatMul Einsum LayerNormalization RMSNormalization Relu LeakyRelu Elu Selu Celu Gelu Sigmoid Tanh HardSigmoid HardSwish Softplus Softsign Mish
Swish ThresholdedRelu Clip Softmax LogSoftmax Add Sub Mul Div Pow Sqrt Exp Log Neg Abs Erf Reciprocal Min Max Mean Sum Sin Cos Floor Ceil
Round Sign Mod Where Equal Less Greater LessOrEqual GreaterOrEqual And Or Not IsNaN Dropout ReduceMean ReduceSum ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2
ReduceLogSumExp ReduceSumSquare ReduceLogSum ArgMax CumSum TopK Reshape Flatten Transpose Squeeze Unsqueeze Expand Tile Concat Split Slice Trilu Pad
Gather GatherElements GatherND Shape Size Range Constant ConstantOfShape OneHot EyeLike Identity Cast CastLike""".split())
SHIFTED_AXIS = {"Softmax": -1, "LogSoftmax": -1, "Concat": None, "Split": 0, "Gather": 0, "GatherElements": 0, "ArgMax": 0, "TopK": -1,
                "LayerNormalization": -1, "RMSNormalization": -1, "Flatten": 1}
ALL_LIVE = set("Add Sub Mul Div Pow Min Max Mean Sum Mod Where Equal Less Greater LessOrEqual GreaterOrEqual Concat MatMul Attention".split())
ONE_OUTPUT = {"LayerNormalization", "RMSNormalization", "Dropout", "BatchNormalization"}


class Unfit(Exception):
    """The case is none of tensors, or has another form than this script makes."""


def real(array):
    return isinstance(array, np.ndarray) and array.dtype.kind == "f" or str(getattr(array, "dtype", "")) == "bfloat16"


def cases():
    from onnx.backend.test.case.node import collect_testcases
    for case in collect_testcases():
        nodes = case.model.graph.node
        if len(nodes) == 1 and not nodes[0].domain and nodes[0].op_type in BATCHED | SAMPLE:
            yield case


class Wrapped:
    """The case as a model of one input, features."""

    def __init__(self, case):
        self.nodes, self.tensors = [], []
        self.node = onnx.NodeProto()
        self.node.CopyFrom(case.model.graph.node[0])
        # Operators that nothing changed since have the number of an old set, which no exporter writes any more.
        self.opset = max(9, case.model.opset_import[0].version)
        inputs, outputs = case.data_sets[0]
        names = [each.name for each in case.model.graph.input]
        self.values = {name: np.asarray(value) for name, value in zip(names, inputs)}
        if any(isinstance(value, list) for value in inputs) or any(each.dtype.kind in "OSU" for each in self.values.values()):
            raise Unfit("strings or sequences")
        self.expected = [np.asarray(each) for each in outputs]
        self.op = self.node.op_type
        if "training" in case.name:
            raise Unfit("a step of training: its result is drawn, or that of the batch's statistics")
        self.names = list(dict.fromkeys(name for name in self.node.input if name))
        self.live = [name for name in self.names if real(self.values[name]) and self.values[name].size]
        if self.op == "Where":
            self.live = [name for name in self.names[1:] if real(self.values[name])]
        elif self.op not in ALL_LIVE:
            self.live = self.live[:1] if self.names and self.live[:1] == self.names[:1] else []
        if self.op in {"CastLike", "Shape", "Size", "EyeLike", "OneHot", "Range"}:
            self.live = []
        if self.op == "MatMul" and self.values[self.names[1]].ndim == 2:
            self.live = self.live[:1]
        if self.op == "Attention":
            mask = self.values.get(self.names[3]) if len(self.names) > 3 and self.node.input[3] == self.names[3] else None
            batched = mask is not None and real(mask) and mask.ndim == 4 and mask.shape[0] == self.values[self.names[0]].shape[0] > 1
            self.live = self.names[:4 if batched else 3]
        self.batched = self.op in BATCHED and bool(self.live)

    def constant(self, name, value):
        self.tensors.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def add(self, op, inputs, output, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [output], **attributes))
        return output

    def reshaped(self, value, sizes, output):
        return self.add("Reshape", [value, self.constant(output + "_sizes", np.array(sizes, np.int64))], output)

    def samples(self):
        first = self.values[self.live[0]] if self.live else None
        if not self.batched or first is None:
            return 1
        return first.shape[1] if self.op in {"LSTM", "GRU", "RNN"} else first.shape[0]

    def make(self):
        n = self.samples()
        parts = []
        for name in self.live:
            value = self.values[name].astype(np.float32)
            if self.op in {"LSTM", "GRU", "RNN"}:
                value = value.transpose(1, 0, 2)
            if self.batched and (value.ndim < 2 or value.shape[0] != n):
                raise Unfit("its first dimension is no batch")
            parts.append(value.reshape(n, -1))
        self.x = np.concatenate(parts, 1) if parts else np.zeros((1, 1), np.float32)
        at = 0
        rank = max([self.values[name].ndim for name in self.live], default=0)
        if not self.batched and self.op in ALL_LIVE:
            rank = max(self.values[name].ndim for name in self.names)
        for name, part in zip(self.live, parts):
            value = "features"
            if len(parts) > 1:
                value = self.add("Slice", ["features", self.constant(name + "_from", np.array([at])), self.constant(name + "_to", np.array([at + part.shape[1]])),
                                           self.constant(name + "_axis", np.array([1]))], name + "_flat")
                at += part.shape[1]
            shape = list(self.values[name].shape)
            if self.op in {"LSTM", "GRU", "RNN"}:
                self.reshaped(value, [-1, shape[0], shape[2]], name + "_turned")
                self.add("Transpose", [name + "_turned"], name, perm=[1, 0, 2])
            elif self.batched:
                self.reshaped(value, [-1] + shape[1:], name)
            else:
                self.reshaped(value, [-1] + [1] * (rank - len(shape) if self.op in ALL_LIVE else 0) + shape, name)
        if self.live and not self.batched:
            self.shift(rank)
        for name in self.names:
            if name not in self.live:
                self.constant(name, self.values[name].astype(np.float32) if real(self.values[name]) else self.values[name])
        if self.op in ONE_OUTPUT or self.op == "MaxPool" and len(self.expected) == 1:
            del self.node.output[1:]
        self.outputs()

    def shift(self, rank):
        """One dimension more in front."""
        attributes = {each.name: each for each in self.node.attribute}
        def up(value):
            return value + 1 if value >= 0 else value
        def put(name, value):
            if name in attributes:
                self.node.attribute.remove(attributes[name])
            self.node.attribute.append(helper.make_attribute(name, value))
        if self.op in SHIFTED_AXIS:
            usual = SHIFTED_AXIS[self.op] if self.opset >= 13 or self.op not in {"Softmax", "LogSoftmax"} else 1
            put("axis", up(attributes["axis"].i if "axis" in attributes else usual))
        shape = self.values[self.names[0]].shape
        axes_at = {"Slice": 3, "Pad": 3}.get(self.op, 1)
        if self.op.startswith("Reduce") or self.op in {"Squeeze", "Unsqueeze"}:
            usual = [i for i, size in enumerate(shape) if size == 1 or self.op.startswith("Reduce")]
            if "axes" in attributes:
                put("axes", [up(each) for each in attributes["axes"].ints])
            elif len(self.names) > 1 and self.values[self.names[1]].size:
                self.values[self.names[1]] = np.array([up(each) for each in self.values[self.names[1]]], np.int64)
            elif not (attributes.get("noop_with_empty_axes") and attributes["noop_with_empty_axes"].i):
                usual = np.array([each + 1 for each in usual], np.int64)
                if len(self.names) > 1:
                    self.values[self.names[1]] = usual
                elif self.opset >= 13 and (self.op in {"Squeeze", "ReduceSum"} or self.opset >= 18):
                    self.names.append("axes")
                    self.node.input.append("axes")
                    self.values["axes"] = usual
                else:
                    put("axes", usual.tolist())
        elif self.op == "Transpose":
            put("perm", [0] + [each + 1 for each in (attributes["perm"].ints if "perm" in attributes else range(len(shape))[::-1])])
        elif self.op == "Slice":
            if len(self.names) < 4:
                self.node.input.extend([""] * (3 - len(self.node.input)) + ["axes"])
                self.names.append("axes")
                self.values["axes"] = np.arange(len(self.values[self.names[1]]), dtype=np.int64)
            self.values[self.node.input[3]] = np.array([up(each) for each in self.values[self.node.input[3]]], np.int64)
        elif self.op == "Pad":
            if len(self.node.input) > 3:
                self.values[self.node.input[3]] = np.array([up(each) for each in self.values[self.node.input[3]]], np.int64)
            else:
                pads = self.values[self.names[1]].tolist()
                half = len(pads) // 2
                self.values[self.names[1]] = np.array([0] + pads[:half] + [0] + pads[half:], np.int64)
        elif self.op == "Tile":
            self.values[self.names[1]] = np.array([1] + self.values[self.names[1]].tolist(), np.int64)
        elif self.op == "Reshape":
            self.values[self.names[1]] = np.array([-1 if -1 not in self.values[self.names[1]] else 0] + self.values[self.names[1]].tolist(), np.int64)
        elif self.op == "Expand":
            wanted = self.values[self.names[1]].tolist()
            more = max(0, len(wanted) - len(shape))
            if more:
                self.nodes[-1].input[1] = self.constant("wide", np.array([-1] + [1] * more + list(shape), np.int64))
            self.values[self.names[1]] = np.array([1] + [1] * max(0, len(shape) - len(wanted)) + wanted, np.int64)
        elif self.op == "CumSum":
            self.values[self.names[1]] = np.array(up(int(self.values[self.names[1]])), self.values[self.names[1]].dtype)
        elif self.op == "Einsum":
            raise Unfit("equations are not shifted here")

    def outputs(self):
        """Behind the node, the first output as N x K; several are joined."""
        n, ends = self.samples(), []
        for name, value in zip(filter(None, self.node.output), self.expected):
            if value.dtype.kind not in "fiub" and str(value.dtype) != "bfloat16":
                raise Unfit("strings")
            at = name
            if self.op in {"LSTM", "GRU", "RNN"}:
                batch = 2 if value.ndim == 4 else 1
                order = [batch] + [i for i in range(value.ndim) if i != batch]
                value = value.transpose(order)
                if value.ndim == 4:  # T x directions x N x F: directions are joined behind T first
                    at = self.add("Transpose", [at], name + "_joined", perm=[0, 2, 1, 3])
                    at = self.reshaped(at, [0, 0, -1], name + "_rows")
                    at = self.add("Transpose", [at], name + "_first", perm=[1, 0, 2])
                    value = value.transpose(0, 2, 1, 3)
                else:
                    at = self.add("Squeeze", [at] + ([self.constant(name + "_axis", np.array([0]))] if self.opset >= 13 else []), name + "_first",
                                  **({} if self.opset >= 13 else {"axes": [0]}))
            if not self.live or value.dtype.kind != "f":
                at = self.add("Cast", [at], name + "_real", to=TensorProto.FLOAT)
            if value.size == 0:
                raise Unfit("a tensor is empty")
            if value.size % n:
                raise Unfit("its result has no batch")
            ends.append((at, np.asarray(value, np.float32).reshape(n, -1), value.ndim))
        if not ends:
            raise Unfit("no output")
        self.y = np.concatenate([value for _, value, _ in ends], 1)
        flat = [self.reshaped(at, [-1, value.shape[1]] if self.live else [1, -1], f"{at}_flat") for at, value, _ in ends]
        self.nodes.insert(len(self.nodes), None)
        place = next(i for i, each in enumerate(self.nodes) if each is None or set(each.input) & set(self.node.output))
        self.nodes = [each for each in self.nodes[:place] + [self.node] + self.nodes[place:] if each is not None]
        y = flat[0] if len(flat) == 1 else self.add("Concat", flat, "joined", axis=1)
        if not self.live:  # constants are added to zeros
            self.add("Mul", ["features", self.constant("none", np.float32(0))], "nothing")
            y = self.add("Add", ["nothing", y], "sum_with_nothing")
        # Doubled, so that a network without a layer has one.
        self.last = self.add("Mul", [y, self.constant("two", np.float32(2))], "twice")

    def model(self):
        graph = helper.make_graph(self.nodes, "case", [helper.make_tensor_value_info("features", TensorProto.FLOAT, ["N", self.x.shape[1]])],
                                  [helper.make_tensor_value_info(self.last, TensorProto.FLOAT, None)], self.tensors)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=10)


def judged(case, wrapped, folder, name):
    """"equal", or why it is not."""
    if (folder / f"{name}.why").exists():
        why = (folder / f"{name}.why").read_text()
        found = re.search(r"are not read: \d+ x (.*?) \(", why)
        return "refused", found.group(1) if found else why
    if not (folder / f"{name}.y").exists():
        return "wrong", "the program ended"
    ours, expected = np.fromfile(folder / f"{name}.y", np.float32) / 2, wrapped.y.reshape(-1)
    if ours.shape != expected.shape:
        return "wrong", f"{ours.size} numbers, expected {expected.size}"
    half = any(str(each.dtype) in {"float16", "bfloat16"} for each in wrapped.expected + list(wrapped.values.values()))
    finite = np.abs(np.where(np.isfinite(expected), expected, 0)).max()
    # Half precision: a step of its results. Else the bound of the case, or that of another order of f32 sums.
    rtol, atol = (1e-2, 1e-2 * finite) if half else (max(case.rtol, 1e-4), max(case.atol, 1e-6 * max(1.0, finite)))
    if np.allclose(ours, expected, rtol=rtol, atol=atol, equal_nan=True):
        return "equal", ""
    return "wrong", f"{np.nanmax(np.abs(ours - expected)):.2g} apart"


def main():
    program, wanted = sys.argv[1], set(sys.argv[2:])
    chosen = [case for case in cases() if not wanted or case.model.graph.node[0].op_type in wanted]
    counts, reasons, made = collections.Counter(), collections.defaultdict(list), {}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for case in chosen:
            try:
                wrapped = Wrapped(case)
                wrapped.make()
                (folder / f"{case.name}.onnx").write_bytes(wrapped.model().SerializeToString())
                wrapped.x.astype(np.float32).tofile(folder / f"{case.name}.x")
                made[case.name] = wrapped
            except Unfit as unfit:
                made[case.name] = unfit
        subprocess.run([program, folder], check=False)
        for case in chosen:
            wrapped = made[case.name]
            state, why = ("other form", str(wrapped)) if isinstance(wrapped, Unfit) else judged(case, wrapped, folder, case.name)
            counts[state] += 1
            if state != "equal":
                reasons[state, case.model.graph.node[0].op_type + ": " + why.removeprefix(case.model.graph.node[0].op_type + ": ")].append(case.name)
    for (state, why), names in sorted(reasons.items()):
        print(f"{state}: {why} ({len(names)}: {', '.join(names[:4])}{', ...' if len(names) > 4 else ''})")
    tried = counts["equal"] + counts["refused"] + counts["wrong"]
    print(f"{len(chosen)} cases: {dict(counts)}; {100 * counts['equal'] / max(1, tried):.1f} % of {tried} equal")
    sys.exit(counts["wrong"] > 0)


if __name__ == "__main__":
    main()
