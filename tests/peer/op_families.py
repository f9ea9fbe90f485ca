"""Every registered op of the family files, and a case of one; see op_family.py."""

import importlib
import pathlib

import torch

import halftone
from op_any_case import AnyCase
from op_bounds import stored_in, UNIT
from op_family import cast_arguments, choose_types, Reference, REGISTRY
from op_policy import rounded

for _file in sorted(pathlib.Path(__file__).parent.glob("op_family_*.py")):
    importlib.import_module(_file.stem)


def names_of(base, count):
    return [base] if count == 1 else [f"{base}.{i}" for i in range(count)]


class FamilyCase(AnyCase):
    """One call of a registered op: its file, and PyTorch's result."""

    def __init__(self, rng, op, mode, second):
        self.op, self.mode, self.entry = op, mode, REGISTRY[op]
        made = self.entry.generate(rng)
        types, self.autocast = choose_types(rng, self.entry, made, mode)
        self.names, self.differentiable = made.names, made.differentiable
        self.tensors = [rng.shortened(v).to(t).contiguous() for v, t in zip(made.values, types)]
        self.attrs = dict(made.attrs)
        reference_attrs = dict(made.attrs)
        if rng.chance(0.25):
            self.stride_one(rng)
        low = halftone.LOW.get(self.autocast)
        self.refused = self.entry.policy == "banned" and low is not None
        used, self.run_dtype = cast_arguments(self.entry, self.tensors, low)
        if "dtype" in self.attrs:
            self.run_dtype = getattr(torch, self.attrs["dtype"])
            used = [rounded(u, self.run_dtype) if u.is_floating_point() else u for u in used]
        inputs = [t.double() if t.is_floating_point() else t for t in used]
        self.reference = Reference(self.entry, self.names, inputs, self.differentiable, reference_attrs)
        self.output_types = self.types_of_outputs(used, low)
        scale = rng.pick((1.0, 1.0, 16.0))
        self.seeds = [rng.normal(*y.shape, scale=scale).to(t if t.is_floating_point else torch.float32).contiguous()
                      for y, t in zip(self.reference.outputs, self.output_types)]
        twice = self.entry.second
        self.second = second and (twice(self.attrs) if callable(twice) else twice) and bool(self.differentiable)
        self.vs = {i: rng.normal(*self.tensors[i].shape).to(self.tensors[i].dtype) for i in self.differentiable}

    @property
    def repeats(self):
        return self.entry.repeats

    @property
    def output(self):
        """The largest result, for callers that ask for its size."""
        return max(self.reference.values(), key=lambda e: e.value.numel())

    def types_of_outputs(self, used, low):
        if self.entry.result:
            given = self.entry.result(dict(zip(self.names, (t.dtype for t in used))), self.run_dtype)
            given = given if isinstance(given, (tuple, list)) else [given] * len(self.reference.outputs)
        else:
            given = [self.run_dtype] * len(self.reference.outputs)
        return [t if y.is_floating_point() else y.dtype for t, y in zip(given, self.reference.outputs)]

    def request(self):
        tensors = dict(zip(self.names, self.tensors))
        if self.differentiable:
            tensors.update(zip(names_of("grad_output", len(self.seeds)), self.seeds))
        if self.second:
            tensors.update({f"v.{self.names[i]}": v for i, v in self.vs.items()})
        return {"op": self.op, "tensors": tensors, "attrs": self.attrs, "autocast": self.autocast,
                "grad": bool(self.differentiable), "grad_grad": self.second}

    def expected(self):
        """[(name, Expected, type it was computed in, type of the result)]."""
        outputs = names_of("output", len(self.output_types))
        wanted = [(name, e, self.run_dtype if t.is_floating_point else t, t)
                  for name, e, t in zip(outputs, self.reference.values(), self.output_types)]
        if not self.differentiable:
            return wanted
        seeds = [s.double() for s in self.seeds]
        for i, e in zip(self.differentiable, self.reference.first(seeds)):
            wanted.append((f"grad.{self.names[i]}", e, self.run_dtype, self.tensors[i].dtype))
        if self.second:
            vs = [self.vs[i].double() for i in self.differentiable]
            coarse = max((self.run_dtype, *(t.dtype for t in self.tensors if t.is_floating_point())),
                         key=lambda t: UNIT[t])
            found = [stored_in(e, self.run_dtype, coarse) for e in self.reference.second(seeds, vs)]
            for i, e in zip(self.differentiable, found):
                wanted.append((f"grad_grad.{self.names[i]}", e, coarse, self.tensors[i].dtype))
            for name, e, seed in zip(outputs, found[len(self.differentiable):], self.seeds):
                wanted.append((f"grad_grad.{name}", e, coarse, seed.dtype))
        return wanted
