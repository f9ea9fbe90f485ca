#!/usr/bin/env python3
"""Training speed as a ratio to PyTorch on one GPU in one run: `halftone bench` and PyTorch take turns, block by block; the
figure is the median over the blocks, with least and most beside it, and the ratio is to eager and to the fastest PyTorch.

PyTorch is eager, its step captured by hand as a CUDA graph, and where asked for compiled, alone and captured; in all with
channels_last, cudnn.benchmark, the fused optimizer, GradScaler in amp-fp16, and nothing in a step that waits for the GPU.
The same random batch lies on the device on both sides. Writes one Markdown table to standard output (and to --out).

PyTorch's defaults allow algorithms whose bits differ from run to run; Halftone's do not (`deterministic`). So Halftone has a
row with each, and the ratio to PyTorch is given for both.

With --device cpu it measures nothing of use: it rehearses every line of itself but those of CUDA (eager and compiled)."""

import argparse
import contextlib
import json
import pathlib
import platform
import statistics
import subprocess
import sys
import threading
import time

import workloads
from workloads import ROOT

WORKER = pathlib.Path(__file__).with_name("compare_gpu_worker.py")


def shared(name, batch, steps):
    """A workload of compare.py, with this batch."""
    return workloads.WORKLOADS[name].settings, batch, steps


# name-batch: settings of Halftone, batch, steps per block; the most informative first
LENET = {"dataset.kind": "glyphs", "model.kind": "lenet"}
WORKLOADS = {
    "resnet18-128": shared("resnet18", 128, 60), "lstm-20": shared("lstm", 20, 100),
    "transformer-lm-16": shared("transformer-lm", 16, 100), "bert-16": shared("bert", 16, 100),
    "dlrm-2048": shared("dlrm", 2048, 200), "gru-20": shared("gru", 20, 100),
    "resnet18-32": shared("resnet18", 32, 100), "resnet18-512": shared("resnet18", 512, 50),
    "lenet-128": (LENET, 128, 500), "lenet-512": (LENET, 512, 500), "mlp-32": shared("mlp", 32, 1000),
}
PRECISIONS = ("amp-fp16", "fp32", "tf32", "amp-bf16")
COMPILED = ("resnet18-128-amp-fp16",)
WARM_UP = {"cuda": 20, "cpu": 1}


class Row:
    """The blocks of one side in one configuration."""

    def __init__(self, name, mode=None):
        self.name, self.mode, self.problem = name, mode, None
        self.times, self.host, self.losses, self.peak, self.kernels = [], [], [], 0, ""

    def median(self):
        return statistics.median(self.times)

    def take(self, summary):
        """Takes the figures of Halftone's own summary."""
        self.host, self.peak, self.losses = [summary["host_step_ms"]], summary["peak_bytes"], summary["first_losses"]
        self.kernels = summary["graph_nodes"] or round(summary["launches_a_step"]) or ""


