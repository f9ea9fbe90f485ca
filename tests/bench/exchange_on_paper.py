"""Prints the tables of resources/handbook/exchange-on-paper.md: bytes and time of the exchange of gradients, and
the batch from which on the backward pass hides it. Nothing is measured here: bandwidths and peaks are published ones,
and step times are predicted from operation counts and an assumed share of the peak."""

import math

NVLINK = 300e9  # bytes a second in one direction: NVIDIA A100, third-generation NVLink, 600 GB/s both directions
ETHERNET = 12.5e9  # 100 Gbit/s
PEAK = 312e12  # A100, dense 16-bit products


class Model:
    """`flops`: of the forward and backward pass per sample; two thirds of them are backward."""

    def __init__(self, name, unit, parameters, flops, share, sparse_bytes=0):
        self.name, self.unit, self.parameters, self.flops = name, unit, parameters, flops
        self.share, self.sparse_bytes = share, sparse_bytes

    def backward_s(self):
        return self.flops * 2 / 3 / (PEAK * self.share)


def dense_bytes(model, ranks, width):
    """The bytes that each rank sends and receives: its parts to the others, and their sums back."""
    return 2 * (ranks - 1) / ranks * model.parameters * width


def dlrm():
    """For Criteo's 26 tables with vectors of 16, as in PyTorch's benchmark. The tables are exchanged as rows."""
    tables, width = 26, 16
    pairs = (tables + 1) * tables // 2

    def layers(sizes):
        return sum(a * b + b for a, b in zip(sizes, sizes[1:]))

    dense = layers([13, 512, 256, 64, width]) + layers([width + pairs, 512, 256, 1])
    row = width * 4 + 8  # an index and a vector
    return Model("DLRM", "samples", dense, 6 * dense, 0.10, tables * row)


MODELS = [
    Model("ResNet-50", "images", 25_557_032, 3 * 2 * 4.09e9, 0.20),
    # 6 for each parameter and token, and the products of attention over 1,024 tokens.
    Model("Transformer", "tokens", 124_439_808, 6 * 124_439_808 + 12 * 12 * 768 * 1024, 0.35),
    dlrm(),
]


def hidden_from(model, ranks, bandwidth, width):
    """The smallest batch per rank whose backward pass takes as long as the exchange."""
    fixed = dense_bytes(model, ranks, width) / bandwidth
    each = (ranks - 1) * model.sparse_bytes / bandwidth  # grows with the batch
    gain = model.backward_s() - each
    return fixed / gain if gain > 0 else None


def with_each(fixed, each):
    return f"{fixed} + {each} a sample" if each else fixed


def row(model, ranks, bandwidth, width):
    dense = dense_bytes(model, ranks, width)
    sparse = (ranks - 1) * model.sparse_bytes
    batch = hidden_from(model, ranks, bandwidth, width)
    cells = [model.name, f"{width * 8} bits",
             with_each(f"{dense / 1e6:.1f} MB", sparse and f"{sparse / 1e3:.1f} kB"),
             with_each(f"{dense / bandwidth * 1e3:.3g} ms", sparse and f"{sparse / bandwidth * 1e9:.3g} ns"),
             f"{model.backward_s() * 1e6:.3g} µs",
             "no batch" if batch is None else f"{math.ceil(batch):,} {model.unit}"]
    return "| " + " | ".join(cells) + " |"


def table(title, ranks, bandwidth):
    print(f"\n{title}\n")
    print("| model | gradients of | bytes that each GPU sends a step | time | backward pass of one sample, predicted "
          "| hidden from, on each GPU |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    for model in MODELS:
        for width in (4, 2):
            print(row(model, ranks, bandwidth, width))


if __name__ == "__main__":
    table("8 GPUs of one machine, NVLink", 8, NVLINK)
    table("4 machines of one GPU each, 100 Gbit/s Ethernet", 4, ETHERNET)
