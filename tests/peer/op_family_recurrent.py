"""Recurrent cells, PyTorch's fused ones, and whole networks, packed or not.

The references are the formulas, step by step in f64; each call holds them against PyTorch's own function. `tap` marks
what the engine stores in the op's own type between steps, and the gates (1 - tanh^2 and s (1 - s) are taken from the
rounded tanh and s). So S counts each stored value, and `low_steps` is how often each is rounded: once in the forward
pass and once more on the way to a gradient, for which the products with w_hh are computed anew from the stored states;
the gradient that arrives at a tap is itself a tap and is stored once.
"""

import torch

import op_family
from op_draft import draft
from op_family import agreed, Arguments, mark, op, tap, tapped

LOW_STEPS = 2
GATES = {"rnn_tanh": 1, "rnn_relu": 1, "lstm": 4, "gru": 3}


def sigmoid(x):
    return mark(torch.sigmoid(x))


def tanh(x):
    return mark(torch.tanh(x))


def product(x, weight, bias):
    """A product, stored in the op's type."""
    y = x @ weight.t()
    return tap(y if bias is None else y + bias)


def step(kind, gx, gh, h, c):
    """h and c after a time step, and its gates."""
    if kind == "rnn_tanh":
        return tanh(gx + gh), None, []
    if kind == "rnn_relu":
        return torch.relu(gx + gh), None, []
    if kind == "lstm":
        i, f, g, o = (gx + gh).chunk(4, 1)
        i, f, g, o = sigmoid(i), sigmoid(f), tanh(g), sigmoid(o)
        c = f * c + i * g
        return o * tanh(c), c, [i, f, g, o]
    (xr, xz, xn), (hr, hz, hn) = gx.chunk(3, 1), gh.chunk(3, 1)
    r, z = sigmoid(xr + hr), sigmoid(xz + hz)
    n = tanh(xn + r * hn)
    return n + z * tap(h - n), None, [r, z, n]


def layer(kind, x, h, c, weights, sizes, reverse):
    """One direction over the rows x of all time steps: outputs, h_n and c_n."""
    w_ih, w_hh, b_ih, b_hh = weights
    gx = product(x, w_ih, b_ih)
    starts = [sum(sizes[:t]) for t in range(len(sizes))]
    outputs = [None] * len(sizes)
    for t in reversed(range(len(sizes))) if reverse else range(len(sizes)):
        n = sizes[t]
        before, cell = h[:n], None if c is None else c[:n]
        new, cell, _ = step(kind, gx[starts[t]:starts[t] + n], product(before, w_hh, b_hh), before, cell)
        outputs[t] = new
        # Stored for the next step: the gradient from there is rounded before it meets the output's.
        h = torch.cat([tap(new), h[n:]])
        if cell is not None:
            c = torch.cat([tap(cell), c[n:]])
    return torch.cat(outputs), h, c


def network(kind, x, attrs):
    lstm = kind == "lstm"
    hx = x.list(1) if lstm else [x["1"]]
    params = x.list(2)
    bias, layers = attrs["has_biases"], attrs["num_layers"]
    both = attrs.get("bidirectional", False)
    packed, first = attrs.get("batch_sizes"), attrs.get("batch_first", False)
    data = x["0"]
    if packed:
        sizes, rows = list(packed), data
    else:
        by_time = data.transpose(0, 1) if first else data
        sizes = [by_time.shape[1]] * by_time.shape[0]
        rows = by_time.reshape(-1, by_time.shape[2])
    h_n, c_n, stride = [], [], 4 if bias else 2
    for at in range(layers):
        sides = []
        for side in range(2 if both else 1):
            k = at * (2 if both else 1) + side
            weights = [*params[k * stride:(k + 1) * stride], None, None][:4]
            y, h, c = layer(kind, rows, hx[0][k], hx[1][k] if lstm else None, weights, sizes, side == 1)
            sides.append(y)
            h_n.append(h)
            c_n.append(c)
        # Stored before the next layer's product; the directions' gradients meet there, stored each.
        rows = tap(torch.cat([tap(s) for s in sides], 1))
    y = rows
    if not packed:
        y = rows.reshape(len(sizes), sizes[0], -1)
        y = y.transpose(0, 1) if first else y
    mine = [y, torch.stack(h_n)] + ([torch.stack(c_n)] if lstm else [])
    function = getattr(torch._VF, kind)
    states = hx if lstm else hx[0]
    if packed:
        theirs = function(data, torch.tensor(packed), states, params, bias, layers, 0.0, False, both)
    else:
        theirs = function(data, states, params, bias, layers, 0.0, False, both, first)
    return agreed(mine, theirs)


