#!/usr/bin/env python3
"""`halftone eval --results` and `predict --json` of a trained detector beside pycocotools: all 24 figures.

Writes drawn scenes as a COCO data set, some without a shape and some as crowds, with category ids 7, 18 and 3; trains a small
Mask R-CNN on it, evaluates it with --results and --json, and lets pycocotools evaluate the files. Then `predict --json` finds the objects of the
test pictures, which pycocotools evaluates as results. Figures agree within 1e-9.
Needs numpy, pillow and pycocotools.
"""

import argparse
import contextlib
import io
import json
import pathlib
import sys
import tempfile

import numpy
import PIL.Image
import pycocotools.mask as masks
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

import halftone
import shapes

FIGURES = ("AP", "AP50", "AP75", "APs", "APm", "APl", "AR1", "AR10", "AR100", "ARs", "ARm", "ARl")
CATEGORIES = {1: 7, 2: 18, 3: 3}  # label of a shape: id
SIDE, MOST = 96, 4


def write_part(folder, part, stream, count):
    (folder / part).mkdir(parents=True)
    images, annotations = [], []
    for number in range(count):
        picture, objects = shapes.scene(stream, number, SIDE, MOST)
        name = f"{number}.png"
        PIL.Image.fromarray(picture).save(folder / part / name)
        images.append({"id": 100 + number * 3, "file_name": name, "width": SIDE, "height": SIDE})
        for place, (label, bitmap) in enumerate(objects):
            runs = masks.encode(numpy.asfortranarray(bitmap.astype(numpy.uint8)))
            annotations.append({
                "id": len(annotations) + 1, "image_id": images[-1]["id"], "category_id": CATEGORIES[label],
                "bbox": [float(each) for each in masks.toBbox(runs)], "area": float(masks.area(runs)),
                "iscrowd": int(part == "val" and (number + place) % 9 == 8),
                "segmentation": {"size": [SIDE, SIDE], "counts": runs["counts"].decode()}})
    (folder / "annotations").mkdir(exist_ok=True)
    file = folder / "annotations" / f"instances_{part}.json"
    file.write_text(json.dumps({
        "images": images, "annotations": annotations,
        "categories": [{"id": i, "name": name} for i, name in ((7, "square"), (18, "disc"), (3, "triangle"))]}))
    return file


def coco_figures(truth, results, kind):
    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO(str(truth))
        evaluation = COCOeval(coco, coco.loadRes(str(results)), kind)
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return dict(zip(FIGURES, evaluation.stats.tolist()))


def predicted_results(program, run, truth, folder):
    """`predict --json` of the test pictures as two files of results."""
    content = json.loads(truth.read_text())
    files = {str(folder / "data" / "val" / image["file_name"]): image["id"] for image in content["images"]}
    ids = {category["name"]: category["id"] for category in content["categories"]}
    output = halftone.run(program, "predict", str(run), *files, "--json", "--score", "0", "--out", str(folder))
    results = {"bbox": [], "segm": []}
    for picture in halftone.events(output):
        for each in picture["detections"]:
            common = {"image_id": files[picture["input"]], "category_id": ids[each["class"]], "score": each["score"]}
            results["bbox"].append({**common, "bbox": each["box"]})
            results["segm"].append({**common, "segmentation": each["segmentation"]})
    for kind, entries in results.items():
        (folder / f"predicted.{kind}.json").write_text(json.dumps(entries))
    return folder / "predicted"


def worst_difference(ours, theirs):
    worst = 0
    for name in FIGURES:
        own = -1 if ours[name] is None else ours[name]
        worst = max(worst, abs(own - theirs[name]))
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    halftone.add_binary_option(parser)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--pictures", type=int, default=80)
    options = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_part(folder / "data", "train", shapes.TRAIN, options.pictures)
        truth = write_part(folder / "data", "val", shapes.TEST, 30)
        settings = {
            "dataset.kind": "coco", "dataset.path": folder / "data", "dataset.short_side": f"[{SIDE}]", "dataset.long_side": SIDE,
            "model.kind": "maskrcnn-resnet18", "model.options.score_threshold": 0.01, "optimizer.kind": "adamw", "optimizer.lr": 1e-3,
            "precision.preset": "fp32", "device": "cpu", "batch_size": 4, "epochs": options.epochs}
        overrides = [word for path, value in settings.items() for word in ("--set", f"{path}={value}")]
        output = halftone.run(options.halftone, "train", *overrides, "--json", "--out", str(folder / "run"))
        done = [each for each in halftone.events(output) if each["event"] == "done"][-1]
        print("trained:", {key: value for key, value in done.items() if "map" in key or key == "steps"})
        results = folder / "found"
        report = json.loads(halftone.run(options.halftone, "eval", str(folder / "run"), "--json", "--results", str(results)))
        predicted = predicted_results(options.halftone, folder / "run", truth, folder)
        for command, files in (("eval", results), ("predict", predicted)):
            for kind, key in (("bbox", "boxes"), ("segm", "masks")):
                theirs = coco_figures(truth, f"{files}.{kind}.json", kind)
                worst = worst_difference(report["detections"][key], theirs)
                failed |= not worst <= 1e-9
                print(f"{command}, {kind}: AP {theirs['AP']:.4f}, AP50 {theirs['AP50']:.4f}, largest difference {worst:.1e}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
