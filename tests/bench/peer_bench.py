#!/usr/bin/env python3
"""Training speed as a ratio to PyTorch on the same cores in one run: `halftone bench` and PyTorch take turns, block by
block; the figure is the median over the blocks, with the spread beside it. PyTorch is eager and compiled, with one and
with two threads, with the fused optimizer, channels_last for images, and nothing that synchronises in a step; the ratio is
to the best of them, and to eager.

Random data in memory on both sides. Writes a Markdown table to standard output (and to --out)."""

import argparse
import contextlib
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]

# name: settings of Halftone, batch, steps in a block
WORKLOADS = {
    "mlp": ({"dataset.kind": "spirals", "model.kind": "mlp", "model.options.hidden": "[64,64]"}, 32, 2000),
    "lenet": ({"dataset.kind": "glyphs", "model.kind": "lenet"}, 128, 60),
    "resnet18": ({"dataset.kind": "cifar100", "model.kind": "resnet18"}, 64, 4),
}
# The other convolutional networks of the catalog, on pictures of 32 x 32 with the CIFAR stem.
CONVNETS = ("resnet34", "resnet50", "resnet101", "resnet152", "resnext50", "resnext101", "mobilenetv2")
WORKLOADS |= {kind: ({"dataset.kind": "cifar100", "model.kind": kind, "model.options.stem": "cifar"}, 16, 1)
              for kind in CONVNETS}
CONFIGURATIONS = (("mlp", "fp32"), ("lenet", "fp32"), ("lenet", "amp-bf16"), ("resnet18", "fp32"), ("resnet18", "amp-bf16"),
                  *((kind, precision) for kind in CONVNETS for precision in ("fp32", "amp-bf16")))
PEERS = (("eager", 1), ("eager", 2), ("compile", 1), ("compile", 2))


def make_step(workload, precision, mode):
    """One training step of PyTorch as a function without arguments."""
    import torch
    from torch.nn import functional as F
    sys.path.insert(0, str(ROOT / "tests" / "peer"))
    import peer_models

    torch.manual_seed(1)
    batch = WORKLOADS[workload][1]
    if workload in CONVNETS:
        import convnets
        model, x, classes = convnets.module(workload, 100, "cifar"), torch.randn(batch, 3, 32, 32), 100
    else:
        model, x, classes = {
            "mlp": lambda: (peer_models.Mlp([2, 64, 64, 2]), torch.randn(batch, 2), 2),
            "lenet": lambda: (peer_models.LeNet(1, 28, 20), torch.randn(batch, 1, 28, 28), 20),
            "resnet18": lambda: (peer_models.ResNet18(100), torch.randn(batch, 3, 32, 32), 100),
        }[workload]()
    y = torch.randint(0, classes, (batch,))
    if x.dim() == 4:
        model, x = model.to(memory_format=torch.channels_last), x.contiguous(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4, fused=True)

    def loss_of(images, labels):
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=precision == "amp-bf16"):
            return F.cross_entropy(model(images), labels)

    if mode == "compile":
        loss_of = torch.compile(loss_of)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss_of(x, y).backward()
        optimizer.step()

    return step


def worker(workload, precision, mode, threads):
    """Warms up, then answers each line `N` with the milliseconds a step of N steps took."""
    import torch
    torch.set_num_threads(int(threads))
    step = make_step(workload, precision, mode)
    for _ in range(3 if workload == "resnet18" else 1 if workload in CONVNETS else 50):
        step()
    print("ready", flush=True)
    for line in sys.stdin:
        count = int(line)
        started = time.perf_counter()
        for _ in range(count):
            step()
        print((time.perf_counter() - started) / count * 1000, flush=True)


