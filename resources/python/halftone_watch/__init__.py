"""Writes a training of another program as a run folder that Halftone shows live.

    with halftone_watch.Watch("runs/resnet", optimizer=optimizer, scaler=scaler) as watch:
        for images, labels in batches:
            ...                       # forward, scaler.scale(loss).backward(), step, update
            watch.step(loss, samples=len(images))

README.md says what is recorded, where it comes from and what it costs. `halftone_watch.lightning`
and `halftone_watch.transformers` have callbacks, `halftone_watch.wandb` calls of that name, and
`read(RUN)` reads a run.
"""

from .metrics import Metric
from .run_folder import default_store
from .run_reader import Run, read
from .watch import Watch

__all__ = ["Metric", "Run", "Watch", "default_store", "read"]
