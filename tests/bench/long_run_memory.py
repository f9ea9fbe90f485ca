#!/usr/bin/env python3
"""Peak memory of what reads all events of a run: report, exports, resume. The run is made here: a short one is trained, and
its record and events are replaced by those of many steps, of which one in four was skipped.

    python3 tests/bench/long_run_memory.py --halftone build/release/halftone --rows 1000000

Needs numpy. Prints a line a command: exit code, seconds, MiB.
"""

import argparse
import json
import pathlib
import shutil
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "resources" / "python"), str(ROOT / "tests" / "fuzz")]

from foreign_json import Program  # noqa: E402
from halftone_watch.record_writer import RecordWriter  # noqa: E402

SETTINGS = ("dataset.kind=spirals", "model.kind=mlp", "max_steps=20", "threads=1", "precision.preset=amp-fp16", "schedule.kind=constant")


def lengthen(run, rows):
    """Gives the run in this folder a record of so many rows, and events to match."""
    (run / "steps.rec").unlink()
    for lease in run.glob("lease.*"):
        lease.unlink()
    writer = RecordWriter(run, 0, False)
    block = 1 << 16
    for first in range(0, rows, block):
        count = min(block, rows - first)
        values = np.zeros(count, dtype=writer.row_type)
        steps = np.arange(first + 1, first + count + 1)
        values["step"], values["updates"], values["samples"] = steps, steps, 32 * steps
        values["elapsed_s"], values["loss"], values["loss_scale"] = steps * 1e-3, 1 / steps, 1024
        writer.append(values)
    writer.close()
    lines = [line for line in (run / "events.jsonl").read_text().splitlines() if json.loads(line)["event"] != "done"]
    with open(run / "events.jsonl", "w") as out:
        out.write("\n".join(lines) + "\n")
        for step in range(24, rows, 4):
            out.write(json.dumps({"event": "scale", "run": "1", "step": step, "kind": "skipped_normal", "from": 2048.0,
                                  "to": 1024.0, "clean_steps": 3}) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--halftone", required=True, type=lambda name: str(pathlib.Path(name).resolve()))
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--patience", type=float, default=600)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="halftone-long-") as scratch:
        home = pathlib.Path(scratch)
        program = Program(args, home)
        words = [word for each in SETTINGS for word in ("--set", each)]
        code, output, _, _ = program.run("train", *words)
        if code != 0:
            sys.exit(output)
        run = home / "data" / "halftone" / "runs" / "1"
        lengthen(run, args.rows)
        print(f"{args.rows} rows, {(run / 'events.jsonl').stat().st_size / 1e6:.0f} MB of events")
        for name, command in (("report", ("export", run, "--to", "report.html", "-o", home / "r.html")),
                              ("JSON", ("export", run, "--to", "json", "-o", home / "r.json")),
                              ("TensorBoard", ("export", run, "--to", "tensorboard", "-o", home / "board")),
                              ("resume", ("resume", run, "--set", "max_steps=25"))):
            code, output, seconds, memory = program.run(*command)
            print(f"{name}: exit code {code}, {seconds:.1f} s, {memory:.0f} MiB", flush=True)
            if code != 0:
                print(output[-300:])
        shutil.rmtree(run)


if __name__ == "__main__":
    main()
