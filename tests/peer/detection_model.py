#!/usr/bin/env python3
"""Writes golden/detection_model.safetensors.xz: names of torchvision's Mask R-CNN, and steps of a small one, for mask_rcnn_test
and detection_pass_test.

Weights and pictures are uniform() of golden_numbers.py on both sides; what is sampled goes by the rules of the engine
(kernels/balanced_sample.h). The reference of a step is torchvision's f64 network. A figure carries how far ours may be from
it: FACTOR times the farthest of RUNS f32 networks whose weights are moved by a rounding each. All runs must choose alike.

Needs torch, torchvision 0.29.2 and safetensors.
"""

import math

import numpy
import torch
import torchvision
from torchvision.models.detection import mask_rcnn as torch_mask_rcnn
from torchvision.models.detection import _utils, faster_rcnn, roi_heads
from torchvision.models.detection.anchor_utils import AnchorGenerator
from torchvision.models.detection.backbone_utils import BackboneWithFPN
from torchvision.models.detection.image_list import ImageList
from torchvision.models.detection.rpn import RPNHead
from torchvision.ops import boxes as box_ops
from torchvision.ops import FrozenBatchNorm2d, MultiScaleRoIAlign
from torchvision.ops.feature_pyramid_network import LastLevelMaxPool
from torchvision.ops.poolers import initLevelMapper

import golden_file
import philox
from golden_numbers import uniform

FACTOR, RUNS, KEPT, COMPARED = 4.0, 4, 8, 12
CLASSES = 4
BEFORE, AFTER = (20, 12), (40, 24)
CANVAS, SIZES = (96, 128), [(96, 128), (90, 100)]
OBJECTS = [[(10, 8, 50, 60, 1), (40, 30, 120, 90, 2), (70, 5, 92, 25, 3)], [(5, 5, 35, 85, 2)]]
DRAWS = [0x123456789ABCDEF, 0x0FEDCBA987654321]


class Sampler:
    """balanced_sample(): the smallest words of each kind."""

    def __init__(self, count, positives, substream, numbers=None):
        self.count, self.positives, self.substream, self.numbers = count, positives, substream, numbers

    def __call__(self, matched):
        chosen = ([], [])
        for n, labels in enumerate(matched):
            number = numpy.arange(len(labels)) if self.numbers is None else self.numbers(n, len(labels))
            words = philox.words(number, DRAWS[n], 0, self.substream)
            order = sorted(range(len(labels)), key=lambda i: (int(words[i]), int(number[i])))
            positive = [i for i in order if labels[i] >= 1][:self.positives]
            negative = [i for i in order if labels[i] == 0][:self.count - len(positive)]
            for mask, indices in zip(chosen, (positive, negative)):
                mask.append(torch.zeros(len(labels), dtype=torch.uint8).index_fill_(0, torch.tensor(indices, dtype=torch.long), 1))
        return chosen


def network(kind, frozen, small, masks=True, classes=CLASSES):
    norm = FrozenBatchNorm2d if frozen else torch.nn.BatchNorm2d
    body = getattr(torchvision.models, kind)(weights=None, norm_layer=norm)
    large = kind == "resnet50"
    channels = 16 if small else 256 if large else 64
    hidden, layers = (32, [16]) if small else (1024, [256] * 4) if large else (256, [64, 64])
    width = body.inplanes // 8
    backbone = BackboneWithFPN(body, {f"layer{k}": str(k - 1) for k in (1, 2, 3, 4)}, [width * 2**k for k in range(4)], channels,
                               extra_blocks=LastLevelMaxPool())
    sizes = (32, 64, 128, 256, 512) if large else (8, 16, 32, 64, 128)
    options = dict(rpn_anchor_generator=AnchorGenerator(tuple((s,) for s in sizes), ((0.5, 1.0, 2.0),) * 5),
                   rpn_head=RPNHead(channels, 3), rpn_pre_nms_top_n_train=BEFORE[0], rpn_pre_nms_top_n_test=BEFORE[1],
                   rpn_post_nms_top_n_train=AFTER[0], rpn_post_nms_top_n_test=AFTER[1], rpn_batch_size_per_image=64, box_batch_size_per_image=64,
                   box_roi_pool=pooler(7), box_head=faster_rcnn.TwoMLPHead(channels * 49, hidden),
                   box_predictor=faster_rcnn.FastRCNNPredictor(hidden, classes), box_score_thresh=0.05)
    if not masks:
        return faster_rcnn.FasterRCNN(backbone, None, **options)
    return torch_mask_rcnn.MaskRCNN(backbone, None, **options, mask_roi_pool=pooler(14),
                                    mask_head=torch_mask_rcnn.MaskRCNNHeads(channels, layers, 1),
                                    mask_predictor=torch_mask_rcnn.MaskRCNNPredictor(layers[-1], layers[-1], classes))


