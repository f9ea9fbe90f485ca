"""Weights and inputs that both sides of a golden file compute (tests/engine/models/model_golden.h)."""
import math

import numpy
import torch

FIRST_WEIGHT = 1  # stream of uniform(): 0 is that of the inputs


def uniform(stream, shape):
    """Numbers in [-1, 1) of f64, from a hash of the stream and the index: multiply and xor-shift in 32 bits."""
    with numpy.errstate(over="ignore"):
        h = numpy.arange(math.prod(shape), dtype=numpy.uint32) * numpy.uint32(0x9E3779B9)
        h = h + numpy.uint32(stream * 0x85EBCA6B % 2**32)
        h = (h ^ (h >> numpy.uint32(16))) * numpy.uint32(0x7FEB352D)
        h = (h ^ (h >> numpy.uint32(15))) * numpy.uint32(0x846CA68B)
        h = h ^ (h >> numpy.uint32(16))
    return torch.from_numpy(h.astype(numpy.float64) / 2.0**31 - 1.0).reshape(shape)


def weight(index, name, shape):
    """He's bound for matrices and kernels. Biases around 1 and batch norm's weights around 0.5, so that most inputs of
    ReLU are positive, few are near 0, and rounding seldom decides a branch."""
    values = uniform(FIRST_WEIGHT + index, shape)
    if len(shape) > 1:
        return (values * math.sqrt(6.0 / math.prod(shape[1:]))).float()
    return (values * 0.25 + (0.5 if name.endswith(".weight") else 1.0)).float()
