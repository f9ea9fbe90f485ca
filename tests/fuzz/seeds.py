#!/usr/bin/env python3
"""Writes the first inputs of the fuzz programs from the golden cases: seeds.py FOLDER makes FOLDER/op_script and
FOLDER/safetensors. Needs numpy and safetensors."""

import json
import pathlib
import sys

import safetensors
import safetensors.torch


def main():
    folder = pathlib.Path(sys.argv[1])
    golden = pathlib.Path(__file__).resolve().parents[1] / "peer" / "golden"
    for kind in ("op_script", "safetensors"):
        (folder / kind).mkdir(parents=True, exist_ok=True)
    count = 0
    for lines in sorted(golden.glob("*.jsonl")):
        with safetensors.safe_open(lines.with_suffix(".safetensors"), "pt") as tensors:
            by_case = {}
            for name in tensors.keys():
                case, _, rest = name.partition("/")
                if not rest.startswith(("expect/", "allowed/")):
                    by_case.setdefault(case, []).append(rest)
            for i, line in enumerate(lines.read_text().splitlines()):
                request = json.loads(line)
                request.pop("results", None)
                request.pop("refused", None)
                request.update({"in": "i", "out": "o", "device": "cpu"})
                arguments = {rest: tensors.get_tensor(f"{i}/{rest}") for rest in by_case.get(str(i), [])}
                file = safetensors.torch.save(arguments)
                (folder / "op_script" / f"{lines.stem}_{i}").write_bytes(json.dumps(request).encode() + b"\n" + file)
                if i % 20 == 0:
                    (folder / "safetensors" / f"{lines.stem}_{i}").write_bytes(file)
                count += 1
    print(f"{count} cases")


if __name__ == "__main__":
    main()
