#!/usr/bin/env python3
"""Writes what pycocotools 2.0.11 makes of drawn masks, polygons and detections, for coco_test.

golden/coco_masks.txt.xz: run-length texts, filled polygons, unions, overlaps (tests 1 to 4 of the metric), a line a case.
The inputs are numbers of Philox streams, which the tests draw too (tests/support/drawn_numbers.h); those of the lines
`polygon` stand in the line.
golden/coco_metric.txt.xz: sets of pictures, a line each: the twelve figures of boxes, then of masks, then AP of boxes and
of masks of each class (tests 5 to 7). Lines `edge` hold their set in front of that. Needs numpy and pycocotools.
"""

import contextlib
import copy
import io
import struct

import numpy
import pycocotools.mask as masks
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

import golden_file
import philox

SEED = 54
BITMAPS, POLYGONS, UNIONS, OVERLAPS, SETS = 1001, 1002, 1003, 1004, 1005  # streams


def drawn_bitmap(draw, height, width):
    """Column by column; a pixel differs from the one before it by one chance in some."""
    value, chances = draw.below(2), 1 + draw.below(12)
    bitmap = numpy.zeros((height, width), dtype=numpy.uint8, order="F")
    for x in range(width):
        for y in range(height):
            value ^= draw.one_in(chances)
            bitmap[y, x] = value
    return bitmap


def drawn_polygon(draw, height, width):
    """Points on a grid of hundredths, halves or whole pixels or anywhere, up to ten pixels outside."""
    kind = draw.below(4)

    def coordinate(side):
        if kind == 0:
            return (draw.below(100 * (side + 20)) - 1000) / 100
        if kind == 1:
            return (draw.below(2 * (side + 20)) - 20) / 2
        if kind == 2:
            return float(draw.below(side + 20) - 10)
        return draw.fraction() * (side + 20) - 10

    points = []
    for i in range(3 + draw.below(8)):
        if i > 0 and draw.one_in(8):
            points += points[-2:]
            continue
        x = coordinate(width)
        points += [x, coordinate(height)]
    return points


def text(runs):
    return runs["counts"].decode()


def filled(parts, height, width):
    return masks.merge(masks.frPyObjects(parts, height, width))


EDGES = (  # height, width, parts
    (40, 40, [[10, 10, 30, 10, 30, 20, 10, 20]]),
    (40, 40, [[10.5, 10.5, 30.5, 10.5, 30.5, 20.5, 10.5, 20.5]]),
    (40, 40, [[5, 5, 35, 5, 20, 20, 35, 35, 5, 35, 20, 20]]),  # concave, touches itself
    (40, 40, [[5, 5, 35, 35, 35, 5, 5, 35]]),  # crosses itself
    (40, 40, [[0, 0, 40, 0, 40, 40, 0, 40]]),  # the whole picture
    (40, 40, [[-100, -100, 200, -100, 200, 200, -100, 200]]),
    (40, 40, [[50, 50, 60, 50, 60, 60]]),  # outside
    (40, 40, [[-20, 10, -10, 10, -10, 20]]),
    (40, 40, [[10.1, 10.1, 10.3, 10.1, 10.3, 10.3]]),  # less than a pixel
    (40, 40, [[10.4, 10.4, 10.6, 10.4, 10.6, 10.6, 10.4, 10.6]]),
    (40, 40, [[7, 7, 7, 7, 7, 7]]),  # one point
    (40, 40, [[3, 3, 3, 3, 30, 3, 30, 3, 30, 30, 3, 30, 3, 30]]),  # repeated points
    (40, 40, [[3, 3, 30, 30, 3, 3, 30, 30]]),  # back and forth
    (40, 40, [[3, 3, 20, 3, 20, 20, 3, 20], [10, 10, 30, 10, 30, 30, 10, 30]]),  # parts that overlap
    (40, 40, [[3, 3, 10, 3, 10, 10, 3, 10], [10, 3, 20, 3, 20, 10, 10, 10]]),  # parts that touch
    (40, 40, [[3, 3, 10, 3, 10, 10], [3, 3, 10, 3, 10, 10], [50, 50, 60, 50, 60, 60]]),
    (1, 1, [[0, 0, 1, 0, 1, 1, 0, 1]]),
    (1, 30, [[2.2, 0, 20.7, 0, 20.7, 1, 2.2, 1]]),
    (30, 1, [[0, 2.2, 1, 2.2, 1, 20.7, 0, 20.7]]),
    (40, 40, [[39, 39, 40, 39, 40, 40, 39, 40]]),  # the last pixel
    (40, 40, [[20, -1000, 30, 20, 20, 1000, 10, 20]]),
    (600, 800, [[0.13, 7.77, 799.9, 300.01, 412.5, 599.99]]),
)


