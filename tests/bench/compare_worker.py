"""PyTorch's side of compare.py, a process of its own: `compare_worker.py WORKLOAD BATCH PRECISION MODE THREADS`.

Builds the workload, prints {"ready": true, "resident": bytes} before the first step, and answers each line `N` of its input
with {"ms": milliseconds a step of N steps, "peak": largest resident bytes so far}. `flops` answers {"flops": of a step};
`product` answers {"flops_per_s": of a large product in the precision's type}. MODE is eager or compile.
"""

import json
import os
import pathlib
import resource
import sys
import time

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from workloads import WORKLOADS

PRODUCT = 2048  # rows, columns and terms


def resident():
    with open("/proc/self/statm", encoding="ascii") as counts:
        return int(counts.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def step_of(phases, precision, compiled):
    def with_types(loss_of):
        def typed():
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=precision == "amp-bf16"):
                return loss_of()
        return torch.compile(typed) if compiled else typed

    phases = [(optimizer, with_types(loss_of)) for optimizer, loss_of in phases]

    def step():
        for optimizer, loss_of in phases:
            optimizer.zero_grad(set_to_none=True)
            loss_of().backward()
            optimizer.step()

    return step


def milliseconds(work, count):
    started = time.perf_counter()
    for _ in range(count):
        work()
    return (time.perf_counter() - started) / count * 1000


def counted_flops(step):
    from torch.utils.flop_counter import FlopCounterMode
    with FlopCounterMode(display=False) as counter:
        step()
    return counter.get_total_flops()


def product_rate(precision):
    dtype = torch.bfloat16 if precision == "amp-bf16" else torch.float32
    a, b = (torch.randn(PRODUCT, PRODUCT).to(dtype) for _ in range(2))
    torch.mm(a, b)
    return 2 * PRODUCT**3 / (min(milliseconds(lambda: torch.mm(a, b), 1) for _ in range(5)) / 1000)


def main(workload, batch, precision, mode, threads):
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # output of libraries is not an answer

    def answer(**fields):
        print(json.dumps(fields), file=answers, flush=True)

    torch.set_num_threads(int(threads))
    torch.manual_seed(1)
    step = step_of(WORKLOADS[workload].phases(int(batch)), precision, mode == "compile")
    answer(ready=True, resident=resident())
    for line in sys.stdin:
        asked = line.strip()
        if asked == "flops":
            answer(flops=counted_flops(step))
        elif asked == "product":
            answer(flops_per_s=product_rate(precision))
        else:
            answer(ms=milliseconds(step, int(asked)), peak=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)


if __name__ == "__main__":
    main(*sys.argv[1:])
