#!/usr/bin/env python3
"""Mask R-CNN learns the scenes of `shapes` as torchvision's does: the settings of resources/settings/shapes.json, here in three
precisions and in PyTorch in FP32, on the same scenes, with seeds 0, 1, ...

AP of the test part after the last update, by pycocotools there and by the engine's equal figures here. Asked of FP32: the means
of mask AP and AP50 are at least PyTorch's mean less its spread (largest less smallest); of each AMP: the mean mask AP is within
0.03 of FP32's. Each side draws its initial weights and its order for itself.

A finished run is a file of --state, so the next call goes on behind it; --table prints the finished ones. Needs torchvision 0.29.2,
numpy and pycocotools.
"""

import argparse
import json
import math
import pathlib
import resource
import shutil
import statistics
import sys
import time

import halftone
import learning

SETTINGS = pathlib.Path(__file__).resolve().parents[2] / "resources" / "settings" / "shapes.json"
SIDE, MOST, TRAIN_SCENES, TEST_SCENES = 128, 4, 2000, 200
RATE, DECAY, WARMUP, BATCH = 1e-3, 0.01, 50, 8  # of that file
FIGURES = {"mask AP": ("masks", "AP"), "mask AP50": ("masks", "AP50"), "box AP": ("boxes", "AP"), "box AP50": ("boxes", "AP50")}
AMP_APART = 0.03


def engine_run(options, precision, seed):
    folder = options.state / f"run-{precision}-{seed}"
    shutil.rmtree(folder, ignore_errors=True)
    fields = {"precision.preset": precision, "seed": seed, "max_steps": options.updates, "threads": options.threads,
              "evaluation.every_steps": 0, "evaluation.every_epochs": 0, "checkpoint.best": "false", "checkpoint.every_minutes": 0}
    words = [word for field, value in fields.items() for word in ("--set", f"{field}={value}")]
    home = {"XDG_DATA_HOME": str(options.state / "home")}
    halftone.run(options.halftone, "train", str(SETTINGS), *words, "--out", str(folder), "--json", env=home)
    report = json.loads(halftone.run(options.halftone, "eval", str(folder), "--json", env=home))["detections"]
    shutil.rmtree(folder)
    return {name: report[kind][figure] for name, (kind, figure) in FIGURES.items()}


class Scenes:
    """A part of `shapes` for a run of this seed."""

    def __init__(self, seed, stream, count):
        import torch
        import shapes
        shapes.SEED = seed
        self.pictures, self.targets = [], []
        for number in range(count):
            picture, objects = shapes.scene(stream, number, SIDE, MOST)
            boxes = []
            for _, bitmap in objects:
                rows, columns = bitmap.any(1).nonzero()[0], bitmap.any(0).nonzero()[0]
                boxes.append([columns[0], rows[0], columns[-1] + 1, rows[-1] + 1])
            self.pictures.append(torch.from_numpy(picture).permute(2, 0, 1).contiguous())
            self.targets.append({"boxes": torch.tensor(boxes, dtype=torch.float32),
                                 "labels": torch.tensor([label for label, _ in objects]),
                                 "masks": torch.stack([torch.from_numpy(bitmap) for _, bitmap in objects]).to(torch.uint8)})

    def batch(self, indices):
        return [self.pictures[i].float() / 255 for i in indices], [self.targets[i] for i in indices]


def new_detector():
    """maskrcnn-resnet18 with its defaults."""
    from torchvision.models.detection.transform import GeneralizedRCNNTransform
    import detection_model
    detection_model.BEFORE = detection_model.AFTER = (200, 100)
    model = detection_model.network("resnet18", frozen=False, small=False)
    model.transform = GeneralizedRCNNTransform(SIDE, SIDE, [0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
    return model


def rate_factor(update, updates):
    if update < WARMUP:
        return (update + 1) / (WARMUP + 1)
    return (1 + math.cos(math.pi * (update - WARMUP) / (updates - WARMUP))) / 2


def coco_truth(part):
    import numpy
    import pycocotools.mask as run_lengths
    from pycocotools.coco import COCO
    annotations = []
    for number, target in enumerate(part.targets, 1):
        for box, label, bitmap in zip(target["boxes"].tolist(), target["labels"].tolist(), target["masks"].numpy()):
            runs = run_lengths.encode(numpy.asfortranarray(bitmap))
            annotations.append({"id": len(annotations) + 1, "image_id": number, "category_id": label, "iscrowd": 0,
                                "bbox": [box[0], box[1], box[2] - box[0], box[3] - box[1]], "area": float(bitmap.sum()),
                                "segmentation": runs})
    truth = COCO()
    truth.dataset = {"images": [{"id": i + 1, "width": SIDE, "height": SIDE} for i in range(len(part.targets))],
                     "annotations": annotations, "categories": [{"id": i, "name": str(i)} for i in (1, 2, 3)]}
    truth.createIndex()
    return truth


def coco_results(model, part):
    """Results for boxes and for masks; those of masks without a box, whose area would stand for the mask's."""
    import numpy
    import pycocotools.mask as run_lengths
    import torch
    boxes, masks = [], []
    for first in range(0, len(part.pictures), BATCH):
        indices = range(first, min(first + BATCH, len(part.pictures)))
        with torch.no_grad():
            found = model(part.batch(indices)[0])
        for i, each in zip(indices, found):
            corners = each["boxes"]
            sizes = torch.cat([corners[:, :2], corners[:, 2:] - corners[:, :2]], 1)
            for box, label, score, mask in zip(sizes.tolist(), each["labels"].tolist(), each["scores"].tolist(), each["masks"]):
                common = {"image_id": i + 1, "category_id": label, "score": score}
                boxes.append({**common, "bbox": box})
                masks.append({**common, "segmentation": run_lengths.encode(numpy.asfortranarray((mask[0] > 0.5).numpy().astype("u1")))})
    return {"boxes": boxes, "masks": masks}


def peer_figures(model, part):
    import contextlib
    import io
    from pycocotools.cocoeval import COCOeval
    stats = {}
    with contextlib.redirect_stdout(io.StringIO()):
        truth = coco_truth(part)
        for kind, results in coco_results(model.eval(), part).items():
            evaluation = COCOeval(truth, truth.loadRes(results), {"boxes": "bbox", "masks": "segm"}[kind])
            evaluation.evaluate()
            evaluation.accumulate()
            evaluation.summarize()
            stats[kind] = dict(zip(("AP", "AP50"), evaluation.stats.tolist()))
    return {name: stats[kind][figure] for name, (kind, figure) in FIGURES.items()}


def peer_run(options, seed):
    import torch
    import shapes
    torch.set_num_threads(options.threads)
    torch.manual_seed(seed)
    model = new_detector().train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=DECAY, foreach=True)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda update: rate_factor(update, options.updates))
    part, order, begun = Scenes(seed, shapes.TRAIN, TRAIN_SCENES), [], time.process_time()
    for update in range(options.updates):
        if len(order) < BATCH:
            order = torch.randperm(TRAIN_SCENES).tolist()
        loss = sum(model(*part.batch([order.pop() for _ in range(BATCH)])).values())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if update % 50 == 49:
            print(f"    {learning.PEER} seed {seed}, update {update + 1}: loss {loss.item():.4f}, "
                  f"{time.process_time() - begun:.0f} s of processor time", flush=True)
    return peer_figures(model, Scenes(seed, shapes.TEST, TEST_SCENES))


