"""The CIFAR-100 pack as arrays, and how both sides get the samples of a step."""

import gzip
import pathlib

import numpy
import torch


def default_folder():
    return pathlib.Path(__file__).resolve().parents[3] / "shared" / "data" / "cifar100-15k"


class Cifar100:
    """Records of train.bin.gz or test.bin.gz in file order, at most `most` of them: coarse label, fine label, 3x32x32 bytes."""

    def __init__(self, folder, part="train", most=None):
        raw = numpy.frombuffer(gzip.open(pathlib.Path(folder) / f"{part}.bin.gz").read(), numpy.uint8)
        records = raw.reshape(-1, 3074)[:most]
        self.labels = torch.from_numpy(records[:, 1].astype(numpy.int64))
        self.pixels = torch.from_numpy(records[:, 2:].reshape(-1, 3, 32, 32).copy())

    def batch(self, indices):
        """Images in [0, 1] as f32, not normalised, and labels."""
        chosen = torch.as_tensor(indices)
        return self.pixels[chosen].float() / 255, self.labels[chosen]


def batches(samples, size, count, seed):
    """`count` batches of distinct sample indices."""
    order = numpy.random.default_rng(seed).permutation(samples)
    return [order[i * size:(i + 1) * size].tolist() for i in range(count)]


def write_order(path, chosen):
    """One batch a line, as `dataset.order` takes it."""
    pathlib.Path(path).write_text("".join(" ".join(map(str, batch)) + "\n" for batch in chosen))


def train_settings(folder, precision, batch_size, model="resnet18"):
    """--set arguments that both scripts share: plain pixels, no augmentation, a scale that does not overflow."""
    settings = {"dataset.kind": "cifar100", "dataset.path": str(folder), "dataset.normalize": "false",
                "dataset.augment": "false", "model.kind": model, "precision.preset": precision,
                "batch_size": batch_size, "scaler.init_scale": 1024, "schedule.kind": "constant", "device": "cpu"}
    return [word for field, value in settings.items() for word in ("--set", f"{field}={value}")]
