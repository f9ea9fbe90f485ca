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


class Dlrm(nn.Module):
    """The recommendation model with dot products under the names of its reference implementation (facebookresearch/dlrm):
    `emb_l`, `bot_l` and `top_l`, whose last module is the sigmoid. forward gives the logit before it."""

    def __init__(self, numbers, tables, rows, width, bottom, top):
        super().__init__()
        self.emb_l = nn.ModuleList(nn.EmbeddingBag(rows, width, mode="sum", sparse=True) for _ in range(tables))
        self.bot_l = self.network([numbers, *bottom, width], sigmoid_last=False)
        self.top_l = self.network([width + (tables + 1) * tables // 2, *top, 1], sigmoid_last=True)
        with torch.no_grad():
            for table in self.emb_l:
                table.weight.uniform_(-rows**-0.5, rows**-0.5)

    @staticmethod
    def network(sizes, sigmoid_last):
        layers = nn.Sequential()
        for i, (inputs, outputs) in enumerate(zip(sizes, sizes[1:])):
            layer = nn.Linear(inputs, outputs)
            nn.init.normal_(layer.weight, 0.0, (2 / (inputs + outputs))**0.5)
            nn.init.normal_(layer.bias, 0.0, (1 / outputs)**0.5)
            layers.append(layer)
            layers.append(nn.Sigmoid() if sigmoid_last and i == len(sizes) - 2 else nn.ReLU())
        return layers

    def interact(self, x, vectors):
        joined = torch.cat([x, *vectors], 1).view(len(x), -1, x.shape[1])
        products = torch.bmm(joined, joined.transpose(1, 2))
        count = products.shape[1]
        i, j = zip(*((i, j) for i in range(count) for j in range(i)))
        return torch.cat([x, products[:, list(i), list(j)]], 1)

    def forward(self, dense, ids):
        """ids (rows, tables): bags of one."""
        offsets = torch.arange(len(ids), device=ids.device)
        vectors = [table(ids[:, t], offsets) for t, table in enumerate(self.emb_l)]
        return self.top_l[:-1](self.interact(self.bot_l(dense), vectors))
