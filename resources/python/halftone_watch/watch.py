"""A training of another program, written as a run of Halftone."""

from __future__ import annotations

import atexit
import math
import os
import platform
import sys
import time
import warnings
from collections import deque
from pathlib import Path
from types import TracebackType
from typing import (Any, Callable, Deque, Dict, List, Mapping, NamedTuple, Optional, Sequence, Set,
                    Type, Union)

from . import torch_probe
from .background_writer import BackgroundWriter
from .metrics import Metric, columns_of, described
from .reading import Reader, Reading, number
from .record_writer import RecordWriter
from .run_folder import RunFolder, default_store, make_numbered_folder, number_json
from .scale_watch import ScaleWatch
from .settings import PRECISIONS, Origin, settings_of
from .step_row import StepTimes, fill_row

_UNKNOWN = float("nan")


def _warn(sentence: str) -> None:
    warnings.warn(sentence, RuntimeWarning, stacklevel=6)  # the training's call


def _described(value: Any) -> str:
    """Describes what was given in place of a number."""
    shape = getattr(value, "shape", None)
    return type(value).__name__ + (f" of shape {tuple(shape)}" if shape is not None else "")


def _count(value: Any) -> Optional[int]:
    """A whole number, None where there is none."""
    found = number(value)
    return None if found is None or not math.isfinite(found) else int(found)


_DIVERGED_AFTER = 1  # one bad batch at the very end is not yet a divergence


class _Step(NamedTuple):
    """A step whose figures may still be on their way."""

    step: int
    epoch: int
    samples: int
    samples_now: int
    times: StepTimes
    memory: Sequence[int]
    reading: Reading


