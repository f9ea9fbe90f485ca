#!/usr/bin/env python3
"""Does the window slow training, and does training slow the window? The MLP on spirals at its full rate, in turn by the
command line and in a window under Xvfb: steps/s of both from the runs' own records, the times of the window's event-loop
turns, the time to its first paint, and its memory over time.

    window_rate.py --halftone build/release/halftone --geometry 1440x900 --blocks 30 --steps 500000
    window_rate.py --halftone build/release/halftone --blocks 3 --steps 1500000 --long 600

A block is a pair: a run of the command line and one of the window, which of them first changes from block to block. The
end says the median of the pairs' ratios with its 95 % interval, by ranks, and the 99th percentile of the turns. Histograms
are off, as in a settings file that does not ask for them. Needs Xvfb, xdotool and a window manager (openbox). Nothing else
should run on the machine meanwhile."""

import argparse
import json
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

PATIENCE = 60  # seconds that a window may take to come
SETTINGS = {"dataset": {"kind": "spirals"}, "model": {"kind": "mlp"}, "precision": {"preset": "fp32"}, "batch_size": 32,
            "epochs": 1000000}


class Display:
    """Xvfb with a window manager, for the length of a with block."""

    def __init__(self, geometry):
        self.geometry = geometry

    def __enter__(self):
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        read, write = os.pipe()
        self.server = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", self.geometry + "x24"],
                                       pass_fds=[write], **quiet)
        os.close(write)
        with os.fdopen(read) as number:
            self.name = ":" + number.readline().strip()  # once it takes connections
        self.manager = subprocess.Popen(["openbox"], env=os.environ | {"DISPLAY": self.name}, **quiet)
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
    return steps_per_s(event, steps)


def memory_mib(pid):
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    values = dict(line.split(":", 1) for line in lines)
    return {key: int(values[key].split()[0]) / 1024 for key in ("VmRSS", "RssAnon", "RssFile")}


def by_window(halftone, steps, geometry, scale):
    """Steps/s, {name: ms} of its event-loop turns and its first paint, as the program sums them up, and [(seconds, memory)]."""
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

        def until(*arguments):
            """Output of xdotool once it finds something."""
            end = time.monotonic() + PATIENCE
            while time.monotonic() < end:
                if found := xdotool(*arguments, check=False).split():
                    return found[-1]
                time.sleep(0.05)
            raise TimeoutError(f"xdotool {' '.join(arguments)} found nothing in {PATIENCE} s")

        until("get_num_desktops")  # the window manager is there
        width, height = geometry.split("x")

        def bring_to_front():
            """The window's handle, or None while the window manager does not have it yet."""
            handle = until("search", "--onlyvisible", "--pid", str(window.pid), "--name", "Halftone")
            done = subprocess.run(["xdotool", "windowsize", handle, width, height, "windowmove", handle, "0", "0",
                                   "windowactivate", "--sync", handle], env=env, capture_output=True)
            return handle if done.returncode == 0 else None

        end = time.monotonic() + PATIENCE
        while (handle := bring_to_front()) is None:
            if time.monotonic() > end:
                raise TimeoutError(f"the window did not come to the front in {PATIENCE} s")
            time.sleep(0.05)
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
    summary = {name: float(value) for name, value in (line.split() for line in turns.read_text().splitlines())}
    shutil.rmtree(home)
    return steps_per_s(event, steps), summary, memory


def steps_per_s(event, steps):
    """Rate of a run that made all its steps."""
    if event["steps"] != steps:
        raise RuntimeError(f"the run ended early: {event}")
    return event["steps"] / event["wall_s"]


def turns_text(summary):
    return f"first paint {summary['first_paint_ms']:.0f} ms, {summary['turns']:.0f} turns, " + ", ".join(
        f"{name[1:-3]} % {summary[name]:.2f} ms" for name in ("p50_ms", "p99_ms", "p99.9_ms", "p100_ms"))


def median_interval(values):
    """The median, and the ranks between which it lies with at least 95 % by the binomial distribution."""
    values, count = sorted(values), len(values)
    below, cut = 0.0, 0
    while cut < count // 2 and below + math.comb(count, cut) / 2 ** count <= 0.025:
        below += math.comb(count, cut) / 2 ** count
        cut += 1
    first = max(0, cut - 1)
    return statistics.median(values), values[first], values[count - 1 - first]


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
    ratios, summaries = [], []
    for block in range(arguments.blocks):
        def of_window():
            rate, summary, _ = by_window(halftone, arguments.steps, arguments.geometry, arguments.scale)
            summaries.append(summary)
            rates["window"].append(rate)

        def of_command_line():
            rates["command line"].append(by_command_line(halftone, arguments.steps))

        for measure in (of_window, of_command_line) if block % 2 else (of_command_line, of_window):
            measure()
        ratios.append(rates["window"][-1] / rates["command line"][-1])
        print(f"block {block + 1}: command line {rates['command line'][-1]:.0f} steps/s, window {rates['window'][-1]:.0f}, "
              f"ratio {ratios[-1]:.4f}; {turns_text(summaries[-1])}", flush=True)
    if arguments.blocks:
        medians = {name: statistics.median(values) for name, values in rates.items()}
        ratio, low, high = median_interval(ratios)
        p99 = [summary["p99_ms"] for summary in summaries]
        paints = [summary["first_paint_ms"] for summary in summaries]
        print(f"median: command line {medians['command line']:.0f} steps/s, window {medians['window']:.0f}")
        print(f"ratio of {len(ratios)} pairs: median {ratio:.4f}, 95 % interval {low:.4f} to {high:.4f}")
        print(f"99th percentile of the turns: median {statistics.median(p99):.2f} ms, largest {max(p99):.2f} ms; "
              f"first paint: median {statistics.median(paints):.0f} ms, least {min(paints):.0f} ms")
    if arguments.long:
        expected = statistics.median(rates["window"] or [by_command_line(halftone, arguments.steps)])
        rate, turns, memory = by_window(halftone, int(arguments.long * expected), arguments.geometry, arguments.scale)
        print(f"long run at {arguments.geometry}: {rate:.0f} steps/s; {turns_text(turns)}")
        for seconds, sample in memory:
            print(f"  {seconds:5.0f} s: " + ", ".join(f"{key} {value:.1f} MiB" for key, value in sample.items()))


if __name__ == "__main__":
    main()
