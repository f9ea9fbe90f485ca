"""Compares the pictures of `image-folder` with torchvision's, pixel by pixel.

Makes a folder of the given photographs and of pictures of every other kind (grey, CMYK, palette, 16 bits, alpha, EXIF
orientations 1 to 8, progressive) made from them. The test part must equal torchvision's Resize and CenterCrop within one
grey level, and training pictures its resized_crop with the program's own random boxes and flips. Needs Pillow 13 and
torchvision 0.29; `ninja picture_pipeline` first.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import safetensors.numpy
import torchvision.transforms.functional as F
from PIL import Image, ImageOps

from picture_golden import exif, raw_png


def make_folder(photographs, root):
    """The photographs, and every kind made of the first ones. train and val contain the same files."""
    import random

    dice = random.Random(7)
    for part in ("train", "val"):
        for folder in ("kinds", "photographs"):
            (root / part / folder).mkdir(parents=True)
        for number, photograph in enumerate(photographs):
            (root / part / "photographs" / f"{number:03}{photograph.suffix}").write_bytes(photograph.read_bytes())
        kinds = root / part / "kinds"
        picture = Image.open(photographs[0]).convert("RGB")
        other = Image.open(photographs[-1]).convert("RGB")
        picture.convert("L").save(kinds / "grey.jpg", quality=90)
        other.convert("CMYK").save(kinds / "cmyk.jpg", quality=90)
        picture.save(kinds / "progressive.jpg", quality=90, progressive=True)
        other.save(kinds / "full-chroma.jpg", quality=90, subsampling=0)
        other.save(kinds / "half-chroma.jpg", quality=90, subsampling=1)
        for orientation in range(1, 9):
            picture.save(kinds / f"orientation-{orientation}.jpg", quality=90, exif=exif(orientation))
        picture.save(kinds / "rgb.png")
        picture.convert("L").save(kinds / "grey.png")
        picture.quantize(64).save(kinds / "palette.png")
        other.quantize(32).save(kinds / "palette-clear.png", transparency=5)
        alpha = picture.copy()
        alpha.putalpha(picture.convert("L"))
        alpha.save(kinds / "rgba.png")
        alpha.convert("LA").save(kinds / "grey-alpha.png")
        picture.convert("1").save(kinds / "bits.png")
        (kinds / "wide-rgb.png").write_bytes(raw_png(90, 70, 16, 2, 540, dice))
        (kinds / "wide-grey.png").write_bytes(raw_png(70, 90, 16, 0, 140, dice))


def load(file):
    image = ImageOps.exif_transpose(Image.open(file))
    if image.mode.startswith("I;16"):  # Pillow's conversion to 8 bits depends on its version: the higher ones
        image = Image.frombytes("L", image.size, image.tobytes()[1::2])
    return image.convert("RGB")


def files_of(part):
    return sorted(part.glob("kinds/*")) + sorted(part.glob("photographs/*"))


def run(program, mode, root, size):
    out = root / f"{mode}.safetensors"
    subprocess.run([program, mode, str(root), str(size), str(out)], check=True)
    return safetensors.numpy.load_file(out)


def report(what, file, ours, theirs, worst):
    ours = np.rint(ours * 255).astype(np.int16)
    difference = np.abs(ours - theirs.astype(np.int16))
    worst.append(int(difference.max()))
    print(f"{what} {file.parent.name}/{file.name}: greatest difference {difference.max()}, "
          f"{(difference > 0).mean():.4%} of the values differ")


def main():
    here = pathlib.Path(__file__).resolve()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("photographs", type=pathlib.Path, help="a folder; the first twelve *.jp*g in it are taken")
    parser.add_argument("--program", default=here.parents[2] / "build/release/tests/peer/picture_pipeline")
    parser.add_argument("--size", type=int, nargs="*", default=[224, 64])
    args = parser.parse_args()
    photographs = sorted(args.photographs.rglob("*.jp*g"))[:12]
    worst = []
    with tempfile.TemporaryDirectory() as temporary:
        root = pathlib.Path(temporary)
        make_folder(photographs, root)
        for size in args.size:
            images = run(args.program, "samples", root, size)["images"]
            for ours, file in zip(images, files_of(root / "val"), strict=True):
                theirs = F.center_crop(F.resize(load(file), size * 256 // 224, antialias=True), size)
                report(f"test {size}", file, ours, np.asarray(theirs), worst)
            augmented = run(args.program, "boxes", root, size)
            for ours, box, file in zip(augmented["images"], augmented["boxes"], files_of(root / "train"), strict=True):
                left, top, width, height, flipped = map(int, box)
                theirs = F.resized_crop(load(file), top, left, height, width, [size, size], antialias=True)
                report(f"train {size}", file, ours, np.asarray(F.hflip(theirs) if flipped else theirs), worst)
    print(f"{len(worst)} pictures, greatest difference {max(worst)}")
    return 0 if max(worst) <= 1 else 1


if __name__ == "__main__":
    sys.exit(main())
