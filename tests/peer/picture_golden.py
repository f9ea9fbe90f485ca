"""Writes golden/picture_resize.json: a random picture resized by Pillow (BILINEAR) to several sizes."""

import json
import pathlib
import random

from PIL import Image

SIZES = [(7, 5), (13, 9), (28, 28), (3, 20), (1, 1), (26, 4)]


def main():
    dice = random.Random(19)
    width, height = 13, 9
    picture = Image.new("RGB", (width, height))
    picture.putdata([tuple(dice.randrange(256) for _ in range(3)) for _ in range(width * height)])
    golden = {"width": width, "height": height, "rgb": list(picture.tobytes()), "resized": []}
    for size in SIZES:
        out = picture.resize(size, Image.BILINEAR)
        golden["resized"].append({"width": size[0], "height": size[1], "rgb": list(out.tobytes())})
    file = pathlib.Path(__file__).parent / "golden" / "picture_resize.json"
    file.write_text(json.dumps(golden, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
