#!/usr/bin/env python3
"""Writes golden/detection.safetensors.xz: what torchvision 0.29.2 makes of the operations of ops/detection.

Inputs are drawn by philox.py here and by kernels/philox.h in the tests (tests/engine/ops/detection/drawn.h): draw(number,
shape, low, high) is low + (high - low) * uniform of substream `number`. Cases whose decisions depend on a comparison are drawn
again, with the next number, until every compared value is at least 1e-5 of it away from its threshold; the file holds the
number, NAME.draw.

Needs torch, torchvision 0.29.2 and safetensors.
"""

import math

import golden_file
import numpy
import philox
import safetensors.torch
import torch
import torchvision
from torchvision.models.detection import _utils as detection
from torchvision.models.detection.anchor_utils import AnchorGenerator
from torchvision.models.detection.image_list import ImageList
from torchvision.models.detection.roi_heads import project_masks_on_boxes, RoIHeads
from torchvision.models.detection.rpn import RegionProposalNetwork
from torchvision.ops import boxes as box_ops

SEED = 54
MARGIN = 1e-5
golden = {}


def draw(number, shape, low=0.0, high=1.0):
    words = philox.words(numpy.arange(math.prod(shape)), SEED, 0, number)
    unit = (words >> numpy.uint64(8)).astype(numpy.float64) * 2.0**-24
    return torch.from_numpy((low + (high - low) * unit).astype(numpy.float32)).reshape(shape)


def draw_boxes(number, count, size, low, high):
    """Left and top edges in [0, size), sides in [low, high)."""
    corner, side = draw(number, (count, 2), 0, size), draw(number + 1, (count, 2), low, high)
    return torch.cat([corner, corner + side], 1)


def clear_of(values, *thresholds):
    values = values[values.isfinite()].double()
    return all(bool(((values - t).abs() >= MARGIN * max(abs(t), MARGIN)).all()) for t in thresholds)


def keep(name, tensor):
    golden[name] = tensor.contiguous()


def checksum(values):
    """A sum over whole numbers and halves, exact."""
    flat = (values.flatten().double() * 2).long()
    return (flat * (torch.arange(len(flat)) % 9973 + 1)).sum().reshape(1)


CANVASES = [(800, 1344), (800, 1216), (64, 64), (32, 32), (128, 128), (96, 160), (224, 32), (512, 512), (800, 800), (1344, 800),
            (64, 2048), (256, 320), (320, 256), (480, 640), (32, 1024), (192, 192), (608, 800), (416, 416), (1216, 1216), (160, 96)]


def anchors():
    for i, (height, width) in enumerate(CANVASES):
        sizes = (32, 64, 128, 256, 512) if i % 2 == 0 else (8, 16, 32, 64, 128)
        maps = [torch.zeros(1, 1, math.ceil(height / s), math.ceil(width / s)) for s in (4, 8, 16, 32, 64)]
        generator = AnchorGenerator(tuple((s,) for s in sizes), ((0.5, 1.0, 2.0),) * 5)
        made = generator(ImageList(torch.zeros(1, 3, height, width), [(height, width)]), maps)[0]
        keep(f"anchors.{i}.sum", checksum(made))
        keep(f"anchors.{i}.last", made[-3:])


def iou():
    a, b = draw_boxes(10, 12, 40, 0, 30), draw_boxes(12, 17, 40, 0, 30)
    a[3, 2:], b[5, 3] = a[3, :2], b[5, 1]
    keep("box_iou", box_ops.box_iou(a, b))


def coder():
    boxes, around = draw_boxes(20, 64, 200, 1, 150), draw_boxes(22, 64, 200, 1, 150)
    for name, weights in (("rpn", (1.0, 1.0, 1.0, 1.0)), ("head", (10.0, 10.0, 5.0, 5.0))):
        made = detection.BoxCoder(weights)
        keep(f"box_encode.{name}", made.encode_single(boxes, around))
        deltas = draw(24, (64, 12), -4, 4) * torch.tensor(weights).repeat(3) * torch.tensor([1, 1, 1.5, 1.5]).repeat(3)
        keep(f"box_decode.{name}", made.decode(deltas, [around]).reshape(64, 12))