class Watch:
    """Writes a run folder from a running training. One thread. What goes wrong while the training
    runs is a warning, once for each kind: the training goes on, and what could not be recorded is
    missing. After the constructor nothing here raises.

    folder       of the run, absent or empty; None makes a new one in `store`, which Halftone lists
    store        the folder of all runs; None: Halftone's own
    optimizer    one or a list; the first one's rate is recorded. With a scaler, also one that is
                 disabled, they may be left out
    scaler       a torch.amp.GradScaler, or None
    model        a module or a name, for the history
    dataset      a name, for the history
    config       the training's settings as it calls them, to be read by people: a flat dict
    precision    "fp32", "tf32", "amp-fp16", "amp-bf16", "o2-fp16" or "pure-fp16"; None: what the
                 first step shows
    metrics      keys, or Metric objects, of what step() and epoch() are given beside the loss
    batch_size, epochs, steps_planned, train_samples, test_samples, unit
                 for the history, progress and speed; 0: unknown
    shares_every steps between two counts of gradients as f16 values; 0: never
    enabled      False makes every call do nothing, as for all but the first of several processes

    Raises OSError for a folder that cannot be used, and ValueError.
    """

    def __init__(self, folder: Union[str, "os.PathLike[str]", None] = None, *,
                 store: Union[str, "os.PathLike[str]", None] = None,
                 optimizer: Any = None, scaler: Any = None, model: Any = "", dataset: str = "",
                 config: Optional[Mapping[str, Any]] = None, precision: Optional[str] = None,
                 metrics: Sequence[Union[str, Metric]] = (), batch_size: int = 0, epochs: int = 0,
                 steps_planned: int = 0, train_samples: int = 0, test_samples: int = 0,
                 unit: str = "samples", shares_every: int = 10, enabled: bool = True) -> None:
        self._enabled = enabled
        self._open = False
        if not enabled:
            return
        if precision is not None and precision not in PRECISIONS:
            raise ValueError(f"precision {precision!r}: use one of {', '.join(PRECISIONS)}")
        self._metrics = described(metrics)
        self._columns = columns_of(self._metrics)
        self._optimizers = [] if optimizer is None else (
            list(optimizer) if isinstance(optimizer, (list, tuple)) else [optimizer])
        self._origin = Origin(model=model, dataset=dataset, config=dict(config or {}),
                              precision=precision, batch_size=batch_size, epochs=epochs,
                              shares_every=shares_every)
        self._plan = {"train_samples": train_samples, "test_samples": test_samples,
                      "steps_planned": steps_planned, "unit": unit}
        self._scaler = scaler
        self._folder = RunFolder(Path(folder)) if folder is not None else make_numbered_folder(
            Path(store) if store is not None else default_store())
        self._probe: Optional[torch_probe.TorchProbe] = None
        self._autocast: Optional[torch_probe.AutocastWatch] = None
        self._device = ""
        try:
            if self._optimizers or scaler is not None:
                self._probe = torch_probe.TorchProbe(self._optimizers, scaler, shares_every)
                self._autocast = torch_probe.AutocastWatch()
        except BaseException:
            self._folder.close()
            raise
        self._writer: Optional[BackgroundWriter] = None
        self._reader = Reader()
        self._scales = ScaleWatch()
        self._waiting: Deque[_Step] = deque()
        self._held: Optional[Dict[str, float]] = None  # a row whose next scale is not known yet
        self._steps = self._epoch = self._samples = self._updates = 0
        self._bad_losses = 0
        self._memory: Sequence[int] = (0, 0)
        self._elapsed = self._epoch_began = 0.0
        self._epoch_loss = self._epoch_samples = 0.0
        self._recent: Deque[Sequence[float]] = deque(maxlen=512)
        self._calls = 0
        self._told: Set[str] = set()
        self._last_figures: Dict[str, Any] = {}
        self._process = os.getpid()
        self._open = True
        self._clock = time.perf_counter()
        atexit.register(self._at_exit)

    @property
    def folder(self) -> Path:
        """The folder of the run."""
        return self._folder.path

    @property
    def metrics(self) -> List[str]:
        """The keys of the metrics."""
        return list(self._columns) if self._enabled else []

    @property
    def steps(self) -> int:
        """Steps recorded so far."""
        return self._steps if self._enabled else 0

    # --- what a training calls -------------------------------------------------------------------

    def step(self, loss: Any, *, samples: int = 0, epoch: Optional[int] = None,
             lr: Optional[float] = None, loss_scale: Optional[float] = None,
             found_inf: Optional[bool] = None, grad_norm: Optional[float] = None,
             **metrics: Any) -> None:
        """Records an optimizer step, right after `scaler.update()` (or `optimizer.step()`).

        loss     its loss, unscaled: a number or a tensor, on any device
        samples  in its batch
        epoch    completed epochs, where epoch() is not called
        metrics  of its batch, under the keys that the constructor was given
        lr, loss_scale, found_inf, grad_norm
                 for a training without PyTorch, or in place of what PyTorch tells

        With PyTorch, a call without an optimizer step since the last one records nothing, so that
        a loop that accumulates gradients may call it for each of its batches.
        """
        if self._is_ours():
            self._safely(self._step, loss, samples, epoch,
                         {"lr": lr, "scale": loss_scale, "found_inf": found_inf,
                          "grad_norm": grad_norm}, metrics)

    def epoch(self, *, train_loss: Any = None, test_loss: Any = None, **metrics: Any) -> None:
        """Ends an epoch. `metrics`: `test_KEY`, `train_KEY` or `validation_KEY`, as in
        test_accuracy=0.91. Without train_loss it is the mean over the epoch's samples. Waits for
        the figures of the epoch's steps. The time since the last step, in which a test is usual,
        does not count as training time."""
        if self._is_ours() and self._steps > 0:
            self._safely(self._end_epoch, train_loss, {"test_loss": test_loss, **metrics})

    def evaluation(self, **metrics: Any) -> None:
        """Records an evaluation that ends no epoch, with the figures that epoch() takes."""
        if self._is_ours() and self._steps > 0:
            self._safely(self._end_epoch, None, metrics, False)

    def name_metrics(self, keys: Sequence[str]) -> None:
        """Adds metrics to those that the constructor was given, until a step is recorded. A key
        that cannot be one, or has no room, is told once and left out."""
        if not self._is_ours() or self._writer is not None:
            return
        for key in keys:
            if key in self._columns:
                continue
            try:
                self._metrics = described([*self._metrics, key])
                self._columns = columns_of(self._metrics)
            except ValueError as error:
                self._tell(key, f"halftone_watch: {key} is left out: {error}")

    def warning(self, message: str) -> None:
        """Adds a sentence to the run's events."""
        if self._is_ours() and self._writer is not None:
            self._put({"event": "warning", "run": self._folder.run, "step": self._steps,
                       "message": message})

    def close(self, error: Optional[BaseException] = None) -> None:
        """Ends the run: as planned, as stopped (KeyboardInterrupt), or by an error. Harmless when
        it has ended."""
        if self._is_ours():
            self._open = False
            self._safely(self._close, error)

    def __enter__(self) -> "Watch":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close(error)

    # --- how it does it --------------------------------------------------------------------------

    def _is_ours(self) -> bool:
        """Under way, and not a copy in a forked process."""
        return self._open and os.getpid() == self._process

    def _step(self, loss: Any, samples: Any, epoch: Any, given: Mapping[str, Any],
              metrics: Mapping[str, Any]) -> None:
        self._calls += 1
        values: Dict[str, Any] = {}
        if self._probe is not None:
            observed = self._probe.take()
            if observed is None:
                return
            values = observed
        values.update((key, value) for key, value in given.items() if value is not None)
        values["loss"] = loss
        for key, value in self._known(metrics).items():
            values["metric " + key] = value
        self._begin()
        now = time.perf_counter()
        seconds, self._clock = now - self._clock, now
        self._elapsed += seconds
        if "scaled_max" in values:
            self._memory = torch_probe.memory_of(self._device)
        self._steps += 1
        samples_now, told_epoch = _count(samples), _count(epoch)
        self._samples += samples_now or 0
        self._epoch = self._epoch if told_epoch is None else told_epoch
        reading = self._reader.read(values)
        for name in reading.unreadable:
            if values[name] is not None:
                self._tell(name, f"halftone_watch: {name} of step {self._steps} is no number "
                                 f"({_described(values[name])}); it is recorded as missing")
            elif name == "loss":
                self._tell(name, f"halftone_watch: step {self._steps} has no loss; it is recorded "
                                 "as missing")
        self._waiting.append(_Step(self._steps, self._epoch, self._samples, samples_now or 0,
                                   StepTimes(seconds, self._elapsed), self._memory, reading))
        self._settle(wait=False)

    def _end_epoch(self, train_loss: Any, figures: Mapping[str, Any], ended: bool = True) -> None:
        self._settle(wait=True)
        event: Dict[str, Any] = {"event": "epoch", "run": self._folder.run}
        if ended:
            self._epoch += 1
        else:
            event["epoch_ended"] = False
        mean = self._epoch_loss / self._epoch_samples if self._epoch_samples > 0 else None
        told = number(train_loss)
        event.update(epoch=self._epoch, step=self._steps,
                     train_loss=number_json(mean if told is None else told))
        for key, value in figures.items():
            part, _, name = key.partition("_")
            figure = number(value)
            if part not in ("test", "train", "validation") or (
                    name != "loss" and name not in self._columns):
                self._tell(key, f"halftone_watch: {key} is left out; give test_KEY, train_KEY or "
                                "validation_KEY of a metric that Watch(metrics=...) names")
            elif figure is not None:
                event[key] = number_json(figure)
            elif value is not None:
                self._tell(key, f"halftone_watch: {key} is no number ({_described(value)}); it is "
                                "left out")
        event["seconds"] = self._elapsed - self._epoch_began
        self._put(event)
        self._last_figures = {k: v for k, v in event.items()
                              if k.startswith(("test_", "validation_"))}
        if ended:
            self._epoch_began = self._elapsed
            self._epoch_loss = self._epoch_samples = 0.0
        self._clock = time.perf_counter()

    def _close(self, error: Optional[BaseException]) -> None:
        atexit.unregister(self._at_exit)
        try:
            if self._probe is not None:
                self._probe.close()
            if self._autocast is not None:
                self._autocast.close()
            if self._writer is not None:
                self._finish(error)
                self._writer.close()
            elif self._calls > 0 and error is None:
                self._tell("steps", "halftone_watch recorded nothing: no optimizer step was seen. "
                                    "Pass Watch(optimizer=...), or step through the scaler that "
                                    "it is given")
            self._tell_problem()
        finally:
            self._folder.close()

    def _safely(self, do: Callable[..., None], *args: Any) -> None:
        """A fault of the watcher must not end the training."""
        try:
            do(*args)
        except Exception as error:
            self._tell("fault", f"halftone_watch cannot record all of this training: {error!r}")

    def _known(self, metrics: Mapping[str, Any]) -> Dict[str, Any]:
        for key in sorted(set(metrics) - set(self._columns)):
            self._tell(key, f"halftone_watch: {key} is left out; name the metrics in "
                            "Watch(metrics=...)")
        return {key: value for key, value in metrics.items() if key in self._columns}

    def _tell(self, kind: str, sentence: str) -> None:
        """Each kind of problem once."""
        if kind not in self._told:
            self._told.add(kind)
            _warn(sentence)

    def _begin(self) -> None:
        """The first step shows what precision the run has: only now its files are made."""
        if self._writer is not None:
            return
        optimizers = self._probe.optimizers if self._probe is not None else []
        parameters, self._device, dtype = torch_probe.parameters_of(optimizers)
        autocast = ""
        if self._autocast is not None:
            autocast = self._autocast.dtype
            self._autocast.close()
        settings, origin = settings_of(self._origin, optimizers, self._scaler, dtype, autocast)
        self._folder.write_settings({"origin": origin, **settings})
        record = RecordWriter(self._folder.path,
                              sum(metric.key != "accuracy" for metric in self._metrics),
                              self._folder.on_network)
        listed = [metric.to_json() for metric in self._metrics]
        self._folder.append({
            "event": "start", "run": self._folder.run, "config": settings, "origin": origin,
            "device": self._device or platform.machine(), "threads": os.cpu_count() or 0,
            "parameters": parameters, "folder": str(self._folder.path), "task": "",
            "metrics": listed, "step_metrics": listed, **self._plan})
        self._writer = BackgroundWriter(self._folder, record)

    def _settle(self, wait: bool) -> None:
        """Passes on the steps whose figures have arrived, in their order."""
        while self._waiting and (wait or self._waiting[0].reading.ready()):
            step = self._waiting.popleft()
            step.reading.wait()
            self._record(step)
        self._tell_problem()

    def _record(self, step: _Step) -> None:
        figures = step.reading.figures()
        skipped = figures.get("found_inf", 0.0) != 0
        self._updates += not skipped
        loss = figures.get("loss")
        if loss is not None:
            self._bad_losses = 0 if math.isfinite(loss) else self._bad_losses + 1
            weight = float(step.samples_now or 1)
            self._epoch_loss += loss * weight
            self._epoch_samples += weight
        self._recent.append((step.times.seconds, step.samples_now))
        row = fill_row(figures, self._columns, step=step.step, epoch=step.epoch,
                       samples=step.samples, updates=self._updates, times=step.times,
                       samples_now=step.samples_now, memory=step.memory, skipped=skipped)
        self._put(row)
        self._see_scale(step.step, figures, skipped)

    def _see_scale(self, step: int, figures: Dict[str, float], skipped: bool) -> None:
        """A training without PyTorch tells the next scale with its next step."""
        if self._held is not None:
            self._tell_scale(self._held, figures.get("scale", 1.0))
            self._held = None
        if "scale" not in figures:
            return
        # A loss that is missing tells nothing against a lower scale.
        seen = {"step": step, "loss": figures.get("loss", 0.0), "scale": figures["scale"],
                "skipped": skipped}
        if "next_scale" in figures:
            self._tell_scale(seen, figures["next_scale"])
        else:
            self._held = seen

    def _tell_scale(self, seen: Mapping[str, Any], next_scale: float) -> None:
        event = self._scales.see(self._folder.run, seen["step"], seen["loss"], seen["scale"],
                                 seen["skipped"], next_scale)
        if event is not None:
            self._put(event)

    def _put(self, item: Any) -> None:
        assert self._writer is not None
        self._writer.put(item)

    def _tell_problem(self) -> None:
        if self._probe is not None and self._probe.problem is not None:
            self._tell("probe", "halftone_watch cannot observe all of a step: "
                                f"{self._probe.problem!r}")
        if self._writer is not None and self._writer.error is not None:
            self._tell("writer", f"halftone_watch records no more steps: {self._writer.error}")

    def _finish(self, error: Optional[BaseException]) -> None:
        self._settle(wait=True)
        if self._held is not None:
            self._tell_scale(self._held, self._held["scale"])
        stopped = isinstance(error, (KeyboardInterrupt, SystemExit, GeneratorExit))
        if error is not None and not stopped:
            self._put({"event": "error", "run": self._folder.run, "code": "training",
                       "message": f"{type(error).__name__}: {error}"[:2000], "hint": ""})
        planned = "epochs" if self._origin.epochs or self._epoch > 0 else "max_steps"
        reason = planned if error is None else "stopped" if stopped else "failed"
        self._put({"event": "done", "run": self._folder.run, "reason": reason,
                   "steps": self._steps, "updates": self._updates,
                   "skipped": self._steps - self._updates, "test_loss": "nan",
                   **self._last_figures, "wall_s": self._elapsed,
                   "samples_per_s": number_json(self._samples_per_s()),
                   "peak_bytes": self._memory[1], **self._divergence()})

    def _divergence(self) -> Dict[str, int]:
        if self._bad_losses <= _DIVERGED_AFTER:
            return {}
        return {"diverged_at": self._steps - self._bad_losses + 1}

    def _samples_per_s(self) -> float:
        """The mean over the middle half of the latest step times, as Halftone measures speed."""
        warm_up = min(10, self._steps // 2)
        recent = list(self._recent)[max(0, warm_up - (self._steps - len(self._recent))):]
        recent.sort(key=lambda step: step[0])
        cut = (len(recent) + 1) // 4
        kept = recent[cut:len(recent) - cut]
        taken = sum(seconds for seconds, _ in kept)
        samples = sum(count for _, count in kept)
        return samples / taken if samples > 0 and taken > 0 else _UNKNOWN

    def _at_exit(self) -> None:
        """A program that ended without close(): by an error if one reached the top."""
        self.close(getattr(sys, "last_value", None))
