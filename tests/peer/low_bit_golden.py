#!/usr/bin/env python3
"""Writes golden/low_bits.txt.xz: values, casts and scales of the 8- and 4-bit formats, for low_bits_test.

Inputs are enumerated, or numbers of Philox streams, on both sides; a line holds results alone, `VALUExCOUNT` for equal ones in
succession. Casts are those of ml_dtypes, held against gfloat's and, after clamping, PyTorch's; scales of MX blocks those of
torchao, and of the rule `rceil` Transformer Engine's formula. Where peers differ by definition (NaN, infinity while saturating)
the script writes this program's rule. Needs ml_dtypes 0.6.0, gfloat 0.5.2, torch 2.15, torchao 0.18.0 and numpy.
"""

import fractions
import itertools
import struct
import warnings

import gfloat
import gfloat.formats
import ml_dtypes
import numpy as np
import torch
from torchao.prototype.mx_formats.config import ScaleCalculationMode
from torchao.prototype.mx_formats.mx_tensor import to_mx

import golden_file
import philox

warnings.simplefilter("ignore")
f32, u32 = np.float32, np.uint32
SEED, SCALES, BLOCKS, OPERAND = 56, 1101, 1102, 1103  # streams

# name: type, largest value, code of infinity (None: NaN; "largest"), has NaN
FORMATS = {"fp8-e4m3": (ml_dtypes.float8_e4m3fn, None), "fp8-e5m2": (ml_dtypes.float8_e5m2, 0x7c),
           "fp8-e4m3-ieee": (ml_dtypes.float8_e4m3, 0x78), "fp8-e4m3fnuz": (ml_dtypes.float8_e4m3fnuz, None),
           "fp8-e5m2fnuz": (ml_dtypes.float8_e5m2fnuz, None), "fp4-e2m1": (ml_dtypes.float4_e2m1fn, "largest")}
LARGEST = {name: f32(ml_dtypes.finfo(dtype).max) for name, (dtype, _) in FORMATS.items()}
GFLOAT = {"fp8-e4m3": gfloat.formats.format_info_ocp_e4m3, "fp8-e5m2": gfloat.formats.format_info_ocp_e5m2,
          "fp4-e2m1": gfloat.formats.format_info_ocp_e2m1}
TORCH = {"fp8-e4m3": torch.float8_e4m3fn, "fp8-e5m2": torch.float8_e5m2, "fp8-e4m3fnuz": torch.float8_e4m3fnuz,
         "fp8-e5m2fnuz": torch.float8_e5m2fnuz}
MX = {"fp8-e4m3": torch.float8_e4m3fn, "fp8-e5m2": torch.float8_e5m2, "fp4-e2m1": torch.float4_e2m1fn_x2}
RULES = {"floor": ScaleCalculationMode.FLOOR, "ceil": ScaleCalculationMode.CEIL, "even": ScaleCalculationMode.EVEN}


def runs(values):
    return " ".join(value if (count := len(list(same))) == 1 else f"{value}x{count}" for value, same in itertools.groupby(values))


def line(words, values):
    return f"{words} {runs(f'{value:x}' for value in np.asarray(values).ravel().tolist())}"


def decoded(name, codes):
    return np.asarray(codes, dtype=np.uint8).view(FORMATS[name][0]).astype(f32)


def cast(name, values, saturate):
    """Codes of ml_dtypes. NaN, and in E2M1 what stands for it, by table 1.2."""
    dtype, infinity = FORMATS[name]
    values = np.asarray(values, dtype=f32)
    finite = np.isfinite(values)
    bounded = np.where(finite, np.clip(values, -LARGEST[name], LARGEST[name]), values) if saturate else values
    codes = bounded.astype(dtype).view(np.uint8)
    if infinity == "largest":
        codes[np.isnan(values)] = 7
    check_peers(name, values, codes, saturate)
    return codes


def check_peers(name, values, codes, saturate):
    """Compares finite inputs with gfloat and PyTorch."""
    some = np.isfinite(values)
    inputs = values[some]
    if name in GFLOAT:
        info = GFLOAT[name]
        rounded = gfloat.round_ndarray(info, inputs.astype(np.float64), sat=saturate or name == "fp4-e2m1")
        assert_same(rounded, decoded(name, codes[some]))
    if name in TORCH:
        within = np.clip(inputs, -LARGEST[name], LARGEST[name]) if saturate else inputs[np.abs(inputs) <= LARGEST[name]]
        found = torch.from_numpy(within).to(TORCH[name]).view(torch.uint8).numpy()
        assert (found == (codes[some] if saturate else codes[some][np.abs(inputs) <= LARGEST[name]])).all(), name