def clear_pairs(boxes, *thresholds):
    return clear_of(box_ops.box_iou(boxes, boxes), *thresholds)


def suppression():
    cases = (("one", 1, 100, 0.5), ("few", 40, 60, 0.5), ("many", 2048, 800, 0.7), ("dense", 600, 120, 0.3))
    for name, count, size, threshold in cases:
        number = 100
        while not clear_pairs(draw_boxes(number, count, size, 8, 64), threshold):
            number += 3
        boxes, scores = draw_boxes(number, count, size, 8, 64), draw(number + 2, (count,))
        keep(f"nms.{name}.draw", torch.tensor([number]))
        keep(f"nms.{name}", box_ops.nms(boxes, scores, threshold))
        keep(f"nms.{name}.equal_scores", box_ops.nms(boxes, (scores * 8).floor(), threshold))
        groups = (scores * 100).long() % 5
        keep(f"nms.{name}.by_group", box_ops._batched_nms_vanilla(boxes, scores, groups, threshold))


def roi_case(i):
    """Sizes of case i, as roi_align_test.cpp has them."""
    return {"n": 2, "c": 1 + i % 5, "h": 3 + i * 7 % 19, "w": 3 + i * 5 % 23, "k": i % 5, "out": (1 + i % 4, 1 + i // 4 % 4),
            "ratio": (-1, 1, 2, 3)[i % 4], "aligned": i // 4 % 2 == 1, "scale": (1.0, 0.5, 0.25)[i % 3],
            "dtype": (torch.float32,) * 5 + (torch.float64, torch.float16, torch.bfloat16)}


def roi_boxes(number, i, case):
    size = torch.tensor([case["w"], case["h"]]) / case["scale"]
    corner = draw(number, (case["k"], 2), -0.3, 1.1) * size
    low = 0.02 if i % 8 == 4 else -0.2  # torchvision fails on an inverted RoI that is aligned and has no ratio
    side = draw(number + 1, (case["k"], 2), low, 0.8) * size * (0.01 if i % 10 == 9 else 1.0)
    picture = (draw(number + 2, (case["k"], 1)) * case["n"]).floor()
    return torch.cat([picture, corner, corner + side], 1)


def axis_is_clear(start, side, bins, ratio, size, aligned):
    if not aligned:
        side = max(side, 1.0)
    grid = ratio if ratio > 0 else math.ceil(side / bins)
    if ratio <= 0 and abs(side / bins - round(side / bins)) < 1e-4 and side != 1.0:
        return False
    places = [start + p * side / bins + (s + 0.5) * side / bins / grid for p in range(bins) for s in range(max(grid, 0))]
    return all(abs(y + 1) > 1e-4 and abs(y - size) > 1e-4 for y in places)


def rois_are_clear(rois, case):
    offset = 0.5 if case["aligned"] else 0.0
    for _, x1, y1, x2, y2 in (rois.double() * torch.tensor([1] + [case["scale"]] * 4)).tolist():
        if not (axis_is_clear(y1 - offset, y2 - y1, case["out"][0], case["ratio"], case["h"], case["aligned"])
                and axis_is_clear(x1 - offset, x2 - x1, case["out"][1], case["ratio"], case["w"], case["aligned"])):
            return False
    return True


def roi_align():
    numbers = []
    for i in range(200):
        case = roi_case(i)
        number = 1000 + 40 * i
        while not rois_are_clear(roi_boxes(number, i, case), case):
            number += 4
        numbers.append(number)
        dtype = case["dtype"][i % 8]
        wide = torch.float64 if dtype == torch.float64 else torch.float32
        x = (draw(number + 3, (case["n"], case["c"], case["h"], case["w"]), -1, 1)).to(dtype).to(wide).requires_grad_()
        rois = roi_boxes(number, i, case).to(wide)
        y = torchvision.ops.roi_align(x, rois, case["out"], case["scale"], case["ratio"], case["aligned"])
        keep(f"roi_align.{i}", y.detach())
        if i % 20 == 3:
            dy = draw(number + 4000, tuple(y.shape), -1, 1)
            keep(f"roi_align.{i}.dx", torch.autograd.grad(y, x, dy)[0])
    keep("roi_align.draw", torch.tensor(numbers))


def pyramid_align():
    level = torchvision.ops.MultiScaleRoIAlign(["0", "1", "2", "3"], 1, 2)
    flat = {str(i): torch.full((1, 1, 256 >> i, 256 >> i), float(i)) for i in range(4)}
    sides = [0, 111, 112, 223, 224, 447, 448, 900]
    keep("levels", level(flat, [torch.tensor([[0.0, 0, s, s] for s in sides])], [(1024, 1024)]).flatten())
    maps = {str(i): draw(50 + i, (1, 3, 64 >> i, 64 >> i), -1, 1) for i in range(4)}
    boxes = draw_boxes(55, 12, 180, 8, 120)
    keep("multi_scale", torchvision.ops.MultiScaleRoIAlign(["0", "1", "2", "3"], 3, 2, canonical_scale=56)(
        maps, [boxes], [(256, 256)]))


def matches_are_clear(iou, *thresholds):
    """Best and second best of each candidate and of each box differ, and the best are clear of the thresholds."""
    best = iou.max(0).values
    pairs = [iou.sort(dim, descending=True).values.narrow(dim, 0, 2) for dim in (0, 1) if iou.shape[dim] > 1]
    apart = all(bool(((p.select(d, 0) - p.select(d, 1) > MARGIN * p.select(d, 0)) | (p.select(d, 0) == 0)).all())
                for p, d in zip(pairs, [dim for dim in (0, 1) if iou.shape[dim] > 1]))
    return apart and clear_of(best, *thresholds) and bool((iou.max(1).values > 0.01).all())


def matching():
    for name, count, high, low, low_quality in (("one", 1, 0.7, 0.3, True), ("few", 5, 0.7, 0.3, True), ("many", 12, 0.6, 0.2, True),
                                                ("rois", 5, 0.5, 0.5, False)):
        number = 300
        while not matches_are_clear(box_ops.box_iou(draw_boxes(number, count, 100, 8, 60), draw_boxes(number + 2, 700, 110, 8, 60)),
                                    high, low):
            number += 4
        iou = box_ops.box_iou(draw_boxes(number, count, 100, 8, 60), draw_boxes(number + 2, 700, 110, 8, 60))
        keep(f"match.{name}.draw", torch.tensor([number]))
        keep(f"match.{name}", detection.Matcher(high, low, low_quality)(iou).to(torch.int32))


def apart(scores):
    ordered = scores.sort().values
    return bool((ordered[1:] - ordered[:-1] > 1e-6 * ordered[1:]).all())


def sides_are_clear(boxes, least):
    return clear_of((boxes[:, 2:] - boxes[:, :2]).flatten(), least)


GRIDS, SIZES, PICTURES = [(16, 20), (8, 10), (4, 5)], (16, 32, 64), [(120, 150), (128, 90)]


def proposals():
    number, clear = 400, False
    network = RegionProposalNetwork(None, None, 0.7, 0.3, 256, 0.5, {"training": 0, "testing": 100}, {"training": 0, "testing": 60}, 0.7)
    network.eval()
    maps = [torch.zeros(2, 1, *grid) for grid in GRIDS]
    anchors_all = AnchorGenerator(tuple((s,) for s in SIZES), ((0.5, 1.0, 2.0),) * 3)(ImageList(torch.zeros(2, 3, 128, 160), PICTURES), maps)
    while not clear:
        rows = [(draw(number + 2 * i, (2, h * w * 3, 1), -4, 4), draw(number + 2 * i + 1, (2, h * w * 3, 4), -1, 1))
                for i, (h, w) in enumerate(GRIDS)]
        logits, deltas = (torch.cat([row[k] for row in rows], 1) for k in (0, 1))
        boxes = network.box_coder.decode(deltas.reshape(-1, 4), anchors_all).view(2, -1, 4)
        counts = [h * w * 3 for h, w in GRIDS]
        tops = network._get_top_n_idx(logits[..., 0], counts)
        clear = all(apart(torch.sigmoid(logits[n, tops[n], 0])) for n in range(2))
        for n in range(2):
            clipped = box_ops.clip_boxes_to_image(boxes[n][tops[n]], PICTURES[n])
            clear = clear and sides_are_clear(clipped, 1e-3)
            for start in (0, 100, 200):
                clear = clear and clear_pairs(clipped[start:start + 100], 0.7)
        number += 6
    number -= 6
    made, _ = network.filter_proposals(boxes, logits, PICTURES, counts)
    keep("proposals.draw", torch.tensor([number]))
    keep("proposals.counts", torch.tensor([len(each) for each in made]))
    keep("proposals", torch.cat(made))


def detections():
    for name, threshold, most in (("all", 0.05, 400), ("cut", 0.2, 15)):
        number, clear = 500, False
        heads = RoIHeads(None, None, None, 0.5, 0.5, 512, 0.25, None, threshold, 0.5, most)
        while not clear:
            rois = draw_boxes(number, 70, 100, 8, 60)
            logits, deltas = draw(number + 2, (70, 7), -3, 3), draw(number + 3, (70, 28), -3, 3)
            boxes = heads.box_coder.decode(deltas, [rois]).reshape(70, 7, 4)
            scores = torch.softmax(logits, -1)
            clear = clear_of(scores, threshold) and apart(scores[:40, 1:].flatten()) and apart(scores[40:, 1:].flatten())
            for n, (first, last) in enumerate(((0, 40), (40, 70))):
                for c in range(1, 7):
                    clipped = box_ops.clip_boxes_to_image(boxes[first:last, c], PICTURES[n])
                    clear = clear and sides_are_clear(clipped, 1e-2) and clear_pairs(clipped, 0.5)
            number += 4
        number -= 4
        made = heads.postprocess_detections(logits, deltas, [rois[:40], rois[40:]], PICTURES)
        keep(f"detections.{name}.draw", torch.tensor([number]))
        keep(f"detections.{name}.counts", torch.tensor([len(each) for each in made[0]]))
        for part, values in zip(("boxes", "scores", "labels"), made):
            keep(f"detections.{name}.{part}", torch.cat(values))


MASK_PICTURE = (90, 150)
INSTANCES = [(3, 5, 70, 80), (100, 40, 17, 9), (0, 0, 150, 90), (149, 89, 1, 1)]  # left, top, width, height
MASK_ROIS = [(0, 2.3, 4.1, 60.7, 77.2), (0, -30.2, -3.1, 90.3, 50.9), (1, 99.2, 39.1, 118.3, 50.4), (1, 104.3, 42.2, 104.9, 42.6),
             (2, -600.1, -610.3, 730.2, 720.9), (2, 20.4, 30.3, 140.8, 88.6), (3, 120.1, 80.2, 160.3, 95.1)]


def masks():
    case = {"aligned": False, "scale": 1.0, "out": (28, 28), "ratio": -1, "h": MASK_PICTURE[0], "w": MASK_PICTURE[1]}
    assert rois_are_clear(torch.tensor(MASK_ROIS), case)
    full = torch.zeros(len(INSTANCES), *MASK_PICTURE)
    for i, (left, top, width, height) in enumerate(INSTANCES):
        full[i, top:top + height, left:left + width] = (draw(600 + i, (height, width)) < 0.6).float()
    rois = torch.tensor(MASK_ROIS)
    keep("masks", project_masks_on_boxes(full, rois[:, 1:], rois[:, 0].long(), 28))


def main():
    if not torchvision.__version__.startswith("0.29.2"):
        raise SystemExit(f"needs torchvision 0.29.2, not {torchvision.__version__}")
    box_ops.batched_nms = box_ops._batched_nms_vanilla  # for few boxes torchvision moves them apart, which rounds them
    for part in (anchors, iou, coder, suppression, roi_align, pyramid_align, matching, proposals, detections,
                 masks):
        part()
    golden_file.write("detection.safetensors", safetensors.torch.save(golden))


if __name__ == "__main__":
    main()
