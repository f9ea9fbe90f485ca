#!/usr/bin/env python3
"""The scenes of the data set `shapes`, drawn with NumPy, and golden/shapes.txt: what shapes_scene_test compares.

A line of the file is a scene: stream, substream, side, most shapes, CRC-32 of the picture's bytes, number of objects; then
for each object label, x, y, width, height, pixels, CRC-32 of its bitmap. Needs numpy.
"""

import pathlib
import zlib

import numpy

import philox

SEED = 54
TRAIN, TEST = 24, 25  # StreamId
COSINES = [4096, 4017, 3784, 3406, 2896, 2276, 1567, 799, 0]  # of the first quarter of 32 directions
NOISE_WORD = 4 << 16


def cosine(direction):
    angle = direction % 32
    angle = min(angle, 32 - angle)
    return COSINES[angle] if angle <= 8 else -COSINES[16 - angle]


def drawn_color(draw):
    return numpy.array([draw.below(256) for _ in range(3)])


def turn(points, direction):
    c, s = cosine(direction), cosine(direction - 8)
    return [((x * c - y * s + 2048) >> 12, (x * s + y * c + 2048) >> 12) for x, y in points]


def draw_shape(draw, side, background):
    """Bitmap, label and colour. Lengths are sixteenths of a pixel."""
    kind, direction = draw.below(3), draw.below(32)
    least, most = 16 * side * 9 // 100, 16 * side * 25 // 100
    half = least + draw.below(most - least + 1)
    margin = half * 3 // 5
    x = margin + draw.below(16 * side - 2 * margin + 1)
    y = margin + draw.below(16 * side - 2 * margin + 1)
    color = drawn_color(draw)
    while abs(color - background).sum() < 90:
        color = drawn_color(draw)
    rows, columns = numpy.mgrid[0:side, 0:side].astype(numpy.int64) * 16 + 8
    columns, rows = columns - x, rows - y
    if kind == 1:
        return 20 * (columns**2 + rows**2) <= 17 * half**2, kind + 1, color
    edge = half * 4 // 5
    corners = [(-edge, -edge), (edge, -edge), (edge, edge), (-edge, edge)]
    if kind == 2:
        high, low = half * 887 // 1024, -(half // 2)
        corners = [(half, 0), (low, high), (low, -high)]
    corners = turn(corners, direction)
    sides = [(bx - ax) * (rows - ay) - (by - ay) * (columns - ax)
             for (ax, ay), (bx, by) in zip(corners, corners[1:] + corners[:1])]
    inside = numpy.all([each >= 0 for each in sides], axis=0) | numpy.all([each <= 0 for each in sides], axis=0)
    return inside, kind + 1, color


def scene(stream, substream, side, most_shapes):
    """The picture (side, side, 3) and a list of (label, bitmap) of what is visible."""
    draw = philox.Draw(SEED, stream, substream)
    background = drawn_color(draw)
    kept = []  # label, bitmap, pixels when it was drawn
    picture = numpy.broadcast_to(background, (side, side, 3)).astype(numpy.int64)
    for _ in range(1 + draw.below(most_shapes)):
        for _ in range(10):
            bitmap, label, color = draw_shape(draw, side, background)
            left = [each & ~bitmap for _, each, _ in kept]
            if any(100 * rest.sum() < 35 * whole for rest, (_, _, whole) in zip(left, kept)):
                continue
            kept = [(name, rest, whole) for rest, (name, _, whole) in zip(left, kept)]
            kept.append((label, bitmap, bitmap.sum()))
            picture[bitmap] = color
            break
    words = philox.words(numpy.arange(NOISE_WORD, NOISE_WORD + picture.size // 4), SEED, stream, substream)
    noise = words.astype("<u4").view(numpy.uint8).astype(numpy.int64) * 29 // 256 - 14
    picture = numpy.clip(picture + noise.reshape(picture.shape), 0, 255).astype(numpy.uint8)
    return picture, [(label, bitmap) for label, bitmap, _ in kept]


def describe(stream, substream, side, most_shapes):
    picture, objects = scene(stream, substream, side, most_shapes)
    out = [stream, substream, side, most_shapes, zlib.crc32(picture.tobytes()), len(objects)]
    for label, bitmap in objects:
        rows, columns = numpy.flatnonzero(bitmap.any(1)), numpy.flatnonzero(bitmap.any(0))
        out += [label, columns[0], rows[0], columns[-1] + 1 - columns[0], rows[-1] + 1 - rows[0], bitmap.sum(),
                zlib.crc32(bitmap.astype(numpy.uint8).tobytes())]
    return " ".join(str(each) for each in out)


def main():
    cases = [(TRAIN, number, 128, 4) for number in range(12)] + [(TEST, number, 128, 4) for number in range(4)]
    cases += [(TRAIN, 7, 64, 12), (TRAIN, 8, 64, 12), (TEST, 9, 96, 1), (TEST, 1999, 256, 12)]
    file = pathlib.Path(__file__).parent / "golden" / "shapes.txt"
    file.write_text("".join(describe(*case) + "\n" for case in cases))
    print(f"{file}: {len(cases)} scenes, numpy {numpy.__version__}")


if __name__ == "__main__":
    main()
