"""The models of Halftone's catalog in plain torch modules, with torchvision's parameter names."""

import torch
from torch import nn
from torch.nn import functional as F


class Mlp(nn.Module):
    """Linear and ReLU in turn: `fc1`, `fc2`, ... as in the engine's `mlp`."""

    def __init__(self, sizes):
        super().__init__()
        self.count = len(sizes) - 1
        for i in range(self.count):
            setattr(self, f"fc{i + 1}", nn.Linear(sizes[i], sizes[i + 1]))

    def forward(self, x):
        for i in range(self.count):
            x = getattr(self, f"fc{i + 1}")(x)
            if i + 1 < self.count:
                x = F.relu(x)
        return x


class LeNet(nn.Module):
    """5x5 convolutions of 6 and 16 channels, each with ReLU and 2x2 max pool; then 120, 84, classes."""

    def __init__(self, channels=1, side=28, classes=10):
        super().__init__()
        rest = ((side - 4) // 2 - 4) // 2
        self.conv1 = nn.Conv2d(channels, 6, 5)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(16 * rest * rest, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = torch.flatten(x, 1)
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))


class BasicBlock(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False),
                                            nn.BatchNorm2d(outputs))

    def forward(self, x):
        shortcut = x if self.downsample is None else self.downsample(x)
        y = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(y)) + shortcut)


class ResNet18(nn.Module):
    """ResNet-18 with the CIFAR stem: a 3x3 first convolution of stride 1 and no max pool."""

    def __init__(self, classes=100):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        width = 64
        for stage, outputs in enumerate((64, 128, 256, 512), start=1):
            blocks = []
            for block in range(2):
                stride = 2 if stage > 1 and block == 0 else 1
                blocks.append(BasicBlock(width, outputs, stride))
                width = outputs
            setattr(self, f"layer{stage}", nn.Sequential(*blocks))
        self.fc = nn.Linear(512, classes)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(torch.flatten(F.adaptive_avg_pool2d(x, 1), 1))
