"""PyTorch's side of compare_gpu.py, a process: a line of JSON in, a line of JSON out; builds modes of a configuration and runs
blocks of their steps."""

import json
import os
import pathlib
import sys
import time

import torch
from torch.nn import functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import workloads
import peer_models  # after workloads, which sets the path

COMPILE_MODE = "max-autotune-no-cudagraphs"


def phases_of(workload):
    """The optimizers and losses of a step, as workloads.py has them; LeNet's are here."""
    name, batch = workload.rsplit("-", 1)
    if name in workloads.WORKLOADS:
        return workloads.WORKLOADS[name].phases(int(batch))
    model = peer_models.LeNet(1, 28, 20).to(memory_format=torch.channels_last)
    x = torch.randn(int(batch), 1, 28, 28).contiguous(memory_format=torch.channels_last)
    y = torch.randint(0, 20, (int(batch),))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4, fused=True)
    return [(optimizer, lambda: F.cross_entropy(model(x), y))]


def make_step(workload, precision, compiled, device):
    """One training step of PyTorch as a function without arguments; it returns the loss."""
    torch.manual_seed(1)
    scaler = torch.amp.GradScaler(device, enabled=precision == "amp-fp16")
    low = {"amp-fp16": torch.float16, "amp-bf16": torch.bfloat16}.get(precision)

    def with_types(loss_of):
        def typed():
            with torch.autocast(device, dtype=low, enabled=low is not None):
                return loss_of()
        return torch.compile(typed, mode=COMPILE_MODE if device == "cuda" else None) if compiled else typed

    phases = [(optimizer, with_types(loss_of)) for optimizer, loss_of in phases_of(workload)]
    for optimizer, _ in phases:
        for group in optimizer.param_groups:
            if "capturable" in group:  # Adam's step count, needed for a captured step
                group["capturable"] = device == "cuda"

    def step():
        for optimizer, loss_of in phases:
            optimizer.zero_grad(set_to_none=True)
            loss = loss_of()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
        scaler.update()
        return loss.detach()

    return step


def captured(step):
    """The step as one CUDA graph, after a warm-up on the stream that it is captured from."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


class Runner:
    """A mode of PyTorch in the worker's process: eager, graph, compile, compile-graph."""

    def __init__(self, workload, precision, mode, device, warm_up):
        self.cuda = device == "cuda"
        before = 0
        if self.cuda:
            torch.cuda.synchronize()
            torch.cuda.empty_cache()
            before = torch.cuda.memory_allocated()
            torch.cuda.reset_peak_memory_stats()
        step = make_step(workload, precision, mode.startswith("compile"), device)
        # The first 20 losses, to see that both sides compute the same kind of thing.
        self.losses = [float(step()) for _ in range(20 if self.cuda else 2)]
        self.step = captured(step) if mode.endswith("graph") else step
        for _ in range(warm_up):
            self.step()
        self.peak = torch.cuda.max_memory_allocated() - before if self.cuda else 0

    def block(self, steps):
        """Milliseconds per step between two events, and the host's until the last step was submitted."""
        if not self.cuda:
            started = time.perf_counter()
            for _ in range(steps):
                self.step()
            return [(time.perf_counter() - started) / steps * 1000] * 2
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        first.record()
        started = time.perf_counter()
        for _ in range(steps):
            self.step()
        host = time.perf_counter() - started
        last.record()
        last.synchronize()
        return [first.elapsed_time(last) / steps, host / steps * 1000]


def main(device):
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # output of libraries is not an answer
    torch.set_default_device(device)  # where workloads.py makes networks and data
    if device == "cuda":
        torch.backends.cudnn.benchmark = True
    runners = {}
    print(json.dumps({"version": torch.__version__}), file=answers, flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            if asked["do"] == "clear":
                runners.clear()
                answer = {}
            elif asked["do"] == "build":
                tf32 = asked["precision"] == "tf32"
                torch.set_float32_matmul_precision("high" if tf32 else "highest")
                torch.backends.cudnn.allow_tf32 = tf32
                runner = Runner(asked["workload"], asked["precision"], asked["mode"], device, asked["warm_up"])
                runners[asked["mode"]] = runner
                answer = {"peak": runner.peak, "losses": runner.losses}
            else:
                answer = {"ms": runners[asked["mode"]].block(asked["steps"])}
        except Exception as error:  # a mode that PyTorch does not support is a line of the table, not an abort
            answer = {"error": f"{type(error).__name__}: {str(error).splitlines()[0][:200] if str(error) else ''}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
