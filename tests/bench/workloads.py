"""The workloads of compare.py: settings of Halftone, and the same training step in PyTorch.

A workload's `phases(batch)` builds PyTorch's networks and data on the CPU and returns, for each update of a step, the
optimizer and a function that computes its loss. Convolutional networks are channels_last; optimizers are the fused ones where
PyTorch has them: SGD with momentum for convolutions, detectors and MLP, SGD for recurrent networks, AdamW for Transformers, SGD
on sparse gradients for DLRM. Data is random and stays in memory, as in `halftone bench`.
"""

import dataclasses
import pathlib
import sys
from typing import Callable

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"
sys.path.insert(0, str(ROOT / "tests" / "peer"))

WIKITEXT_WORDS, WINDOW, STREAMS = 33_278, 35, 20
TEXT_WORDS, TEXT_WINDOW, DROPOUT = 5000, 128, 0.1
CLICKS = {"numbers": 13, "tables": 26, "rows": 100_000, "width": 32, "bottom": [128], "top": [256]}


@dataclasses.dataclass(frozen=True)
class Workload:
    settings: dict  # of Halftone, beside precision, batch and threads
    batch: int
    phases: Callable  # (batch) -> [(optimizer, loss of a step)]
    unit: int = 1  # samples a batch row counts for, as in "tokens/s"
    check: tuple = ()  # script of tests/peer and its arguments: single steps against PyTorch's


def pictures(side, classes):
    def of(kind, stem):
        def phases(batch):
            import torch
            from torch.nn import functional as F
            import convnets
            model = convnets.module(kind, classes, stem).to(memory_format=torch.channels_last)
            x = torch.randn(batch, 3, side, side).contiguous(memory_format=torch.channels_last)
            y = torch.randint(0, classes, (batch,))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4, fused=True)
            return [(optimizer, lambda: F.cross_entropy(model(x), y))]
        return phases
    return of


def cifar(kind, batch):
    settings = {"dataset.kind": "cifar100", "dataset.path": DATA / "cifar100-15k", "model.kind": kind,
                "model.options.stem": "cifar"}
    return Workload(settings, batch, pictures(32, 100)(kind, "cifar"),
                    check=("convnet_steps.py", "--model", kind))


def photographs(kind, batch):
    settings = {"dataset.kind": "image-folder", "dataset.path": DATA / "hymenoptera-mini", "dataset.image_size": 224,
                "model.kind": kind, "model.options.stem": "imagenet"}
    return Workload(settings, batch, pictures(224, 2)(kind, "imagenet"),
                    check=("convnet_steps.py", "--model", kind, "--stem", "imagenet"))


def recurrent(cell):
    def phases(batch):
        import torch
        from torch.nn import functional as F
        from task_reference import RnnLm
        model = RnnLm(cell, WIKITEXT_WORDS)
        x, y = (torch.randint(WIKITEXT_WORDS, (WINDOW, batch)) for _ in range(2))
        state = model.zero_state(batch)
        optimizer = torch.optim.SGD(model.parameters(), lr=1.0, fused=True)

        def loss():
            logits, new = model(x, [part.detach() for part in state])
            state[:] = [part.detach() for part in new]
            return F.cross_entropy(logits.float(), y.flatten())

        return [(optimizer, loss)]

    settings = {"dataset.kind": "text-words", "dataset.path": DATA / "wikitext-2", "model.kind": "rnn-lm",
                "model.options.cell": cell, "model.options.dropout": 0, "bptt": WINDOW, "optimizer.kind": "sgd",
                "optimizer.lr": 1, "optimizer.momentum": 0, "optimizer.weight_decay": 0}
    return Workload(settings, STREAMS, phases, WINDOW,
                    check=("language_model_steps.py", "--data", "wikitext-2", "--cell", cell, "--decoder", "own"))


