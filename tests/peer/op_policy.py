"""The CUDA column of the autocast tables, written down again here: the comparison must not ask the engine."""

import torch

LOW_OPS = {"linear", "matmul", "mm", "mv", "bmm", "addmm", "conv2d"}
F32_OPS = {"exp", "expm1", "log", "log1p", "log2", "log10", "rsqrt", "reciprocal", "pow", "square", "nll_loss",
           "mse_loss", "l1_loss", "binary_cross_entropy_with_logits"}
F32_DTYPE_OPS = {"softmax", "log_softmax", "sum"}
PROMOTE_OPS = {"atan2", "dot"}
BANNED_OPS = {"binary_cross_entropy"}
IN_PLACE_OPS = {"add_", "mul_", "exp_", "pow_", "copy_", "zero_"}

LOW_TYPES = (torch.float16, torch.bfloat16)
FAMILY_POLICIES = {}  # of the ops registered in op_family.py


def policy(op):
    """The policy's name as `halftone ops` writes it."""
    for name, ops in (("low", LOW_OPS), ("f32", F32_OPS), ("f32_dtype", F32_DTYPE_OPS),
                      ("promote", PROMOTE_OPS), ("banned", BANNED_OPS)):
        if op in ops:
            return name
    return FAMILY_POLICIES.get(op, "none")


def eligible(tensor):
    return tensor.is_floating_point() and tensor.dtype != torch.float64


def promoted(tensors):
    """The ordinary promotion of floating operands (autocast.md#operations-without-an-entry, 1.11), 0-d operands
    weaker than the rest."""
    floats = [t for t in tensors if t.is_floating_point()]
    dimensioned = [t for t in floats if t.dim() > 0]
    result = None
    for tensor in dimensioned or floats:
        result = tensor.dtype if result is None else torch.promote_types(result, tensor.dtype)
    return result


def rounded(tensor, dtype):
    """The tensor in another type, rounded once: PyTorch goes from f64 to 16 bits by way of f32, which rounds twice."""
    if tensor.dtype != torch.float64 or dtype not in LOW_TYPES:
        return tensor.to(dtype)
    single = tensor.float()
    beyond = single.double().abs() > tensor.abs()
    below = torch.where(beyond, torch.nextafter(single, torch.zeros_like(single)), single)
    # Truncated, with the last bit set if anything was lost: then the second rounding decides as the first would.
    return (below.view(torch.int32) | (below.double() != tensor).int()).view(torch.float32).to(dtype)


def cast(op, tensors, low, given=None):
    """The arguments as the kernel sees them, the type it rounds its output to, and the type of the result.

    `low` is the region's type or None, `given` the result type that the caller asked for, which is obeyed. Types of
    integer and bool arguments never change.
    """
    named = policy(op)
    if given is not None:
        return tensors if op == "to" else [rounded(t, given) for t in tensors], given
    if low is not None:
        if named == "low":
            tensors = [t.to(low) if eligible(t) else t for t in tensors]
        elif named == "f32":
            tensors = [t.to(torch.float32) if eligible(t) else t for t in tensors]
        elif named == "promote":
            widest = torch.float32 if any(t.dtype == torch.float32 for t in tensors) else low
            tensors = [t.to(widest) if eligible(t) else t for t in tensors]
        elif named in ("f32_dtype", "f32_append") and eligible(tensors[0]):
            return tensors, torch.float32
        elif op == "cross_entropy" and eligible(tensors[0]):
            return tensors, torch.float32
    if op in ("maximum", "minimum"):  # a 0-d operand is rounded first: it may then be equal to the other one
        tensors = [t.to(promoted(tensors)) for t in tensors]
    if op in ("batch_norm", "batch_norm_relu", "dropout") or op in IN_PLACE_OPS:
        return tensors, tensors[0].dtype
    return tensors, promoted(tensors[1:] if op == "where" else tensors)


def has_wide_scalar(tensors, result):
    """A 0-d operand wider than the result: rounded to it first or read as it is, both are PyTorch's (CUDA, CPU)."""
    return any(t.is_floating_point() and t.dim() == 0 and t.dtype != result and
               torch.promote_types(t.dtype, result) != result for t in tensors)