def assert_same(a, b):
    assert ((np.asarray(a, dtype=np.float64) == b) | (np.isnan(a) & np.isnan(b))).all()


def hex_value(value):
    return "nan" if np.isnan(value) else float(value).hex() if np.isfinite(value) else str(value)


def values_of_codes():
    for name in FORMATS:
        count = 16 if name == "fp4-e2m1" else 256
        values = decoded(name, range(count))
        if name in GFLOAT:
            assert_same([gfloat.decode_float(GFLOAT[name], code).fval for code in range(count)], values)
        yield f"decode {name} {' '.join(map(hex_value, values))}"
    scales = np.arange(256, dtype=np.uint8).view(ml_dtypes.float8_e8m0fnu).astype(f32)
    assert_same([gfloat.decode_float(gfloat.formats.format_info_ocp_e8m0, code).fval for code in range(256)], scales)
    yield f"decode e8m0 {' '.join(map(hex_value, scales))}"


def patterns():
    bits = np.arange(65536, dtype=np.uint16)
    return {"bf16": bits.view(ml_dtypes.bfloat16).astype(f32), "fp16": bits.view(np.float16).astype(f32)}


def ties(name):
    """Two f32 below to two above the middle of each pair of neighbours, and that of the largest and the next beyond it."""
    magnitudes = np.sort(np.unique(np.abs(decoded(name, range(8 if name == "fp4-e2m1" else 128)))))
    magnitudes = [float(m) for m in magnitudes[np.isfinite(magnitudes)]]
    magnitudes.append(2 * magnitudes[-1] - magnitudes[-2])
    middles = np.array([(a + b) / 2 for a, b in zip(magnitudes, magnitudes[1:])], dtype=f32).view(u32).astype(np.int64)
    near = (middles[:, None] + np.arange(-2, 3)).ravel().astype(u32).view(f32)
    return np.concatenate([near, -near])


def casts():
    for name in FORMATS:
        for mode, saturate in (("plain", False), ("saturate", True)):
            for kind, values in patterns().items():
                yield line(f"cast {name} {kind} {mode}", cast(name, values, saturate))
            yield line(f"cast {name} ties {mode}", cast(name, ties(name), saturate))
    for kind, values in patterns().items():  # ml_dtypes makes 0 NaN, and rounds up what is between 2^-127 and 2^-126
        codes = values.astype(ml_dtypes.float8_e8m0fnu).view(np.uint8)
        small = (values >= 0) & (values < 2.0**-126)
        codes[small | (values == 0)] = values[small | (values == 0)] >= 1.5 * 2.0**-127
        yield line(f"cast e8m0 {kind} plain", codes)


def drawn_words(stream, substream, count):
    return philox.words(np.arange(count), SEED, stream, substream).astype(u32)


def amaxes():
    """Powers of two and largest values times them, with three f32 on either side, and drawn ones."""
    around = []
    for name in MX:
        significand = LARGEST[name].view(u32) & 0x7fffff
        for start in (0, int(significand)):
            around += [(exponent << 23 | start) + near for exponent in range(255) for near in range(-3, 4)]
    around = [bits for bits in around if 0 <= bits < 0x7f800000]
    return np.concatenate([np.array(around, dtype=u32), drawn_words(SCALES, 0, 2000) % u32(0x7f800000)]).view(f32)


def tensor_scale(amax, largest, power_of_two):
    with np.errstate(all="ignore"):
        scale = np.where(amax == 0, f32(1), np.minimum(f32(largest) / amax, np.finfo(f32).max)).astype(f32)
    for a, s in list(zip(amax, scale))[::97]:  # the f32 nearest to the quotient
        if a > 0 and s < np.finfo(f32).max:
            exact, near = fractions.Fraction(float(largest)) / fractions.Fraction(float(a)), fractions.Fraction(float(s))
            assert abs(near - exact) * 2 <= fractions.Fraction(float(np.spacing(s)))
    return (scale.view(u32) & u32(0xff800000)).view(f32) if power_of_two else scale


def rceil(amax, largest):
    value = (amax * (f32(1) / f32(largest))).astype(f32)
    bits = value.view(u32)
    exponent, fraction = bits >> 23, bits & 0x7fffff
    small = exponent == 0
    code = np.where(small, fraction > 0x400000, exponent + (fraction > 0))
    return np.minimum(code, 0xfe).astype(np.uint8)


def mx(name, rule, blocks):
    """Scale codes and codes of blocks of 32."""
    amax = np.abs(blocks).max(1)
    if rule == "rceil":
        scale = rceil(amax, LARGEST[name])
    else:
        scale, _ = to_mx(torch.from_numpy(blocks), MX[name], 32, RULES[rule])
        scale = scale.view(torch.uint8).numpy().ravel()
    factor = np.ldexp(f32(1), 127 - scale.astype(np.int32)).astype(f32)
    return scale, cast(name, (blocks * factor[:, None]).astype(f32), True)


