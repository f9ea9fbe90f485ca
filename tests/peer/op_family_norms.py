"""Norms: layer_norm, native_layer_norm, rms_norm, group_norm, instance_norm; batch_norm of sequences and volumes.

The bound of a second derivative comes from the third, which PyTorch's batch norm does not have: the references are the
formulas in f64, and each call holds them against PyTorch's own function.
"""

import torch
import torch.nn.functional as F

from op_draft import draft
from op_family import agreed, op, tap

LOW = (torch.float16, torch.bfloat16)


def scaled(rng, *shape):
    """Around a mean, now and then far from zero or small."""
    return rng.normal(*shape, scale=rng.pick((1.0, 1.0, 3.0, 0.01))) + rng.pick((0.0, 0.0, 1.0, 20.0))


def optional(rng, values, names, position, tensor, chance=0.7):
    if rng.chance(chance):
        values.append(tensor)
        names.append(str(position))


def parameter_types(rng, values):
    """Now and then a 16-bit input beside f32 parameters."""
    if len(values) > 1 and rng.chance(0.2):
        return {0: rng.pick(LOW), **{i: torch.float32 for i in range(1, len(values))}}
    return {}


def small_shape(rng, low_rank, high_rank, limit=60):
    while True:
        shape = rng.shape(low_rank, high_rank, limit)
        if shape:
            return shape


def layer_norm_case(with_bias, always_eps):
    def generate(rng):
        shape = small_shape(rng, 1, 4)
        count = int(rng.numpy.integers(1, len(shape) + 1))
        normalized = shape[len(shape) - count:]
        values, names = [scaled(rng, *shape)], ["0"]
        optional(rng, values, names, 1, rng.normal(*normalized))
        if with_bias:
            optional(rng, values, names, 2, rng.normal(*normalized))
        attrs = {"normalized_shape": normalized}
        if always_eps or rng.chance(0.7):
            attrs["eps"] = rng.pick((1e-5, 1e-3, 0.1))
        return draft(values, attrs, names=names, fixed=parameter_types(rng, values))
    return generate


def moments(x, dims):
    """x - mean, mean and biased variance, each rounded where it arises."""
    mean = tap(x.mean(dims, keepdim=True))
    return tap(x - mean), mean, tap((tap(x - mean) ** 2).mean(dims, keepdim=True))


def deviation(var, eps):
    return tap((var + eps).rsqrt())


def affine(y, weight, bias):
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


def trailing(attrs):
    return list(range(-len(attrs["normalized_shape"]), 0))


def native_layer_norm(x, attrs):
    eps = attrs.get("eps", 1e-5)
    centred, mean, var = moments(x["0"], trailing(attrs))
    theirs = torch.native_layer_norm(x["0"], attrs["normalized_shape"], x["1"], x["2"], eps)
    rstd = deviation(var, eps)
    return agreed((affine(centred * rstd, x["1"], x["2"]), mean, rstd), theirs)


def layer_norm(x, attrs):
    return native_layer_norm(x, attrs)[0]


def rms_norm(x, attrs):
    square = tap((tap(x["0"]) ** 2).mean(trailing(attrs), keepdim=True))
    return agreed(affine(tap(x["0"]) * deviation(square, attrs["eps"]), x["1"], None),
                  F.rms_norm(x["0"], attrs["normalized_shape"], x["1"], attrs["eps"]))


def statistics_type(types, run):
    """y, and mean and rstd in the type of the sums."""
    wide = torch.float64 if run == torch.float64 else torch.float32
    return [run, wide, wide]


def group_norm_case(rng):
    groups = rng.pick((1, 2, 3))
    channels = groups * rng.pick((1, 2, 3))
    shape = [rng.pick((1, 2, 3)), channels, *rng.pick(((), (1,), (5,), (2, 3), (2, 1, 2)))]
    values, names = [scaled(rng, *shape)], ["0"]
    optional(rng, values, names, 1, rng.normal(channels))
    optional(rng, values, names, 2, rng.normal(channels))
    attrs = {"num_groups": groups}
    if rng.chance(0.7):
        attrs["eps"] = rng.pick((1e-5, 1e-3, 0.1))
    return draft(values, attrs, names=names, fixed=parameter_types(rng, values))


def by_channel(t, x):
    return None if t is None else t.reshape([1, -1] + [1] * (x.dim() - 2))


def group_norm(x, attrs):
    eps, groups = attrs.get("eps", 1e-5), attrs["num_groups"]
    centred, _, var = moments(x["0"].reshape(x["0"].shape[0], groups, -1), [2])
    y = (centred * deviation(var, eps)).reshape(x["0"].shape)
    return agreed(affine(y, by_channel(x["1"], y), by_channel(x["2"], y)),
                  torch.group_norm(x["0"], groups, x["1"], x["2"], eps))


def with_statistics(rng, shape, training):
    """x, running statistics (always there outside training), weight and bias; which take gradients."""
    channels = shape[1]
    values, names = [scaled(rng, *shape)], ["0"]
    if not training or rng.chance(0.5):
        values += [rng.normal(channels), rng.uniform(0.5, 2.0, channels)]
        names += ["1", "2"]
    optional(rng, values, names, 3, rng.uniform(0.5, 1.5, channels))
    optional(rng, values, names, 4, rng.normal(channels))
    differentiable = [i for i, name in enumerate(names) if name not in ("1", "2")]
    return values, names, differentiable


def instance_norm_case(rng):
    shape = [rng.pick((1, 2, 3)), rng.pick((1, 2, 3)), *rng.pick(((2,), (7,), (2, 3), (4, 1), (2, 1, 2)))]
    training = bool(rng.chance(0.7))
    values, names, differentiable = with_statistics(rng, shape, training)
    attrs = {"use_input_stats": training}
    if rng.chance(0.7):
        attrs["eps"] = rng.pick((1e-5, 1e-3, 0.1))
    if rng.chance(0.3):
        attrs["momentum"] = 0.4
    return draft(values, attrs, differentiable, names=names, fixed=parameter_types(rng, values))


def instance_norm(x, attrs):
    eps, training = attrs.get("eps", 1e-5), attrs["use_input_stats"]
    if training:
        centred, _, var = moments(x["0"], list(range(2, x["0"].dim())))
    else:
        centred, var = tap(x["0"] - by_channel(x["1"], x["0"])), by_channel(x["2"], x["0"])
    y = affine(centred * deviation(var, eps), by_channel(x["3"], centred), by_channel(x["4"], centred))
    running = [None if x[name] is None else x[name].detach().clone() for name in ("1", "2")]
    return agreed(y, torch.instance_norm(x["0"], x["3"], x["4"], *running, training, attrs.get("momentum", 0.1), eps,
                                         False))


for name, function, generate in (("layer_norm", layer_norm, layer_norm_case(True, False)),
                                 ("rms_norm", rms_norm, layer_norm_case(False, True)),
                                 ("group_norm", group_norm, group_norm_case)):
    op(name, "norms", "f32", generate, function, types="first")
# As PyTorch's, its mean and reciprocal deviation have no gradient.
op("native_layer_norm", "norms", "f32", layer_norm_case(True, True), native_layer_norm, types="first",
   result=statistics_type, flat=(1, 2))
op("instance_norm", "norms", "none", instance_norm_case, instance_norm, types="first")