def pooler(side):
    made = MultiScaleRoIAlign(["0", "1", "2", "3"], side, 2, canonical_scale=56)
    made.scales, made.map_levels = [1 / 4, 1 / 8, 1 / 16, 1 / 32], initLevelMapper(2, 5, canonical_scale=56)
    return made


def value(stream, name, shape):
    """Number-for-number the test's weight()."""
    drawn = uniform(stream, shape)
    if len(shape) > 1:
        gain = 0.3 if any(part in name for part in ("cls_logits", "bbox_pred", "cls_score")) else 1.0
        return drawn * (gain * math.sqrt(3.0 / math.prod(shape[1:])))
    if name.endswith("running_var") or (name.endswith(".weight")):
        return drawn * 0.25 + 1.0
    return drawn * 0.1


def fill(model, noise=None):
    """Parameters in their order from stream 1, then buffers."""
    tensors = [*model.named_parameters(), *((n, b) for n, b in model.named_buffers() if not n.endswith("tracked"))]
    with torch.no_grad():
        for stream, (name, tensor) in enumerate(tensors, 1):
            made = value(stream, name, tuple(tensor.shape)).float().double()
            if noise is not None:
                made = made * (1 + 2.0**-24 * (2 * torch.rand(made.shape, generator=noise, dtype=torch.float64) - 1))
            tensor.copy_(made)
    return model


def ellipse(height, width, box):
    """Integers alone, so that both sides draw the same pixels."""
    left, top, right, bottom, _ = box
    y, x = numpy.mgrid[0:bottom - top, 0:right - left].astype(numpy.int64)
    w, h = right - left, bottom - top
    out = numpy.zeros((height, width), numpy.uint8)
    out[top:bottom, left:right] = (2 * x + 1 - w)**2 * h * h + (2 * y + 1 - h)**2 * w * w <= w * w * h * h
    return torch.from_numpy(out)


def pictures(dtype):
    out = torch.zeros(2, 3, *CANVAS, dtype=torch.float64)
    for n, (height, width) in enumerate(SIZES):
        out[n, :, :height, :width] = uniform(1000 + n, (3, height, width)).float()
    return out.to(dtype)


def targets(objects, dtype):
    out = []
    for (height, width), boxes in zip(SIZES, objects):
        masks = [ellipse(height, width, b) for b in boxes]
        out.append({"boxes": torch.tensor([b[:4] for b in boxes], dtype=dtype).reshape(-1, 4),
                    "labels": torch.tensor([b[4] for b in boxes], dtype=torch.int64),
                    "masks": torch.stack(masks) if masks else torch.zeros(0, height, width, dtype=torch.uint8)})
    return out


def losses(model, objects, dtype, training):
    """The five losses in the order of the sum, and the proposals."""
    images = ImageList(pictures(dtype), SIZES)
    wanted = targets(objects, dtype)
    features = model.backbone(images.tensors)
    rpn = model.rpn
    rpn.train(training)
    rpn.fg_bg_sampler = Sampler(64, 32, 0)
    logits, deltas = rpn.head(list(features.values()))
    anchors = rpn.anchor_generator(images, list(features.values()))
    counts = [each[0].numel() for each in logits]
    flat_logits, flat_deltas = torchvision.models.detection.rpn.concat_box_prediction_layers(logits, deltas)
    boxes = rpn.box_coder.decode(flat_deltas.detach(), anchors).view(2, -1, 4)
    proposals, _ = rpn.filter_proposals(boxes, flat_logits, images.image_sizes, counts)
    labels, matched = rpn.assign_targets_to_anchors(anchors, wanted)
    objectness, rpn_box = rpn.compute_loss(flat_logits, flat_deltas, labels, rpn.box_coder.encode(matched, anchors))
    heads = model.roi_heads
    heads.train()
    after = AFTER[0 if training else 1]
    given = [len(each) for each in proposals]
    heads.fg_bg_sampler = Sampler(64, 16, 1, lambda n, count: numpy.concatenate([numpy.arange(given[n]),
                                                                                after + numpy.arange(count - given[n])]))
    _, made = heads(features, proposals, images.image_sizes, wanted)
    five = [made["loss_classifier"], made["loss_box_reg"], made.get("loss_mask"), objectness, rpn_box]
    return [each for each in five if each is not None], proposals, features, images