def shapes_of(kind, inputs, hidden, layers, directions, bias):
    rows = GATES[kind] * hidden
    for k in range(layers * directions):
        yield rows, inputs if k < directions else hidden * directions
        yield rows, hidden
        if bias:
            yield rows,
            yield rows,


def small(rng, *shape):
    """Sometimes so large that gates saturate."""
    return rng.normal(*shape, scale=rng.pick((0.5, 0.5, 1.0, 2.0)))


def off_the_corner(rng, values, weights_from, stride):
    """For relu: inputs and states positive, each unit's weights and biases of one sign, so that no rounding decides on
    which side of 0 a sum lies; units of negative sign are cut off."""
    made = [v.abs() + 0.1 for v in values]
    for first in range(weights_from, len(made), stride):
        sign = torch.where(rng.uniform(0, 1, made[first].shape[0]) < 0.7, 1.0, -1.0).double()
        for i in range(first, min(first + stride, len(made))):
            made[i] = made[i] * (sign if made[i].dim() == 1 else sign[:, None])
    return made


def network_case(kind):
    def generate(rng):
        layers, both, bias = rng.pick((1, 1, 2)), bool(rng.chance(0.4)), bool(rng.chance(0.6))
        inputs, hidden = rng.pick((1, 2, 3)), rng.pick((1, 2, 3) if layers == 1 else (1, 2))
        batch, steps = rng.pick((1, 2, 3)), rng.pick((1, 2, 3, 4))
        attrs = {"has_biases": bias, "num_layers": layers}
        if both:
            attrs["bidirectional"] = True
        if rng.chance(0.3):
            attrs["dropout"] = 0.5  # nothing is dropped outside training
        if rng.chance(0.35):
            lengths = sorted((int(rng.numpy.integers(1, steps + 1)) for _ in range(batch)), reverse=True)
            attrs["batch_sizes"] = [sum(n > t for n in lengths) for t in range(lengths[0])]
            x = small(rng, sum(lengths), inputs)
        elif rng.chance(0.4):
            attrs["batch_first"] = True
            x = small(rng, batch, steps, inputs)
        else:
            x = small(rng, steps, batch, inputs)
        directions = 2 if both else 1
        states = [small(rng, layers * directions, batch, hidden) for _ in range(2 if kind == "lstm" else 1)]
        weights = [small(rng, *s) for s in shapes_of(kind, inputs, hidden, layers, directions, bias)]
        names = ["0"] + (["1.0", "1.1"] if kind == "lstm" else ["1"]) + [f"2.{i}" for i in range(len(weights))]
        values = [x, *states, *weights]
        if kind == "rnn_relu":
            values = off_the_corner(rng, values, 2, 4 if bias else 2)
        return draft(values, attrs, names=names)
    return generate


