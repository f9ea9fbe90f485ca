"""Random cases of matrix products, convolution, normalisation, pooling and losses; see op_generators.py."""

import torch

from op_draft import away_from_zero, draft, SIZES


def softmax(rng):
    shape = rng.shape(1, 4)
    dim = int(rng.numpy.integers(len(shape)))
    dim = dim - len(shape) if rng.chance(0.5) else dim
    attrs = {"dim": dim}
    if rng.chance(0.15):
        attrs["dtype"] = rng.pick(("float32", "float16", "bfloat16", "float64"))
    return draft([rng.normal(*shape, scale=rng.pick((1.0, 4.0)))], attrs)


def labels(rng, count, classes, shape=()):
    return torch.from_numpy(rng.numpy.integers(0, classes, (count, *shape))).to(torch.int64)


def classification(with_smoothing):
    def generate(rng):
        count, classes = rng.pick(SIZES[1:]), rng.pick((2, 3, 10, 31, 100))
        pixels = rng.pick(((), (), (), (3,), (2, 5)))
        x = rng.normal(count, classes, *pixels, scale=2.0)
        x = x if with_smoothing else torch.log_softmax(x, 1)
        target = labels(rng, count, classes, pixels)
        attrs = {"reduction": rng.pick(("mean", "mean", "sum", "none"))}
        if rng.chance(0.3):
            flat = target.view(-1)
            attrs["ignore_index"] = int(flat[0])
            if bool((flat == flat[0]).all()):
                flat[-1] = (flat[0] + 1) % classes
        values = [x, target]
        if rng.chance(0.3):
            values.append(rng.uniform(0.5, 1.5, classes))
        if with_smoothing and rng.chance(0.3):
            attrs["label_smoothing"] = 0.1
        return draft(values, attrs, [0], fixed={1: torch.int64, 2: "input" if with_smoothing else None})
    return generate


def make_mse(rng):
    shape = rng.shape(1, 3)
    return draft([rng.normal(*shape), rng.normal(*shape)], {"reduction": rng.pick(("mean", "sum", "none"))})


def make_bce(rng):
    shape = rng.shape(1, 3)
    given, values = [0, 1], [rng.normal(*shape, scale=2.0), rng.uniform(0, 1, *shape)]
    if rng.chance(0.3):
        given.append(2)
        values.append(rng.uniform(0.5, 1.5, *shape))
    if rng.chance(0.3):
        given.append(3)
        values.append(rng.uniform(0.5, 2.0, shape[-1]))
    attrs = {"reduction": rng.pick(("mean", "sum", "none"))}
    made = draft(values, attrs, [0, 1], [str(i) for i in given])
    made.given = given
    return made


def inner(rng):
    return rng.pick((1, 3, 16, 31, 33, 128, 300))


def make_linear(rng):
    lead = rng.shape(1, 3, 64)
    k, n = inner(rng), rng.pick(SIZES)
    values = [rng.normal(*lead, k), rng.normal(n, k)]
    if rng.chance(0.6):
        values.append(rng.normal(n))
    return draft(values)


def make_matmul(rng):
    m, k, n = rng.pick(SIZES), inner(rng), rng.pick(SIZES)
    form = rng.pick(("mm", "mm", "vector", "left", "right", "batch", "broadcast"))
    batch = rng.shape(1, 2, 12)
    shapes = {"mm": ([m, k], [k, n]), "vector": ([k], [k]), "left": ([k], [k, n]), "right": ([m, k], [k]),
              "batch": ([*batch, m, k], [*batch, k, n]), "broadcast": ([*batch, m, k], [k, n])}[form]
    return draft([rng.normal(*shapes[0]), rng.normal(*shapes[1], scale=rng.pick((1.0, 1.0, 60.0)))])


def make_mm(rng):
    m, k, n = rng.pick(SIZES), inner(rng), rng.pick(SIZES)
    return draft([rng.normal(m, k), rng.normal(k, n)])


def make_bmm(rng):
    b, m, k, n = rng.pick((1, 2, 5)), rng.pick(SIZES), inner(rng), rng.pick(SIZES)
    return draft([rng.normal(b, m, k), rng.normal(b, k, n)])


def make_addmm(rng):
    m, k, n = rng.pick(SIZES), inner(rng), rng.pick(SIZES)
    attrs = {"beta": float(rng.pick((1.0, 0.5))), "alpha": float(rng.pick((1.0, 2.0)))} if rng.chance(0.4) else {}
    c = rng.pick(([m, n], [n], [1, n], [m, 1]))
    return draft([rng.normal(*c), rng.normal(m, k), rng.normal(k, n)], attrs)


