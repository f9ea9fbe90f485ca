#!/usr/bin/env python3
"""Training speed and memory beside PyTorch on the same cores, in one run. Sides take turns, block by block; the figure is the
ratio of PyTorch's time to ours, pair by pair: its median, with least and most.

- `halftone bench --paced` against PyTorch eager and compiled, with one thread and with all. Every peer runs one block first;
  those whose block takes more than --near times the fastest one's do not take part in the turns.
- FP16 has no fast path on a CPU in PyTorch, so amp-fp16 is compared with PyTorch's fp32, in the same turns as our fp32.
- A block is 50 steps or --seconds, whichever comes first.
- --check runs the single-step comparison of tests/peer first (20 steps from PyTorch's state, casts by hand, no dropout) and
  refuses to time what does not compute the same. It takes task_steps of the build that --halftone is from.
- Memory: resident bytes above those before step 1, three steps, each side in a process of its own; PyTorch eager.
- Share of the peak: FLOP of a step as PyTorch counts them, by our time, of what large products reach in the same run: the
  better of PyTorch's own and of a wide network's step here.

On a GPU (`--device cuda`) the arguments are those of compare_gpu.py, which times with events and captures PyTorch's step.

Each finished configuration is a line of --state; the next call goes on behind it. Writes a Markdown table.
"""

import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys

import compare_gpu
from workloads import ROOT, WIDE, WORKLOADS

WORKER = pathlib.Path(__file__).with_name("compare_worker.py")
# Runs that are timed together: ours against the peers of one precision.
GROUPS = {"fp32": ("fp32", "amp-fp16"), "amp-bf16": ("amp-bf16",)}
MODES = ("eager", "compile")


