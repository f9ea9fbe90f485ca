#!/usr/bin/env python3
"""Detectors on real pictures from two packages of the Python package index: reader, steps and metric.

`--wheels FOLDER` holds the wheels of imgaug 0.4.0 (a photograph of a quokka with its box and polygon) and stardist 0.9.2 (a
microscope's picture of nuclei, and their numbers pixel by pixel). The photograph becomes a COCO data set with polygons; the nuclei,
in four tiles, one with run lengths and a folder of pictures and masks. A small Mask R-CNN trains on each for some steps, and
`eval --results` is compared with pycocotools: 24 figures, within 1e-9. Needs numpy, pillow and pycocotools.
"""

import argparse
import io
import json
import pathlib
import sys
import tempfile
import zipfile

import numpy
import PIL.Image
import PIL.ImageOps
import pycocotools.mask as masks

import detection_results
import halftone

TILE = 256


def from_wheel(wheels, package, member):
    found = sorted(wheels.glob(f"{package}-*.whl"))
    if not found:
        sys.exit(f"{wheels} has no wheel of {package}: pip download --no-deps {package}")
    return io.BytesIO(zipfile.ZipFile(found[-1]).read(member))


def write_truth(folder, part, images, annotations, category):
    (folder / "annotations").mkdir(parents=True, exist_ok=True)
    for number, each in enumerate(annotations):
        each |= {"id": number + 1, "iscrowd": 0, "category_id": 1}
    file = folder / "annotations" / f"instances_{part}.json"
    file.write_text(json.dumps({"images": images, "annotations": annotations, "categories": [{"id": 1, "name": category}]}))
    return file


def write_quokka(wheels, folder):
    """The photograph to train on, and mirrored to test on."""
    picture = PIL.Image.open(from_wheel(wheels, "imgaug", "imgaug/quokka.jpg")).convert("RGB")
    notes = json.load(from_wheel(wheels, "imgaug", "imgaug/quokka_annotations.json"))
    corners = [(point["x"], point["y"]) for point in notes["polygons"][0]["keypoints"]]
    box = notes["bounding_boxes"][0]
    width, height = picture.size
    for part, mirrored in (("train", False), ("val", True)):
        (folder / part).mkdir(parents=True)
        (PIL.ImageOps.mirror(picture) if mirrored else picture).save(folder / part / "quokka.png")
        outline = [value for x, y in corners for value in (width - x if mirrored else x, y)]
        left = width - box["x2"] if mirrored else box["x1"]
        whole = masks.merge(masks.frPyObjects([outline], height, width))
        truth = write_truth(folder, part, [{"id": 1, "file_name": "quokka.png", "width": width, "height": height}],
                            [{"image_id": 1, "bbox": [left, box["y1"], box["x2"] - box["x1"], box["y2"] - box["y1"]],
                              "area": float(masks.area(whole)), "segmentation": [outline]}], "quokka")
    return truth


def write_nuclei(wheels, coco, plain):
    """Three tiles to train on and one to test on; and all as pictures with masks."""
    picture, numbers = (numpy.array(PIL.Image.open(from_wheel(wheels, "stardist", f"stardist/data/images/{name}2d.tif")))
                        for name in ("img", "mask"))
    for folder in (plain / "images", plain / "masks"):
        folder.mkdir(parents=True)
    objects = 0
    for part, tiles in (("train", [(0, 0), (0, 1), (1, 0)]), ("val", [(1, 1)])):
        (coco / part).mkdir(parents=True)
        images, annotations = [], []
        for row, column in tiles:
            where = numpy.s_[row * TILE:(row + 1) * TILE, column * TILE:(column + 1) * TILE]
            name = f"{row}{column}.png"
            grey = PIL.Image.fromarray(picture[where].astype(numpy.uint8)).convert("RGB")
            grey.save(coco / part / name)
            grey.save(plain / "images" / name)
            PIL.Image.fromarray(numbers[where].astype(numpy.uint16)).save(plain / "masks" / name)
            images.append({"id": len(images) + 1, "file_name": name, "width": TILE, "height": TILE})
            for number in numpy.unique(numbers[where])[1:]:
                runs = masks.encode(numpy.asfortranarray((numbers[where] == number).astype(numpy.uint8)))
                annotations.append({"image_id": images[-1]["id"], "bbox": [float(each) for each in masks.toBbox(runs)],
                                    "area": float(masks.area(runs)),
                                    "segmentation": {"size": [TILE, TILE], "counts": runs["counts"].decode()}})
        truth = write_truth(coco, part, images, annotations, "nucleus")
        objects += len(annotations)
    print(f"nuclei: {objects} in four tiles")
    return truth


def train(program, kind, data, short, long, steps, run):
    settings = {
        "dataset.kind": kind, "dataset.path": data, "dataset.short_side": f"[{short}]", "dataset.long_side": long,
        "model.kind": "maskrcnn-resnet18", "model.options.score_threshold": 0.01, "optimizer.kind": "adamw", "optimizer.lr": 1e-3,
        "precision.preset": "fp32", "device": "cpu", "batch_size": 1, "epochs": 1000, "max_steps": steps}
    overrides = [word for path, value in settings.items() for word in ("--set", f"{path}={value}")]
    output = halftone.run(program, "train", *overrides, "--json", "--out", str(run))
    return [each for each in halftone.events(output) if each["event"] == "done"][-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    halftone.add_binary_option(parser)
    parser.add_argument("--wheels", type=pathlib.Path, required=True)
    parser.add_argument("--steps", type=int, default=60)
    options = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        truths = {"quokka": write_quokka(options.wheels, folder / "quokka"),
                  "nuclei": write_nuclei(options.wheels, folder / "nuclei", folder / "plain")}
        for data, truth in truths.items():
            short, long = (160, 240) if data == "quokka" else (TILE, TILE)
            run = folder / f"run-{data}"
            done = train(options.halftone, "coco", folder / data, short, long, options.steps, run)
            report = json.loads(halftone.run(options.halftone, "eval", str(run), "--json", "--results", str(folder / data)))
            for kind, key in (("bbox", "boxes"), ("segm", "masks")):
                theirs = detection_results.coco_figures(truth, f"{folder / data}.{kind}.json", kind)
                worst = detection_results.worst_difference(report["detections"][key], theirs)
                failed |= not worst <= 1e-9
                print(f"{data}, {kind}, {done['steps']} steps: AP {theirs['AP']:.4f}, AP50 {theirs['AP50']:.4f}, "
                      f"largest difference {worst:.1e}")
        done = train(options.halftone, "instance-masks", folder / "plain", TILE, TILE, 4, folder / "run-plain")
        print(f"nuclei as pictures and masks: {done['steps']} steps, {done}"[:200])
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
