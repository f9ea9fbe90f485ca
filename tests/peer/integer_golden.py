#!/usr/bin/env python3
"""Writes golden/integers.*: reductions, running results and products of 64-bit integers where a detour over f64 shows: beyond
2^53, and where PyTorch wraps around at 2^63. In the form of make_golden.py; every result is exact, so none has an allowed
difference.
"""

import numpy
import torch

from make_golden import DTYPE_NAMES, save

SEED = 47
LEAST, MOST = -2 ** 63, 2 ** 63 - 1
#: Where the results of a row leave what f64 holds, or 64 bits.
ROWS = {
    "ends": [MOST, 1, LEAST, -1, MOST, MOST],
    "odd": [2 ** 53, 1, 1, 2 ** 53 + 1, -1, 3],
    "factors": [3 ** 20, 5, -7, 11 ** 3, 2, 3 ** 10],
    "powers": [2 ** 31, 2 ** 31, 2, -1, 2 ** 31, 1],
    "least": [LEAST, -1, -1, LEAST, 1, 2],
    "zeros": [0, MOST, 0, 5, LEAST, 0],
}


def tensors_of(numpy_random):
    yield torch.tensor(list(ROWS.values()), dtype=torch.int64)
    for shape in ((5, 7), (2, 3, 4), (33,)):
        yield torch.from_numpy(numpy_random.integers(LEAST, MOST, shape, numpy.int64, endpoint=True))
    yield torch.from_numpy(numpy_random.integers(-2 ** 21, 2 ** 21, (6, 6), numpy.int64))
    yield torch.tensor(-2 ** 53 - 1)
    yield torch.empty(0, 3, dtype=torch.int64)
    yield torch.from_numpy(numpy_random.integers(0, 2, (4, 9)) > 0)


def calls(x):
    """Ops with their attributes and PyTorch's results."""
    for name in ("sum", "prod"):
        function = getattr(torch, name)
        yield name, {}, function(x)
        for dim in range(x.dim()):
            for keepdim in (False, True):
                yield name, {"dim": dim, "keepdim": keepdim}, function(x, dim, keepdim)
    for name in ("cumsum", "cumprod"):
        for dim in range(max(x.dim(), 1)):
            yield name, {"dim": dim}, getattr(torch, name)(x, dim)


def main():
    tensors, lines = {}, []
    for x in tensors_of(numpy.random.default_rng(SEED)):
        for op, attrs, result in calls(x):
            tensors[f"{len(lines)}/0"] = x
            tensors[f"{len(lines)}/expect/output"] = result.contiguous()
            lines.append({"op": op, "attrs": attrs, "autocast": None, "grad": False, "grad_grad": False,
                          "results": {"output": DTYPE_NAMES[result.dtype]}})
    save("integers", lines, tensors)


if __name__ == "__main__":
    main()
