#!/usr/bin/env python3
"""Writes golden/tasks.safetensors.xz, for `models_test`: training steps of the tasks beside classification in each precision of
the CPU. Of the language model, with each cell, two steps that share their weights, the second from the state that the
first one left, and a step in which the state of one stream overflows; of regression, one step.

Weights, states and batches are no part of the file: both sides compute them. Figures and bounds are those of
model_golden.py; the reference is task_reference.py, which in f64 must be PyTorch's own modules. The perturbed runs carry
their own states from the first step to the second.
"""

import dataclasses
import math
import sys

import torch
from torch.nn import functional as F

import golden_file
from golden_numbers import FIRST_WEIGHT, uniform
from model_golden import beyond, golden_gradient, RUNS
from peer_models import Mlp
import task_reference
from task_reference import FACTOR, language_step, loss_bound, regression_step, RnnLm

LOSS_SCALE = 1024.0
# Streams of uniform(), after those of the weights.
STATES, FEATURES, TARGET = 100, 200, 201
WORDS, STREAMS, WINDOW, LAYERS, HIDDEN = 11, 3, 4, 2, 20
# Embedding of 12 with a decoder of its own; tied, 20.
TIED = {"lstm": False, "gru": True, "rnn-tanh": True, "rnn-relu": False}
ROWS, COLUMNS, HIDDEN_LAYERS, UNIT_OF_TARGET = 12, 13, [20, 20], 2.5
# Gain of the weights. It is small where relu follows: beside the biases few of its inputs lie near 0, where a rounding
# decides its branch.
GAIN = {"lstm": 1.0, "gru": 1.0, "rnn-tanh": 1.0, "rnn-relu": 0.25, "overflow": 1.0, "regression": 1.0}
# State that one stream carries in its first layer, in f16's range, with the signs of unit 0's weights, whose sum is out
# of it.
OVERFLOWING_STREAM, NEAR_THE_END = 1, 60000.0

PRECISIONS = {name: dataclasses.replace(p, scale=LOSS_SCALE if p.scale != 1 else 1.0)
              for name, p in task_reference.PRECISIONS.items()}


def weight(index, shape, gain):
    """Matrices with a standard deviation of gain / sqrt(columns), biases in [0.25, 0.75)."""
    values = uniform(FIRST_WEIGHT + index, shape)
    return (values * 0.25 + 0.5 if len(shape) == 1 else values * (gain * math.sqrt(3 / shape[1]))).float()


def weights_of(model, kind, metadata, gain):
    named = {name: tuple(p.shape) for name, p in model.named_parameters()}
    metadata[f"{kind}.parameters"] = "\n".join(" ".join(map(str, (name, *size))) for name, size in named.items())
    metadata[f"{kind}.gain"] = str(gain)
    weights = {name: weight(i, size, gain) for i, (name, size) in enumerate(named.items())}
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(weights[name])
    return weights


def batch(number):
    """Tokens and target (window, streams); the engine's are transposed."""
    i = torch.arange(STREAMS * WINDOW).view(STREAMS, WINDOW).t()
    return [(5 * i * i + 3 * i + number + k) % WORDS for k in range(2)]


def first_state(cell):
    return [0.5 * uniform(STATES + k, (LAYERS, STREAMS, HIDDEN)).float() for k in range(2 if cell == "lstm" else 1)]


def two_steps(cell, weights, precision, noise):
    state, steps = first_state(cell), []
    for number in range(2):
        steps.append(language_step(weights, cell, *batch(number), state, precision, noise))
        state = steps[-1].state
    return steps


def figures(exact, perturbed, unit):
    """{name: figures} of a step: the loss with its bound; gradients and states in the form of golden_gradient."""
    found = {"loss": torch.tensor([exact.loss, loss_bound(exact, perturbed, unit)], dtype=torch.float64)}
    for name, value in exact.gradients.items():
        found[f"grad.{name}"] = golden_gradient(value, [p.gradients[name] for p in perturbed], unit)
    for i, value in enumerate(exact.state):
        found[f"state.{i}"] = golden_gradient(value, [p.state[i] for p in perturbed], unit)
    return found


def refused(found, plain):
    """The number of gradients of the fp32 step that these figures reject."""
    return beyond({f"grad.{n}": g for n, g in plain.gradients.items()},
                  {n: f for n, f in found.items() if n.startswith("grad.")})


def report(label, exact, found, plain):
    widest = max(float(f[1] / f[0]) for n, f in found.items() if n.startswith("grad.") and f[0] > f[1])
    count = refused(found, plain)
    print(f"{label:22} loss {exact.loss:.6f} +- {float(found['loss'][1]):.1e}, gradients within {widest:.1e} of their "
          f"norms, {count} of {len(exact.gradients)} tell it from fp32", flush=True)
    return count


def noises():
    return [torch.Generator().manual_seed(k) for k in range(RUNS)]


