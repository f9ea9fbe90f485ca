

class Mlp(nn.Module):
    def __init__(self, weights):
        super().__init__()
        self.count = sum(name.endswith(".weight") for name in weights)
        for i in range(1, self.count + 1):
            outputs, inputs = weights[f"fc{i}.weight"].shape
            setattr(self, f"fc{i}", nn.Linear(inputs, outputs))

    def forward(self, x):
        x = torch.flatten(x, 1)
        for i in range(1, self.count + 1):
            x = getattr(self, f"fc{i}")(x)
            if i < self.count:
                x = F.relu(x)
        return x


class LeNet(nn.Module):
    def __init__(self, weights):
        super().__init__()
        self.conv1 = nn.Conv2d(weights["conv1.weight"].shape[1], 6, 5)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(weights["fc1.weight"].shape[1], 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, weights["fc3.weight"].shape[0])

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = torch.flatten(x, 1)
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))


def resnet(weights):
    """torchvision's, ResNeXts too. The stem for small pictures keeps their size."""
    import torchvision
    if KIND.startswith("resnext"):
        from torchvision.models.resnet import Bottleneck, ResNet
        blocks = [3, 4, 6 if KIND == "resnext50" else 23, 3]
        model = ResNet(Bottleneck, blocks, num_classes=weights["fc.weight"].shape[0], groups=32, width_per_group=4)
    else:
        model = getattr(torchvision.models, KIND)(num_classes=weights["fc.weight"].shape[0])
    outputs, inputs, side, _ = weights["conv1.weight"].shape
    if side == 3 or inputs != 3:
        model.conv1 = nn.Conv2d(inputs, outputs, side, 1 if side == 3 else 2, side // 2, bias=False)
    if side == 3:
        model.maxpool = nn.Identity()
    return model


class Dropped(nn.Module):
    """Dropout with the run's masks."""

    def __init__(self, p, masks):
        super().__init__()
        self.p, self.masks = p, masks

    def forward(self, x):
        return dropout(x, self.p, self.masks)


def mobilenet(weights, masks):
    import torchvision
    small = OPTIONS["stem"] == "cifar"
    model = torchvision.models.mobilenet_v2(num_classes=weights["classifier.1.weight"].shape[0])
    first = model.features[0][0]
    model.features[0][0] = nn.Conv2d(weights["features.0.0.weight"].shape[1], first.out_channels, 3,
                                     1 if small else 2, 1, bias=False)
    if small:  # stride 1 also in the first row that would halve
        model.features[2].conv[1][0].stride = (1, 1)
    model.classifier[0] = Dropped(OPTIONS["dropout"], masks)
    return model


class Autoencoder(nn.Module):
    def __init__(self, weights):
        super().__init__()
        channels, image = weights["encoder.0.weight"].shape[:2]
        code, inner = weights["encoder.5.weight"].shape
        side = math.isqrt(inner // (2 * channels))
        self.encoder = nn.Sequential(
            nn.Conv2d(image, channels, 3, 2, 1), nn.ReLU(), nn.Conv2d(channels, 2 * channels, 3, 2, 1), nn.ReLU(),
            nn.Flatten(), nn.Linear(inner, code))
        self.decoder = nn.Sequential(
            nn.Linear(code, inner), nn.ReLU(), nn.Unflatten(1, (2 * channels, side, side)),
            nn.ConvTranspose2d(2 * channels, channels, 4, 2, 1), nn.ReLU(),
            nn.ConvTranspose2d(channels, image, 4, 2, 1), nn.Sigmoid())

    def forward(self, x):
        return self.decoder(self.encoder(x))


class Dlrm(nn.Module):
    """Facebook's recommendation model: networks for numbers, tables for ids, and the products of all pairs."""

    def __init__(self, weights):
        super().__init__()
        tables = sum(name.startswith("emb_l.") for name in weights)
        self.emb_l = nn.ModuleList(nn.Embedding(*weights[f"emb_l.{t}.weight"].shape) for t in range(tables))
        self.bot_l, self.top_l = self.network(weights, "bot_l", True), self.network(weights, "top_l", False)
        i, j = torch.tril_indices(tables + 1, tables + 1, -1)
        self.register_buffer("pairs", i * (tables + 1) + j, persistent=False)

    @staticmethod
    def network(weights, name, active):
        layers = []
        for at in sorted(int(key.split(".")[1]) for key in weights if key.startswith(name) and key.endswith(".weight")):
            outputs, inputs = weights[f"{name}.{at}.weight"].shape
            layers += [nn.Linear(inputs, outputs), nn.ReLU()]
        return nn.Sequential(*(layers if active else layers[:-1]))

    def forward(self, numbers, ids):
        x = self.bot_l(numbers)
        vectors = torch.cat([x, *(table(ids[:, t]) for t, table in enumerate(self.emb_l))], 1)
        vectors = vectors.reshape(len(x), len(self.emb_l) + 1, -1)
        products = torch.matmul(vectors, vectors.transpose(1, 2))
        return self.top_l(torch.cat([x, products.flatten(1)[:, self.pairs]], 1))
