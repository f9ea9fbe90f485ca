"""Writes what Pillow 13 and torchvision 0.29 make of small pictures.

golden/picture_resize.json.xz: a random picture resized by Pillow (BILINEAR) to several sizes and, scaled and cut by
torchvision, its middle. golden/picture_changes.json.xz: torchvision's changes of its colours. golden/picture_kinds.json.xz:
files of every kind (base64) with their pixels.
"""

import base64
import io
import json
import random
import struct
import zlib

import torch
import torchvision.transforms.functional as F
from PIL import Image, ImageOps

import golden_file

SIZES = [(7, 5), (13, 9), (28, 28), (3, 20), (1, 1), (26, 4)]
SQUARES = [(8, 7), (5, 4), (9, 9), (20, 17)]  # Resize, CenterCrop
FACTORS = [0.0, 0.6, 1.0, 1.7]


def random_picture(dice, width, height):
    picture = Image.new("RGB", (width, height))
    picture.putdata([tuple(dice.randrange(256) for _ in range(3)) for _ in range(width * height)])
    return picture


def pixels(picture):
    return {"width": picture.width, "height": picture.height, "rgb": list(picture.tobytes())}


def smooth(width, height):
    """A picture that JPEG changes little."""
    picture = Image.new("RGB", (width, height))
    picture.putdata([(20 * x % 256, 25 * y % 256, 10 * (x + y) % 256) for y in range(height) for x in range(width)])
    return picture


def resizes(dice):
    picture = random_picture(dice, 13, 9)
    golden = {**pixels(picture), "resized": [pixels(picture.resize(size, Image.BILINEAR)) for size in SIZES]}
    upright = picture.transpose(Image.Transpose.TRANSPOSE)
    golden["squares"] = []
    for short, size in SQUARES:
        for each in (picture, upright):
            out = F.center_crop(F.resize(each, short, antialias=True), size)
            golden["squares"].append({"upright": each is upright, "short": short, "size": size, "rgb": list(out.tobytes())})
    return golden


def colour_changes(dice):
    picture = random_picture(dice, 13, 9)
    golden = pixels(picture)
    image = torch.tensor(list(picture.tobytes()), dtype=torch.float32).view(9, 13, 3).permute(2, 0, 1) / 255
    changes = {"brightness": F.adjust_brightness, "contrast": F.adjust_contrast, "saturation": F.adjust_saturation}
    golden["changes"] = [{"name": name, "factor": factor,
                          "values": [round(v, 7) for v in change(image, factor).permute(1, 2, 0).flatten().tolist()]}
                         for name, change in changes.items() for factor in FACTORS]
    return golden


def jpeg(picture, **options):
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=95, subsampling=0, **options)
    return out.getvalue()


def png(picture, **options):
    out = io.BytesIO()
    picture.save(out, "PNG", **options)
    return out.getvalue()


def png_chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def raw_png(width, height, depth, colour, row_bytes, dice):
    """A PNG of a kind that Pillow does not write: 16-bit colour, 2-bit grey."""
    rows = b"".join(b"\0" + bytes(dice.randrange(256) for _ in range(row_bytes)) for _ in range(height))
    return (b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0))
            + png_chunk(b"IDAT", zlib.compress(rows)) + png_chunk(b"IEND", b""))


def exif(orientation, order="<"):
    mark = b"II" if order == "<" else b"MM"
    entry = struct.pack(order + "HHIHH", 0x0112, 3, 1, orientation, 0)
    return b"Exif\0\0" + mark + struct.pack(order + "HIH", 42, 8, 1) + entry + b"\0\0\0\0"


def kinds(dice):
    picture = smooth(12, 9)
    files = {"rgb.jpg": jpeg(picture), "grey.jpg": jpeg(picture.convert("L")), "cmyk.jpg": jpeg(picture.convert("CMYK")),
             "progressive.jpg": jpeg(picture, progressive=True)}
    for orientation in range(1, 9):
        files[f"orientation-{orientation}.jpg"] = jpeg(picture, exif=exif(orientation, "<>"[orientation % 2]))
    noise = random_picture(dice, 11, 7)
    files["rgb.png"] = png(noise)
    files["grey.png"] = png(noise.convert("L"))
    files["bits.png"] = png(noise.convert("1"))
    files["palette.png"] = png(noise.quantize(16))
    files["palette-clear.png"] = png(noise.quantize(16), transparency=3)
    rgba = noise.copy()
    rgba.putalpha(noise.convert("L"))
    files["rgba.png"] = png(rgba)
    files["grey-alpha.png"] = png(rgba.convert("LA"))
    files["rgb-clear.png"] = png(noise, transparency=noise.getpixel((2, 3)))
    files["orientation.png"] = png(noise, exif=exif(6)[6:])
    files["wide-rgb.png"] = raw_png(5, 4, 16, 2, 30, dice)
    files["wide-grey.png"] = raw_png(5, 4, 16, 0, 10, dice)
    files["two-bits.png"] = raw_png(9, 4, 2, 0, 3, dice)
    golden = []
    for name, data in files.items():
        image = ImageOps.exif_transpose(Image.open(io.BytesIO(data)))
        if image.mode.startswith("I;16"):  # Pillow's conversion to 8 bits depends on its version: the higher ones
            image = Image.frombytes("L", image.size, image.tobytes()[1::2])
        golden.append({"name": name, "file": base64.b64encode(data).decode(), **pixels(image.convert("RGB"))})
    return golden


def write(name, golden):
    golden_file.write(name, (json.dumps(golden, separators=(",", ":")) + "\n").encode())


def main():
    dice = random.Random(19)
    write("picture_resize.json", resizes(dice))
    write("picture_changes.json", colour_changes(random.Random(19)))
    write("picture_kinds.json", kinds(dice))


if __name__ == "__main__":
    main()
