#!/usr/bin/env python3
"""Writes what pycocotools 2.0.11 makes of drawn masks, polygons and detections, for coco_test.

golden/coco_masks.txt.gz: run-length texts, filled polygons, unions, overlaps (tests 1 to 4 of the metric), a line a case.
The inputs are numbers of Philox streams, which the tests draw too (tests/support/drawn_numbers.h); those of the lines
`polygon` stand in the line. Needs numpy and pycocotools.
"""

import gzip
import pathlib
import struct

import numpy
import pycocotools.mask as masks

import philox

GOLDEN = pathlib.Path(__file__).parent / "golden"
SEED = 54
BITMAPS, POLYGONS, UNIONS, OVERLAPS = 1001, 1002, 1003, 1004  # streams


class Draw:
    """Numbers of a stream one after another."""

    BLOCK = 4096

    def __init__(self, stream, substream):
        self.stream, self.substream, self.next, self.words = stream, substream, 0, []

    def word(self):
        if self.next == len(self.words):
            offsets = numpy.arange(self.next, self.next + self.BLOCK)
            self.words += philox.words(offsets, SEED, self.stream, self.substream).tolist()
        self.next += 1
        return self.words[self.next - 1]

    def below(self, bound):
        return self.word() * bound >> 32

    def one_in(self, chances):
        return self.below(chances) == 0

    def fraction(self):
        return self.word() * 2.0**-32


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
        draw = Draw(BITMAPS, case)
        height, width = 1 + draw.below(24), 1 + draw.below(24)
        yield f"bitmap {text(masks.encode(drawn_bitmap(draw, height, width)))}"
    for height, width, parts in EDGES:
        points = ";".join(",".join(repr(float(number)) for number in part) for part in parts)
        yield f"polygon {height} {width} {points} {text(filled([list(map(float, part)) for part in parts], height, width))}"
    for case in range(500):
        draw = Draw(POLYGONS, case)
        height, width = 1 + draw.below(60), 1 + draw.below(60)
        parts = [drawn_polygon(draw, height, width) for _ in range(1 + (draw.below(3) if draw.one_in(4) else 0))]
        yield f"drawn_polygon {text(filled(parts, height, width))}"
    for case in range(150):
        draw = Draw(UNIONS, case)
        height, width = 1 + draw.below(20), 1 + draw.below(20)
        drawn = [masks.encode(drawn_bitmap(draw, height, width)) for _ in range(2 + draw.below(3))]
        union = masks.merge(drawn)
        box = " ".join(f"{number:.0f}" for number in masks.toBbox(union))
        common = masks.merge(drawn[:2], intersect=True)
        yield f"union {text(union)} {text(common)} {masks.area(union)} {masks.area(common)} {box}"
    for case in range(60):
        draw = Draw(OVERLAPS, case)
        height, width = 1 + draw.below(20), 1 + draw.below(20)
        box = lambda: [draw.below(80) / 4, draw.below(80) / 4, draw.below(60) / 4 - 1, draw.below(60) / 4 - 1]
        counts = 1 + draw.below(3), 1 + draw.below(3)
        boxes = [numpy.array([box() for _ in range(count)]) for count in counts]
        runs = [[masks.encode(drawn_bitmap(draw, height, width)) for _ in range(count)] for count in counts]
        crowd = [draw.below(2) for _ in range(counts[1])]
        values = [*masks.iou(*boxes, crowd).ravel(), *masks.iou(*runs, crowd).ravel()]
        yield "overlaps " + " ".join(struct.pack(">d", value).hex() for value in values)


def write(name, lines):
    with open(GOLDEN / name, "wb") as file, gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0) as packed:
        packed.write("".join(line + "\n" for line in lines).encode())


if __name__ == "__main__":
    write("coco_masks.txt.gz", mask_lines())