def transformer(kind):
    def phases(batch):
        import torch
        from torch.nn import functional as F
        import transformer_reference as reference
        make = reference.gpt2_module if kind == "transformer-lm" else reference.bert_module
        words = TEXT_WORDS + (kind == "bert")  # [MASK] is a word of BERT's table
        model = make(words, 256, 4, 4, TEXT_WINDOW).train()
        for part in model.modules():
            if isinstance(part, torch.nn.Dropout):
                part.p = DROPOUT
        x, y = (torch.randint(TEXT_WORDS, (batch, TEXT_WINDOW)) for _ in range(2))
        rows = torch.stack([torch.randperm(TEXT_WINDOW)[:reference.masked_count(TEXT_WINDOW)].sort()[0] + i * TEXT_WINDOW
                            for i in range(batch)]).flatten()
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)

        def loss():
            if kind == "transformer-lm":
                return F.cross_entropy(model(x).logits.flatten(0, 1).float(), y.flatten())
            return F.cross_entropy(model.cls(model.bert(x)[0].flatten(0, 1)[rows]).float(), y.flatten()[rows])

        return [(optimizer, loss)]

    settings = {"dataset.kind": "text-words", "dataset.path": DATA / "wikitext-2", "dataset.max_words": TEXT_WORDS,
                "bptt": TEXT_WINDOW, "model.kind": kind, "model.options.layers": 4, "model.options.width": 256,
                "model.options.heads": 4, "model.options.dropout": DROPOUT, "optimizer.kind": "adamw",
                "optimizer.lr": 1e-3}
    return Workload(settings, 16, phases, TEXT_WINDOW, check=("transformer_steps.py", "--data", "wikitext-2", "--model", kind))


def clicks():
    def phases(batch):
        import torch
        from torch.nn import functional as F
        from peer_models import Dlrm
        model = Dlrm(CLICKS["numbers"], CLICKS["tables"], CLICKS["rows"], CLICKS["width"], CLICKS["bottom"], CLICKS["top"])
        dense, ids = torch.randn(batch, CLICKS["numbers"]), torch.randint(CLICKS["rows"], (batch, CLICKS["tables"]))
        label = torch.randint(2, (batch, 1)).float()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        return [(optimizer, lambda: F.binary_cross_entropy_with_logits(model(dense, ids).float(), label))]

    settings = {"dataset.kind": "clicks-generated", "dataset.tables": CLICKS["tables"],
                "dataset.table_rows": CLICKS["rows"], "model.kind": "dlrm", "model.options.bottom": CLICKS["bottom"],
                "model.options.top": CLICKS["top"], "model.options.embedding": CLICKS["width"], "optimizer.kind": "sgd",
                "optimizer.lr": 0.01, "optimizer.momentum": 0, "optimizer.weight_decay": 0}
    return Workload(settings, 2048, phases, check=("dlrm_steps.py",))


def spirals():
    def phases(batch):
        import torch
        from torch.nn import functional as F
        from peer_models import Mlp
        model, x, y = Mlp([2, 64, 64, 2]), torch.randn(batch, 2), torch.randint(0, 2, (batch,))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4, fused=True)
        return [(optimizer, lambda: F.cross_entropy(model(x), y))]

    return Workload({"dataset.kind": "spirals", "model.kind": "mlp", "model.options.hidden": "[64,64]"}, 32, phases)


@dataclasses.dataclass(frozen=True)
class Wide:
    """An MLP whose step is almost all products of square matrices: two layers of them, forward and both gradients."""

    width: int = 2048

    @property
    def workload(self):
        return Workload({"dataset.kind": "spirals", "model.kind": "mlp",
                         "model.options.hidden": f"[{self.width},{self.width},{self.width}]"}, self.width, None)

    @property
    def flops(self):
        return 2 * 3 * 2 * self.width**3


WIDE = Wide()


def autoencoder():
    def phases(batch):
        import torch
        from torch.nn import functional as F
        from drawing_reference import Autoencoder
        model = Autoencoder(3, 32, 32, 16).to(memory_format=torch.channels_last)
        x = torch.rand(batch, 3, 32, 32).contiguous(memory_format=torch.channels_last)
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
        return [(optimizer, lambda: F.mse_loss(model(x).float(), x))]

    settings = {"dataset.kind": "cifar100", "dataset.path": DATA / "cifar100-15k", "model.kind": "autoencoder",
                "optimizer.kind": "adam", "optimizer.lr": 1e-3}
    return Workload(settings, 64, phases, check=("drawing_steps.py",))