class Peer:
    def __init__(self, python, workload, precision, mode, threads):
        self.name = f"PyTorch {mode}, {threads} thread{'s' if threads > 1 else ''}"
        self.times = []
        self.process = subprocess.Popen([python, __file__, "--worker", workload, precision, mode, str(threads)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, "OMP_NUM_THREADS": str(threads)})
        if self.process.stdout.readline().strip() != "ready":
            raise RuntimeError(f"{self.name} did not start")

    def block(self, steps):
        self.process.stdin.write(f"{steps}\n")
        self.process.stdin.flush()
        self.times.append(float(self.process.stdout.readline()))

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Ours:
    def __init__(self, binary, workload, precision, threads):
        settings, batch, _ = WORKLOADS[workload]
        fields = {**settings, "precision.preset": precision, "batch_size": batch, "device": "cpu", "threads": threads}
        if settings["dataset.kind"] == "cifar100":
            fields["dataset.path"] = str(ROOT.parent / "shared" / "data" / "cifar100-15k")
        self.command = [binary, "bench", "--blocks", "1", "--json"]
        for field, value in fields.items():
            self.command += ["--set", f"{field}={value}"]
        self.name = f"Halftone, {threads} thread{'s' if threads > 1 else ''}"
        self.times = []

    def block(self, steps):
        output = subprocess.run([*self.command, "--steps", str(steps)], capture_output=True, text=True, check=False)
        if output.returncode != 0:
            raise RuntimeError(output.stderr)
        self.times.append(json.loads(output.stdout.splitlines()[-1])["median_step_ms"])

    def close(self):
        pass


def measure(options, workload, precision):
    """Rows (name, median ms, least, most) of one configuration; blocks in turn."""
    _, batch, steps = WORKLOADS[workload]
    runners = [Ours(options.halftone, workload, precision, threads) for threads in options.threads]
    runners = [] if options.peer_only else runners
    peers = [p for p in PEERS if options.compile or p[0] == "eager"]
    with contextlib.ExitStack() as stack:
        for mode, threads in peers:
            peer = Peer(options.python, workload, precision, mode, threads)
            stack.callback(peer.close)
            runners.append(peer)
        for _ in range(options.rounds):
            for runner in runners:
                runner.block(steps)
    rows = [(r.name, statistics.median(r.times), min(r.times), max(r.times)) for r in runners]
    return batch, rows


def table(workload, precision, batch, rows):
    ours = [row for row in rows if row[0].startswith("Halftone")]
    best_of_ours = min((row[1] for row in ours), default=None)
    lines = [f"\n### {workload}, {precision}, batch {batch}\n",
             "| | ms a step, median | least to most | samples/s | Halftone is faster by |",
             "| --- | ---: | ---: | ---: | ---: |"]
    for name, median, least, most in rows:
        ratio = f"{median / best_of_ours:.2f}" if best_of_ours and not name.startswith("Halftone") else ""
        lines.append(f"| {name} | {median:.3f} | {least:.3f} to {most:.3f} | {batch / median * 1000:.0f} | {ratio} |")
    peers = [row for row in rows if row not in ours]
    if ours and peers:
        best = min(peers, key=lambda row: row[1])
        lines.append(f"\nAgainst the best of PyTorch ({best[0]}): **{best[1] / best_of_ours:.2f}x**.")
    return "\n".join(lines)


def machine():
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    return f"{model}, {os.cpu_count()} cores, {platform.system()}; load before the run {os.getloadavg()[0]:.2f}"


def main():
    if "--worker" in sys.argv:
        worker(*sys.argv[sys.argv.index("--worker") + 1:])
        return 0
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--halftone", default=str(ROOT / "build" / "release" / "halftone"))
    parser.add_argument("--python", default=sys.executable, help="the Python that has torch")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", action="append", help="mlp-fp32, resnet18-amp-bf16, ... (repeatable)")
    parser.add_argument("--threads", type=int, action="append", help="of Halftone (repeatable; default 1 and 2)")
    parser.add_argument("--no-compile", dest="compile", action="store_false", help="leave torch.compile out")
    parser.add_argument("--peer-only", action="store_true", help="measure PyTorch alone")
    parser.add_argument("--out", help="also append the tables to this file")
    options = parser.parse_args()
    options.threads = options.threads or [1, 2]
    texts = [f"{machine()}; {options.rounds} blocks each, in turn"]
    print(texts[0])
    for workload, precision in CONFIGURATIONS:
        if options.only and f"{workload}-{precision}" not in options.only:
            continue
        texts.append(table(workload, precision, *measure(options, workload, precision)))
        print(texts[-1], flush=True)
    if options.out:
        with open(options.out, "a", encoding="utf-8") as out:
            out.write("\n".join(texts) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
