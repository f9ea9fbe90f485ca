"""Cost of watching a PyTorch training: step times without the watcher, with it, and with its
counts of gradients, in alternating blocks of one process.

    python3 tests/bench/watch_bench.py [--model resnet18|lenet] [--device cpu|cuda] [--pairs 40]

A block is `--block` steps; blocks alternate, and each kind's are divided by the plain ones beside
them. Prints the median of these ratios, their spread, and the step times; and the time in the
watcher's own calls, which a busy machine stretches as it does the rest of a step.
"""

import argparse
import pathlib
import statistics
import sys
import tempfile
import time

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "resources" / "python"))

import halftone_watch  # noqa: E402


def conv(inputs, outputs, stride):
    return torch.nn.Sequential(torch.nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False),
                               torch.nn.BatchNorm2d(outputs))


class Block(torch.nn.Module):
    """The basic block of a residual network."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.first, self.second = conv(inputs, outputs, stride), conv(outputs, outputs, 1)
        self.short = torch.nn.Identity() if stride == 1 else torch.nn.Sequential(
            torch.nn.Conv2d(inputs, outputs, 1, stride, bias=False), torch.nn.BatchNorm2d(outputs))

    def forward(self, x):
        return torch.relu(self.second(torch.relu(self.first(x))) + self.short(x))


def resnet18():
    """ResNet-18 for 32x32 pictures: 62 tensors of 11.2 million parameters."""
    blocks = [Block(i, o, s) for i, o, s in ((64, 64, 1), (64, 64, 1), (64, 128, 2), (128, 128, 1),
                                             (128, 256, 2), (256, 256, 1), (256, 512, 2),
                                             (512, 512, 1))]
    return torch.nn.Sequential(conv(3, 64, 1), torch.nn.ReLU(), *blocks,
                               torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(),
                               torch.nn.Linear(512, 10))


def lenet():
    """LeNet for 28x28 pictures: 10 tensors of 44,426 parameters."""
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 6, 5), torch.nn.ReLU(), torch.nn.MaxPool2d(2), torch.nn.Conv2d(6, 16, 5),
        torch.nn.ReLU(), torch.nn.MaxPool2d(2), torch.nn.Flatten(), torch.nn.Linear(256, 120),
        torch.nn.ReLU(), torch.nn.Linear(120, 84), torch.nn.ReLU(), torch.nn.Linear(84, 10))


class Training:
    """One kind of training. The same watch is used in all blocks, as in a long run."""

    def __init__(self, args, folder, every):
        torch.manual_seed(1)
        self.model = (resnet18 if args.model == "resnet18" else lenet)().to(args.device)
        side, channels = (32, 3) if args.model == "resnet18" else (28, 1)
        self.x = torch.randn(args.batch, channels, side, side, device=args.device)
        self.y = torch.randint(0, 10, (args.batch,), device=args.device)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-4, momentum=0.9)
        self.scaler = torch.amp.GradScaler(args.device)
        self.watch = None if every is None else halftone_watch.Watch(
            folder, optimizer=self.optimizer, scaler=self.scaler, model=self.model,
            shares_every=every)
        self.inside = 0.0  # seconds in the watcher's own calls
        if self.watch is not None:
            self.time(self.watch, "step")
            self.time(self.watch._probe, "_try")
        self.autocast = torch.autocast(args.device, torch.float16, enabled=args.device == "cuda")

    def time(self, owner, name):
        call = getattr(owner, name)

        def timed(*args, **kwargs):
            began = time.perf_counter()
            try:
                return call(*args, **kwargs)
            finally:
                self.inside += time.perf_counter() - began

        setattr(owner, name, timed)

    def block(self, steps, clock):
        """Seconds a step."""
        if self.x.is_cuda:
            torch.cuda.synchronize()
        began = clock()
        for _ in range(steps):
            self.optimizer.zero_grad()
            with self.autocast:
                loss = torch.nn.functional.cross_entropy(self.model(self.x).float(), self.y)
            self.scaler.scale(loss).backward()
            self.scaler.step(self.optimizer)
            self.scaler.update()
            if self.watch is not None:
                self.watch.step(loss, samples=len(self.x))
        if self.x.is_cuda:
            torch.cuda.synchronize()
        return (clock() - began) / steps


def main():
    cli = argparse.ArgumentParser(description=__doc__,
                                  formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("--model", choices=["resnet18", "lenet"], default="resnet18")
    cli.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    cli.add_argument("--batch", type=int, default=32)
    cli.add_argument("--block", type=int, default=10, help="steps; 10 hold one count of gradients")
    cli.add_argument("--pairs", type=int, default=40)
    cli.add_argument("--threads", type=int, default=0)
    cli.add_argument("--clock", choices=["wall", "cpu"], default="wall",
                     help="cpu: of all threads of the process, which a busy machine disturbs less")
    args = cli.parse_args()
    if args.threads > 0:
        torch.set_num_threads(args.threads)
    clock = time.perf_counter if args.clock == "wall" else time.process_time
    kinds = {"plain": None, "plain again": None, "watched": 0, "watched, shares every 10": 10}
    with tempfile.TemporaryDirectory(prefix="halftone-watch-bench-") as scratch:
        trainings = {kind: Training(args, pathlib.Path(scratch) / kind, every)
                     for kind, every in kinds.items()}
        times = {kind: [] for kind in kinds}
        inside = {kind: [] for kind in kinds}
        for training in trainings.values():
            training.block(args.block, clock)  # warm-up
        for pair in range(args.pairs):
            order = list(kinds) if pair % 2 == 0 else list(reversed(kinds))
            for kind in order:
                trainings[kind].inside = 0.0
                times[kind].append(trainings[kind].block(args.block, clock))
                inside[kind].append(trainings[kind].inside / args.block)
        for training in trainings.values():
            if training.watch is not None:
                training.watch.close()
    print(f"{args.model}, batch {args.batch}, {args.device}, {torch.get_num_threads()} threads, "
          f"{args.clock} time, {args.pairs} blocks of {args.block} steps of each kind, PyTorch {torch.__version__}")
    for kind, measured in times.items():
        ratios = sorted(a / b for a, b in zip(measured, times["plain"]))
        low, high = (ratios[round(share * (len(ratios) - 1))] for share in (0.25, 0.75))
        print(f"{kind:26} {statistics.median(measured) * 1e3:9.3f} ms/step, ratio to plain: median "
              f"{statistics.median(ratios):.4f}, middle half {low:.4f} to {high:.4f}")
    for kind, own in inside.items():
        if max(own) > 0:
            share = statistics.median(a / b for a, b in zip(own, times[kind]))
            print(f"{kind:26} {statistics.median(own) * 1e3:9.3f} ms/step in the watcher's calls, "
                  f"{share:.2%} of the step")


if __name__ == "__main__":
    main()
