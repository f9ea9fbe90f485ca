#!/usr/bin/env python3
"""100 updates of every optimizer on 278,011 elements (and odd sizes), with skipped steps in between, against f64.

The reference is the formula of each optimizer (optimizers.md#optimizer-formulas, 4.3, 4.4) written out in f64 (for f64 weights
in the processor's 80 bits); where PyTorch has the optimizer, its f64 run must give the reference's numbers. The bound is a running
error analysis: every operation in f32 and every constant kept as f32 adds at most 2^-24 of its result, and each
operation carries the errors of its operands on. A ratio above 1 is a difference.

Ours runs in `optim_steps` (`ninja -C build/dev optim_steps`, or optim_steps_simt with --device cuda), which draws the same
weights and gradients. 16-bit weights have f32 masters, which are compared; the weights themselves must be the masters
rounded once. Errors are in units in the last place of numbers from 1 to 2: 2^-23, and 2^-52 for f64. SparseAdam is given two
thirds of the elements in each step, others each time and some in two halves.
"""

import argparse
import dataclasses
import functools
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import safetensors.torch
import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
STEPS = 100
SKIPS = list(range(3, STEPS, 7))
SIZES = [278011, 1, 31, 33, 777]
LR = 2**-6


def draw(stream, tensor, size, bits):
    """As draw() of optim_steps.cpp."""
    with np.errstate(over="ignore"):
        z = np.arange(1, size + 1, dtype=np.uint64) + np.uint64((stream << 40) + (tensor << 32))
        z *= np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((z ^ (z >> np.uint64(31))) >> np.uint64(64 - bits)).astype(np.float64) * 2.0**-(bits - 1) - 1


