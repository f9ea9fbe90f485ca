"""Reads what a PyTorch step has: loss scale, skips, learning rate, gradients.

GradScaler tells some of it only in private attributes (`_scale`, `_growth_tracker`,
`_per_optimizer_states`): its public calls wait for the device. Where a version of PyTorch lacks
one of them, the figure is unknown. What is observed never raises into the training.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from .gradient_census import census
from .method_hook import observe


def gradients_of(optimizer: Any) -> List[Any]:
    """The gradients that an optimizer will use, of sparse ones the stored values. To be called
    without recording of gradients."""
    found = [p.grad for group in optimizer.param_groups for p in group["params"]]
    grads = [grad for grad in found if grad is not None]
    if any(grad.is_sparse for grad in grads):
        grads = [grad.coalesce().values() if grad.is_sparse else grad for grad in grads]
    return grads


class _Torch:
    """Functions of PyTorch that each step needs, looked up once."""

    def __init__(self) -> None:
        import torch

        self.no_grad = torch.no_grad
        self.stack = torch.stack
        self.hypot = torch.hypot
        self.vector_norm = torch.linalg.vector_norm
        # The name under which newer versions have it.
        public = getattr(torch, "foreach", None)
        self.foreach_norm: Callable[[List[Any]], Sequence[Any]] = (
            getattr(public, "norm", None) or getattr(torch, "_foreach_norm", None)
            or (lambda grads: [self.vector_norm(grad) for grad in grads]))
        self.f16 = torch.float16
        self.f32 = torch.float32
        self.narrow = (torch.float16, torch.bfloat16)

    def norm_of(self, grads: List[Any]) -> Any:
        """L2 norm over all gradients of one device as a 0-d f32 tensor, without waiting for it."""
        kinds = {grad.dtype for grad in grads}
        if not kinds.isdisjoint(self.narrow):  # their squares would overflow
            grads = [grad.float() if grad.dtype in self.narrow else grad for grad in grads]
        norms = self.foreach_norm(grads)
        if kinds != {self.f32}:
            norms = [norm.float() for norm in norms]
        return self.vector_norm(self.stack(list(norms)))


def _by_device(grads: List[Any]) -> List[List[Any]]:
    if len({grad.device for grad in grads}) == 1:
        return [grads]
    groups: Dict[Any, List[Any]] = {}
    for grad in grads:
        groups.setdefault(grad.device, []).append(grad)
    return list(groups.values())


def _kept(value: Any) -> Any:
    """A value that is about to be overwritten: as a number where it is at hand, else as a copy on
    its device, which nothing waits for."""
    if not is_tensor(value):
        return value
    return value.item() if value.device.type == "cpu" else value.clone()


def is_enabled(scaler: Any) -> bool:
    """Whether there is a scaler that scales."""
    return scaler is not None and bool(getattr(scaler, "is_enabled", lambda: True)())


class TorchProbe:
    """Observes one training: calls of the scaler's `unscale_`, `step` and `update`, and steps of
    the optimizers that are given or that the scaler gets. close() takes all of it back."""

    def __init__(self, optimizers: Sequence[Any], scaler: Optional[Any], shares_every: int) -> None:
        self.problem: Optional[Exception] = None  # why something could not be observed
        self._torch = _Torch()
        self.scaled = is_enabled(scaler)
        self.optimizers = list(optimizers)
        self._scaler = scaler
        self._shares_every = shares_every
        self._steps = 0
        self._undo: List[Callable[[], None]] = []
        self._seen: List[int] = []  # ids of the optimizers of this step
        self._figures: Dict[str, Any] = {}
        if scaler is not None:
            # A disabled scaler is watched too: its step() tells the optimizer.
            self._try(self._watch, scaler, "unscale_", self._observe)
            self._try(self._watch, scaler, "step", self._observe)
        if self.scaled:
            self._try(self._watch, scaler, "update", self._before_update)
        for optimizer in self.optimizers:
            self._try(self._watch_steps, optimizer)

    def _watch(self, watched: Any, name: str, before: Callable[..., None]) -> None:
        def called(*args: Any, **kwargs: Any) -> None:
            self._try(before, *(args or tuple(kwargs.values()))[:1])

        self._undo.append(observe(watched, name, called))

    def _watch_steps(self, optimizer: Any) -> None:
        """Its steps without the scaler. PyTorch has a hook for them from 2.0 on."""
        def called(*_args: Any, **_kwargs: Any) -> None:
            self._try(self._observe, optimizer, False)

        try:
            self._undo.append(optimizer.register_step_pre_hook(called).remove)
        except Exception:  # an older PyTorch, or another library's optimizer
            self._undo.append(observe(optimizer, "step", called))

    def _try(self, observe: Callable[..., None], *args: Any) -> None:
        """Observes, or leaves the figures unknown; the training goes on."""
        try:
            observe(*args)
        except Exception as error:  # a fault of the watcher must not end the training
            if self.problem is None:
                self.problem = error

    def _before_update(self, *_args: Any) -> None:
        """Keeps what update() overwrites. A step may have several updates, as where each of two
        optimizers is followed by one: the first one's scale counts, and an overflow of any."""
        scale = getattr(self._scaler, "_scale", None)
        states = getattr(self._scaler, "_per_optimizer_states", {})
        checks = [flag for state in states.values()
                  for flag in state.get("found_inf_per_device", {}).values()]
        with self._torch.no_grad():
            if scale is not None and "scale" not in self._figures:
                self._figures["scale"] = _kept(scale)
            if "found_inf" in self._figures:
                checks.insert(0, self._figures["found_inf"])
            if checks:
                # update() drops them. Each is 0, or more where something overflowed.
                first = checks[0]
                for check in checks[1:]:
                    first = first + check.to(first.device, non_blocking=True)
                self._figures["found_inf"] = first

    def _observe(self, optimizer: Any, scaled: bool = True) -> None:
        """The gradients as they are before they are unscaled, clipped or used. `scaled`: they come
        through the scaler, by which they are multiplied where it is enabled."""
        if id(optimizer) in self._seen:
            return
        first = not self._seen
        self._seen.append(id(optimizer))
        if not any(known is optimizer for known in self.optimizers):
            self.optimizers.append(optimizer)
        if first:
            self._figures["lr"] = _kept(optimizer.param_groups[0]["lr"])
        with self._torch.no_grad():
            groups = _by_device(gradients_of(optimizer))
            for grads in groups:
                norm = self._torch.norm_of(grads)
                share = self._share_of_scale(scaled)
                self._add_norm(norm if share is None else norm * share)
            # The first of several optimizers or devices stands for all.
            if first and groups and self.samples_now():
                self._figures.update(census(groups[0]))
                self._figures["f16"] = float(
                    self.scaled or any(g.dtype == self._torch.f16 for g in groups[0]))

    def _share_of_scale(self, scaled: bool) -> Any:
        """The scale of this step over that of these gradients where they may differ: the scaler
        was left out, or an update lies between."""
        now = getattr(self._scaler, "_scale", None) if self.scaled else None
        if now is None or (scaled and "scale" not in self._figures):
            return None
        first = self._figures.get("scale", now)
        return first / now if scaled else first

    def _add_norm(self, norm: Any) -> None:
        before = self._figures.get("scaled_norm")
        if before is not None:
            norm = self._torch.hypot(before, norm.to(before.device, non_blocking=True))
        self._figures["scaled_norm"] = norm

    def samples_now(self) -> bool:
        """Whether this step is one of those whose gradients are counted."""
        return self._shares_every > 0 and self._steps % self._shares_every == 0

    def take(self) -> Optional[Dict[str, Any]]:
        """The figures of the step that has ended, or None where no optimizer has stepped since
        the last call."""
        if not self._seen:
            return None
        figures, self._figures = self._figures, {}
        self._seen.clear()
        self._steps += 1
        if self.scaled:
            after = getattr(self._scaler, "_scale", None)
            tracker = getattr(self._scaler, "_growth_tracker", None)
            if after is not None:
                figures.setdefault("scale", after)
                figures["next_scale"] = after
            if tracker is not None:
                figures["tracker"] = tracker
        return figures

    def close(self) -> None:
        """Leaves scaler and optimizers as they were."""
        for undo in reversed(self._undo):
            undo()
        self._undo.clear()