def cell_case(kind):
    def generate(rng):
        batch, inputs, hidden = rng.pick((1, 2, 5)), rng.pick((1, 2, 7)), rng.pick((1, 2, 5))
        states = 2 if kind == "lstm" else 1
        values = [small(rng, batch, inputs)] + [small(rng, batch, hidden) for _ in range(states)]
        values += [small(rng, GATES[kind] * hidden, inputs), small(rng, GATES[kind] * hidden, hidden)]
        names = [str(i) for i in range(len(values))]
        # PyTorch's cells take both biases or none.
        if rng.chance(0.7):
            for i in range(2):
                names.append(str(len(values)))
                values.append(small(rng, GATES[kind] * hidden))
        if kind == "rnn_relu":
            values = off_the_corner(rng, values, 2, 4)
        return draft(values, names=names)
    return generate


def cell(kind):
    def function(x, attrs):
        at = 3 if kind == "lstm" else 2
        h, c = x["1"], x["2"] if kind == "lstm" else None
        w_ih, w_hh, b_ih, b_hh = (x[str(at + i)] for i in range(4))
        mine = step(kind, product(x["0"], w_ih, b_ih), product(h, w_hh, b_hh), h, c)
        theirs = getattr(torch, f"{kind}_cell")(x["0"], (h, c) if kind == "lstm" else h, w_ih, w_hh, b_ih, b_hh)
        return agreed(mine[:2] if kind == "lstm" else mine[0], theirs)
    return function


def fused_case(kind):
    def generate(rng):
        batch, hidden = rng.pick((1, 2, 3, 5)), rng.pick((1, 2, 3, 5))
        values = [small(rng, batch, GATES[kind] * hidden) for _ in range(2)] + [small(rng, batch, hidden)]
        if rng.chance(0.15):  # large sums that nearly cancel
            values[0], values[1] = values[0] * 50 + 1, values[0] * -50
        if rng.chance(0.6):
            values += [small(rng, GATES[kind] * hidden) for _ in range(2)]
        return draft(values)
    return generate


def fused_formula(kind, x):
    """The part of a step after its products, and the workspace that PyTorch's kernel keeps (cuda/RNN.cu)."""
    gx, gh = (g if b is None else g + b for g, b in ((x["0"], x["3"]), (x["1"], x["4"])))
    h, c, gates = step(kind, gx, gh, x["2"], x["2"])
    if kind == "lstm":
        return h, c, torch.cat(gates, 1)
    return h, torch.cat([*gates, x["2"], gh.chunk(3, 1)[2]], 1)


def same_gradients(kind, x):
    """PyTorch has these cells only on GPUs, but their gradients everywhere: the formula's must be equal to them."""
    own = Arguments((name, t.detach().requires_grad_(True)) for name, t in x.items())
    with tapped():
        results = fused_formula(kind, own)[:-1]
        seeds = [y.detach() + 0.5 for y in results]
        mine = torch.autograd.grad(results, list(own.values()), seeds)
    plain = [None if own[name] is None else own[name].detach() for name in "01234"]
    if kind == "lstm":
        theirs = torch.ops.aten._thnn_differentiable_lstm_cell_backward(*seeds, *plain[:2], *plain[3:], plain[2],
                                                                        results[1].detach())
    else:
        theirs = torch.ops.aten._thnn_differentiable_gru_cell_backward(*seeds, *plain)
    agreed(mine, theirs[:len(mine)])


def fused(kind):
    def function(x, attrs):
        if x["0"].is_cuda:
            return getattr(torch.ops.aten, f"_thnn_fused_{kind}_cell")(*(x[name] for name in "01234"))
        if not op_family.only_peer:
            same_gradients(kind, x)
        return fused_formula(kind, x)
    return function


for _kind in ("lstm", "gru"):
    op(f"_thnn_fused_{_kind}_cell", "recurrent", "low", fused_case(_kind), fused(_kind),
       flat=(2 if _kind == "lstm" else 1,))

for _kind in GATES:
    op(f"{_kind}_cell", "recurrent", "low", cell_case(_kind), cell(_kind), low_steps=LOW_STEPS)
    op(_kind, "recurrent", "low", network_case(_kind),
       lambda x, attrs, kind=_kind: network(kind, x, attrs), low_steps=LOW_STEPS)
