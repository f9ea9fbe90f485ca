#!/usr/bin/env python3
"""The share of its first loss that torchvision's Mask R-CNN has after 30 updates on one batch of four scenes of 64 pixels, for
detection_run_test: the settings of tests/support/detection_run.h, the scenes of seed 3, weights of three seeds. Prints the
share of each and their mean. Needs torchvision 0.29.2 and numpy.
"""

import statistics

import torch
from torchvision.models.detection.transform import GeneralizedRCNNTransform

import detection_learning
import detection_model
import shapes

SIDE, SCENES, UPDATES = 64, 4, 30
ANCHORS, REGIONS = 32, 16


def detector():
    detection_model.BEFORE, detection_model.AFTER = (60, 40), (40, 30)
    model = detection_model.network("resnet18", frozen=False, small=True)
    model.transform = GeneralizedRCNNTransform(SIDE, SIDE, [0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
    model.rpn.fg_bg_sampler.batch_size_per_image = ANCHORS
    model.roi_heads.fg_bg_sampler.batch_size_per_image = REGIONS
    return model


def main():
    torch.set_num_threads(1)
    detection_learning.SIDE = SIDE
    batch = detection_learning.Scenes(3, shapes.TRAIN, SCENES).batch(range(SCENES))
    shares = []
    for seed in range(3):
        torch.manual_seed(seed)
        model = detector().train()
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
        losses = []
        for _ in range(UPDATES):
            loss = sum(model(*batch).values())
            losses.append(float(loss.detach()))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        shares.append(losses[-1] / losses[0])
        print(seed, f"{losses[0]:.3f} -> {losses[-1]:.3f}: {shares[-1]:.3f}")
    print(f"mean {statistics.mean(shares):.3f}")


if __name__ == "__main__":
    main()