class Pytorch:
    """The worker's process. Replaced by a new one if a build takes too long."""

    def __init__(self, options):
        self.options = options
        self.start()

    def start(self):
        self.process = subprocess.Popen([self.options.python, str(WORKER), self.options.device],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.version = json.loads(self.process.stdout.readline())["version"]

    def ask(self, limit=None, **question):
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        killer = threading.Timer(limit, self.process.kill) if limit else None
        if killer:
            killer.start()
        line = self.process.stdout.readline()
        if killer:
            killer.cancel()
        if line:
            return json.loads(line)
        self.process.wait()
        self.start()
        return {"error": f"not ready in {limit:.0f} s" if limit else "the process ended", "restarted": True}

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def path_of_data(options, settings):
    """The CIFAR pack, and other files in its folder."""
    pack = pathlib.Path(options.data)
    return pack if settings["dataset.kind"] == "cifar100" else pack.parent / pathlib.Path(settings["dataset.path"]).name


class Ours:
    """`halftone bench --paced`: a line starts a block."""

    def __init__(self, options, workload, precision, steps, deterministic):
        settings, batch, _ = WORKLOADS[workload]
        fields = {**settings, "precision.preset": precision, "batch_size": batch, "device": options.device,
                  "deterministic": "true" if deterministic else "false"}
        if "dataset.path" in settings:
            fields["dataset.path"] = path_of_data(options, settings)
        command = [options.halftone, "bench", "--paced", "--json", "--steps", str(steps), "--blocks", str(options.blocks),
                   "--warm-up", str(WARM_UP[options.device])]
        for field, value in fields.items():
            command += ["--set", f"{field}={value}"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def line(self):
        line = self.process.stdout.readline().strip()
        if not line:
            raise RuntimeError(f"halftone bench ended: {self.process.communicate()[1][-500:]}")
        return line

    def wait_ready(self):
        if self.line() != "ready":
            raise RuntimeError("halftone bench did not say that it is ready")

    def block(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return float(self.line())

    def finish(self):
        """Its own summary, after the process has ended."""
        self.process.stdin.close()
        summary = json.loads(self.line())
        self.process.wait()
        return summary


def modes_of(options, name):
    modes = ["eager"] + (["graph"] if options.device == "cuda" else [])
    if options.compile == "all" or (options.compile == "some" and name in COMPILED):
        modes += ["compile"] + (["compile-graph"] if options.device == "cuda" else [])
    return modes


def build(options, pytorch, workload, precision):
    """PyTorch's rows of one configuration, ready to run."""
    rows = []
    for mode in modes_of(options, f"{workload}-{precision}"):
        row = Row(f"PyTorch {mode}", mode)
        question = {"do": "build", "workload": workload, "precision": precision, "warm_up": WARM_UP[options.device]}
        if mode == "compile-graph" and rows[-1].problem:
            row.problem = rows[-1].problem
        else:
            built = pytorch.ask(limit=options.build_limit, mode=mode, **question)
            row.problem, row.peak, row.losses = built.get("error"), built.get("peak", 0), built.get("losses", [])
            if built.get("restarted"):  # its other modes ended with the process
                for other in rows:
                    pytorch.ask(mode=other.mode, **question)
        rows.append(row)
    return rows


def start_ours(options, workload, precision, steps, stack):
    """Our two rows and their processes, one after the other ready: each chooses its algorithms by their time, and so does
    PyTorch afterwards."""
    started = []
    for deterministic in (True, False):
        ours = Ours(options, workload, precision, steps, deterministic)
        stack.callback(ours.process.kill)
        row = Row(f"Halftone, deterministic={'true' if deterministic else 'false'}")
        try:
            ours.wait_ready()
        except RuntimeError as error:
            row.problem = str(error)
        started.append((row, ours))
    return started


def measure(options, pytorch, workload, precision):
    """The rows of one configuration, our two first; blocks in turn."""
    steps = options.steps or WORKLOADS[workload][2]
    with contextlib.ExitStack() as stack:
        mine = start_ours(options, workload, precision, steps, stack)
        peers = build(options, pytorch, workload, precision)
        for _ in range(options.blocks):
            for row, ours in mine:
                if not row.problem:
                    row.times.append(ours.block())
            for row in peers:
                if row.problem:
                    continue
                answer = pytorch.ask(do="block", mode=row.mode, steps=steps)
                row.problem = answer.get("error")
                if not row.problem:
                    row.times.append(answer["ms"][0])
                    row.host.append(answer["ms"][1])
        for row, ours in mine:
            if not row.problem:
                row.take(ours.finish())
        pytorch.ask(do="clear")
    return [*(row for row, _ in mine), *peers]


OURS = 2  # rows of a configuration: deterministic and not

HEAD = """| workload, batch | precision | | ms a step, median | least to most | samples/s | host ms a step | peak MB | kernels a step | Halftone is faster by | with deterministic=false |
| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"""


def ratio_of(row, ours, is_fastest):
    """By what `ours` is faster than the row of PyTorch; a difference within the spread of both is a tie."""
    if not ours.times:
        return ""
    tie = max(min(row.times), min(ours.times)) <= min(max(row.times), max(ours.times))
    ratio = f"{row.median() / ours.median():.2f}" + (" (tie)" if tie else "")
    return f"**{ratio}**" if is_fastest else ratio


def lines_of(workload, precision, rows):
    name, batch = workload.rsplit("-", 1)
    fastest = min((row.median() for row in rows[OURS:] if row.times), default=None)
    for place, row in enumerate(rows):
        start = f"| {name}, {batch} | {precision} | {row.name} |"
        if not row.times:
            yield f"{start} {row.problem} | | | | | | | |"
            continue
        median = row.median()
        ratios = [ratio_of(row, ours, median == fastest) if place >= OURS else "" for ours in rows[:OURS]]
        yield (f"{start} {median:.3f} | {min(row.times):.3f} to {max(row.times):.3f} | {int(batch) / median * 1000:.0f} "
               f"| {statistics.median(row.host):.3f} | {row.peak / 1e6:.0f} | {row.kernels} | {' | '.join(ratios)} |")


def losses_of(workload, precision, rows):
    shown = [f"{row.name} {', '.join(f'{loss:.3f}' for loss in row.losses[:20])}" for row in (rows[0], *rows[OURS:OURS + 1])
             if row.losses]
    return f"{workload} {precision}: " + "; ".join(shown)


def machine(options):
    if options.device != "cuda":
        return f"{platform.processor() or platform.machine()}, a rehearsal"
    query = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True,
                           text=True, check=False)
    return query.stdout.strip() or "GPU of unknown name"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--halftone", default=str(ROOT / "build" / "release" / "halftone"))
    parser.add_argument("--python", default=sys.executable, help="the Python that has torch")
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--data", default=str(ROOT.parent / "shared" / "data" / "cifar100-15k"), help="the CIFAR-100 pack")
    parser.add_argument("--blocks", type=int, default=7, help="blocks of each side (default 7)")
    parser.add_argument("--steps", type=int, default=0, help="steps in a block (default: by the workload, at least 50)")
    parser.add_argument("--only", action="append", help="resnet18-128, lenet-512-fp32, ... (repeatable; default: all)")
    parser.add_argument("--compile", default="some", choices=("none", "some", "all"),
                        help=f"torch.compile for none, some ({', '.join(COMPILED)}) or all configurations (default some)")
    parser.add_argument("--build-limit", type=float, default=120, help="seconds that a mode of PyTorch may take to be ready")
    parser.add_argument("--seconds", type=float, default=0, help="begin no configuration after so many (default: no end)")
    parser.add_argument("--out", help="also write the table to this file")
    options = parser.parse_args()
    started, left_out, losses, failed, timed = time.monotonic(), [], [], False, False
    ratios = ([], [])
    pytorch = Pytorch(options)
    texts = [f"{machine(options)}; PyTorch {pytorch.version}; {options.blocks} blocks each, in turn; bold: the fastest of "
             "PyTorch.\n", HEAD]
    print("\n".join(texts), flush=True)
    for workload in WORKLOADS:
        for precision in PRECISIONS if options.device == "cuda" else [p for p in PRECISIONS if p != "tf32"]:
            if options.only and not {workload, f"{workload}-{precision}"} & set(options.only):
                continue
            settings = WORKLOADS[workload][0]
            if "dataset.path" in settings and not path_of_data(options, settings).exists():
                left_out.append(f"{workload}-{precision} (no {path_of_data(options, settings).name})")
                continue
            if options.seconds and time.monotonic() - started > options.seconds - 40:
                left_out.append(f"{workload}-{precision}")
                continue
            rows = measure(options, pytorch, workload, precision)
            texts += lines_of(workload, precision, rows)
            losses.append(losses_of(workload, precision, rows))
            failed = failed or not rows[0].times
            timed = timed or bool(rows[0].times)
            fastest = min((row.median() for row in rows[OURS:] if row.times), default=None)
            for ours, of in zip(rows[:OURS], ratios):
                if fastest and ours.times:
                    of.append(fastest / ours.median())
            print("\n".join(texts[-len(rows):]), flush=True)
    pytorch.close()
    texts += ["", "First losses, each side from its own weights:", "", *(f"- {line}" for line in losses)]
    for word, of in zip(("true", "false"), ratios):
        if of:
            texts += ["", f"Against the fastest of PyTorch in {len(of)} configurations, deterministic={word}: {min(of):.2f} to "
                      f"{max(of):.2f}, median {statistics.median(of):.2f}."]
    if left_out:
        texts += ["", f"Left out because time ran out or data is missing: {', '.join(left_out)} (--only)."]
    if not timed:
        texts += ["", "Nothing was timed."]
    print("\n".join(texts[texts.index(""):]))
    if options.out:
        pathlib.Path(options.out).write_text("\n".join(texts) + "\n", encoding="utf-8")
    return 1 if failed or not timed else 0


if __name__ == "__main__":
    sys.exit(main())