def make_conv2d(rng):
    groups = rng.pick((1, 1, 1, 2))
    inputs, outputs = groups * rng.pick((1, 3, 8, 16)), groups * rng.pick((1, 4, 8, 17))
    kernel = rng.pick((1, 3, 3, 5))
    side, other = rng.pick((5, 8, 11)), rng.pick((5, 8, 11))
    attrs = {"stride": rng.pick((1, 1, 2)), "padding": rng.pick((0, 1, kernel // 2)), "dilation": 1,
             "groups": groups}
    if rng.chance(0.15) and kernel == 3:
        attrs["dilation"] = 2
    values = [rng.normal(rng.pick((1, 2, 3)), inputs, side, other),
              rng.normal(outputs, inputs // groups, kernel, kernel, scale=0.3)]
    if rng.chance(0.5):
        values.append(rng.normal(outputs))
    return draft(values, attrs)


def make_batch_norm(rng):
    n, c = rng.pick((2, 3, 7, 16)), rng.pick((1, 3, 8, 31))
    shape = [n, c, *rng.pick(((), (5, 5), (8, 3), (6,), (2, 3, 2)))]
    values = [rng.normal(*shape) + rng.pick((0.0, 1.0)), rng.normal(c), rng.uniform(0.5, 2.0, c)]
    differentiable = [0]
    if rng.chance(0.8):
        values += [rng.uniform(0.5, 1.5, c), rng.normal(c)]
        differentiable = [0, 3, 4]
    attrs = {"training": bool(rng.chance(0.7)), "momentum": 0.1, "eps": 1e-5}
    return draft(values, attrs, differentiable,
                 fixed={1: "single", 2: "single", 3: "single", 4: "single"})


def pooling(op):
    def generate(rng):
        kernel = rng.pick((2, 2, 3, [2, 3]))
        attrs = {"kernel_size": kernel, "padding": rng.pick((0, 0, 1)), "ceil_mode": bool(rng.chance(0.3))}
        if rng.chance(0.8):
            attrs["stride"] = rng.pick((1, 2, 3, [2, 1]))
        if op == "avg_pool2d" and rng.chance(0.3):
            attrs["count_include_pad"] = False
        if op == "avg_pool2d" and rng.chance(0.25):
            attrs["divisor_override"] = rng.pick((1, 3, 7))
        if op == "max_pool2d" and rng.chance(0.2):
            attrs["dilation"] = 2
        batch = rng.pick(((1,), (2,), ()))
        return draft([rng.normal(*batch, rng.pick((1, 3, 16)), rng.pick((5, 8)), rng.pick((6, 9)))], attrs)
    return generate


def make_adaptive(rng):
    size = rng.pick((1, 1, 2, 3))
    other = rng.pick((size, 4))
    return draft([rng.normal(rng.pick((1, 2)), rng.pick((1, 3, 16)), rng.pick((4, 7)), rng.pick((4, 8)))],
                 {"output_size": [size, other]})


def make_mv(rng):
    m, k = rng.pick(SIZES), inner(rng)
    return draft([rng.normal(m, k), rng.normal(k)])


def make_dot(rng):
    k = inner(rng)
    return draft([rng.normal(k), rng.normal(k)])


def make_batch_norm_relu(rng):
    made = make_batch_norm(rng)
    if len(made.values) == 3 or rng.chance(0.5):
        return made
    made.values.append(rng.normal(*made.values[0].shape))
    made.names.append("5")
    made.differentiable.append(5)
    made.fixed[5] = 0
    return made


def make_bce_of_probabilities(rng):
    shape = rng.shape(1, 3)
    values = [rng.uniform(0.05, 0.95, *shape), rng.uniform(0, 1, *shape)]
    if rng.chance(0.3):
        values.append(rng.uniform(0.5, 1.5, *shape))
    return draft(values, {"reduction": rng.pick(("mean", "sum", "none"))}, [0])


NN_GENERATORS = {
    "softmax": softmax, "log_softmax": softmax, "nll_loss": classification(False),
    "cross_entropy": classification(True),
    "mse_loss": make_mse, "l1_loss": make_mse, "binary_cross_entropy_with_logits": make_bce,
    "binary_cross_entropy": make_bce_of_probabilities, "linear": make_linear, "matmul": make_matmul, "mm": make_mm,
    "mv": make_mv, "dot": make_dot, "bmm": make_bmm, "addmm": make_addmm, "conv2d": make_conv2d,
    "batch_norm": make_batch_norm, "batch_norm_relu": make_batch_norm_relu, "max_pool2d": pooling("max_pool2d"),
    "avg_pool2d": pooling("avg_pool2d"), "adaptive_avg_pool2d": make_adaptive,
}
