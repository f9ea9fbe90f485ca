#!/usr/bin/env python3
"""Writes the first inputs of the fuzz programs from the golden cases: seeds.py FOLDER makes FOLDER/op_script,
FOLDER/safetensors, FOLDER/network, FOLDER/onnx, FOLDER/torch_file, FOLDER/pickle, FOLDER/picture, FOLDER/coco_json, FOLDER/rle_text,
FOLDER/voc_xml and FOLDER/run_file. With the program as a second
argument it trains runs of three steps, and makes FOLDER/checkpoint, FOLDER/run_folder and FOLDER/quantization of them."""

import base64
import io
import json
import lzma
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "peer"))
import golden_file


def unpacked(path):
    return lzma.decompress(path.read_bytes())


def torch_seeds(folder, golden):
    """PyTorch's files, valid and invalid, and their pickles separately."""
    for kind in ("torch_file", "pickle"):
        (folder / kind).mkdir(parents=True, exist_ok=True)
    with tarfile.open(golden / "torch.tar.xz") as files:
        by_name = {pathlib.Path(name).stem: files.extractfile(name).read() for name in files.getnames() if name.endswith(".pt")}
    for stem, data in by_name.items():
        (folder / "torch_file" / stem).write_bytes(data)
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                for name in archive.namelist():
                    if name.endswith("data.pkl"):
                        (folder / "pickle" / stem).write_bytes(archive.read(name))
        except zipfile.BadZipFile:
            pass


def picture_seeds(folder, golden):
    """A small picture of every kind."""
    (folder / "picture").mkdir(parents=True, exist_ok=True)
    for each in json.loads(unpacked(golden / "picture_kinds.json.xz")):
        (folder / "picture" / each["name"]).write_bytes(base64.b64decode(each["file"]))


def onnx_seeds(folder, golden):
    """Models that were exported."""
    (folder / "onnx").mkdir(parents=True, exist_ok=True)
    for name, tensor in golden_file.read_tensors(unpacked(golden / "onnx_imports.safetensors.xz")).items():
        if tensor[0] == "U8":
            (folder / "onnx" / name).write_bytes(tensor[2])


def network_seeds(folder, golden):
    """Texts of networks: the templates and those of the golden steps."""
    (folder / "network").mkdir(parents=True, exist_ok=True)
    texts = [file.read_bytes() for file in sorted((pathlib.Path(__file__).resolve().parents[2] / "resources" / "networks").glob("*.network"))]
    texts += [json.loads(line)["text"].encode() for line in unpacked(golden / "network_steps.txt.xz").splitlines()]
    for number, text in enumerate(texts):
        (folder / "network" / str(number)).write_bytes(text)


def network_dictionary(folder):
    """Words for -dict: kinds, their arguments and the notation's own."""
    source = pathlib.Path(__file__).resolve().parents[2] / "engine" / "src" / "network"
    words = set(re.findall(r"HALFTONE_LAYER\((\w+)\)", (source / "kinds.inc").read_text()))
    for file in source.glob("kinds_*.cpp"):
        words |= set(re.findall(r'arg::\w+\("(\w+)"', file.read_text()))
    words |= {"option ", "init ", "block ", "network(", "output ", "let ", "repeat ", " from ", " if ", " as ", " in ", " of ", " gives ", "scores", "image", "features", "tokens",
              "indices", "above", "outputs", "and", "or", "not", "true", "false", "else", "size(", "in.width", "in.channels", "..", "//", "weight=", "init=", "bias_init=", "zeros",
              "normal(0.02)", "orthogonal", "kaiming_normal(fan_out, relu)", "4611686018427387903", "2^62", "1e308", "\\x0a  ", "\\x0a    "}
    (folder / "network.dict").write_text("".join(f'"{word}"\n' for word in sorted(words)))


def kept_seeds(folder):
    """NAME_seeds.txt.xz: inputs that runs of the fuzz programs kept, and damaged seeds."""
    for file in pathlib.Path(__file__).resolve().parent.glob("*_seeds.txt.xz"):
        name = {"mask_png": "picture"}.get(file.name.partition("_seeds")[0], file.name.partition("_seeds")[0])
        (folder / name).mkdir(parents=True, exist_ok=True)
        for number, line in enumerate(unpacked(file).splitlines()):
            (folder / name / f"kept{number}").write_bytes(base64.b64decode(line))


def coco_seeds(folder, golden):
    """COCO files with each kind of mask, and texts of masks of 24 by 24 pixels."""
    for kind in ("coco_json", "rle_text"):
        (folder / kind).mkdir(parents=True, exist_ok=True)
    file = {"images": [{"id": 1, "file_name": "a.jpg", "width": 40, "height": 40}, {"id": "b", "file_name": "b/c.jpg", "width": 9, "height": 5}],
            "categories": [{"id": 0, "name": "all", "supercategory": "none"}, {"id": 7, "name": "cat", "supercategory": "all"}]}
    masks = ([[5.5, 5, 35, 5, 20, 20]], [[1, 1, 9, 1, 9, 9], [3, 3, 5, 3, 5, 5, 3, 5]], [], {"size": [40, 40], "counts": "j<1UU1"},
             {"size": [40, 40], "counts": [3, 7, 1590]})
    for number, mask in enumerate(masks):
        entry = {"id": number, "image_id": 1, "category_id": 7, "bbox": [1, 2, 3.5, 4e0], "area": 9.5, "iscrowd": number % 2, "segmentation": mask}
        (folder / "coco_json" / str(number)).write_text(json.dumps({**file, "annotations": [entry]}))
    for number, line in enumerate(unpacked(golden / "coco_masks.txt.xz").splitlines()[:40]):
        (folder / "rle_text" / str(number)).write_bytes(bytes([23, 23]) + line.split()[1])


