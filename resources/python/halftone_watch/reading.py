"""Figures on their way from a device to the host, which nothing waits for."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Tuple


def number(value: Any) -> Optional[float]:
    """A number, or a tensor of one element, as a float; waits for the device of a tensor. None for
    what is neither."""
    if value is None or isinstance(value, (str, bytes)) or not _is_single(value):
        return None
    try:
        return float(value.detach() if hasattr(value, "detach") else value)
    except Exception:  # whatever a training passes: it must not end for it
        return None


def _is_single(value: Any) -> bool:
    """Whether a value, if it is a tensor, is one real number."""
    if not hasattr(value, "detach"):
        return True
    try:
        return value.numel() == 1 and not value.is_complex()
    except Exception:
        return False


class Reading:
    """The figures of one step. On the CPU they are there at once; of a CUDA device they arrive by
    an asynchronous copy into pinned memory."""

    def __init__(self, known: Dict[str, float]) -> None:
        self.unreadable: List[str] = []  # names of values that are no numbers
        self._known = known

    def ready(self) -> bool:
        """Whether the figures have arrived. Never waits."""
        return True

    def wait(self) -> None:
        """Waits until they have."""

    def figures(self) -> Dict[str, float]:
        """The figures by name, once they are ready."""
        return self._known


class _CopiedReading(Reading):
    def __init__(self, known: Dict[str, float], names: List[str], slot: Tuple[Any, Any],
                 free: List[Tuple[Any, Any]]) -> None:
        super().__init__(known)
        self._names, self._slot, self._free = names, slot, free

    def ready(self) -> bool:
        return bool(self._slot[1].query())

    def wait(self) -> None:
        self._slot[1].synchronize()

    def figures(self) -> Dict[str, float]:
        if self._names:
            values = self._slot[0][:len(self._names)].tolist()
            self._known.update(zip(self._names, values))
            self._free.append(self._slot)
            self._names = []
        return self._known


class Reader:
    """Makes readings. Its pinned buffers are used again once they have been read."""

    _SLOT = 32  # figures, more than a step has

    def __init__(self) -> None:
        self._free: List[Tuple[Any, Any]] = []

    def read(self, values: Mapping[str, Any]) -> Reading:
        """`values`: numbers, and tensors of one element on any device; others are left out. For
        tensors of a CUDA device the copy is put on its current stream, behind the work that makes
        them."""
        known: Dict[str, float] = {}
        names, tensors, unreadable = [], [], []
        for name, value in values.items():
            if getattr(value, "is_cuda", False) and _is_single(value):
                names.append(name)
                tensors.append(value)
                continue
            found = number(value)
            if found is None:
                unreadable.append(name)
            else:
                known[name] = found
        reading = self._copy(known, names, tensors) if tensors else Reading(known)
        reading.unreadable = unreadable
        return reading

    def _copy(self, known: Dict[str, float], names: List[str], tensors: List[Any]) -> Reading:
        import torch

        device = tensors[0].device
        with torch.no_grad():
            flat = torch.stack([
                t.detach().reshape(()).to(device, torch.float32, non_blocking=True)
                for t in tensors])
        if self._free:
            slot = self._free.pop()
        else:
            slot = (torch.empty(self._SLOT, dtype=torch.float32, pin_memory=True),
                    torch.cuda.Event())
        slot[0][:len(names)].copy_(flat, non_blocking=True)
        slot[1].record(torch.cuda.current_stream(device))
        return _CopiedReading(known, names, slot, self._free)