def step(case, dtype, noise=None):
    kind, frozen, masks, objects = case
    model = fill(network(kind, frozen, True, masks).to(dtype), noise).train()
    five, proposals, _, _ = losses(model, objects, dtype, True)
    total = sum(five[1:], five[0])
    total.backward()
    return ([float(each.detach()) for each in five] + [float(total.detach())],
            {n: p.grad.double() for n, p in model.named_parameters()}, proposals)


def kept(gradient):
    flat = gradient.flatten()
    count = min(KEPT, len(flat))
    return flat[torch.arange(count) * len(flat) // count]


def alike(first, second):
    return all(len(a) == len(b) and (not len(a) or float((a.double() - b.double()).abs().max()) < 1e-2) for a, b in zip(first, second))


CASES = {"batch": ("resnet18", False, True, OBJECTS), "frozen": ("resnet18", True, True, OBJECTS),
         "boxes": ("resnet18", False, False, OBJECTS), "one_empty": ("resnet18", True, True, [OBJECTS[0], []]),
         "all_empty": ("resnet18", True, True, [[], []])}


def steps(tensors):
    for name, case in CASES.items():
        exact, gradients, proposals = step(case, torch.float64)
        runs = [step(case, torch.float32, torch.Generator().manual_seed(i)) for i in range(RUNS)]
        for run in runs:
            assert alike(proposals, run[2]), f"{name}: runs choose other proposals"
        figures = []
        for i, loss in enumerate(exact):
            figures.append((loss, max(FACTOR * max(abs(run[0][i] - loss) for run in runs), 1e-6 * abs(loss))))
        tensors[f"{name}.losses"] = torch.tensor(figures, dtype=torch.float64)
        names = [n for n, _ in gradients.items()]
        for i in range(COMPARED):
            key = names[i * (len(names) - 1) // (COMPARED - 1)]
            g = gradients[key]
            apart = FACTOR * max(float((run[1][key] - g).norm()) for run in runs) + 2.0**-22 * float(g.norm())
            tensors[f"{name}.{key}"] = torch.tensor([float(g.norm()), apart, *kept(g).tolist()], dtype=torch.float64)
        print(name, [f"{a:.5f} +- {b:.1e}" for a, b in figures],
              max((tensors[k][1] / tensors[k][0].clamp_min(1e-30)).item() for k in tensors if k.startswith(name + ".") and "losses" not in k))


def found(tensors):
    for frozen in (False, True):
        rows = []
        for dtype in (torch.float64, torch.float32):
            model = fill(network("resnet18", frozen, True).to(dtype)).eval()
            with torch.no_grad():
                five, proposals, features, images = losses(model, OBJECTS, dtype, False)
                model.roi_heads.eval()
                rows.append((five, model.roi_heads(features, proposals, images.image_sizes)[0]))
        name = f"found.{'frozen' if frozen else 'batch'}"
        for n, (wide, made) in enumerate(zip(rows[0][1], rows[1][1])):
            assert wide["labels"].tolist() == made["labels"].tolist(), "another order of detections"
            table = torch.cat([wide["boxes"], wide["scores"][:, None], wide["labels"][:, None].double()], 1)
            print(name, n, len(table), float((wide["boxes"] - made["boxes"]).abs().max()), float((wide["masks"] - made["masks"]).abs().max()))
            tensors[f"{name}.{n}"] = table.float()
            tensors[f"{name}.{n}.masks"] = wide["masks"].mean((1, 2, 3)).float()
        tensors[f"{name}.losses"] = torch.stack(rows[0][0])


def names(metadata):
    for kind in ("resnet18", "resnet50"):
        for frozen in (False, True):
            model = network(kind, frozen, False, classes=91)
            key = f"{kind}.{'frozen' if frozen else 'batch'}"
            for part, list_of in (("parameters", model.named_parameters()), ("buffers", model.named_buffers())):
                metadata[f"{key}.{part}"] = "\n".join(" ".join(map(str, (n, *t.shape))) for n, t in list_of)
            metadata[f"{key}.count"] = str(sum(p.numel() for p in model.parameters()))


def main():
    if not torchvision.__version__.startswith("0.29.2"):
        raise SystemExit(f"needs torchvision 0.29.2, not {torchvision.__version__}")
    torch.set_num_threads(1)
    box_ops.batched_nms = box_ops._batched_nms_vanilla
    tensors, metadata = {}, {}
    names(metadata)
    steps(tensors)
    found(tensors)
    print(golden_file.write_tensors("detection_model", tensors, metadata).stat().st_size, "bytes")


if __name__ == "__main__":
    main()
