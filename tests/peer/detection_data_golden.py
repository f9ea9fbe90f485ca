#!/usr/bin/env python3
"""Writes golden/detection_data.safetensors.xz: what torchvision 0.29.2's detectors make of drawn pictures and objects.

The inputs are numbers of Philox streams (seed 54, stream 1101, substream the case), which detection_sample_test draws too: a
byte for each channel of each pixel, row by row; then for each object x, y, width and height of its box in quarters of a
pixel, and a bit for each pixel of its mask, row by row. For each case:

N.image    f64 (3, H, W)  the canvas of GeneralizedRCNNTransform: normalised, resized, padded
N.boxes    f64 (G, 4)     resized
N.masks    f64 (G, h, w)  resized
sides      f64       sides of square pictures, up to 4,000, that a short side of 800 makes 799 pixels high
The settings of the cases stand in the test, too.
Needs torch 2.15 and torchvision 0.29.2.
"""

import math

import numpy
import safetensors.torch
import torch
from torchvision.models.detection.transform import GeneralizedRCNNTransform

import golden_file
import philox

SEED, STREAM = 54, 1101
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
CASES = (
    {"height": 19, "width": 13, "short": 24, "long": 64, "objects": 3},
    {"height": 40, "width": 61, "short": 17, "long": 90, "objects": 2},
    {"height": 9, "width": 31, "short": 25, "long": 48, "objects": 2},
    {"height": 1, "width": 5, "short": 4, "long": 17, "objects": 1},
    {"height": 7, "width": 1, "short": 3, "long": 64, "objects": 1},
    {"height": 32, "width": 32, "short": 32, "long": 32, "objects": 2},
)


def draw_case(number, case):
    """Picture (3, H, W) in [0, 1], boxes as corners, masks."""
    draw = philox.Draw(SEED, STREAM, number)
    height, width = case["height"], case["width"]
    picture = torch.from_numpy(draw.many_below(256, height * width * 3).reshape(height, width, 3)).permute(2, 0, 1) / 255
    boxes, masks = [], []
    for _ in range(case["objects"]):
        x, y = draw.below(4 * width) / 4, draw.below(4 * height) / 4
        w, h = (1 + draw.below(4 * width)) / 4, (1 + draw.below(4 * height)) / 4
        boxes.append([x, y, x + w, y + h])
        masks.append(draw.many_below(2, height * width).reshape(height, width))
    boxes = torch.tensor(boxes, dtype=torch.float32)
    boxes[:, 0::2].clamp_(min=0, max=width)
    boxes[:, 1::2].clamp_(min=0, max=height)
    return picture.to(torch.float32), boxes, torch.from_numpy(numpy.array(masks, dtype=numpy.uint8))


def sides_of_799():
    """Heights of square pictures that a short side of 800 makes 799 high, up to 4,000."""
    return [side for side in range(1, 4001) if math.floor(float(side) * (800.0 / side)) == 799]


def main():
    out = {}
    for number, case in enumerate(CASES):
        picture, boxes, masks = draw_case(number, case)
        resize = GeneralizedRCNNTransform(case["short"], case["long"], MEAN, DEVIATION).eval()
        images, targets = resize([picture], [{"boxes": boxes, "masks": masks}])
        out[f"{number}.image"] = images.tensors[0]
        out[f"{number}.boxes"] = targets[0]["boxes"]
        out[f"{number}.masks"] = targets[0]["masks"]
    out["sides"] = torch.tensor(sides_of_799())
    out = {name: tensor.to(torch.float64).contiguous() for name, tensor in out.items()}
    file = golden_file.write("detection_data.safetensors", safetensors.torch.save(out))
    print(f"{file}: {file.stat().st_size} bytes, {len(sides_of_799())} sides")


if __name__ == "__main__":
    main()