def mask_lines():
    for case in range(500):
        draw = philox.Draw(SEED, BITMAPS, case)
        height, width = 1 + draw.below(24), 1 + draw.below(24)
        yield f"bitmap {text(masks.encode(drawn_bitmap(draw, height, width)))}"
    for height, width, parts in EDGES:
        points = ";".join(",".join(repr(float(number)) for number in part) for part in parts)
        yield f"polygon {height} {width} {points} {text(filled([list(map(float, part)) for part in parts], height, width))}"
    for case in range(500):
        draw = philox.Draw(SEED, POLYGONS, case)
        height, width = 1 + draw.below(60), 1 + draw.below(60)
        parts = [drawn_polygon(draw, height, width) for _ in range(1 + (draw.below(3) if draw.one_in(4) else 0))]
        yield f"drawn_polygon {text(filled(parts, height, width))}"
    for case in range(150):
        draw = philox.Draw(SEED, UNIONS, case)
        height, width = 1 + draw.below(20), 1 + draw.below(20)
        drawn = [masks.encode(drawn_bitmap(draw, height, width)) for _ in range(2 + draw.below(3))]
        union = masks.merge(drawn)
        box = " ".join(f"{number:.0f}" for number in masks.toBbox(union))
        common = masks.merge(drawn[:2], intersect=True)
        yield f"union {text(union)} {text(common)} {masks.area(union)} {masks.area(common)} {box}"
    for case in range(60):
        draw = philox.Draw(SEED, OVERLAPS, case)
        height, width = 1 + draw.below(20), 1 + draw.below(20)
        box = lambda: [draw.below(80) / 4, draw.below(80) / 4, draw.below(60) / 4 - 1, draw.below(60) / 4 - 1]
        counts = 1 + draw.below(3), 1 + draw.below(3)
        boxes = [numpy.array([box() for _ in range(count)]) for count in counts]
        runs = [[masks.encode(drawn_bitmap(draw, height, width)) for _ in range(count)] for count in counts]
        crowd = [draw.below(2) for _ in range(counts[1])]
        values = [*masks.iou(*boxes, crowd).ravel(), *masks.iou(*runs, crowd).ravel()]
        yield "overlaps " + " ".join(struct.pack(">d", value).hex() for value in values)


def shape(kind, x, y, w, h):
    """A rectangle or a diamond."""
    if kind == 0:
        return [x, y, x + w, y, x + w, y + h, x, y + h]
    return [x + w / 2, y, x + w, y + h / 2, x + w / 2, y + h, x, y + h / 2]


def drawn_box(draw, height, width):
    x, y = draw.below(4 * width) / 4, draw.below(4 * height) / 4
    w = (1 + draw.below(400)) / 4
    return [x, y, w, (1 + draw.below(400)) / 4]


