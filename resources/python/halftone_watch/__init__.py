"""Writes a training of another program as a run folder that Halftone shows live.

    with halftone_watch.Watch("runs/resnet", optimizer=optimizer, scaler=scaler) as watch:
        for images, labels in batches:
            ...                       # forward, scaler.scale(loss).backward(), step, update
            watch.step(loss, samples=len(images))

README.md says what is recorded, where it comes from and what it costs.
"""

from .metrics import Metric
from .run_folder import default_store
from .watch import Watch

__all__ = ["Metric", "Watch", "default_store"]
__version__ = "0.1.0"
