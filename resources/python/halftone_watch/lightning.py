"""A callback for Lightning, under either of its names (`lightning`, `pytorch_lightning`).

    from halftone_watch.lightning import HalftoneCallback
    trainer = Trainer(..., callbacks=[HalftoneCallback()])
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any, List, Optional, Tuple, Union

from .figure_names import RESERVED, parsed, parts_of
from .reading import number
from .watch import Watch

_NAMES = ("lightning.pytorch", "pytorch_lightning")


def _bases() -> Tuple[type, ...]:
    """The class of callbacks of each Lightning that is imported, else of the one that is
    installed. The two names are two copies of one program."""
    loaded = [name for name in _NAMES if name in sys.modules]
    for name in loaded or _NAMES:
        try:
            importlib.import_module(name)
        except ImportError:
            continue
        loaded = loaded or [name]
    if not loaded:
        raise ImportError("halftone_watch.lightning needs lightning or pytorch_lightning")
    return tuple({id(kind): kind for kind in (
        sys.modules[name].Callback for name in loaded)}.values())


def _samples_in(batch: Any) -> int:
    """The first dimension of the first tensor of a batch; 0: there is none."""
    if hasattr(batch, "shape"):
        return int(batch.shape[0]) if len(batch.shape) > 0 else 0
    parts = batch.values() if isinstance(batch, dict) else batch
    if isinstance(parts, (str, bytes)) or not hasattr(parts, "__iter__"):
        return 0
    return next((count for count in map(_samples_in, parts) if count > 0), 0)


class HalftoneCallback(*_bases()):  # type: ignore[misc]
    """Records the training of a Trainer with Watch. Scaler, skipped steps, precision, learning
    rate and optimizers are found by themselves. Metrics that the module logs of a training step or
    of the validation before the training (the sanity check) are, too; others are named by
    `metrics`. Figures of the validation are recorded at the end of each.

    folder, options   as those of Watch; `metrics`, `dataset`, `config` are usual ones
    """

    def __init__(self, folder: Union[str, "os.PathLike[str]", None] = None, **options: Any) -> None:
        super().__init__()
        self.watch: Optional[Watch] = None
        self._folder, self._options = folder, options
        self._keys: List[str] = []
        self._loss: Any = None
        self._samples = self._validated_at = 0

    def on_sanity_check_end(self, trainer: Any, pl_module: Any) -> None:
        """Notes the names of the figures of the validation."""
        self._keys = _keys_of(trainer)

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        """Begins the run."""
        scaler = getattr(getattr(trainer, "precision_plugin", None), "scaler", None)
        loader = getattr(trainer, "train_dataloader", None)
        steps = getattr(trainer, "estimated_stepping_batches", 0)
        options = {"model": pl_module, "epochs": max(trainer.max_epochs or 0, 0),
                   "batch_size": getattr(loader, "batch_size", None) or 0,
                   "steps_planned": int(steps) if 0 < steps < float("inf") else 0,
                   "enabled": trainer.is_global_zero,
                   "config": dict(getattr(pl_module, "hparams", None) or {}), **self._options}
        self.watch = Watch(self._folder, optimizer=trainer.optimizers, scaler=scaler, **options)
        self.watch.name_metrics(self._keys)

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any,
                           batch_idx: int, *_args: Any) -> None:
        """Records a step, once its optimizer has stepped."""
        if self.watch is None:
            return
        loss = outputs.get("loss") if isinstance(outputs, dict) else outputs
        if loss is not None and hasattr(loss, "detach"):
            # Each batch of an accumulated step has its share.
            loss = loss.detach()
            self._loss = loss if self._loss is None else self._loss + loss
        self._samples += _samples_in(batch)
        if self.watch.steps == 0:
            self.watch.name_metrics(_keys_of(trainer))
        before = self.watch.steps
        trained, _ = parts_of(trainer.callback_metrics)
        named = {key: value for key, value in trained.items() if key in self.watch.metrics}
        self.watch.step(self._loss, samples=self._samples, **named)
        if self.watch.steps > before:
            self._loss, self._samples = None, 0

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        """Records the figures of a validation within the training."""
        if self.watch is None or trainer.sanity_checking or trainer.state.fn != "fit":
            return
        _, figures = parts_of(trainer.callback_metrics)
        self._validated_at = self.watch.steps
        ended = trainer.fit_loop.epoch_loop.batch_progress.is_last_batch
        (self.watch.epoch if ended else self.watch.evaluation)(**figures)

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """Ends an epoch that had no validation at its end."""
        if self.watch is not None and self._validated_at != self.watch.steps:
            self.watch.epoch()

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        """Ends the run."""
        self._close(None)

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        """Ends the run as failed, or as stopped by Ctrl-C."""
        self._close(exception)

    def _close(self, error: Optional[BaseException]) -> None:
        if self.watch is not None:
            self.watch.close(error)
            self.watch = None


def _keys_of(trainer: Any) -> List[str]:
    keys = [parsed(name).key for name, value in trainer.callback_metrics.items()
            if number(value) is not None]
    return [key for key in dict.fromkeys(keys) if key and key not in RESERVED]
