#!/usr/bin/env python3
"""Weights of torchvision's Mask R-CNN in the engine, and the engine's in torchvision: the same detections on the same pictures.

A network of torchvision learns `shapes` for 30 updates, so that its scores spread, and is written four times: with batch norm
and with the same values frozen, under today's names and under those of older files. The engine reads each (`epochs: 0`) and
`predict` finds objects on ten photographs and ten scenes. Then the engine trains five updates on, and torchvision loads the
exported file with strict=True. Detections are the same: boxes within 1e-3 pixels, scores within 1e-5, masks equal but where the
pasted probability is within 1e-5 of a half. A detection may be missing on one side only where the other's score is as near to
the threshold or to the hundredth score.

--weights FILE does the same in one direction and back with torchvision's own file for COCO (maskrcnn_resnet50_fpn_coco, 91 outputs,
frozen norm without eps); without a file that part is skipped. Needs torchvision 0.29.2, numpy, pillow and pycocotools.
"""

import argparse
import json
import pathlib
import re
import sys
import tempfile

import numpy
import PIL.Image
import pycocotools.mask as run_lengths
import safetensors.torch
import torch
import torchvision
from torchvision.models.detection.transform import GeneralizedRCNNTransform
from torchvision.ops import FrozenBatchNorm2d
from torchvision.ops import boxes as box_ops

import detection_learning
import detection_model
import halftone
import shapes

PHOTOGRAPHS = pathlib.Path(__file__).resolve().parents[3] / "shared" / "data" / "hymenoptera-mini"
BOX, SCORE, HALF = 1e-3, 1e-5, 1e-5
LEAST, THRESHOLD, MOST = 200, 0.05, 100
MEAN, DEVIATION = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
SHAPES = ["square", "disc", "triangle"]


def older_names(state):
    """As torchvision wrote them before its layers of convolution and ReLU were one module."""
    out = {}
    for name, tensor in state.items():
        name = re.sub(r"(inner|layer)_blocks\.(\d)\.0\.", r"\1_blocks.\2.", name)
        name = name.replace("rpn.head.conv.0.0.", "rpn.head.conv.")
        out[re.sub(r"mask_head\.(\d)\.0\.", lambda m: f"mask_head.mask_fcn{int(m[1]) + 1}.", name)] = tensor
    return out


def frozen_module(model):
    """A copy of the network with its batch norms frozen as they are."""
    out = detection_model.network("resnet18", frozen=True, small=False)
    out.transform = model.transform
    state = {name: tensor for name, tensor in model.state_dict().items() if not name.endswith("num_batches_tracked")}
    out.load_state_dict(state, strict=True)
    return out.eval()


def trained_module(updates):
    torch.manual_seed(0)
    model = detection_learning.new_detector().train()
    part = detection_learning.Scenes(0, shapes.TRAIN, updates * 4)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
    for update in range(updates):
        loss = sum(model(*part.batch(range(update * 4, update * 4 + 4))).values())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.eval()


def write_pictures(folder, count):
    """Photographs as PNG, so that both sides read the same pixels, and scenes of the test part."""
    files = []
    for i, file in enumerate(sorted(PHOTOGRAPHS.rglob("*.jpg"))[:count]):
        files.append(folder / f"photograph{i}.png")
        PIL.Image.open(file).convert("RGB").save(files[-1])
    shapes.SEED = 0
    for i in range(count):
        files.append(folder / f"scene{i}.png")
        PIL.Image.fromarray(shapes.scene(shapes.TEST, i, 128, 4)[0]).save(files[-1])
    return files


def engine_found(options, run, files, folder):
    lines = halftone.run(options.halftone, "predict", str(run), *map(str, files), "--json", "--score", "0", "--out", str(folder))
    return [each["detections"] for each in halftone.events(lines)]


def torch_found(model, file, names):
    picture = torch.from_numpy(numpy.asarray(PIL.Image.open(file)).copy()).permute(2, 0, 1).float() / 255
    with torch.no_grad():
        found = model([picture])[0]
    return [{"class": names[int(label) - 1], "score": float(score), "corners": box.double(), "mask": mask[0]}
            for label, score, box, mask in zip(found["labels"], found["scores"], found["boxes"], found["masks"])]


def far_apart(ours, theirs):
    """How far a box and a score are, and how many pixels of the mask differ that are not at a half."""
    x, y, w, h = ours["box"]
    box = float((torch.tensor([x, y, x + w, y + h], dtype=torch.float64) - theirs["corners"]).abs().max())
    bitmap = torch.from_numpy(run_lengths.decode({"size": ours["segmentation"]["size"],
                                                  "counts": ours["segmentation"]["counts"].encode()}).astype(bool))
    differs = (bitmap != (theirs["mask"] > 0.5)) & ((theirs["mask"] - 0.5).abs() >= HALF)
    return box, abs(ours["score"] - theirs["score"]), int(differs.sum())


def pair(ours, theirs, worst):
    """Pairs the detections of a picture. Returns those that have no partner, of either side."""
    left, alone = list(ours), []
    for each in theirs:
        near = [(far_apart(other, each), other) for other in left
                if other["class"] == each["class"] and abs(other["score"] - each["score"]) <= SCORE]
        near = [(apart, other) for apart, other in near if apart[0] <= BOX]
        if not near:
            alone.append(each)
            continue
        apart, other = min(near, key=lambda item: item[0])
        left.remove(other)
        worst[:] = [max(a, b) for a, b in zip(worst, apart)]
    return alone + left


