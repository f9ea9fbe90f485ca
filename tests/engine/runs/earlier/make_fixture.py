#!/usr/bin/env python3
"""Has a release write what run_store_upgrade_test.cpp reads: make_fixture.py HALFTONE LESSON OUT.zip.xz

HALFTONE is the program of that release, LESSON one of its lessons. The archive, named VERSION-COMMIT.zip.xz, has

    runs/           a history of three tiny runs: one with checkpoints, two of a comparison
    runs.jsonl      the same as `halftone runs --json` listed it
    lesson.lesson.md

Folders are written as /earlier. Needs nothing but Python.
"""

import io
import lzma
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import zipfile

TINY = ["dataset.kind=spirals", "dataset.train_limit=64", "dataset.test_limit=32", "model.kind=mlp", 'model.options={"hidden":[4]}',
        "batch_size=16"]
WHEN = (2026, 11, 29, 12, 0, 0)


def run(program, home, *words):
    places = {"HOME": home, "XDG_DATA_HOME": home, "XDG_CONFIG_HOME": home, "XDG_CACHE_HOME": home, "OMP_NUM_THREADS": "1"}
    return subprocess.run([program, *words], env={**os.environ, **places}, check=True, capture_output=True, text=True).stdout


def settings(*more):
    return [word for each in (*TINY, *more) for word in ("--set", each)]


def move_index(file, root):
    """Replaces the folder of the history in every text, and leaves no journal behind."""
    index = sqlite3.connect(file)
    for (table,) in index.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        for column in [row[1] for row in index.execute(f"PRAGMA table_info({table})")]:
            index.execute(f"UPDATE {table} SET {column} = replace({column}, ?, '/earlier') WHERE typeof({column}) = 'text'", (root,))
    index.commit()
    index.execute("PRAGMA journal_mode = DELETE")
    index.execute("VACUUM")
    index.close()


def main(program, lesson, out):
    with tempfile.TemporaryDirectory() as home:
        run(program, home, "train", *settings("max_steps=8", "precision.preset=amp-fp16", "checkpoint.every_steps=4", "checkpoint.keep=1"))
        run(program, home, "compare", *settings("max_steps=4", "checkpoint.at_end=false", "checkpoint.best=false"))
        run(program, home, "label", "1", "--title", "first", "--tags", "a,b", "--star")
        listed = run(program, home, "runs", "--json")
        root = pathlib.Path(home) / "halftone" / "runs"
        move_index(root / "runs.db", str(root))
        files = {"runs.jsonl": listed.encode(), "lesson.lesson.md": pathlib.Path(lesson).read_bytes()}
        for file in sorted(root.rglob("*")):
            if file.is_file() and file.name not in ("lock", "index.lock"):
                files["runs/" + file.relative_to(root).as_posix()] = file.read_bytes()
        stored = io.BytesIO()  # xz packs the files together to less than half of their sizes in a zip
        with zipfile.ZipFile(stored, "w") as archive:
            for name, content in files.items():
                archive.writestr(zipfile.ZipInfo(name, WHEN), content.replace(str(root).encode(), b"/earlier"))
        pathlib.Path(out).write_bytes(lzma.compress(stored.getvalue(), preset=9 | lzma.PRESET_EXTREME))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
