

def rounded(x, dtype):
    """x as it would be stored in this type, in FP32; its gradient is rounded likewise."""
    return x.to(dtype).float()


class WeightedValues(torch.autograd.Function):
    """Attention's weights (FP32) times the values. The product takes the weights in the values' type; their gradient stays in
    FP32."""

    @staticmethod
    def forward(ctx, weights, values, dtype):
        ctx.save_for_backward(weights, values)
        ctx.dtype = dtype
        return (weights.to(dtype).float() @ values).to(dtype).float()

    @staticmethod
    def backward(ctx, g):
        weights, values = ctx.saved_tensors
        g = g.to(ctx.dtype).float()
        return g @ values.mT, (weights.to(ctx.dtype).float().mT @ g).to(ctx.dtype).float(), None


class Scores(torch.autograd.Function):
    """q k^T * scale in FP32; backward the gradient is rounded for the two products."""

    @staticmethod
    def forward(ctx, q, k, scale, dtype):
        ctx.save_for_backward(q, k)
        ctx.rest = scale, dtype
        return q @ k.mT * scale

    @staticmethod
    def backward(ctx, g):
        (q, k), (scale, dtype) = ctx.saved_tensors, ctx.rest
        g = g.to(dtype).float()
        return (g @ k * scale).to(dtype).float(), (g.mT @ q * scale).to(dtype).float(), None, None


def attention(masks, q, k, v, is_causal, p, first):
    """(samples, heads, tokens, width) of one type; scores and weights are FP32."""
    dtype = q.dtype
    q, k, v = q.float(), k.float(), v.float()
    scores = Scores.apply(q, k, 1 / math.sqrt(q.shape[-1]), dtype)
    if is_causal:
        above = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
        scores = scores.masked_fill(above, -math.inf)
    weights = dropout(torch.softmax(scores, -1), p, masks, first)
    return WeightedValues.apply(weights, v, dtype).to(dtype)


def gates(cell, gx, gh, h, c):
    if cell == "lstm":
        i, f, g, o = (gx + gh).chunk(4, 1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c
    if cell == "gru":
        (xr, xz, xn), (hr, hz, hn) = gx.chunk(3, 1), gh.chunk(3, 1)
        n = torch.tanh(xn + torch.sigmoid(xr + hr) * hn)
        return n + torch.sigmoid(xz + hz) * (h - n), c
    return (torch.tanh if cell == "rnn_tanh" else torch.relu)(gx + gh), c


def recurrent(cell):
    """LSTM, GRU or plain RNN with biases. Products are rounded once, gates are FP32, states are rounded."""

    def layer(x, h, c, w_ih, w_hh, b_ih, b_hh):
        dtype, out = x.dtype, []
        h, c = h.float(), c.float()
        gx = rounded(F.linear(x.float(), w_ih.float(), b_ih.float()), dtype)
        for row in gx:
            gh = rounded(F.linear(h, w_hh.float(), b_hh.float()), dtype)
            h, c = (rounded(state, dtype) for state in gates(cell, row, gh, h, c))
            out.append(h)
        return torch.stack(out).to(dtype), h.to(dtype), c.to(dtype)

    def run(masks, x, *rest):
        *rest, layers, p, first = rest
        states, params = (rest[:2], rest[2:]) if cell == "lstm" else (rest[:1], rest[1:])
        last = []
        for i in range(layers):
            x, *new = layer(x, states[0][i], states[-1][i], *params[4 * i:4 * i + 4])
            last.append(new[:len(states)])
            if p and i + 1 < layers:
                x = dropout(x, p, masks, first)
                first += x.numel()
        return x, *(torch.stack(part) for part in zip(*last))

    return run


def batch_norm(masks, x, *rest):
    *residual, weight, bias, eps = rest
    y = F.batch_norm(x, None, None, weight, bias, True, 0.0, eps)
    return y + residual[0] if residual else y


# The result of each operation, from the masks, its tensors and its attributes. 16-bit tensors come in FP32 and the result is
# rounded, but for operations that round inside.
OPS = {
    "reshape": lambda _, x, shape: x.reshape(shape),
    "expand": lambda _, x, shape: x.expand(shape),
    "permute": lambda _, x, order: x.permute(order),
    "narrow": lambda _, x, dim, start, length: x.narrow(dim, start, length),
    "contiguous": lambda _, x: x,
    "cat": lambda _, *rest: torch.cat(rest[:-1], rest[-1]),
    "detach": lambda _, x: x.detach(),
    "to": lambda _, x: x,
    "embedding": lambda _, index, table: F.embedding(index, table),
    "embedding_bag": lambda _, index, table, mode: F.embedding_bag(index, table, mode=mode),
    "index_select": lambda _, x, index, dim: x.index_select(dim, index),
    "gather": lambda _, x, index, dim: x.gather(dim, index),
    "linear": lambda _, *x: F.linear(*x),
    "addmm": lambda _, c, a, b, *scales: torch.addmm(c, a, b),
    "matmul": lambda _, a, b: a @ b,
    "conv2d": lambda _, x, w, *rest: F.conv2d(x, w, rest[0] if len(rest) == 5 else None, *rest[-4:]),
    "conv_transpose2d": lambda _, x, w, *rest: F.conv_transpose2d(x, w, rest[0] if len(rest) == 6 else None, *rest[-5:]),
    "max_pool2d": lambda _, x, *rest: F.max_pool2d(x, *rest[:5]),
    "adaptive_avg_pool2d": lambda _, x, size: F.adaptive_avg_pool2d(x, size),
    "batch_norm": batch_norm,
    "batch_norm_relu": lambda *x: F.relu(batch_norm(*x)),
    "layer_norm": lambda _, x, w, b, eps: F.layer_norm(x, w.shape, w, b, eps),
    "dropout": lambda masks, x, p, first, runs: dropout(x, p, masks, first),
    "gelu": lambda _, x, form="none": F.gelu(x, approximate=form),
    "relu": lambda _, x: F.relu(x),
    "leaky_relu": lambda _, x, slope: F.leaky_relu(x, slope),
    "relu6": lambda _, x: F.relu6(x),
    "sigmoid": lambda _, x: torch.sigmoid(x),
    "tanh": lambda _, x: torch.tanh(x),
    "add": lambda _, a, b, scale=1: a + scale * b,
    "sub": lambda _, a, b: a - b,
    "mul": lambda _, a, b: a * b,
    "div": lambda _, a, b: a / b,
    "cross_entropy": lambda _, x, target: F.cross_entropy(x, target),
    "mse_loss": lambda _, x, target: F.mse_loss(x, target),
    "binary_cross_entropy_with_logits": lambda _, x, target: F.binary_cross_entropy_with_logits(x, target),
    "scaled_dot_product_attention": attention,
    "lstm": recurrent("lstm"),
    "gru": recurrent("gru"),
    "rnn_tanh": recurrent("rnn_tanh"),
    "rnn_relu": recurrent("rnn_relu"),
}
# Their result may be wider than their tensors.
WIDE = {"to", "layer_norm", "cross_entropy", "mse_loss", "binary_cross_entropy_with_logits"}
ROUND_INSIDE = {"scaled_dot_product_attention", "lstm", "gru", "rnn_tanh", "rnn_relu"}
