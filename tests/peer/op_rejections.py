"""Calls that must be refused: operands of unequal types outside a region
(autocast.md#operations-without-an-entry, 1.11), banned ops inside one, and
operands with a value that the op does not take."""

import torch

from op_draft import Random
from op_families import REGISTRY
from op_generators import EQUAL_TYPES, GENERATORS
from op_policy import policy

# The ops that op_generators.py restricts to equal types although they promote unequal ones.
PROMOTING = {"mse_loss", "l1_loss", "binary_cross_entropy_with_logits"}

# For each op, an operand and an invalid number in it. The error names both the op and the number.
WRONG_VALUES = {
    **{op: (1, 12345) for op in ("index_select", "gather", "index_add", "scatter_add", "scatter", "scatter_reduce",
                                 "index_copy", "nll_loss", "multi_margin_loss", "multilabel_margin_loss")},
    "cross_entropy": (1, -3), "embedding": (0, -12345), "binary_cross_entropy": (0, 1.5), "gaussian_nll_loss": (2, -2.5),
}

FEW_DIGITS = 2  # the calls are refused for their types or for one number, so the others may be few


def _draft(op, seed):
    """Draws the op's operands, with at least two floating ones whose types it may choose, and their places."""
    for attempt in range(40):
        rng = Random([seed, sum(map(ord, op)), attempt], FEW_DIGITS)
        made = (REGISTRY[op].generate if op in REGISTRY else GENERATORS[op])(rng)
        free = [i for i, v in enumerate(made.values) if v.is_floating_point() and made.fixed.get(i) is None]
        if "dtype" not in made.attrs and len(free) >= (2 if policy(op) != "banned" else 1):
            return made, free
    return None


def needs_equal_types(op):
    return REGISTRY[op].types == "same" if op in REGISTRY else op in EQUAL_TYPES - PROMOTING


def rejections(op, seed=1):
    """[(request, words that the error must hold)] of one op."""
    if not needs_equal_types(op) and policy(op) != "banned":
        return []
    drafted = _draft(op, seed)
    if drafted is None:
        return []
    made, free = drafted
    found = []

    def request(types, autocast):
        tensors = {name: (v.to(types[i]) if i in types else v.float() if v.is_floating_point() else v).contiguous()
                   for i, (name, v) in enumerate(zip(made.names, made.values))}
        return {"op": op, "tensors": tensors, "attrs": made.attrs, "autocast": autocast, "grad": False,
                "grad_grad": False}

    if len(free) >= 2 and needs_equal_types(op):
        mixed = {i: torch.float32 for i in free} | {free[0]: torch.float16}
        found.append((request(mixed, None), [op, "f16", "f32"]))
    if policy(op) == "banned":
        found += [(request({i: t for i in free}, "fp16"), [op, "unsafe"])
                  for t in (torch.float16, torch.float32, torch.float64)]
    return found


def value_rejections(op, seed=1):
    """[(request, words that the error must hold)]: one element of one operand is wrong, in f32 and without a region."""
    if op not in WRONG_VALUES:
        return []
    place, wrong = WRONG_VALUES[op]
    for attempt in range(40):
        made = (REGISTRY[op].generate if op in REGISTRY else GENERATORS[op])(
            Random([seed, sum(map(ord, op)), attempt], FEW_DIGITS))
        values = [v.float() if v.is_floating_point() else v.clone() for v in made.values]
        whole = not values[place].is_floating_point()
        if values[place].numel() > 0 and "dtype" not in made.attrs and whole == isinstance(wrong, int):
            values[place] = values[place].contiguous()
            values[place].view(-1)[0] = wrong
            tensors = {name: value.contiguous() for name, value in zip(made.names, values)}
            return [({"op": op, "tensors": tensors, "attrs": made.attrs, "autocast": None, "grad": False,
                      "grad_grad": False}, [op, str(wrong)])]
    raise AssertionError(f"no draft of {op} has an element to spoil")


def problems(request, words, error):
    """The problems of the answer to a call that must be rejected."""
    if error is None:
        return [f"{request['op']}: operands {[str(t.dtype) for t in request['tensors'].values()]} were not refused"]
    return [f"{request['op']}: the error does not name {word}: {error}" for word in words if word not in error]