def add_cell(cell, tensors, metadata):
    """Adds both steps in each precision. Returns by precision how many gradients of the fp32 step their figures reject.
    """
    model = RnnLm(cell, WORDS, HIDDEN if TIED[cell] else 12, HIDDEN, LAYERS, TIED[cell])
    weights = weights_of(model, cell, metadata, GAIN[cell])
    metadata[f"{cell}.tied"] = "1" if TIED[cell] else "0"
    plain = two_steps(cell, weights, PRECISIONS["fp32"], None)
    state = first_state(cell)
    for number, exact in enumerate(plain):
        tokens, target = batch(number)

        def output_loss(m, given=state, x=tokens, wanted=target):
            logits, new = m(x, [s.double() for s in given])
            return F.cross_entropy(logits, wanted.flatten()), new
        task_reference.agree(model, output_loss, exact)
        state = exact.state
    told = {}
    for name, precision in PRECISIONS.items():
        exact = two_steps(cell, weights, precision, None)
        perturbed = [two_steps(cell, weights, precision, noise) for noise in noises()]
        for number in range(2):
            found = figures(exact[number], [p[number] for p in perturbed], precision.unit)
            tensors.update({f"{cell}/{name}/{number}/{key}": value for key, value in found.items()})
            told[name] = told.get(name, 0) + report(f"{cell} {name} {number}", exact[number], found, plain[number])
    return told


def add_overflow(tensors, metadata):
    """The new state after a stream has overflowed f16: that stream is zeroed, the others are unchanged."""
    cell, precision = "rnn-relu", PRECISIONS["amp-fp16"]
    weights = weights_of(RnnLm(cell, WORDS, 12, HIDDEN, LAYERS), "overflow", metadata, GAIN["overflow"])

    given = first_state(cell)
    given[0][0, OVERFLOWING_STREAM] = NEAR_THE_END * weights["rnn.weight_hh_l0"][0].sign()
    found = language_step(weights, cell, *batch(0), given, precision).state[0]
    lost = ~found.isfinite().all(2).all(0)
    if lost.tolist() != [k == OVERFLOWING_STREAM for k in range(STREAMS)]:
        sys.exit(f"not the stream that was to overflow: {lost.tolist()}")

    def state_after(noise):
        """The streams do not meet in the forward pass, and a perturbation is as large as the whole tensor: without it."""
        new = language_step(weights, cell, *batch(0), first_state(cell), precision, noise).state[0]
        new[:, OVERFLOWING_STREAM] = 0
        return new
    exact = state_after(None)
    if not torch.equal(exact[:, ~lost], found[:, ~lost]):
        sys.exit("the streams are not independent")
    tensors["overflow/state.0"] = golden_gradient(exact, [state_after(noise) for noise in noises()], precision.unit)
    metadata["overflow"] = f"{OVERFLOWING_STREAM} {NEAR_THE_END}"


def add_regression(tensors, metadata):
    model = Mlp([COLUMNS, *HIDDEN_LAYERS, 1])
    weights = weights_of(model, "regression", metadata, GAIN["regression"])
    metadata["regression.batch"] = f"{ROWS} {COLUMNS}"
    metadata["regression.unit"] = str(UNIT_OF_TARGET)
    features, target = uniform(FEATURES, (ROWS, COLUMNS)).float(), uniform(TARGET, (ROWS, 1)).float()
    plain = regression_step(weights, features, target, PRECISIONS["fp32"])
    task_reference.agree(model, lambda m: (F.mse_loss(m(features.double()), target.double()), []), plain)
    variance, told = float(target.double().var(correction=0)), {}
    for name, precision in PRECISIONS.items():
        exact = regression_step(weights, features, target, precision)
        perturbed = [regression_step(weights, features, target, precision, noise) for noise in noises()]
        found = figures(exact, perturbed, precision.unit)
        apart = max(2 * precision.unit * exact.magnitude / math.sqrt(ROWS),
                    *(FACTOR * abs(p.error - exact.error) for p in perturbed))
        rmse = math.sqrt(exact.error)
        found["rmse"] = torch.tensor([UNIT_OF_TARGET * rmse, UNIT_OF_TARGET * apart / rmse], dtype=torch.float64)
        found["r2"] = torch.tensor([1 - exact.error / variance, apart / variance], dtype=torch.float64)
        tensors.update({f"regression/{name}/{key}": value for key, value in found.items()})
        told[name] = report(f"regression {name}", exact, found, plain)
    return told


def main():
    torch.set_num_threads(1)
    tensors, metadata = {}, {"precisions": " ".join(PRECISIONS), "loss_scale": str(LOSS_SCALE),
                             "text": f"{WORDS} {STREAMS} {WINDOW} {LAYERS} {HIDDEN}", "cells": " ".join(TIED)}
    told = [add_cell(cell, tensors, metadata) for cell in TIED]
    add_overflow(tensors, metadata)
    told.append(add_regression(tensors, metadata))
    alike = [name for name, p in PRECISIONS.items() if p.low and not any(counts[name] for counts in told)]
    if alike:
        sys.exit(f"no task's bounds tell {', '.join(alike)} from fp32")
    path = golden_file.write_tensors("tasks", tensors, metadata)
    print(f"{path.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
