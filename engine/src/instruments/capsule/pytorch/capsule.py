
import json
import math
import os
import struct
import sys

import torch
from torch.nn import functional as F

DTYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
          "I64": torch.int64, "I32": torch.int32, "U8": torch.uint8, "BOOL": torch.bool}
LOW = {torch.float16, torch.bfloat16}


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
