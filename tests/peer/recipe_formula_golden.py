#!/usr/bin/env python3
"""Writes golden/recipe_formulas.txt.xz: what torchao computes for two parts of recipes, by its formulas written anew, for amp_test.

`tiles`: the layout of MX scales that `to_blocked` of torchao.prototype.mx_formats.utils makes for Blackwell's products; for each shape
and each tile of 512 bytes the sum of the codes by their place. `gw`: a linear layer with torchao.float8's `rowwise_with_gw_hp`, on the
operands of recipe_golden.py: y and dx from codes in f64, dw in high precision; each 97th value with the sum of its products' magnitudes.
Needs torch 2.15 and numpy.
"""

import numpy as np
import torch

import golden_file
import philox

SEED, OPERANDS, SCALES = 56, 1104, 1105  # streams
SHAPES = [(1, 1), (128, 4), (129, 5), (300, 9), (40, 70)]
LARGEST = torch.finfo(torch.float8_e4m3fn).max


def to_blocked(scales):
    rows, cols = scales.shape
    down, across = -(-rows // 128), -(-cols // 4)
    padded = torch.zeros((down * 128, across * 4), dtype=scales.dtype)
    padded[:rows, :cols] = scales
    blocks = padded.view(down, 128, across, 4).permute(0, 2, 1, 3)
    return blocks.reshape(-1, 4, 32, 4).transpose(1, 2).reshape(-1, 32, 16).flatten()


def tiles():
    for index, (rows, cols) in enumerate(SHAPES):
        codes = philox.words(np.arange(rows * cols), SEED, SCALES, index).astype(np.int64) & 255
        blocked = to_blocked(torch.from_numpy(codes.reshape(rows, cols))).reshape(-1, 512)
        sums = (blocked * torch.arange(1, 513)).sum(1)
        yield f"tiles {rows} {cols} " + " ".join(f"{int(each):x}" for each in sums)


def operand(index, shape):
    """Signed bf16 with exponents from 2^-9 to 2^2."""
    words = philox.words(np.arange(2 * shape[0] * shape[1]), SEED, OPERANDS, index).astype(np.uint32).reshape(-1, 2)
    exponent = (words[:, 0].astype(np.uint64) * 12 >> np.uint64(32)).astype(np.uint32) + np.uint32(118)
    bits = (words[:, 1] & np.uint32(0x807f0000)) | exponent << np.uint32(23)
    return torch.from_numpy(bits.view(np.float32).reshape(shape).copy()).bfloat16()


def cast(x, dim):
    """The values of E4M3 codes; the scale is that of each vector along `dim`, or of all (None), rounded down to a power of two."""
    amax = x.abs().max() if dim is None else x.abs().amax(dim, keepdim=True)
    scale = (LARGEST / torch.clamp(amax.to(torch.float64), min=1e-12)).to(torch.float32)
    scale = torch.exp2(torch.floor(torch.log2(scale)))
    codes = (x.float() * scale).clamp(-LARGEST, LARGEST).to(torch.float8_e4m3fn)
    return codes.double() / scale.double()


def products():
    x, w, g = operand(0, (48, 64)), operand(1, (40, 64)), operand(2, (48, 40))
    factors = {"y": (cast(x, 1), cast(w, 1).t()), "dx": (cast(g, 1), cast(w, None)), "dw": (g.double().t(), x.double())}
    for name, (a, b) in factors.items():
        both = torch.stack([(a @ b).flatten()[::97], (a.abs() @ b.abs()).flatten()[::97]], 1).flatten().float()
        yield f"gw {name} " + " ".join(f"{int(each):x}" for each in both.numpy().view(np.uint32))


if __name__ == "__main__":
    text = "".join(line + "\n" for line in (*tiles(), *products()))
    path = golden_file.write("recipe_formulas.txt", text.encode())
    print(f"{path.name}: {path.stat().st_size:,} bytes")