def drawn_picture(draw, classes):
    """Height, width, truths (label, box, area, crowd, kind of shape) and detections (label, score, box, kind)."""
    height = 40 + draw.below(120)
    width = 40 + draw.below(120)
    truths, detections = [], []
    for _ in range(draw.below(7)):
        label = 1 + draw.below(classes)
        box = drawn_box(draw, height, width)
        area = box[2] * box[3] * (1 + draw.below(8)) / 8
        crowd = int(draw.one_in(8))
        truths.append((label, box, area, crowd, draw.below(2)))
    for _ in range(draw.below(12) + (110 if draw.one_in(40) else 0)):
        label = 1 + draw.below(classes)
        if truths and not draw.one_in(4):
            near, box, *_ = truths[draw.below(len(truths))]
            if not draw.one_in(8):
                label = near
            x = box[0] + (draw.below(9) - 4) * box[2] / 32
            y = box[1] + (draw.below(9) - 4) * box[3] / 32
            w = box[2] * (28 + draw.below(9)) / 32
            box = [x, y, w, box[3] * (28 + draw.below(9)) / 32]
        else:
            box = drawn_box(draw, height, width)
        score = (1 + draw.below(16)) / 16 if draw.one_in(2) else draw.fraction()
        detections.append((label, score, box, draw.below(2)))
    return height, width, truths, detections


def figures(pictures, classes):
    """COCOeval's 24 figures, and AP by class of boxes and of masks."""
    truth = {"images": [], "categories": [{"id": k + 1, "name": str(k)} for k in range(classes)], "annotations": []}
    results = {"bbox": [], "segm": []}
    for image, (height, width, truths, detections) in enumerate(pictures, 1):
        truth["images"].append({"id": image, "height": height, "width": width})
        for label, box, area, crowd, kind in truths:
            polygons = [shape(kind, *box)]
            runs = filled(polygons, height, width)
            truth["annotations"].append({
                "id": len(truth["annotations"]) + 1, "image_id": image, "category_id": label, "bbox": box, "iscrowd": crowd,
                "area": float(masks.area(runs)) if area is None else area, "segmentation": runs if crowd else polygons})
        for label, score, box, kind in detections:
            common = {"image_id": image, "category_id": label, "score": score}
            results["bbox"].append({**common, "bbox": box})
            results["segm"].append({**common, "segmentation": filled([shape(kind, *box)], height, width)})
    values, by_class = [], []
    for kind, each in results.items():
        coco = COCO()
        coco.dataset = copy.deepcopy(truth)
        coco.createIndex()
        found = coco.loadRes(each) if each else COCO()
        if not each:
            found.dataset = {**truth, "annotations": []}
            found.createIndex()
        evaluation = COCOeval(coco, found, kind)
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
        values += evaluation.stats.tolist()
        precision = evaluation.eval["precision"][:, :, :, 0, 2]
        for k in range(classes):
            own = precision[:, :, k]
            by_class.append(own[own > -1].mean() if (own > -1).any() else -1.0)
    return " ".join(f"{value:.12g}" for value in values + by_class)


def box_with_overlap(x, y, side, numerator, denominator):
    """A box within the square (x, y, side) that covers this part of it."""
    return [x, y, side * numerator / denominator, side]