def parameters_of(optimizers: Sequence[Any]) -> Tuple[int, str, str]:
    """Numbers in the parameters, device and dtype of the first of them."""
    tensors = [p for o in optimizers for group in getattr(o, "param_groups", ())
               for p in group["params"]]
    if not tensors:
        return 0, "", ""
    device = tensors[0].device
    name = device.type if device.type == "cpu" else f"{device.type}:{device.index or 0}"
    return sum(t.numel() for t in tensors), name, str(tensors[0].dtype)


def autocast_of(kind: str) -> str:
    """The dtype of autocast on this kind of device, "" where it is off."""
    import torch

    if hasattr(torch, "get_autocast_dtype"):  # from 2.4 on
        return str(torch.get_autocast_dtype(kind)) if torch.is_autocast_enabled(kind) else ""
    if kind == "cuda":
        return str(torch.get_autocast_gpu_dtype()) if torch.is_autocast_enabled() else ""
    if kind == "cpu" and torch.is_autocast_cpu_enabled():
        return str(torch.get_autocast_cpu_dtype())
    return ""


class AutocastWatch:
    """Looks, at calls of modules until close(), whether they run under autocast."""

    def __init__(self) -> None:
        import torch

        self.dtype = ""       # of the first region that was met
        self.called = False   # a module was called
        self._hook: Any = None
        try:
            self._hook = torch.nn.modules.module.register_module_forward_pre_hook(self._look)
        except Exception:  # a PyTorch without it: what autocast does is unknown
            pass

    def _look(self, _module: Any, args: Any) -> None:
        self.called = True
        if self.dtype:
            return
        try:
            kinds = {a.device.type for a in args if is_tensor(a)} or {"cuda", "cpu"}
            for kind in kinds:
                self.dtype = self.dtype or autocast_of(kind)
        except Exception:  # this runs inside the model's forward(): nothing may escape
            pass

    def close(self) -> None:
        """Harmless when it is closed."""
        if self._hook is not None:
            self._hook.remove()
            self._hook = None


def memory_of(device: str) -> Tuple[int, int]:
    """Bytes that PyTorch's CUDA allocator has given out now and had at most; 0 elsewhere."""
    if not device.startswith("cuda"):
        return 0, 0
    import torch

    given = torch.cuda.memory_stats_as_nested_dict(device)["allocated_bytes"]["all"]
    return given["current"], given["peak"]


def is_tensor(value: Any) -> bool:
    """Whether a value is a PyTorch tensor."""
    return hasattr(value, "is_cuda") and hasattr(value, "detach")


def finite(value: float) -> bool:
    """Finite and above 0."""
    return math.isfinite(value) and value > 0
