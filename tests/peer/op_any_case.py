"""Shared by the cases of op_cases.py: the layout of arguments in memory, and a line that describes one."""

import torch

from op_generators import permuted_strides
from op_policy import eligible, LOW_TYPES, policy


class AnyCase:
    """Derived classes set op, mode, names, tensors, attrs, autocast and run_dtype."""

    @property
    def repeats(self):
        """Whether one row may be repeated for all. A channel of equal numbers is at relu's kink, where any rounding
        decides."""
        return self.op != "batch_norm_relu"

    def stride_one(self, rng):
        """Changes the layout of one argument in memory: another order, gaps, or one row repeated for all."""
        wide = [i for i, t in enumerate(self.tensors) if t.dim() >= 2 and t.numel() > 0]
        if not wide:
            return
        i = rng.pick(wide)
        strides = permuted_strides(rng, list(self.tensors[i].shape))
        kind = rng.pick(("order", "gaps", "repeat"))
        if kind == "gaps":
            strides = [2 * step for step in strides]
        elif kind == "repeat" and self.tensors[i].is_floating_point() and self.repeats:
            d = int(rng.numpy.integers(self.tensors[i].dim()))
            strides[d] = 0
            self.tensors[i] = self.tensors[i].narrow(d, 0, 1).expand_as(self.tensors[i]).contiguous()
        self.attrs["strides"] = {self.names[i]: strides}

    def rounded_twice(self, name, got):
        """A low op's gradient must be a value of the low type, even for an f32 leaf."""
        if policy(self.op) != "low" or not name.startswith("grad.") or self.run_dtype not in LOW_TYPES:
            return False
        if not eligible(got):
            return False
        same = got.to(self.run_dtype).to(got.dtype)
        return not torch.equal(torch.nan_to_num(same), torch.nan_to_num(got))

    def describe(self):
        shapes = ", ".join(f"{n}:{str(t.dtype)[6:]}{list(t.shape)}" for n, t in zip(self.names, self.tensors))
        return f"{self.op} [{self.mode}, autocast {self.autocast}] ({shapes}) {self.attrs}"