def explained(single, ours, theirs):
    last = min((each["score"] for each in (ours if len(ours) == MOST else theirs)), default=0)
    edges = [THRESHOLD] + ([last] if MOST in (len(ours), len(theirs)) else [])
    return any(abs(single["score"] - edge) <= SCORE for edge in edges)


def compare(title, ours, theirs):
    """Prints how far all detections are apart. Returns whether something is wrong."""
    worst, single, wrong = [0.0, 0.0, 0], 0, 0
    for mine, other in zip(ours, theirs):
        alone = pair(mine, other, worst)
        single += len(alone)
        wrong += sum(not explained(each, mine, other) for each in alone)
    count = sum(map(len, theirs))
    bad = wrong > 0 or worst[2] > 0 or count < LEAST
    print(f"| {title} | {count} | {worst[0]:.1e} | {worst[1]:.1e} | {worst[2]} | {single} | {'FAILS' if bad else 'holds'} |", flush=True)
    return bad


def settings(fields):
    return [word for field, value in fields.items() for word in ("--set", f"{field}={value}")]


def engine_run(options, fields, out):
    halftone.run(options.halftone, "train", *settings({**fields, "precision.preset": "fp32", "seed": 0, "checkpoint.best": "false"}),
                 "--out", str(out), "--json")
    return out


def back_in_torch(options, run, model, folder):
    """Loads the engine's weights into a network of torchvision."""
    file = folder / "ours.safetensors"
    halftone.run(options.halftone, "export", str(run), "--to", "safetensors", "-o", str(file))
    state = safetensors.torch.load_file(file)
    file.unlink()
    model.load_state_dict(state, strict=True)
    return model.eval()


def small_files(options, folder):
    model = trained_module(options.updates)
    files = write_pictures(folder, options.pictures)
    common = {"dataset.kind": "shapes", "dataset.test_limit": 8, "model.kind": "maskrcnn-resnet18"}
    failed = False
    for norm, module in (("batch", model), ("frozen", frozen_module(model))):
        theirs = [torch_found(module, file, SHAPES) for file in files]
        for names, state in (("today's", module.state_dict()), ("older", older_names(module.state_dict()))):
            weights = folder / "weights.pth"
            torch.save(state, weights)
            run = engine_run(options, {**common, "epochs": 0, "model.init_from": weights, "model.options.norm": norm}, folder / "read")
            failed |= compare(f"{norm} norm, {names} names", engine_found(options, run, files, folder), theirs)
            remove(run)
        run = engine_run(options, {**common, "max_steps": 5, "batch_size": 4, "model.init_from": weights, "model.options.norm": norm,
                                   "optimizer.kind": "adamw", "optimizer.lr": 1e-4}, folder / "trained")
        ours = engine_found(options, run, files, folder)
        loaded = back_in_torch(options, run, module, folder)
        failed |= compare(f"{norm} norm, ours in torchvision", ours, [torch_found(loaded, file, SHAPES) for file in files])
        remove(run)
    return failed


def remove(run):
    import shutil
    shutil.rmtree(run)


def coco_module(weights):
    model = torchvision.models.detection.maskrcnn_resnet50_fpn(weights=None, weights_backbone=None, num_classes=91)
    model.load_state_dict(torch.load(weights, map_location="cpu", weights_only=True), strict=True)
    for module in model.modules():
        if isinstance(module, FrozenBatchNorm2d):
            module.eps = 0.0
    model.transform = GeneralizedRCNNTransform(800, 1333, MEAN, DEVIATION)
    return model.eval()


def coco_file(options, folder):
    """torchvision's file for COCO on the same pictures, at their usual size."""
    files = write_pictures(folder, options.pictures)
    names = [str(i) for i in range(1, 91)]
    (folder / "coco.json").write_text(json.dumps({
        "images": [{"id": 1, "file_name": files[0].name, **dict(zip(("width", "height"), PIL.Image.open(files[0]).size))}],
        "categories": [{"id": i + 1, "name": name} for i, name in enumerate(names)],
        "annotations": [{"id": i, "image_id": 1, "category_id": i, "bbox": [9, 9, 40, 40], "iscrowd": 0,
                         "segmentation": [[9, 9, 49, 9, 49, 49]]} for i in range(1, 91)]}))
    model = coco_module(options.weights)
    theirs = [torch_found(model, file, names) for file in files]
    run = engine_run(options, {
        "dataset.kind": "coco", "dataset.path": folder / "coco.json", "dataset.test_share": 0, "dataset.label_ids": "file",
        "model.kind": "maskrcnn-resnet50", "model.options.norm": "frozen", "model.options.frozen_norm_eps": 0, "epochs": 0,
        "model.init_from": options.weights}, folder / "coco")
    ours = engine_found(options, run, files, folder)
    failed = compare("torchvision's file", ours, theirs)
    loaded = back_in_torch(options, run, coco_module(options.weights), folder)
    return compare("the same from ours", ours, [torch_found(loaded, file, names) for file in files]) or failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    halftone.add_binary_option(parser)
    parser.add_argument("--weights", help="torchvision's file for COCO")
    parser.add_argument("--pictures", type=int, default=10, help="of each kind")
    parser.add_argument("--updates", type=int, default=30)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    box_ops.batched_nms = box_ops._batched_nms_vanilla
    print("| weights | detections | box, pixels | score | mask pixels | unpaired | |\n| --- | ---: | ---: | ---: | ---: | ---: | --- |")
    with tempfile.TemporaryDirectory() as name:
        failed = small_files(options, pathlib.Path(name))
    if options.weights:
        with tempfile.TemporaryDirectory() as name:
            failed |= coco_file(options, pathlib.Path(name))
    else:
        print("torchvision's file for COCO: skipped, since --weights names none")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
