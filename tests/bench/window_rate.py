#!/usr/bin/env python3
"""Does the window slow training, and does training slow the window? The MLP on spirals at its full rate, in turn by the
command line and in a window under Xvfb: steps/s of both from the runs' own records, the times of the window's event-loop
turns, and its memory over time.

    window_rate.py --halftone build/release/halftone --geometry 1440x900 --blocks 3 --steps 1500000 --long 600

Needs Xvfb, xdotool and a window manager (openbox). Nothing else should run on the machine meanwhile."""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

SETTINGS = {"dataset": {"kind": "spirals"}, "model": {"kind": "mlp"}, "precision": {"preset": "fp32"}, "batch_size": 32,
            "epochs": 1000000}


class Display:
    """Xvfb with a window manager, for the length of a with block."""

    def __init__(self, geometry):
        self.geometry, self.name = geometry, f":{90 + os.getpid() % 100}"

    def __enter__(self):
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.server = subprocess.Popen(["Xvfb", self.name, "-screen", "0", self.geometry + "x24"], **quiet)
        time.sleep(1)
        self.manager = subprocess.Popen(["openbox"], env=os.environ | {"DISPLAY": self.name}, **quiet)
        time.sleep(1)
        return self

    def __exit__(self, *_):
        for process in (self.manager, self.server):
            process.terminate()
            process.wait()


def done_event(home):
    """The last event of the only run under home; None until the run has ended."""
    for path in (home / ".local/share/halftone/runs").glob("*/events.jsonl"):
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - 4096))
            last = file.read().splitlines()[-1:]
        if last and b'"event":"done"' in last[0] and last[0].endswith(b"}"):
            return json.loads(last[0])
    return None


def new_home(steps):
    home = pathlib.Path(tempfile.mkdtemp(prefix="halftone-rate-"))
    (home / "run.json").write_text(json.dumps(SETTINGS | {"max_steps": steps}))
    return home


def by_command_line(halftone, steps):
    home = new_home(steps)
    subprocess.run([halftone, "train", home / "run.json"], env=os.environ | {"HOME": str(home)}, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    event = done_event(home)
    shutil.rmtree(home)
    return event["steps"] / event["wall_s"]


def memory_mib(pid):
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    values = dict(line.split(":", 1) for line in lines)
    return {key: int(values[key].split()[0]) / 1024 for key in ("VmRSS", "RssAnon", "RssFile")}


def by_window(halftone, steps, geometry, scale):
    """Steps/s, the program's own summary of its event-loop turns, and [(seconds, memory)]."""
    home = new_home(steps)
    turns = home / "turns.txt"
    memory = []
    with Display(geometry) as display:
        env = os.environ | {"HOME": str(home), "DISPLAY": display.name, "HALFTONE_TURN_LOG": str(turns),
                            "QT_SCALE_FACTOR": str(scale)}
        window = subprocess.Popen([halftone, home / "run.json"], env=env, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)

        def xdotool(*arguments, check=True):
            return subprocess.run(["xdotool", *arguments], env=env, check=check, capture_output=True, text=True).stdout

        time.sleep(3)
        handle = xdotool("search", "--pid", str(window.pid), "--name", "Halftone").split()[-1]
        width, height = geometry.split("x")
        xdotool("windowsize", handle, width, height, "windowmove", handle, "0", "0", "windowactivate", "--sync", handle)
        xdotool("key", "--window", handle, "ctrl+r")
        start = next_sample = time.monotonic()
        while done_event(home) is None:
            if time.monotonic() >= next_sample:
                memory.append((time.monotonic() - start, memory_mib(window.pid)))
                next_sample += 30
            time.sleep(1)
        memory.append((time.monotonic() - start, memory_mib(window.pid)))
        xdotool("key", "--window", handle, "ctrl+q", check=False)  # the window closes before the key is released
        window.wait(20)
    event = done_event(home)
    summary = turns.read_text().strip()
    shutil.rmtree(home)
    return event["steps"] / event["wall_s"], summary, memory


def main():
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("--halftone", type=pathlib.Path, required=True)
    parser.add_argument("--geometry", default="1440x900")
    parser.add_argument("--scale", default="1", help="QT_SCALE_FACTOR, as a 4K screen would have it")
    parser.add_argument("--blocks", type=int, default=3, help="of the command line and of the window, in turn")
    parser.add_argument("--steps", type=int, default=1_500_000, help="in a block")
    parser.add_argument("--long", type=float, default=0, help="then one run of the window of about so many seconds")
    arguments = parser.parse_args()
    halftone = arguments.halftone.resolve()

    rates = {"command line": [], "window": []}
    for block in range(arguments.blocks):
        rates["command line"].append(by_command_line(halftone, arguments.steps))
        rate, turns, _ = by_window(halftone, arguments.steps, arguments.geometry, arguments.scale)
        rates["window"].append(rate)
        print(f"block {block + 1}: command line {rates['command line'][-1]:.0f} steps/s, window {rate:.0f}; {turns}", flush=True)
    if arguments.blocks:
        medians = {name: statistics.median(values) for name, values in rates.items()}
        print(f"median: command line {medians['command line']:.0f} steps/s, window {medians['window']:.0f}, "
              f"ratio {medians['window'] / medians['command line']:.3f}")
    if arguments.long:
        expected = statistics.median(rates["window"] or [by_command_line(halftone, arguments.steps)])
        rate, turns, memory = by_window(halftone, int(arguments.long * expected), arguments.geometry, arguments.scale)
        print(f"long run at {arguments.geometry}: {rate:.0f} steps/s; {turns}")
        for seconds, sample in memory:
            print(f"  {seconds:5.0f} s: " + ", ".join(f"{key} {value:.1f} MiB" for key, value in sample.items()))


if __name__ == "__main__":
    main()