def scales():
    values = amaxes()
    blocks = np.zeros((len(values), 32), dtype=f32)
    blocks[:, 0] = values
    for name in MX:
        for power in (False, True):
            words = tensor_scale(values, LARGEST[name], power).view(u32).astype(np.int64)
            # Only a sum of the words: the scales themselves are a division.
            yield f"tensor_scale {name} {'power' if power else 'any'} " + \
                " ".join(f"{int(words[i:i + 500].sum()):x}" for i in range(0, len(words), 500))
        for rule in ("rceil", *RULES):
            codes = mx(name, rule, blocks)[0].astype(np.int64)
            sums = (int((part * np.arange(1, len(part) + 1)).sum()) for part in np.split(codes, range(64, len(codes), 64)))
            yield f"mx_scale {name} {rule} " + " ".join(f"{each:x}" for each in sums)
    differ = sum(int((mx(name, "rceil", blocks)[0] != to_mx(torch.from_numpy(blocks), MX[name], 32, ScaleCalculationMode.RCEIL)[0]
                      .view(torch.uint8).numpy().ravel()).sum()) for name in MX)
    print(f"rceil: {differ} of {3 * len(values)} scales differ from torchao, which divides and takes a logarithm")


def drawn_values(stream, substream, count, exponents, low):
    """Signed numbers whose f32 exponent field is one of `exponents` from `low` on."""
    words = drawn_words(stream, substream, 2 * count).reshape(-1, 2)
    exponent = (words[:, 0].astype(np.uint64) * exponents >> np.uint64(32)).astype(u32) + u32(low)
    return ((words[:, 1] & u32(0x80000000)) | exponent << u32(23) | (words[:, 1] & u32(0x7fffff))).view(f32)


def drawn_blocks():
    """Each fourth block random, with an outlier, constant, and zero."""
    blocks = drawn_values(BLOCKS, 0, 16 * 32, 12, 117).reshape(16, 32).copy()
    for index, block in enumerate(blocks):
        if index % 4 == 1:
            block[index] *= f32(4096)
        if index % 4 == 2:
            block[:] = block[0]
        if index % 4 == 3:
            block[:] = 0
    return blocks


def block_codes():
    for name in MX:
        for rule in ("rceil", *RULES):
            scale, codes = mx(name, rule, drawn_blocks())
            yield line(f"mx_block {name} {rule}", np.concatenate([scale[:, None], codes], 1))


def nvfp4(values, block_amax, operand_amax):
    """Codes of block scales and elements."""
    scale = f32(1) if operand_amax == 0 else min(f32(2688) / operand_amax, np.finfo(f32).max)
    codes = np.minimum(block_amax * (scale * (f32(1) / f32(6))), f32(448)).astype(f32).astype(ml_dtypes.float8_e4m3fn)
    with np.errstate(all="ignore"):
        factor = np.minimum(f32(1) / (codes.astype(f32) * (f32(1) / scale)), np.finfo(f32).max).astype(f32)
    elements = np.clip((values * factor).astype(f32), f32(-6), f32(6)).astype(ml_dtypes.float4_e2m1fn)
    return codes.view(np.uint8), elements.view(np.uint8)


def operand():
    """32 rows of 64 with a zero block, one so small that its scale is 0, and an outlier."""
    values = drawn_values(OPERAND, 0, 32 * 64, 8, 120).reshape(32, 64).copy()
    values[:16, :16] = 0
    values[:16, 16:32] *= f32(2**-26)
    values[20, 40] = 1000
    return values


def nvfp4_operand():
    values = operand()
    amax = np.abs(values).max()
    rows = values.reshape(-1, 16)
    scale, codes = nvfp4(rows, np.abs(rows).max(1)[:, None], amax)
    yield line("nvfp4 1d", np.concatenate([scale, codes], 1))
    tiles = np.abs(values).reshape(2, 16, 4, 16).max((1, 3))
    scale, codes = nvfp4(values, tiles.repeat(16, 0).repeat(16, 1), amax)
    yield line("nvfp4 2d scales", scale[::16, ::16])
    yield line("nvfp4 2d codes", codes)


def main():
    lines = [*values_of_codes(), *casts(), *scales(), *block_codes(), *nvfp4_operand()]
    path = golden_file.write("low_bits.txt", "".join(each + "\n" for each in lines).encode())
    print(f"{path.name}: {len(lines)} lines, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
