"""An op of the catalog as PyTorch has it: torch.ops.aten by name, its arguments matched to the schema. The catalog's names and
attributes are PyTorch's, so that hardly anything has to be translated."""

import torch

REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}
# Under another name there.
NAMES = {"cross_entropy": "cross_entropy_loss", "nll_loss": "nll_loss_nd"}
OTHER_ORDER = ("embedding",)


class NoMatch(Exception):
    """No overload takes these arguments."""


def attribute(name, value):
    if name == "dtype" and isinstance(value, str):
        return getattr(torch, value)
    if name == "reduction":
        if value not in REDUCTIONS:  # kl_div's "batchmean" is a quotient around the op
            raise NoMatch
        return REDUCTIONS[value]
    return float(value) if value in ("inf", "-inf") else value


def matched(schema, tensors, attrs):
    """The arguments for one overload; `tensors` by position, None where one is absent, lists where there is a list."""
    left, used, arguments = list(tensors), set(), {}
    for argument in schema.arguments:
        kind = str(argument.type)
        if argument.name in attrs:
            used.add(argument.name)
            arguments[argument.name] = attrs[argument.name]
        elif "Tensor" in kind:
            if left:
                value = left.pop(0)
                if isinstance(value, list) != kind.startswith("List"):
                    raise NoMatch
                if value is None and not kind.startswith("Optional"):
                    raise NoMatch
                arguments[argument.name] = value
            elif not kind.startswith("Optional"):
                raise NoMatch
            elif not argument.has_default_value():
                arguments[argument.name] = None
        elif not argument.has_default_value():
            raise NoMatch
    if left or used != set(attrs):
        raise NoMatch
    return arguments


def positions(names, tensors):
    """[tensor, None or list] from names such as "0", "2" and "1.0"."""
    out = []
    for name, tensor in zip(names, tensors):
        place, _, member = name.partition(".")
        out += [None] * (int(place) + 1 - len(out))
        if not member:
            out[int(place)] = tensor
        elif out[int(place)] is None:
            out[int(place)] = [tensor]
        else:
            out[int(place)].append(tensor)
    return out


def call(op, names, tensors, attrs):
    """Calls PyTorch's dispatcher, autocast included. Raises NoMatch."""
    attrs = {name: attribute(name, value) for name, value in attrs.items()}
    if op == "norm":  # the Python function chooses among more overloads than the schemas distinguish
        return torch.norm(tensors[0], **attrs)
    packet = None if op in OTHER_ORDER else getattr(torch.ops.aten, NAMES.get(op, op), None)
    if packet is None:
        raise NoMatch
    given = positions(names, tensors)
    # The overload without a name first: the others are forms with given outputs, other kinds of numbers, names.
    for overload in sorted(packet.overloads(), key=lambda name: name != "default"):
        function = getattr(packet, overload)
        if any(argument.is_out for argument in function._schema.arguments):
            continue
        try:
            return function(**matched(function._schema, given, attrs))
        except NoMatch:
            continue
        except (RuntimeError, TypeError) as rejection:
            if "expected" not in str(rejection).lower():
                raise
    raise NoMatch
