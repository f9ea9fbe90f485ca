"""Damages the files of a store at random; whatever the damage, training must start. README.md tells
what is done."""

import pathlib
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

import programs

SCHEMA_DAMAGE = ["DROP TABLE settings", "DROP TABLE runs", "DROP TABLE events", "DROP TABLE epochs",
                 "DROP TABLE notes", "DROP TABLE tags", "DELETE FROM settings",
                 "DELETE FROM runs WHERE id = '2'", "ALTER TABLE runs DROP COLUMN made",
                 "ALTER TABLE runs RENAME TO walks", "UPDATE runs SET steps = 'many'",
                 "UPDATE runs SET state = '', folder = 'nowhere'", "PRAGMA user_version = 0",
                 "PRAGMA user_version = 77", "PRAGMA user_version = -1",
                 "CREATE TABLE more (x)", "UPDATE runs SET state = 'running'",
                 "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE type = 'index'",
                 "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE TABEL x'",
                 "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = rootpage + 1"]


def random_bytes(file, dice):
    data = bytearray(file.read_bytes())
    count = dice.randint(1, 400)
    at = dice.randrange(max(len(data), 1))
    data[at:at + count] = dice.randbytes(min(count, max(len(data) - at, 1)))
    file.write_bytes(data)
    return f"{count} random bytes at {at}"


def zeros(file, dice):
    data = bytearray(file.read_bytes())
    at = dice.randrange(max(len(data), 1))
    count = min(dice.choice([1, 400, 4096, 65536]), len(data) - at)
    data[at:at + count] = bytes(count)
    file.write_bytes(data)
    return f"{count} zeros at {at}"


def cut(file, dice):
    size = dice.randrange(file.stat().st_size + 1)
    with open(file, "r+b") as out:
        out.truncate(size)
    return f"cut to {size} bytes"


def remove(file, dice):
    file.unlink()
    return "removed"


def damage_schema(root, dice):
    statements = dice.choice(SCHEMA_DAMAGE)
    connection = sqlite3.connect(root / "runs.db", isolation_level=None)
    for statement in statements.split("; "):
        connection.execute(statement)
    connection.close()
    return statements


def damage(root, dice):
    """Damages one thing. Returns a description."""
    if dice.random() < 0.2:
        return "runs.db: " + damage_schema(root, dice)
    files = [root / "runs.db"] * 8 + [root / "runs.db-wal"] * 4 + [root / "runs.db-shm", root / "index.lock"]
    for folder in sorted(root.iterdir()):
        if folder.is_dir():
            files += sorted(file for file in folder.rglob("*") if file.is_file())
    file = dice.choice([file for file in files if file.exists()])
    act = dice.choices([random_bytes, zeros, cut, remove], weights=[6, 1, 1, 0.5])[0]
    return f"{file.relative_to(root)}: {act(file, dice)}"


def make_history(args, folder):
    """Two finished runs and a killed one whose write-ahead log still exists."""
    store = programs.Store(args, folder)
    for _ in range(2):
        process = store.train(700, subprocess.DEVNULL)
        if process.wait() != 0:
            raise RuntimeError(process.communicate()[1].decode())
    process = store.train(10**9, subprocess.DEVNULL)
    while not (store.root / "3" / "steps.rec").exists():
        time.sleep(0.01)
    time.sleep(0.1)
    process.kill()
    process.communicate()
    if not (store.root / "runs.db-wal").exists():
        raise RuntimeError("the killed run left no write-ahead log")
    return store


def check(args, folder):
    """Trains in a damaged store. Returns the problems."""
    store = programs.Store(args, folder)
    output = pathlib.Path(folder) / "output"
    with open(output, "wb") as file:
        process = store.train(3, file)
        try:
            errors = process.communicate(timeout=60)[1].decode(errors="replace")
        except subprocess.TimeoutExpired:
            process.kill()
            return ["training did not end"]
    if process.returncode != 0:
        return [f"exit {process.returncode}: {errors}"]
    start = programs.events_of(output.read_text(), "start")[0]
    if pathlib.Path(start["folder"]).parent != store.root:
        return []  # the temporary folder
    runs, problems = store.list()
    if runs.get(start["run"], {}).get("state") != "done":
        problems.append(f"run {start['run']} is not in the history as done")
    return [problem for problem in problems if not problem.startswith("warning")]


def main():
    cli = programs.parser(__doc__)
    cli.add_argument("--damages", type=int, default=500)
    args = cli.parse_args()
    dice = random.Random(args.seed)
    failures = []
    elsewhere = 0
    with tempfile.TemporaryDirectory(prefix="halftone-damage-") as folder:
        folder = pathlib.Path(folder)
        history = make_history(args, folder / "history").root
        for i in range(args.damages):
            trial = folder / "trial"
            root = programs.Store(args, trial).root
            root.parent.mkdir(parents=True)
            shutil.copytree(history, root)
            what = damage(root, dice)
            failures += [f"damage {i}, {what}: {problem}" for problem in check(args, trial)]
            elsewhere += any(trial.glob("halftone-*"))
            shutil.rmtree(trial)
    for failure in failures:
        print(failure)
    print(f"seed {args.seed}: {args.damages} damages, {elsewhere} led to a temporary folder, "
          f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
