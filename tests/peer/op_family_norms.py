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
    """Values around a mean that is sometimes far from zero; sometimes small."""
    return rng.normal(*shape, scale=rng.pick((1.0, 1.0, 3.0, 0.01))) + rng.pick((0.0, 0.0, 1.0, 20.0))


def optional(rng, values, names, position, tensor, chance=0.7):
    if rng.chance(chance):
        values.append(tensor)
        names.append(str(position))


def parameter_types(rng, values):
    """Sometimes a 16-bit input with f32 parameters."""
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
    """x - mean, mean and biased variance, each rounded when it is computed."""
    mean = tap(x.mean(dims, keepdim=True))
    return tap(x - mean), mean, tap((tap(x - mean) ** 2).mean(dims, keepdim=True))


def deviation(var, eps):
    return tap((var + eps).rsqrt())


def affine(y, weight, bias):
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


def trailing(attrs):
    return list(range(-len(attrs["normalized_shape"]), 0))


def plain_native_layer_norm(x, attrs):
    """As PyTorch's own decomposition has it (torch._refs.native_layer_norm), with the mean as one sum."""
    centred, mean, var = moments(x["0"], trailing(attrs))
    rstd = deviation(var, attrs.get("eps", 1e-5))
    return affine(centred * rstd, x["1"], x["2"]), mean, rstd


def native_layer_norm(x, attrs):
    theirs = torch.native_layer_norm(x["0"], attrs["normalized_shape"], x["1"], x["2"], attrs.get("eps", 1e-5))
    return agreed(plain_native_layer_norm(x, attrs), theirs)


def detached_statistics(x, attrs):
    y, mean, rstd = plain_native_layer_norm(x, attrs)
    return y, mean.detach(), rstd.detach()


def layer_norm(x, attrs):
    return native_layer_norm(x, attrs)[0]


class CudaLayerNorm(torch.autograd.Function):
    """The arithmetic of PyTorch's layer_norm_kernel.cu on rows (rows, columns): a mean and a variance that each element
    moves in turn (Welford), and a gradient of two sums."""

    @staticmethod
    def forward(ctx, x, weight, bias, eps):
        mean, squares = torch.zeros_like(x[:, :1]), torch.zeros_like(x[:, :1])
        for count, value in enumerate(x.unbind(1), 1):
            delta = value[:, None] - mean
            mean = mean + delta / count
            squares = squares + delta * (value[:, None] - mean)
        rstd = (squares / x.shape[1] + eps).rsqrt()
        ctx.save_for_backward(x, weight, mean, rstd)
        return (x - mean) * rstd * weight + bias, mean, rstd

    @staticmethod
    def backward(ctx, dy, _mean, _rstd):
        x, weight, mean, rstd = ctx.saved_tensors
        above, place, n = dy * weight, (x - mean) * rstd, x.shape[1]
        dx = (n * above - place * (above * place).sum(1, keepdim=True) - above.sum(1, keepdim=True)) * rstd / n
        return dx, (dy * place).sum(0), dy.sum(0), None


def cuda_native_layer_norm(x, attrs):
    shape, size = x["0"].shape, torch.Size(attrs["normalized_shape"])
    rows = x["0"].reshape(-1, size.numel())
    weight = rows.new_ones(rows.shape[1]) if x["1"] is None else x["1"].reshape(-1)
    bias = rows.new_zeros(rows.shape[1]) if x["2"] is None else x["2"].reshape(-1)
    y, mean, rstd = CudaLayerNorm.apply(rows, weight, bias, attrs.get("eps", 1e-5))
    lead = [*shape[:len(shape) - len(size)], *[1] * len(size)]
    return y.reshape(shape), mean.reshape(lead).detach(), rstd.reshape(lead).detach()


def cuda_layer_norm(x, attrs):
    return cuda_native_layer_norm(x, attrs)[0]


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
    """x, running statistics (always given outside of training), weight and bias; and which take gradients."""
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


class CudaBatchNorm(torch.autograd.Function):
    """The arithmetic of PyTorch's Normalization.cuh on (rows, columns) with a weight and a bias a row, which are not
    merged into one factor and one addend as on its CPU."""

    @staticmethod
    def forward(ctx, x, weight, bias, eps):
        mean = x.mean(1, keepdim=True)
        rstd = (((x - mean) ** 2).mean(1, keepdim=True) + eps).rsqrt()
        ctx.save_for_backward(x, weight, mean, rstd)
        return weight * (x - mean) * rstd + bias

    @staticmethod
    def backward(ctx, dy):
        x, weight, mean, rstd = ctx.saved_tensors
        n, dot = x.shape[1], (dy * (x - mean)).sum(1, keepdim=True)
        dx = (dy - (x - mean) * (dot / n * rstd * rstd) - dy.sum(1, keepdim=True) / n) * (rstd * weight)
        return dx, dot * rstd, dy.sum(1, keepdim=True), None


def cuda_instance_norm(x, attrs):
    shape, eps = x["0"].shape, attrs.get("eps", 1e-5)
    rows = x["0"].reshape(shape[0] * shape[1], -1)
    weight = rows.new_ones(shape[1]) if x["3"] is None else x["3"]
    bias = rows.new_zeros(shape[1]) if x["4"] is None else x["4"]
    weight, bias = (t.repeat(shape[0])[:, None] for t in (weight, bias))
    if attrs["use_input_stats"]:
        return CudaBatchNorm.apply(rows, weight, bias, eps).reshape(shape)
    mean, var = (x[name].repeat(shape[0])[:, None] for name in ("1", "2"))
    return (weight * (rows - mean) * (var + eps).rsqrt() + bias).reshape(shape)


op("layer_norm", "norms", "f32", layer_norm_case(True, False), layer_norm, types="first", also=(cuda_layer_norm,))
op("rms_norm", "norms", "f32", layer_norm_case(False, True), rms_norm, types="first")
# Every kernel of PyTorch's merges weight, mean and deviation into one factor and one addend a channel, which an infinite
# weight makes NaN; here the centred row is multiplied by it and stays infinite. Its x takes special values alone.
op("group_norm", "norms", "f32", group_norm_case, group_norm, types="first", specials=(0,))
# As PyTorch's, its mean and reciprocal deviation have no gradient.
op("native_layer_norm", "norms", "f32", layer_norm_case(True, True), native_layer_norm, types="first",
   result=statistics_type, flat=(1, 2), also=(cuda_native_layer_norm, detached_statistics))
op("instance_norm", "norms", "none", instance_norm_case, instance_norm, types="first", also=(cuda_instance_norm,))