def processor_seconds():
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def result_file(options, computed, seed):
    return options.state / f"{computed}-{options.updates}-{seed}.json"


def measure(options, computed, seed):
    begun, used = time.monotonic(), processor_seconds()
    found = peer_run(options, seed) if computed == learning.PEER else engine_run(options, computed, seed)
    found |= {"seconds": time.monotonic() - begun, "processor_seconds": processor_seconds() - used}
    result_file(options, computed, seed).write_text(json.dumps(found) + "\n", encoding="utf-8")
    print(f"    {computed} seed {seed}: {json.dumps(found)}", flush=True)


def finished(options):
    """{what computed them: its results, seed by seed}."""
    out = {}
    for computed in options.computed:
        files = (result_file(options, computed, seed) for seed in range(options.seeds))
        out[computed] = [json.loads(file.read_text(encoding="utf-8")) for file in files if file.exists()]
    return {computed: results for computed, results in out.items() if results}


def print_table(found, updates):
    print(f"\n{updates} updates\n\n| computed by | seeds | " + " | ".join(FIGURES) + " | wall, s a run | processor, s a run |")
    print("| --- | ---: |" + " ---: |" * (len(FIGURES) + 2))
    for computed, results in found.items():
        cells = []
        for name in FIGURES:
            each = [result[name] for result in results]
            cells.append(f"{statistics.mean(each):.4f} ({', '.join(f'{x:.4f}' for x in each)})")
        cells += [f"{statistics.mean(r[name] for r in results):.0f}" for name in ("seconds", "processor_seconds")]
        print(f"| {computed} | {len(results)} | {' | '.join(cells)} |")


def judge(found):
    """Prints what is asked and whether it holds. Returns how much does not."""
    failed = 0
    fp32, peer = found.get("fp32"), found.get(learning.PEER)
    for name in ("mask AP", "mask AP50") if fp32 and peer else ():
        theirs = [result[name] for result in peer]
        mean, asked = statistics.mean(result[name] for result in fp32), statistics.mean(theirs) - (max(theirs) - min(theirs))
        failed += not mean >= asked
        print(f"{name}: fp32 {mean:.4f}, asked at least {asked:.4f}: {'holds' if mean >= asked else 'FAILS'}"
              f"{' (one seed has no spread)' if len(theirs) == 1 else ''}")
    for computed in found if fp32 else ():
        if not computed.startswith("amp"):
            continue
        pairs = list(zip(found[computed], fp32))
        apart = abs(statistics.mean(a["mask AP"] - b["mask AP"] for a, b in pairs))
        failed += not apart <= AMP_APART
        print(f"mask AP: {computed} is {apart:.4f} from fp32 over {len(pairs)} seeds, asked at most {AMP_APART}: "
              f"{'holds' if apart <= AMP_APART else 'FAILS'}")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    halftone.add_binary_option(parser)
    parser.add_argument("--state", type=pathlib.Path, required=True, help="folder of finished runs")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--updates", type=int, default=1000, help="of a run, and of the schedule")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--computed", action="append", choices=[*learning.PRECISIONS, learning.PEER])
    parser.add_argument("--table", action="store_true", help="compute nothing")
    options = parser.parse_args()
    options.computed = options.computed or ["fp32", learning.PEER, "amp-fp16", "amp-bf16"]
    options.state.mkdir(parents=True, exist_ok=True)
    for seed in range(options.seeds):
        for computed in options.computed if not options.table else ():
            if not result_file(options, computed, seed).exists():
                measure(options, computed, seed)
    found = finished(options)
    print_table(found, options.updates)
    return 1 if judge(found) else 0


if __name__ == "__main__":
    sys.exit(main())