ONE = (1, [10.0, 10.0, 20.0, 20.0], 400.0, 0, 0)
METRIC_EDGES = {  # name: (classes, pictures)
    "no_detections": (1, [(60, 60, [ONE], [])]),
    "no_truths": (1, [(60, 60, [], [(1, 0.5, [10.0, 10.0, 20.0, 20.0], 0)])]),
    "classes_of_one_side": (3, [(60, 60, [ONE, (3, [30.0, 30.0, 9.0, 9.0], 81.0, 0, 0)],
                                 [(1, 0.9, [10.0, 10.0, 20.0, 20.0], 0), (2, 0.8, [10.0, 10.0, 20.0, 20.0], 0)])]),
    "all_crowd": (1, [(60, 60, [(1, [5.0, 5.0, 40.0, 40.0], 1600.0, 1, 0)],
                       [(1, 0.9, [10.0, 10.0, 5.0, 5.0], 0), (1, 0.8, [20.0, 20.0, 5.0, 5.0], 0)])]),
    "crowd_takes_many": (1, [(99, 99, [ONE, (1, [50.0, 50.0, 40.0, 40.0], 1600.0, 1, 0)],
                              [(1, 0.9, [55.0, 55.0, 9.0, 9.0], 0), (1, 0.8, [70.0, 70.0, 9.0, 9.0], 1),
                               (1, 0.7, [10.0, 10.0, 20.0, 20.0], 0), (1, 0.6, [0.0, 60.0, 9.0, 9.0], 0)])]),
    "equal_scores": (1, [(60, 60, [ONE], [(1, 0.5, [40.0, 40.0, 9.0, 9.0], 0), (1, 0.5, [10.0, 10.0, 20.0, 20.0], 0)]),
                         (60, 60, [ONE], [(1, 0.5, [10.0, 10.0, 20.0, 20.0], 0), (1, 0.5, [40.0, 40.0, 9.0, 9.0], 0)])]),
    "last_of_equal_overlaps": (1, [(60, 60, [(1, [10.0, 10.0, 20.0, 20.0], 400.0, 0, 0), (1, [10.0, 10.0, 20.0, 20.0], 2000.0, 0, 0)],
                                    [(1, 0.9, [10.0, 10.0, 20.0, 20.0], 0)])]),
    "detection_101": (1, [(60, 60, [ONE], [(1, 0.9, [40.0, 40.0, 9.0, 9.0], 0)] * 100 + [(1, 0.5, [10.0, 10.0, 20.0, 20.0], 0)])]),
    "detection_100": (1, [(60, 60, [ONE], [(1, 0.9, [40.0, 40.0, 9.0, 9.0], 0)] * 99 + [(1, 0.5, [10.0, 10.0, 20.0, 20.0], 0)])]),
    "area_1024": (1, [(90, 90, [(1, [8.0, 8.0, 32.0, 32.0], 1024.0, 0, 0)], [(1, 0.9, [8.0, 8.0, 32.0, 32.0], 0)])]),
    "area_9216": (1, [(200, 200, [(1, [8.0, 8.0, 96.0, 96.0], 9216.0, 0, 0)], [(1, 0.9, [8.0, 8.0, 96.0, 96.0], 0)])]),
    "score_0": (1, [(60, 60, [ONE], [(1, 0.0, [10.0, 10.0, 20.0, 20.0], 0)])]),
    "negative_width": (1, [(60, 60, [ONE], [(1, 0.9, [30.0, 10.0, -20.0, 20.0], 0), (1, 0.8, [10.0, 10.0, 20.0, 20.0], 0)])]),
    "missing_area": (1, [(99, 99, [(1, [10.0, 10.0, 40.0, 40.0], None, 0, 1)], [(1, 0.9, [10.0, 10.0, 40.0, 40.0], 1)])]),
    "recall_7_of_20": (1, [(60, 60, [ONE], [(1, 0.9, [10.0, 10.0, 20.0, 20.0], 0)] if i < 7 else [(1, 0.1, [40.0, 40.0, 9.0, 9.0], 0)])
                           for i in range(20)]),
    "overlap_0.9": (1, [(60, 60, [ONE], [(1, 0.9, box_with_overlap(10.0, 10.0, 20.0, 9, 10), 0)])]),
}


def edge_words(pictures):
    words = [len(pictures)]
    for height, width, truths, detections in pictures:
        words += [height, width, len(truths), len(detections)]
        for label, box, area, crowd, kind in truths:
            words += [label, *box, "-" if area is None else area, crowd, kind]
        for label, score, box, kind in detections:
            words += [label, score, *box, kind]
    return " ".join(map(str, words))


def metric_lines():
    for name, (classes, pictures) in METRIC_EDGES.items():
        yield f"edge {name} {classes} {edge_words(pictures)} {figures(pictures, classes)}"
    for case in range(300):
        draw = philox.Draw(SEED, SETS, case)
        count = 1 + draw.below(40)
        classes = 1 + draw.below(5)
        yield f"set {figures([drawn_picture(draw, classes) for _ in range(count)], classes)}"


def write(name, lines):
    golden_file.write(name, "".join(line + "\n" for line in lines).encode())


if __name__ == "__main__":
    write("coco_masks.txt", mask_lines())
    with contextlib.redirect_stdout(io.StringIO()):
        write("coco_metric.txt", metric_lines())
