"""The calls of the library wandb that most scripts use, written as a run of Halftone:

    import halftone_watch.wandb as wandb

`init`, `log`, `finish`, `config`, `watch`, `define_metric`, `run`, `summary`. Nothing leaves the
machine. A script can use the real library beside it, offline or not.

What `log` is given under usual names (`loss`, `train/loss`, `lr`, `loss_scale`, `grad_norm`,
`val/acc`, `eval_loss`) becomes the figure that Halftone calls so. Other numbers are metrics: those
of the first step, and those that define_metric() names before it. What is no number is left out.
"""

from __future__ import annotations

import os
import warnings
from typing import Any, Dict, Mapping, Optional, Set, Union

from .figure_names import ARGUMENTS, RESERVED, parsed, parts_of
from .reading import number
from .watch import Watch

_Folder = Union[str, "os.PathLike[str]", None]


class Config(Dict[str, Any]):
    """Settings of a run, as items and as attributes."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def update(self, *args: Any, allow_val_change: bool = True,
               **kwargs: Any) -> None:
        """Takes a dict, a namespace of argparse, or keywords."""
        taken = [vars(each) if hasattr(each, "__dict__") and not isinstance(each, dict) else each
                 for each in args]
        super().update(*taken, **kwargs)

    def setdefaults(self, given: Mapping[str, Any]) -> None:
        """Takes what is not set yet."""
        for name, value in given.items():
            self.setdefault(name, value)


class Run:
    """The run that init() begins. Halftone's run begins with the first figures of training, so that it
    has the whole of `config`."""

    def __init__(self, folder: _Folder, name: str, project: str, given: Any,
                 options: Dict[str, Any]) -> None:
        self.name, self.project = name, project
        self.config = Config()
        if given is not None:
            self.config.update(given)
        self.summary: Dict[str, Any] = {}
        self.step = 0
        self.id = ""
        self._folder, self._options = folder, options
        self._watched: Dict[str, Any] = {}
        self._metrics: Dict[str, None] = {}
        self._row: Dict[str, Any] = {}
        self._told: Set[str] = set()
        self._watch: Optional[Watch] = None
        self._open = True

    @property
    def dir(self) -> str:
        """The folder of the run; empty before its first step."""
        return str(self._watch.folder) if self.id and self._watch is not None else ""

    def define_metric(self, name: str, **_options: Any) -> None:
        """Names a metric that is first logged after the first step, as of an evaluation."""
        if "*" not in name:
            self._name(name)

    def watch(self, models: Any = None, *_args: Any, optimizer: Any = None, scaler: Any = None,
              **_options: Any) -> None:
        """Notes the model. With `optimizer` and `scaler`, which wandb does not have, loss scale,
        skipped steps, learning rate and gradients are recorded as Watch does."""
        model = models[0] if isinstance(models, (list, tuple)) and models else models
        self._watched = {key: value for key, value in (
            ("model", model), ("optimizer", optimizer), ("scaler", scaler)) if value is not None}

    def log(self, data: Mapping[str, Any], step: Optional[int] = None,
            commit: Optional[bool] = None, **_options: Any) -> None:
        """Adds figures to the step under way. Without `step`, or with commit=True, the step is
        over; with a higher `step` the one before."""
        if not self._open:
            raise RuntimeError("halftone_watch.wandb: the run has finished; call init() again")
        if step is not None and step < self.step:
            self._tell("step", f"halftone_watch.wandb: step {step} is behind {self.step}; left out")
            return
        if step is not None and step > self.step:
            self._flush()
            self.step = step
        self._row.update(_flat(data))
        if commit or (commit is None and step is None):
            self._flush()
            self.step += 1

    def finish(self, exit_code: Optional[int] = None, **_options: Any) -> None:
        """Ends the run: as planned, or with another exit code than 0 as failed."""
        if not self._open:
            return
        self._flush()
        self._open = False
        if self._watch is not None:
            failed = RuntimeError(f"exit code {exit_code}") if exit_code else None
            self._watch.close(failed)

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, kind: Any, error: Optional[BaseException], trace: Any) -> None:
        if self._watch is not None and error is not None:
            self._open = False
            self._watch.close(error)
        self.finish()

    def _flush(self) -> None:
        row, self._row = self._row, {}
        figures = {name: value for name, value in row.items() if self._is_figure(name, value)}
        self.summary.update(figures)
        epoch = figures.pop("epoch", None)
        trained, evaluated = parts_of(figures)
        found_inf = trained.get("found_inf")
        trained = {key: value for key, value in trained.items()
                   if key in ARGUMENTS or key not in RESERVED}
        if trained:
            self._step(trained, found_inf, epoch)
        if evaluated and self._watch is not None:
            (self._watch.evaluation if epoch is None else self._watch.epoch)(**evaluated)

    def _step(self, trained: Dict[str, Any], found_inf: Any, epoch: Any) -> None:
        if self._watch is None:
            for name in trained:
                self._name(name)
            self._watch = Watch(self._folder, config=self.config,
                                **{"model": self.name or self.project, "dataset": self.project,
                                   **self._watched, **self._options})
            self._watch.name_metrics(list(self._metrics))
            self.id = "" if self._options.get("enabled") is False else self._watch.folder.name
        arguments = {name: trained.pop(name) for name in ARGUMENTS if name in trained}
        self._watch.step(arguments.pop("loss", None), samples=self._options.get("batch_size", 0),
                         epoch=None if epoch is None else int(number(epoch) or 0),
                         found_inf=found_inf, **arguments, **trained)

    def _name(self, name: str) -> None:
        key = parsed(name).key
        if key and key not in RESERVED:
            self._metrics[key] = None

    def _is_figure(self, name: str, value: Any) -> bool:
        if number(value) is not None:
            return True
        self._tell(name, f"halftone_watch.wandb: {name} is no number; left out")
        return False

    def _tell(self, kind: str, sentence: str) -> None:
        if kind not in self._told:
            self._told.add(kind)
            warnings.warn(sentence, RuntimeWarning, stacklevel=4)


def _flat(data: Mapping[str, Any], before: str = "") -> Dict[str, Any]:
    out: Dict[str, Any] = {}
    for name, value in data.items():
        if isinstance(value, Mapping):
            out.update(_flat(value, f"{before}{name}/"))
        else:
            out[f"{before}{name}"] = value
    return out


#: The run that init() has begun, and its settings and last figures.
run: Optional[Run] = None
config = Config()
summary: Dict[str, Any] = {}


def init(project: Optional[str] = None, *, name: Optional[str] = None, config: Any = None,
         dir: _Folder = None, reinit: Any = None,  # pylint: disable=redefined-builtin
         folder: _Folder = None, **options: Any) -> Run:
    """Begins a run in Halftone's history, or in `folder`. Arguments of Watch (`batch_size`,
    `dataset`, `epochs`...) are taken; those that only wandb has are not looked at."""
    global run, summary
    if run is not None and run._open:
        if reinit in (False, "return_previous"):
            return run
        run.finish()
    taken = {key: value for key, value in options.items() if key in _OPTIONS}
    if options.get("mode", os.environ.get("WANDB_MODE")) == "disabled":
        taken["enabled"] = False
    run = Run(folder, name or "", project or "", config, taken)
    globals()["config"], summary = run.config, run.summary
    return run


_OPTIONS = ("store", "dataset", "precision", "batch_size", "epochs", "steps_planned",
            "train_samples", "test_samples", "unit", "shares_every", "enabled")


def _begun() -> Run:
    if run is None:
        raise RuntimeError("halftone_watch.wandb: call init() first")
    return run


def log(data: Mapping[str, Any], step: Optional[int] = None, commit: Optional[bool] = None,
        **options: Any) -> None:
    """Run.log() of the run that init() has begun."""
    _begun().log(data, step, commit, **options)


def watch(models: Any = None, *args: Any, **options: Any) -> None:
    """Run.watch()."""
    _begun().watch(models, *args, **options)


def define_metric(name: str, **options: Any) -> None:
    """Run.define_metric()."""
    _begun().define_metric(name, **options)


def finish(exit_code: Optional[int] = None, **options: Any) -> None:
    """Run.finish()."""
    if run is not None:
        run.finish(exit_code, **options)