def dcgan():
    def phases(batch):
        import torch
        from drawing_reference import Dcgan
        pair = Dcgan(3, 3, 100, 64).to(memory_format=torch.channels_last)
        x = (torch.rand(batch, 3, 32, 32) * 2 - 1).contiguous(memory_format=torch.channels_last)
        optimizers = [torch.optim.Adam(part.parameters(), lr=1e-3, betas=(0.5, 0.999), fused=True)
                      for part in (pair.discriminator, pair.generator)]
        drawn = []

        def discriminator():
            drawn[:] = [pair.draw(torch.randn(batch, 100))]
            return pair.discriminator_loss(x, drawn[0])

        return [(optimizers[0], discriminator), (optimizers[1], lambda: pair.generator_loss(drawn[0]))]

    settings = {"dataset.kind": "cifar100", "dataset.path": DATA / "cifar100-15k", "model.kind": "dcgan",
                "optimizer.kind": "adam", "optimizer.lr": 1e-3}
    return Workload(settings, 32, phases, check=("drawing_steps.py",))


def typical_scenes(batch, side, objects):
    """Random pictures with as many objects, octagons in their boxes: those of `halftone bench`."""
    import numpy
    import torch
    size = max(4, min(side // 4, 64))
    rows, columns = numpy.mgrid[0:size, 0:size]
    cut = size / 4
    octagon = torch.from_numpy((numpy.minimum(rows, size - 1 - rows) + numpy.minimum(columns, size - 1 - columns)) >= cut)
    targets = []
    for _ in range(batch):
        target = {"boxes": [], "labels": torch.tensor([1 + i % 3 for i in range(objects)]),
                  "masks": torch.zeros(objects, side, side, dtype=torch.uint8)}
        for i in range(objects):
            x, y = i * 37 % (side - size), i * 61 % (side - size)
            target["boxes"].append([x, y, x + size - 1, y + size - 1])
            target["masks"][i, y:y + size, x:x + size] = octagon
        target["boxes"] = torch.tensor(target["boxes"], dtype=torch.float32)
        targets.append(target)
    return [torch.rand(3, side, side) for _ in range(batch)], targets


def large_detector(side):
    """torchvision's maskrcnn_resnet50_fpn with frozen norms, which it has for trained weights alone."""
    from torchvision.models import resnet50
    from torchvision.models.detection import MaskRCNN
    from torchvision.models.detection.backbone_utils import _resnet_fpn_extractor
    from torchvision.ops import FrozenBatchNorm2d
    backbone = _resnet_fpn_extractor(resnet50(weights=None, norm_layer=FrozenBatchNorm2d), 3)
    return MaskRCNN(backbone, 4, min_size=side, max_size=side)


def detector(kind, side, batch):
    def phases(batch):
        import torch
        import detection_learning
        model = large_detector(side) if kind == "maskrcnn-resnet50" else detection_learning.new_detector()
        model = model.to(memory_format=torch.channels_last).train()
        images, targets = typical_scenes(batch, side, 4)
        trained = [each for each in model.parameters() if each.requires_grad]
        optimizer = torch.optim.SGD(trained, lr=1e-6, momentum=0.9, weight_decay=1e-4, fused=True)
        return [(optimizer, lambda: sum(model(images, targets).values()))]

    settings = {"dataset.kind": "shapes", "dataset.image_size": side, "model.kind": kind, "optimizer.kind": "sgd",
                "optimizer.lr": 1e-6, "optimizer.momentum": 0.9, "optimizer.weight_decay": 1e-4}
    return Workload(settings, batch, phases)


WORKLOADS = {
    "resnet18": cifar("resnet18", 128),
    "resnet50-224": photographs("resnet50", 16),
    "resnext50-224": photographs("resnext50", 8),
    "mobilenetv2-224": photographs("mobilenetv2", 16),
    "lstm": recurrent("lstm"),
    "gru": recurrent("gru"),
    "rnn": recurrent("rnn-tanh"),
    "transformer-lm": transformer("transformer-lm"),
    "bert": transformer("bert"),
    "dlrm": clicks(),
    "mlp": spirals(),
    "autoencoder": autoencoder(),
    "dcgan": dcgan(),
    "maskrcnn-18-128": detector("maskrcnn-resnet18", 128, 8),
    "maskrcnn-50-512": detector("maskrcnn-resnet50", 512, 1),
}
WORKLOADS |= {kind: cifar(kind, 16) for kind in ("resnet34", "resnet50", "resnet101", "resnet152", "resnext50", "resnext101",
                                                 "mobilenetv2")}