class Process:
    """A side that runs blocks of steps on demand."""

    def __init__(self, name, command, threads):
        self.name, self.times, self.peak = name, [], 0
        self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE if not os.environ.get("COMPARE_VERBOSE") else None,
                                        text=True, env={**os.environ, "OMP_NUM_THREADS": str(threads)})

    def line(self):
        text = self.process.stdout.readline()
        if not text:
            error = self.process.stderr.read().strip().splitlines() if self.process.stderr else []
            raise RuntimeError(f"{self.name} stopped: {error[-1] if error else 'no message'}")
        return text

    def ask(self, text):
        self.process.stdin.write(f"{text}\n")
        self.process.stdin.flush()
        return self.line()

    def resident(self, field):
        """VmRSS or VmHWM of the process, in bytes."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith(field))

    def memory(self, steps):
        """Resident bytes above those before step 1."""
        before = self.resident("VmRSS")
        self.block(steps)
        return self.resident("VmHWM") - before

    def close(self):
        self.process.stdin.close()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Ours(Process):
    def __init__(self, options, work, precision, steps=1):
        fields = {**work.settings, "precision.preset": precision, "batch_size": work.batch, "device": "cpu",
                  "threads": options.threads}
        command = [options.halftone, "bench", "--paced", "--blocks", 1_000_000, "--steps", steps, "--warm-up", 0]
        for field, value in fields.items():
            command += ["--set", f"{field}={value}"]
        super().__init__(f"Halftone {precision}", command, options.threads)
        self.line()

    def block(self, _steps=None):
        self.times.append(float(self.ask("")))
        return self.times[-1]


class Peer(Process):
    def __init__(self, options, workload, precision, mode, threads):
        super().__init__(f"PyTorch {mode}, {threads} thread{'s' if threads > 1 else ''}",
                         [options.python, WORKER, workload, WORKLOADS[workload].batch, precision, mode, threads], threads)
        self.line()

    def block(self, steps):
        self.times.append(json.loads(self.ask(steps))["ms"])
        return self.times[-1]


def steps_of_a_block(milliseconds, seconds):
    return max(1, min(50, int(seconds * 1000 / milliseconds)))


def nearest_peers(options, workload, precision):
    """The peers, as (mode, threads), that may be the fastest, found by one block each, and their milliseconds per step.
    """
    found = {}
    for mode in MODES if options.compile else MODES[:1]:
        for threads in sorted({1, options.threads}):
            with Peer(options, workload, precision, mode, threads) as peer:
                peer.block(1)
                step = peer.block(1)
                found[mode, threads] = peer.block(steps_of_a_block(step, options.seconds / 3))
    fastest = min(found.values())
    return [key for key, step in found.items() if step <= options.near * fastest], found


def our_speed(options, work, precision):
    with Ours(options, work, precision) as side:
        side.block()
        return min(side.block() for _ in range(3))


def take_turns(options, workload, group):
    """{precision: {peer: [their ms / our ms, ...]}}, {precision: [our ms]}, {peer: [ms]}"""
    near, screened = nearest_peers(options, workload, group)
    work = WORKLOADS[workload]
    sides = [Ours(options, work, precision, steps_of_a_block(our_speed(options, work, precision), options.seconds))
             for precision in GROUPS[group]]
    peers = [Peer(options, workload, group, *key) for key in near]
    try:
        for side in sides:
            side.block()
        for key, peer in zip(near, peers):
            peer.block(2)
            peer.count = steps_of_a_block(screened[key], options.seconds)
        for side in (*sides, *peers):
            side.times.clear()
        for _ in range(options.rounds):
            for side in sides:
                side.block()
            for peer in peers:
                peer.block(peer.count)
    finally:
        for side in (*sides, *peers):
            side.close()
    ratios = {precision: {peer.name: [theirs / ours for theirs, ours in zip(peer.times, side.times)] for peer in peers}
              for precision, side in zip(GROUPS[group], sides)}
    return (ratios, {precision: side.times for precision, side in zip(GROUPS[group], sides)},
            {peer.name: peer.times for peer in peers})


def our_product_rate(options, precision):
    """FLOP/s of a step that is almost all large products."""
    return WIDE.flops / (our_speed(options, WIDE.workload, precision) / 1000)


def extras(options, workload, group):
    """FLOP of a step, FLOP/s of a large product, and resident bytes."""
    with Peer(options, workload, group, "eager", options.threads) as peer:
        found = {"peer_memory": peer.memory(3)}
        found |= json.loads(peer.ask("product")) | json.loads(peer.ask("flops"))
    found["flops_per_s"] = max(found["flops_per_s"], our_product_rate(options, group))
    found["memory"] = {}
    for precision in GROUPS[group]:
        with Ours(options, WORKLOADS[workload], precision, 3) as side:
            found["memory"][precision] = side.memory(3)
    return found


def check(options, workload):
    """Runs the comparison of single steps. Returns its last line, or an error."""
    script, *arguments = WORKLOADS[workload].check
    steps_program = pathlib.Path(options.halftone).parent / "tests" / "peer" / "task_steps"
    command = [options.python, ROOT / "tests" / "peer" / script, "--halftone", options.halftone, "--program", steps_program,
               *arguments]
    run = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False,
                         env={**os.environ, "OMP_NUM_THREADS": "1"})
    if run.returncode != 0:
        raise SystemExit(f"{workload}: the single steps differ, so nothing is timed:\n{run.stdout[-3000:]}{run.stderr[-1000:]}")


def measure(options, workload, group):
    if options.check and WORKLOADS[workload].check:
        check(options, workload)
    ratios, ours, peers = take_turns(options, workload, group)
    found = extras(options, workload, group)
    rows = []
    for precision in GROUPS[group]:
        best = min(ratios[precision], key=lambda name: statistics.median(ratios[precision][name]))
        rows.append({"workload": workload, "precision": precision, "batch": WORKLOADS[workload].batch,
                     "ms": statistics.median(ours[precision]), "peer": best, "peer_ms": statistics.median(peers[best]),
                     "ratios": sorted(ratios[precision][best]),
                     "share": found["flops"] / (statistics.median(ours[precision]) / 1000) / found["flops_per_s"],
                     "memory": found["memory"][precision], "peer_memory": found["peer_memory"]})
    return rows


HEAD = ("| workload | precision | batch | ours, ms | PyTorch's, ms | its best | ratio, median | least to most | "
        "share of the product's peak | memory, MB | PyTorch's |\n| --- | --- | ---: | ---: | ---: | --- | ---: | --- | ---: | "
        "---: | ---: |")


def text(row):
    return (f"| {row['workload']} | {row['precision']} | {row['batch']} | {row['ms']:.4g} | {row['peer_ms']:.4g} | "
            f"{row['peer'].removeprefix('PyTorch ')} | {statistics.median(row['ratios']):.2f} | "
            f"{row['ratios'][0]:.2f} to {row['ratios'][-1]:.2f} | {100 * row['share']:.0f} % | "
            f"{row['memory'] / 1e6:.0f} | {row['peer_memory'] / 1e6:.0f} |")


def machine():
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo", encoding="ascii")
                  if line.startswith("model name")), "?")
    return f"{model}, {os.cpu_count()} cores, {platform.system()}; load before the run {os.getloadavg()[0]:.2f}"


def finished_rows(state):
    if not state or not pathlib.Path(state).exists():
        return []
    return [json.loads(line) for line in pathlib.Path(state).read_text(encoding="utf-8").splitlines()]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"), help="cuda: see compare_gpu.py --help")
    parser.add_argument("--halftone", default=str(ROOT / "build" / "release" / "halftone"))
    parser.add_argument("--python", default=sys.executable, help="the Python that has torch")
    parser.add_argument("--only", action="append", choices=list(WORKLOADS), help="a workload (repeatable)")
    parser.add_argument("--precision", action="append", choices=list(GROUPS), help="fp32 stands for amp-fp16 too")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=15, help="most of a block")
    parser.add_argument("--near", type=float, default=1.15, help="peers that take more than this many times the fastest's step leave the turns")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--no-compile", dest="compile", action="store_false", help="leave torch.compile out")
    parser.add_argument("--check", action="store_true", help="compare single steps before timing")
    parser.add_argument("--state", help="file of finished configurations")
    options = parser.parse_args()
    if options.near < 1:
        parser.error("--near: at least 1")
    return options


def asked_device(words):
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--device", default="cpu")
    return parser.parse_known_args(words)[0].device


def main():
    if asked_device(sys.argv[1:]) == "cuda":
        return compare_gpu.main()
    options = arguments()
    rows = finished_rows(options.state)
    print(f"{machine()}; {options.rounds} blocks each, in turn\n\n{HEAD}", flush=True)
    for row in rows:
        print(text(row), flush=True)
    done = {(row["workload"], row["precision"]) for row in rows}
    for workload in options.only or WORKLOADS:
        for group in options.precision or GROUPS:
            if (workload, group) in done:
                continue
            try:
                found = measure(options, workload, group)
            except RuntimeError as error:
                print(f"| {workload} | {group} | {error} |", flush=True)
                continue
            for row in found:
                print(text(row), flush=True)
                if options.state:
                    with open(options.state, "a", encoding="utf-8") as state:
                        state.write(json.dumps(row) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
