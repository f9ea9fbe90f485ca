#!/usr/bin/env python3
"""Writes golden/recipes.txt.xz: scales, codes and products of a linear layer by torchao's and PyTorch's FP8, for amp_test.

The input (48, 64), the weight (40, 64) and the gradient of the output (48, 40) are numbers of a Philox stream in bf16, on both sides.
A line of codes holds, for each row, the sum of its codes by their place. Products are PyTorch's _scaled_mm with f32 results, of which
each 97th is written. Needs torch 2.15, torchao 0.18.0 and numpy.
"""

import warnings

import numpy as np
import torch
from torchao.float8.config import ScalingGranularity
from torchao.float8.float8_utils import tensor_to_scale, to_fp8_saturated

import golden_file
import philox

warnings.simplefilter("ignore")
SEED, STREAM = 56, 1104
SHAPES = {"x": (48, 64), "w": (40, 64), "g": (48, 40)}
TYPES = {"x": torch.float8_e4m3fn, "w": torch.float8_e4m3fn, "g": torch.float8_e5m2}


def operand(index, shape):
    """Signed bf16 with exponents from 2^-9 to 2^2."""
    words = philox.words(np.arange(2 * shape[0] * shape[1]), SEED, STREAM, index).astype(np.uint32).reshape(-1, 2)
    exponent = (words[:, 0].astype(np.uint64) * 12 >> np.uint64(32)).astype(np.uint32) + np.uint32(118)
    bits = (words[:, 1] & np.uint32(0x807f0000)) | exponent << np.uint32(23)
    return torch.from_numpy(bits.view(np.float32).reshape(shape).copy()).bfloat16()


def hexes(values):
    return " ".join(f"{int(each):x}" for each in values)


def cast(x, dtype, granularity, axis):
    scale = tensor_to_scale(x, dtype, scaling_granularity=granularity, axiswise_dim=axis,
                            round_scales_to_power_of_2=granularity == ScalingGranularity.AXISWISE)
    codes = to_fp8_saturated(x.float() * scale, dtype)
    return scale, codes


def lines():
    operands = {name: operand(i, shape) for i, (name, shape) in enumerate(SHAPES.items())}
    for rule, granularity in (("current", ScalingGranularity.TENSORWISE), ("rowwise", ScalingGranularity.AXISWISE)):
        for name, x in operands.items():
            dtype = TYPES[name] if rule == "current" else torch.float8_e4m3fn
            for along, axis in (("cols", -1), ("rows", 0)):
                if rule == "current" and along == "rows":
                    continue
                scale, codes = cast(x, dtype, granularity, axis)
                places = np.arange(1, x.shape[1] + 1)
                sums = (codes.view(torch.uint8).numpy().astype(np.int64) * places).sum(1)
                bits = scale.float().reshape(-1).numpy().view(np.uint32)
                yield f"{rule} {name} {along} {hexes(bits)} | {hexes(sums)}"
    scales = {name: cast(x, TYPES[name], ScalingGranularity.TENSORWISE, None) for name, x in operands.items()}

    def product(a, b, transposed):
        (scale_a, codes_a), (scale_b, codes_b) = scales[a], scales[b]
        left = codes_a.t().contiguous() if transposed == "a" else codes_a
        right = codes_b.t() if transposed == "b" else codes_b
        return torch._scaled_mm(left, right.t().contiguous().t(), scale_a=scale_a.reciprocal().float(),
                                scale_b=scale_b.reciprocal().float(), out_dtype=torch.float32)

    for name, found in (("y", product("x", "w", "b")), ("dx", product("g", "w", "")), ("dw", product("g", "x", "a"))):
        yield f"product {name} {hexes(found.reshape(-1)[::97].numpy().view(np.uint32))}"


if __name__ == "__main__":
    text = "".join(line + "\n" for line in lines())
    path = golden_file.write("recipes.txt", text.encode())
    print(f"{path.name}: {path.stat().st_size:,} bytes")
