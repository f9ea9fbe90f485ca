"""A callback for Hugging Face's Trainer.

    from halftone_watch.transformers import HalftoneCallback
    trainer.add_callback(HalftoneCallback())
"""

from __future__ import annotations

import os
from typing import Any, Dict, Optional, Union

from transformers import TrainerCallback

from .figure_names import parts_of
from .watch import Watch

# Figures of the evaluation itself.
_NO_FIGURES = ("runtime", "samples_per_second", "steps_per_second", "jit_compilation_time",
               "model_preparation_time")


class HalftoneCallback(TrainerCallback):  # type: ignore[misc]
    """Records the training of a Trainer with Watch. Scaler, skipped steps, precision, learning
    rate and optimizer are found by themselves. The loss of a step is the one that the model
    returns; where it returns none, as with a loss of the Trainer's own, it is the one that the
    Trainer logs (`logging_steps=1`). Metrics of evaluations are named by `metrics`.

    folder, options   as those of Watch; `metrics`, `dataset`, `config` are usual ones
    """

    def __init__(self, folder: Union[str, "os.PathLike[str]", None] = None, **options: Any) -> None:
        self.watch: Optional[Watch] = None
        self._folder, self._options = folder, options
        self._hook: Any = None
        self._losses: Any = None
        self._batches = self._accumulate = self._samples = 0
        self._waits = False  # a step whose loss may still be logged
        self._closed_epoch = 0

    def on_train_begin(self, args: Any, state: Any, control: Any, model: Any = None,
                       optimizer: Any = None, **kwargs: Any) -> None:
        """Begins the run."""
        self._accumulate = args.gradient_accumulation_steps
        self._samples = args.train_batch_size * self._accumulate * args.world_size
        settings = {name: getattr(args, name) for name in (
            "learning_rate", "weight_decay", "warmup_steps", "lr_scheduler_type", "max_grad_norm",
            "gradient_accumulation_steps", "per_device_train_batch_size", "fp16", "bf16", "seed")
            if hasattr(args, name)}
        options: Dict[str, Any] = {
            "model": type(model).__name__, "epochs": int(args.num_train_epochs),
            "batch_size": self._samples, "steps_planned": max(state.max_steps, 0),
            "enabled": state.is_world_process_zero, "config": settings, **self._options}
        # Accelerate's optimizer holds PyTorch's, and the scaler that it steps through.
        self.watch = Watch(self._folder, optimizer=getattr(optimizer, "optimizer", optimizer),
                           scaler=getattr(optimizer, "scaler", None), **options)
        if model is not None:
            self._hook = model.register_forward_hook(self._see_loss)

    def _see_loss(self, model: Any, args: Any, output: Any) -> None:
        if not model.training:
            return
        loss = output.get("loss") if hasattr(output, "get") else getattr(output, "loss", None)
        if loss is not None and hasattr(loss, "detach"):
            loss = loss.detach().mean()
            self._losses = loss if self._losses is None else self._losses + loss
            self._batches += 1

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """A step whose loss was not logged has none."""
        self._record(None)

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Records a step, or waits until its loss is logged."""
        self._waits = True
        if self._losses is not None:
            loss, batches = self._losses, self._batches
            self._losses, self._batches = None, 0
            self._record(loss / batches)

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:
        """Records the step that waits for its loss."""
        if logs and "loss" in logs:
            self._record(logs["loss"])

    def _record(self, loss: Any) -> None:
        if self._waits and self.watch is not None:
            self._waits = False
            self.watch.step(loss, samples=self._samples)

    def on_evaluate(self, args: Any, state: Any, control: Any, metrics: Any = None,
                    **kwargs: Any) -> None:
        """Records the figures of an evaluation within the training."""
        if self.watch is None or not metrics:
            return
        self._record(None)
        _, figures = parts_of({name: value for name, value in metrics.items()
                               if not name.endswith(_NO_FIGURES)})
        whole = state.epoch is not None and float(state.epoch).is_integer()
        if whole and int(state.epoch) > self._closed_epoch:
            self._closed_epoch = int(state.epoch)
            self.watch.epoch(**figures)
        else:
            self.watch.evaluation(**figures)

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Ends the run. An evaluation after it belongs to none."""
        self._record(None)
        if self._hook is not None:
            self._hook.remove()
            self._hook = None
        if self.watch is not None:
            self.watch.close()
            self.watch = None
