#!/usr/bin/env python3
"""Writes golden/mask_paste.txt.xz: 300 detected masks pasted by torchvision 0.29.2, for coco_test.

Masks and boxes are drawn on both sides (coco_metric.py says how). A line holds the run-length text of the pixels above one
half; `close` stands for a case with a value so near to it that a rounding decides. Needs torch, torchvision, numpy and
pycocotools.
"""

import numpy
import pycocotools.mask as masks
import torch
from torchvision.models.detection.roi_heads import paste_masks_in_image

import coco_metric

PASTED = 1006  # stream
SIDE, BLOCK = 28, 7


def drawn_paste(draw):
    """Height, width, corners, and a mask of squares of seven pixels, none of them one half."""
    height, width = 1 + draw.below(120), 1 + draw.below(120)
    x = (draw.below(4 * (width + 20)) - 40) / 4
    y = (draw.below(4 * (height + 20)) - 40) / 4
    most = 8 if draw.one_in(4) else 480
    w, h = (1 + draw.below(most)) / 4, (1 + draw.below(most)) / 4
    blocks = [(2 * draw.below(16) + 1) / 32 for _ in range((SIDE // BLOCK)**2)]
    mask = numpy.array(blocks, dtype=numpy.float32).reshape(SIDE // BLOCK, -1).repeat(BLOCK, 0).repeat(BLOCK, 1)
    return height, width, [x, y, x + w, y + h], mask


def lines():
    for case in range(300):
        height, width, corners, mask = drawn_paste(coco_metric.Draw(PASTED, case))
        try:
            values = paste_masks_in_image(torch.from_numpy(mask)[None, None], torch.tensor([corners]), (height, width))[0, 0].numpy()
        except RuntimeError:  # torchvision clips boxes before and refuses one that lies outside
            values = numpy.zeros((height, width), dtype=numpy.float32)
        close = (numpy.abs(values - 0.5) < 1e-5).any()
        yield "paste close" if close else "paste " + coco_metric.text(masks.encode(numpy.asfortranarray(values > 0.5).view(numpy.uint8)))


if __name__ == "__main__":
    coco_metric.write("mask_paste.txt", lines())