def voc_seeds(folder):
    """Annotations of Pascal VOC: whole ones, and those that are refused."""
    (folder / "voc_xml").mkdir(parents=True, exist_ok=True)
    size = "<filename>a.jpg</filename><size><width>50</width><height>60</height><depth>3</depth></size>"
    box = "<bndbox><xmin>1</xmin><ymin>2.5</ymin><xmax>30</xmax><ymax> 4e1 </ymax></bndbox>"
    cat = f"<object><name>cat</name><pose>Left</pose><truncated>1</truncated><difficult>1</difficult>{box}</object>"
    dog = f"<object><name>dog &amp; pup</name><part><name>head</name>{box}</part>{box}</object>"
    texts = (size, size + cat, cat + dog, size + "<object><name>cat</name></object>", size + "<object>", cat.replace("2.5", "nan"),
             "<size><width>-1</width></size>" + dog, f"<!-- no more --><![CDATA[{cat}]]>")
    files = [f"<annotation>{text}</annotation>" for text in texts]
    files += ['<?xml version="1.0"?>\n' + files[1], '<!DOCTYPE a [<!ENTITY e "cat">]>' + files[1].replace(">cat<", ">&e;<"), "<other/>"]
    for number, text in enumerate(files):
        (folder / "voc_xml" / str(number)).write_text(text)


def run_seeds(folder):
    """Archives with the files of a run: stored and compressed, with a folder, and with names that lead outside of it.
    """
    (folder / "run_file").mkdir(parents=True, exist_ok=True)
    files = {"config.json": "{}", "events.jsonl": '{"event":"created","run":"1"}', "notes.json": "{}", "steps.rec": "x" * 99}
    for name, more, packing in (("stored", {}, zipfile.ZIP_STORED), ("packed", {}, zipfile.ZIP_DEFLATED),
                                ("nested", {"checkpoint-3/": "", "checkpoint-3/state.json": "{}"}, zipfile.ZIP_STORED),
                                ("outside", {"../a": "", "/a": ""}, zipfile.ZIP_STORED)):
        with zipfile.ZipFile(folder / "run_file" / name, "w", packing) as archive:
            for file, text in {**files, **more}.items():
                archive.writestr(zipfile.ZipInfo(file), text)


def in_a_row(folder, names):
    """The files of a folder in the form that folder_input.h reads."""
    packed = b""
    for number, name in enumerate(names):
        if (folder / name).exists():
            content = (folder / name).read_bytes()
            packed += bytes([number]) + len(content).to_bytes(3, "little") + content
    return packed


def trained_seeds(folder, program):
    """A checkpoint, with the mark for corrected checksums and without, a run's folder, and the casts of runs with recipes."""
    settings = ("dataset.kind=spirals", "model.kind=mlp", "model.options.hidden=[4]", "optimizer.kind=adam", "max_steps=3")
    with tempfile.TemporaryDirectory() as scratch:
        run = pathlib.Path(scratch) / "run"

        def train(out, *more):
            subprocess.run([program, "train", "--out", out, *(word for each in (*settings, *more) for word in ("--set", each))],
                           check=True, stdout=subprocess.DEVNULL, env={**os.environ, "XDG_DATA_HOME": scratch})

        train(run)
        casts = {}
        for recipe in ("fp8-delayed", "nvfp4"):
            other = pathlib.Path(scratch) / recipe
            train(other, f"precision.preset={recipe}")
            names = [f"quantization/{name}" for name in ("tensors.json", "tensors.rec", "scales.rec")]
            casts[f"quantization/{recipe}"] = in_a_row(
                other, [*names, "checkpoint-3/quantization.safetensors", "config.json"])
        checkpoint = in_a_row(run / "checkpoint-3", ["state.json", "weights.safetensors", "optimizer.safetensors"])
        seeds = {"checkpoint/sealed": b"\0" + checkpoint, "checkpoint/as_it_is": b"\1" + checkpoint,
                 **casts,
                 "run_folder/run": in_a_row(run, ["config.json", "events.jsonl", "notes.json", "steps.rec", "inputs.json"])}
    for name, content in seeds.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def main():
    folder = pathlib.Path(sys.argv[1])
    golden = pathlib.Path(__file__).resolve().parents[1] / "peer" / "golden"
    for kind in ("op_script", "safetensors"):
        (folder / kind).mkdir(parents=True, exist_ok=True)
    torch_seeds(folder, golden)
    network_seeds(folder, golden)
    onnx_seeds(folder, golden)
    network_dictionary(folder)
    kept_seeds(folder)
    run_seeds(folder)
    picture_seeds(folder, golden)
    coco_seeds(folder, golden)
    voc_seeds(folder)
    if len(sys.argv) > 2:
        trained_seeds(folder, sys.argv[2])
    count = 0
    for lines in sorted(golden.glob("*.jsonl.xz")):
        name = lines.name.partition(".")[0]
        for i, (request, tensors) in enumerate(golden_file.read_cases(name)):
            request.pop("results", None)
            request.pop("refused", None)
            request.update({"in": "i", "out": "o", "device": "cpu"})
            inputs = {key: tensor for key, tensor in tensors.items() if not key.startswith(("expect/", "allowed/"))}
            file = golden_file.safetensors_file(inputs)
            (folder / "op_script" / f"{name}_{i}").write_bytes(json.dumps(request).encode() + b"\n" + file)
            if i % 20 == 0:
                (folder / "safetensors" / f"{name}_{i}").write_bytes(file)
            count += 1
    print(f"{count} cases")


if __name__ == "__main__":
    main()
