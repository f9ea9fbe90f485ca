#!/usr/bin/env python3
"""Reads a JSON file of COCO's size: 118,287 images, 860,001 annotations of 80 categories, 448 MiB, as instances_train2017.json.

    coco_file.py --halftone build/release/halftone [--file FILE]

Writes the file (in a temporary folder, unless --file says where; one that is there is used again), opens it as the data of a
run, and prints time and memory. No picture lies beside it, so the run ends with that sentence: nothing but the JSON was read,
and for each image it was looked for a picture. Reading may take 10 s and 1 GB."""
import argparse
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

IMAGES, ANNOTATIONS, CATEGORIES, SIZE = 118_287, 860_001, 80, 448 << 20
SECONDS, MEGABYTES = 10, 1000


def image(number):
    name = f"{number * 5:012d}.jpg"
    return (f'{{"license": 3,"file_name": "{name}","coco_url": "http://images.cocodataset.org/train2017/{name}","height": 480,'
            f'"width": 640,"date_captured": "2013-11-14 11:18:45","flickr_url": "http://farm9.staticflickr.com/8186/{number}.jpg",'
            f'"id": {number * 5}}}')


def bodies(draw, length):
    """Annotations but for their ids, of about this many bytes: polygons with two decimals, and a run list in each hundredth."""
    out = []
    for each in range(1000):
        x, y, w, h = (draw.uniform(1, 300) for _ in range(4))
        box = f'"bbox": [{x:.2f},{y:.2f},{w:.2f},{min(h, 470 - y):.2f}],"category_id": {draw.randint(1, CATEGORIES)}'
        if each % 100 == 0:
            counts = [draw.randint(1, 300) for _ in range(100)]
            counts.append(480 * 640 - sum(counts))
            out.append(f'{{"segmentation": {{"counts": {counts},"size": [480, 640]}},"area": {w * h / 2:.4f},"iscrowd": 1,{box}')
            continue
        count = max(3, round(length * 2 * draw.random() / 14))  # of seven bytes each
        points = [f"{draw.uniform(0, 480):.2f}" for _ in range(2 * count)]
        out.append(f'{{"segmentation": [[{",".join(points)}]],"area": {w * h / 2:.4f},"iscrowd": 0,{box}')
    return out


def write(path):
    draw = random.Random(55)
    images = ",".join(image(number) for number in range(1, IMAGES + 1))
    names = ",".join(f'{{"supercategory": "thing","id": {k},"name": "class {k}"}}' for k in range(1, CATEGORIES + 1))
    goal = (SIZE - len(images)) / ANNOTATIONS - len(f',,"image_id": {IMAGES * 3},"id": {ANNOTATIONS}}}')
    length = goal
    for _ in range(5):  # what stands beside the points takes its share
        pool = bodies(draw, length)
        length += goal - sum(map(len, pool)) / len(pool)
    with open(path, "w") as out:
        out.write(f'{{"info": {{"year": 2017}},"licenses": [],"images": [{images}],"annotations": [')
        for number in range(ANNOTATIONS):
            body = pool[number * 7919 % len(pool)]
            out.write(f'{"," if number else ""}{body},"image_id": {(number % IMAGES + 1) * 5},"id": {number + 1}}}')
        out.write(f'],"categories": [{names}]}}')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--halftone", type=pathlib.Path, required=True)
    parser.add_argument("--file", type=pathlib.Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = given.file or pathlib.Path(folder) / "instances.json"
        if not path.exists():
            write(path)
        command = [given.halftone.resolve(), "train", "--set", "dataset.kind=coco", "--set", f"dataset.path={path}", "--set",
                   "model.kind=maskrcnn-resnet18", "--set", "device=cpu"]
        begun = time.monotonic()
        run = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
                               env={**os.environ, "XDG_DATA_HOME": folder})
        said = run.stderr.read()
        _, status, usage = os.wait4(run.pid, 0)
        seconds, megabytes = time.monotonic() - begun, usage.ru_maxrss * 1024 / 1e6
        print(f"{path.stat().st_size / (1 << 20):.0f} MiB, {IMAGES} images, {ANNOTATIONS} annotations: {seconds:.1f} s "
              f"({usage.ru_utime + usage.ru_stime:.1f} s of processor time), {megabytes:.0f} MB at most")
        if f"{IMAGES} of {IMAGES} pictures cannot be read" not in said:
            sys.exit(f"it ended otherwise: {said[:500]}")
        # One thread reads, so on a quiet machine both times are the same.
        if usage.ru_utime + usage.ru_stime > SECONDS or megabytes > MEGABYTES:
            sys.exit(f"more than {SECONDS} s or {MEGABYTES} MB")


if __name__ == "__main__":
    main()