def named_rows(step, size):
    """As named_rows() of optim_steps.cpp."""
    return (np.arange(size) // 7 + step) % 3 != 0


def draws(stream, sizes, bits):
    """The numbers in f32, which holds them exactly."""
    return [draw(stream, k, size, bits).astype(np.float32) for k, size in enumerate(sizes)]


class Arithmetic:
    """Values with bounds on the error of the same operations in f32 (f64)."""

    def __init__(self, unit, real):
        self.unit, self.real = unit, real

    def exact(self, v):
        return Bounded(self, np.asarray(v, self.real), np.asarray(0, self.real))

    def constant(self, v):
        return self.exact(v).rounded()

    def norm(self, x, largest=False):
        """The squares are summed in f64: in blocks of 256, pieces of 65,536 and then these, a rounding for each addition on the way."""
        if largest:
            return Bounded(self, np.max(np.abs(x.v)), np.max(x.e)).rounded()
        e = np.sqrt(np.sum(np.broadcast_to(x.e, x.v.shape) ** 2))
        norm, n = np.sqrt(np.sum(x.v**2)), x.v.size
        additions = min(n, 256) + min(-(-n // 256), 256) + -(-n // 65536)
        return Bounded(self, norm, e + norm * (additions + 1) / 2 * 2.0**-53).rounded()


class Bounded:
    def __init__(self, a, v, e):
        self.a, self.v, self.e = a, v, e

    def rounded(self):
        return Bounded(self.a, self.v, self.e + self.a.unit * (np.abs(self.v) + self.e))

    def other(self, b):
        return b if isinstance(b, Bounded) else self.a.constant(b)

    def __add__(self, b):
        b = self.other(b)
        return Bounded(self.a, self.v + b.v, self.e + b.e).rounded()

    def __sub__(self, b):
        b = self.other(b)
        return Bounded(self.a, self.v - b.v, self.e + b.e).rounded()

    def __mul__(self, b):
        b = self.other(b)
        e = np.abs(self.v) * b.e + np.abs(b.v) * self.e + self.e * b.e
        return Bounded(self.a, self.v * b.v, e).rounded()

    def __truediv__(self, b):
        b = self.other(b)
        q = self.v / b.v
        return Bounded(self.a, q, (self.e + np.abs(q) * b.e) / (np.abs(b.v) - b.e)).rounded()

    def toward(self, b, part):
        """self + part (b - self). What self carries shrinks by 1 - part: a difference and a sum of strangers would let it grow. Three
        roundings go with part: its own, the difference's, the product's."""
        away, u = b.v - self.v, self.a.unit
        e = self.e * (1 - part) + b.e * part + 3 * u * (1 + u) ** 2 * part * (np.abs(away) + self.e + b.e)
        return Bounded(self.a, self.v + away * part, e).rounded()

    def root(self):
        r = np.sqrt(self.v)
        low = np.sqrt(np.maximum(self.v - self.e, 0))
        return Bounded(self.a, r, np.where(r == 0, np.sqrt(self.e), self.e / np.maximum(r + low, 1e-300))).rounded()

    def where(self, mask, b):
        """The own value where the mask is set, else b's."""
        v, e = np.broadcast_to(b.v, self.v.shape), np.broadcast_to(b.e, self.v.shape)
        return Bounded(self.a, np.where(mask, self.v, v), np.where(mask, self.e, e))

    def larger(self, b):
        return Bounded(self.a, np.maximum(self.v, b.v), np.maximum(self.e, b.e))


class Reference:
    """All tensors of one optimizer. Subclasses define the step of tensor k with gradients gs."""

    def __init__(self, a, weights, options):
        self.a, self.o, self.t = a, {"lr": LR, "weight_decay": 0.0, **options}, 0
        self.p = [a.exact(w) for w in weights]
        self.state = [{} for _ in weights]

    def get(self, k, name, start=0.0):
        return self.state[k].get(name, self.a.exact(start))

    def step(self, gs):
        self.t += 1
        gs = [self.a.exact(g) for g in gs]
        if self.o.get("larc"):
            gs = [self.adapted(p, g) for p, g in zip(self.p, gs)]
        self.decay = 0.0 if self.o.get("larc") else self.o["weight_decay"]
        self.lr = self.a.constant(self.o["lr"])
        self.before(gs)
        for k, g in enumerate(gs):
            self.update(k, g)

    def before(self, gs):
        pass

    def adapted(self, p, g):
        np_, ng, d = self.a.norm(p), self.a.norm(g), self.o["weight_decay"]
        if np_.v == 0 or ng.v == 0:
            return g
        rate = np_ * self.o.get("larc_trust", 0.02) / (ng + np_ * d + 1e-8)
        if self.o.get("larc_clip", True):
            rate = rate / self.lr_now()
            if rate.v > 1:
                rate = self.a.exact(1.0)
        return (g + p * d) * rate

    def lr_now(self):
        return self.a.constant(self.o["lr"])

    def corrections(self):
        if not self.o.get("bias_correction", True):
            return 1.0, 1.0
        return 1 - self.o["beta1"] ** self.t, 1 - self.o["beta2"] ** self.t


class Sgd(Reference):
    def update(self, k, g):
        o, p = self.o, self.p[k]
        if self.decay and not o.get("decay_after_momentum"):
            g = g + p * self.decay
        if o.get("momentum"):
            first = self.t == 1
            b = g if first else self.get(k, "b") * o["momentum"] + g * (1 - o.get("dampening", 0.0))
            self.state[k]["b"] = b
            g = g + b * o["momentum"] if o.get("nesterov") else b
        if self.decay and o.get("decay_after_momentum"):
            g = g + p * self.decay
        self.p[k] = p - g * self.lr


class Adam(Reference):
    decoupled = False

    def __init__(self, a, weights, options):
        super().__init__(a, weights, {"beta1": 0.9, "beta2": 0.999, "eps": 1e-8, **options})

    def update(self, k, g):
        o, p, s = self.o, self.p[k], self.state[k]
        if self.decay and not self.decoupled:
            g = g + p * self.decay
        m = self.get(k, "m")
        m = m.toward(g, 1 - o["beta1"])
        v = self.get(k, "v") * o["beta2"] + g * (1 - o["beta2"]) * g
        s["m"], s["v"] = m, v
        if o.get("amsgrad"):
            v = s["x"] = self.get(k, "x").larger(v)
        c1, c2 = self.corrections()
        u = m * (self.lr / c1) / (v.root() / c2**0.5 + o["eps"])
        if self.decay and self.decoupled:
            p = p * (1 - o["lr"] * self.decay)
        self.p[k] = p - u


class AdamW(Adam):
    decoupled = True

    def __init__(self, a, weights, options):
        super().__init__(a, weights, {"weight_decay": 0.01, **options})


class SparseAdam(Adam):
    def update(self, k, g):
        o, p, s = self.o, self.p[k], self.state[k]
        named = named_rows(self.t, p.v.size)
        c1, c2 = self.corrections()
        m, v = self.get(k, "m"), self.get(k, "v")
        s["m"] = m.toward(g, 1 - o["beta1"]).where(named, m)
        s["v"] = (v * o["beta2"] + g * (1 - o["beta2"]) * g).where(named, v)
        u = s["m"] * (o["lr"] * c2**0.5 / c1) / (s["v"].root() + o["eps"])
        self.p[k] = (p - u).where(named, p)


class Adagrad(Reference):
    def __init__(self, a, weights, options):
        super().__init__(a, weights, {"eps": 1e-10, **options})

    def update(self, k, g):
        o, p = self.o, self.p[k]
        decoupled = o.get("decoupled", False)
        if self.decay and not decoupled:
            g = g + p * self.decay
        h = self.get(k, "h", o.get("initial_accumulator_value", 0.0)) + g * g
        self.state[k]["h"] = h
        rate = o["lr"] / (1 + (self.t - 1) * o.get("lr_decay", 0.0))
        u = g * rate / (h.root() + o["eps"])
        self.p[k] = p * (1 - rate * self.decay) - u if decoupled else p - u


class Lamb(Reference):
    def __init__(self, a, weights, options):
        super().__init__(a, weights, {"beta1": 0.9, "beta2": 0.999, "eps": 1e-6, "weight_decay": 0.01, **options})

    def before(self, gs):
        a, most = self.a, self.o.get("max_grad_norm", 1.0)
        norms = [a.norm(g) for g in gs]
        total = a.norm(Bounded(a, np.array([n.v for n in norms]), np.array([n.e for n in norms])))
        self.divisor = total / most if most and total.v > most else a.exact(1.0)

    def update(self, k, g):
        o, p, s = self.o, self.p[k], self.state[k]
        decoupled = o.get("decoupled", True)
        g = g / self.divisor
        if self.decay and not decoupled:
            g = g + p * self.decay
        b3 = 1 - o["beta1"] if o.get("average_gradients", True) else 1.0
        m = self.get(k, "m") * o["beta1"] + g * b3
        v = self.get(k, "v") * o["beta2"] + g * (1 - o["beta2"]) * g
        s["m"], s["v"] = m, v
        c1, c2 = self.corrections()
        u = m / c1 / (v.root() / c2**0.5 + o["eps"])
        if self.decay and decoupled:
            u = u + p * self.decay
        rate, np_, nu = self.lr, self.a.norm(p), self.a.norm(u)
        if (o.get("nvlamb") or self.decay) and np_.v != 0 and nu.v != 0:
            rate = rate * (np_ / nu)
        self.p[k] = p - u * rate


class NovoGrad(Reference):
    def __init__(self, a, weights, options):
        super().__init__(a, weights, {"beta1": 0.95, "beta2": 0.98, "eps": 1e-8, **options})

    def update(self, k, g):
        o, p, s = self.o, self.p[k], self.state[k]
        largest = o.get("norm") == "largest"
        norm, b2 = self.a.norm(g, largest), o["beta2"]
        n = self.get(k, "n") if self.t > 1 or o.get("init_zero") else norm
        n = n * b2 + norm * (1 - b2) if largest else (n * n * b2 + norm * norm * (1 - b2)).root()
        s["n"] = n
        c1, c2 = self.corrections()
        divisor = n / c2**0.5 + o["eps"]
        b3 = 1 - o["beta1"] if o.get("average_gradients", True) else 1.0
        if o.get("regularise_inside"):
            g = g / divisor
            if self.decay:
                g = g + p * self.decay
        m = self.get(k, "m") * o["beta1"] + g * b3
        s["m"] = m
        u = m / c1
        if not o.get("regularise_inside"):
            u = u / divisor
            if self.decay:
                u = u + p * self.decay
        self.p[k] = p - u * self.lr


KINDS = {"sgd": Sgd, "adam": Adam, "adamw": AdamW, "sparse_adam": SparseAdam, "adagrad": Adagrad, "lamb": Lamb,
         "novograd": NovoGrad}

VARIANTS = [
    {"kind": "sgd"},
    {"kind": "sgd", "momentum": 0.9, "weight_decay": 0.0005},
    {"kind": "sgd", "momentum": 0.9, "dampening": 0.3, "weight_decay": 0.01},
    {"kind": "sgd", "momentum": 0.9, "weight_decay": 0.01, "nesterov": True},
    {"kind": "sgd", "momentum": 0.9, "weight_decay": 0.01, "decay_after_momentum": True},
    {"kind": "sgd", "momentum": 0.9, "weight_decay": 0.01, "larc": True},
    {"kind": "sgd", "momentum": 0.9, "weight_decay": 0.01, "larc": True, "larc_clip": False},
    {"kind": "adam"},
    {"kind": "adam", "weight_decay": 0.01},
    {"kind": "adam", "weight_decay": 0.01, "amsgrad": True},
    {"kind": "adam", "bias_correction": False},
    {"kind": "adamw"},
    {"kind": "adamw", "amsgrad": True, "beta2": 0.9},
    {"kind": "adamw", "larc": True},
    {"kind": "sparse_adam"},
    {"kind": "sparse_adam", "beta1": 0.5, "beta2": 0.9, "eps": 2**-10},
    {"kind": "adagrad"},
    {"kind": "adagrad", "weight_decay": 0.01, "lr_decay": 0.01, "initial_accumulator_value": 0.25},
    {"kind": "adagrad", "weight_decay": 0.01, "decoupled": True},
    {"kind": "lamb"},
    {"kind": "lamb", "weight_decay": 0.0},
    {"kind": "lamb", "weight_decay": 0.0, "nvlamb": True},
    {"kind": "lamb", "decoupled": False, "average_gradients": False, "max_grad_norm": 0.0},
    {"kind": "lamb", "bias_correction": False},
    {"kind": "novograd"},
    {"kind": "novograd", "weight_decay": 0.01, "norm": "largest"},
    {"kind": "novograd", "weight_decay": 0.01, "init_zero": True, "average_gradients": False},
    {"kind": "novograd", "weight_decay": 0.01, "regularise_inside": True},
    {"kind": "novograd", "bias_correction": False},
]


def torch_optimizer(variant, weights):
    """None if PyTorch has no such optimizer."""
    o = {"lr": LR, **{k: v for k, v in variant.items() if k != "kind"}}
    if set(o) & {"larc", "decay_after_momentum", "bias_correction", "decoupled"}:
        return None
    if "adam" in variant["kind"]:
        o["betas"] = (o.pop("beta1", 0.9), o.pop("beta2", 0.999))
    kinds = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam, "adamw": torch.optim.AdamW, "sparse_adam": torch.optim.SparseAdam,
             "adagrad": torch.optim.Adagrad}
    return kinds[variant["kind"]](weights, **o) if variant["kind"] in kinds else None


def torch_gradient(variant, step, g, dtype):
    values = torch.tensor(g).to(dtype)
    if variant["kind"] != "sparse_adam":
        return values
    rows = torch.tensor(np.flatnonzero(named_rows(step, g.size)))[None]
    return torch.sparse_coo_tensor(rows, values[rows[0]], values.shape, is_coalesced=True)


def run_torch(variant, weights, gradients, dtype):
    tensors = [torch.tensor(w).to(dtype).requires_grad_() for w in weights]
    optimizer = torch_optimizer(variant, tensors)
    if optimizer is None:
        return None
    for t, gs in enumerate(gradients, 1):
        for w, g in zip(tensors, gs):
            w.grad = torch_gradient(variant, t, g, dtype)
        optimizer.step()
    return [w.detach().numpy() for w in tensors]


def run_ours(program, settings):
    with tempfile.TemporaryDirectory() as folder:
        path, out = pathlib.Path(folder) / "settings.json", pathlib.Path(folder) / "out.safetensors"
        path.write_text(json.dumps(settings))
        subprocess.run([program, path, out], check=True)
        return safetensors.torch.load_file(out)


@dataclasses.dataclass
class Expected:
    """The results for weights drawn with `bits` bits and computed with roundings of `unit`."""

    reference: list  # of Bounded
    single: list  # PyTorch's results in f32; None if it has no such optimizer


@functools.lru_cache(maxsize=None)
def drawn(sizes, bits):
    """The weights, and the gradients of every step."""
    return draws(0, sizes, bits), [draws(t, sizes, bits) for t in range(1, STEPS + 1)]


def expected(variant, sizes, bits, wide):
    weights, gradients = drawn(sizes, bits)
    arithmetic = Arithmetic(2.0**-53, np.longdouble) if wide else Arithmetic(2.0**-24, np.float64)
    options = {k: v for k, v in variant.items() if k != "kind"}
    reference = KINDS[variant["kind"]](arithmetic, weights, options)
    for gs in gradients:
        reference.step(gs)
    exact = run_torch(variant, weights, gradients, torch.float64)
    if exact is not None:
        for p, q in zip(reference.p, exact):
            assert np.max(np.abs(p.v - q)) < 1e-11, "the reference is not PyTorch's"
    return Expected(reference.p, None if wide else run_torch(variant, weights, gradients, torch.float32))


def compare(args, variant, weights_type, sizes, want):
    low, wide = weights_type in ("f16", "bf16"), weights_type == "f64"
    unit, real = (2.0**-53, np.longdouble) if wide else (2.0**-24, np.float64)
    ours = run_ours(args.program, {
        "optimizer": {**variant, "lr": LR}, "weights": weights_type, "masters": low, "sizes": sizes, "steps": STEPS,
        "skips": SKIPS, "bits": 8 if low else 24, "scale": 1024, "device": args.device})
    worst = ratio = theirs = widest = 0.0
    for k, p in enumerate(want.reference):
        master = ours[f"master.{k}"].numpy()
        assert master.dtype == (np.float64 if wide else np.float32)
        apart = np.abs(master.astype(real) - p.v)
        assert np.all(np.isfinite(apart))
        worst = max(worst, float(np.max(apart)) / unit / 2)
        ratio = max(ratio, float(np.max(np.where(apart == 0, 0, apart / np.where(apart == 0, 1, p.e)))))
        widest = max(widest, float(np.max(p.e)) / unit / 2)
        if want.single is not None:
            theirs = max(theirs, float(np.max(np.abs(want.single[k].astype(np.float64) - p.v))) / unit / 2)
        if low and not torch.equal(ours[f"weight.{k}"], ours[f"master.{k}"].to(ours[f"weight.{k}"].dtype)):
            ratio = np.inf  # the weight is not its master rounded once
    options = [k if v is True else f"{k}={v:g}" if isinstance(v, float) else f"{k}={v}"
               for k, v in variant.items() if k != "kind"]
    torch_text = f"{theirs:.1f}" if want.single is not None else "-"
    print(f"| {' '.join([variant['kind']] + options)} | {weights_type} | {ratio:.2f} | {worst:.1f} | {torch_text} | "
          f"{widest:.1f} |", flush=True)
    return ratio <= 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "build/dev/tests/peer/optim_steps"))
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--largest", type=int, default=SIZES[0], help="elements of the largest tensor")
    parser.add_argument("--only", default="", help="one kind of optimizer")
    parser.add_argument("--weights", default="", help="one type of weights")
    args = parser.parse_args()
    sizes = (args.largest, *SIZES[1:])
    print(f"{STEPS} updates of {sizes[0]} elements (and of {', '.join(map(str, sizes[1:]))}), {len(SKIPS)} skipped steps between")
    print("| optimizer | weights | worst share of the bound | ours, worst, ulp | PyTorch f32, worst, ulp | bound, widest, ulp |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    good = True
    for variant in VARIANTS:
        if args.only and variant["kind"] != args.only:
            continue
        # f16 and bf16 weights have the same masters.
        for types, bits in (("f32",), 24), (("f16", "bf16"), 8), (("f64",), 24):
            types = tuple(t for t in types if args.weights in ("", t))
            if not types:
                continue
            want = expected(variant, sizes, bits, wide=types == ("f64",))
            for weights_type in types:
                good = compare(args, variant, weights_type, sizes, want) and good
    print("no difference" if good else "DIFFERENT")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
