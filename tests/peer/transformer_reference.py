"""GPT-2 and BERT with every rounding of mixed precision written out, as task_reference.py has the language model: every op
computes in f32 or f64 by PyTorch, adds a perturbation as large as another order of its sums would make, and rounds its
result to the low type where one is stored.

By the CUDA column linear layers and attention are low, layer norms are f32, and gelu and dropout have their input's type.
Embeddings are f32, so the stream that blocks add to stays f32; in O2 and pure fp16, where there is no autocast, it is of
the weights' type. Attention keeps scores and weights in f32 between its products and rounds the weights for the second;
backward, the gradient of the scores is rounded for the two products that follow.

The modules beside them are transformers' own, without dropout. BERT has no padding word: its row 0 is a word like others.
"""

import math

import numpy
import torch
from torch.nn import functional as F

import philox
import task_reference
from task_reference import CrossEntropy, function_of


class Arithmetic(task_reference.Arithmetic):
    """low_stream: tensors that are f32 under autocast are of the low type too."""

    def __init__(self, low=None, noise=None, low_stream=False):
        super().__init__(low, noise)
        self.low_stream = low_stream

    def wide(self, t, terms):
        return self.store(t, terms, low=self.low_stream)


class Words(torch.autograd.Function):
    """Rows of a table, in the table's own type."""

    @staticmethod
    def forward(ctx, weight, tokens, a):
        ctx.save_for_backward(weight, tokens)
        ctx.arithmetic = a
        return weight[tokens]

    @staticmethod
    def backward(ctx, g):
        weight, tokens = ctx.saved_tensors
        gw = torch.zeros_like(weight).index_add_(0, tokens, g)
        counts = torch.bincount(tokens, minlength=len(weight))
        gw[counts > 0] = ctx.arithmetic.wide(gw[counts > 0], int(counts.max()))
        return gw, None, None


class Spread(torch.autograd.Function):
    """x (samples * tokens, width) plus one row for each token, or one for all."""

    @staticmethod
    def forward(ctx, x, rows, a):
        ctx.count, ctx.arithmetic = len(rows), a
        return a.wide(x + rows.repeat(len(x) // len(rows), 1), 1)

    @staticmethod
    def backward(ctx, g):
        samples = g.view(-1, ctx.count, g.shape[1])
        return g, ctx.arithmetic.wide(samples.sum(0), len(samples)), None


class Low(torch.autograd.Function):
    """The cast of a low op's input. The incoming gradient is low already."""

    @staticmethod
    def forward(ctx, x, a):
        return a.round(x)

    @staticmethod
    def backward(ctx, g):
        return g, None


class Wide(torch.autograd.Function):
    """The cast of an f32 op's low input. The gradient is rounded to the low type."""

    @staticmethod
    def forward(ctx, x, a):
        ctx.arithmetic = a
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return ctx.arithmetic.round(g), None


class Dense(torch.autograd.Function):
    """x weight^T + bias of low x; weight (out, in), bias may be None."""

    @staticmethod
    def forward(ctx, x, weight, bias, a):
        low = a.round(weight)
        ctx.save_for_backward(x, low)
        ctx.arithmetic, ctx.has_bias = a, bias is not None
        return a.store(F.linear(x, low, None if bias is None else a.round(bias)), x.shape[1])

    @staticmethod
    def backward(ctx, g):
        x, weight = ctx.saved_tensors
        a, rows = ctx.arithmetic, len(g)
        gb = a.store(g.sum(0), rows) if ctx.has_bias else None
        return a.store(g @ weight, g.shape[1]), a.store(g.t() @ x, rows), gb, None


class Norm(torch.autograd.Function):
    """Statistics and what is computed from them in f32. For the result some 8 roundings beside each other, for its gradient
    two sums over the row more."""

    @staticmethod
    def forward(ctx, x, weight, bias, eps, a):
        y, mean, rstd = torch.native_layer_norm(x, weight.shape, weight, bias, eps)
        ctx.save_for_backward(x, mean, rstd, weight, bias)
        ctx.arithmetic = a
        return a.wide(y, 8)

    @staticmethod
    def backward(ctx, g):
        x, mean, rstd, weight, bias = ctx.saved_tensors
        a = ctx.arithmetic
        gx, gw, gb = torch.ops.aten.native_layer_norm_backward(g, x, weight.shape, mean, rstd, weight, bias, [True] * 3)
        return a.wide(gx, 16), a.wide(gw, len(x)), a.wide(gb, len(x)), None, None


class Residual(torch.autograd.Function):
    """A low branch plus the stream. The branch's gradient is cast to the branch's type."""

    @staticmethod
    def forward(ctx, branch, stream, a):
        ctx.arithmetic = a
        return a.wide(branch + stream, 1)

    @staticmethod
    def backward(ctx, g):
        return ctx.arithmetic.round(g), g, None


class Fork(torch.autograd.Function):
    """The stream, used several times: its gradients are added in its own type, the last use's first."""

    @staticmethod
    def forward(ctx, x, uses, a):
        ctx.arithmetic = a
        return tuple(x.view_as(x) for _ in range(uses))

    @staticmethod
    def backward(ctx, *grads):
        total = grads[-1]
        for g in grads[-2::-1]:
            total = ctx.arithmetic.wide(total + g, 1)
        return total, None, None


class Gelu(torch.autograd.Function):
    """One op: f32 internally, one rounding."""

    @staticmethod
    def _parts(x, by_tanh, a):
        """Phi and its derivative."""
        if not by_tanh:
            density = function_of(torch.exp(-0.5 * x * x), a) / math.sqrt(2 * math.pi)
            return 0.5 * (1 + function_of(torch.erf(x / math.sqrt(2)), a)), density
        root = math.sqrt(2 / math.pi)
        t = function_of(torch.tanh(root * (x + 0.044715 * x**3)), a)
        return 0.5 * (1 + t), 0.5 * (1 - t * t) * root * (1 + 3 * 0.044715 * x * x)

    @staticmethod
    def forward(ctx, x, by_tanh, a):
        ctx.save_for_backward(x)
        ctx.rest = by_tanh, a
        return a.store(x * Gelu._parts(x, by_tanh, a)[0], 2)

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        by_tanh, a = ctx.rest
        phi, slope = Gelu._parts(x, by_tanh, a)
        return a.store(g * (phi + x * slope), 4), None, None


class Attention(torch.autograd.Function):
    """q, k, v (samples, heads, tokens, size), low."""

    @staticmethod
    def forward(ctx, q, k, v, causal, a):
        tokens, size = q.shape[2:]
        scale = 1 / math.sqrt(size)
        scores = a.store(q @ k.transpose(2, 3) * scale, size, low=False)
        if causal:
            scores = scores.masked_fill(torch.ones(tokens, tokens).triu(1).bool(), -math.inf)
        # A score's rounding moves its exponential by that much of itself.
        p = function_of(torch.softmax(scores, -1), a, scores.nan_to_num(0, 0, 0).abs())
        ctx.save_for_backward(q, k, v, p)
        ctx.rest = scale, a
        return a.store(a.round(p) @ v, tokens)

    @staticmethod
    def backward(ctx, g):
        q, k, v, p = ctx.saved_tensors
        scale, a = ctx.rest
        tokens, size = q.shape[2:]
        dv = a.store(a.round(p).transpose(2, 3) @ g, tokens)
        dp = a.store(g @ v.transpose(2, 3), size, low=False)
        ds = a.store(p * (dp - (p * dp).sum(-1, keepdim=True)), 4)
        return a.store(ds @ k * scale, tokens), a.store(ds.transpose(2, 3) @ q * scale, tokens), dv, None, None


def _heads(x, tokens, heads):
    return x.view(-1, tokens, heads, x.shape[1] // heads).transpose(1, 2)


def _rows(x):
    return x.transpose(1, 2).flatten(0, 1).flatten(1)


def attend(q, k, v, tokens, heads, causal, a):
    return _rows(Attention.apply(*(_heads(x, tokens, heads) for x in (q, k, v)), causal, a))


def gpt2(p, heads, tokens, a):
    """Logits (samples * tokens, words) of tokens (samples, tokens)."""
    def norm(x, name):
        return Norm.apply(x, p[f"{name}.weight"], p[f"{name}.bias"], 1e-5, a)

    def conv1d(x, name):
        return Dense.apply(x, p[f"{name}.weight"].t(), p[f"{name}.bias"], a)

    length = tokens.shape[1]
    table = p["transformer.wte.weight"]
    x = Spread.apply(Words.apply(table, tokens.flatten(), a), p["transformer.wpe.weight"][:length], a)
    for layer in range(sum(name.endswith("ln_1.weight") for name in p)):
        block = f"transformer.h.{layer}"
        stream, h = Fork.apply(x, 2, a)
        h = conv1d(Low.apply(norm(h, f"{block}.ln_1"), a), f"{block}.attn.c_attn")
        h = conv1d(attend(*h.chunk(3, 1), length, heads, True, a), f"{block}.attn.c_proj")
        stream, h = Fork.apply(Residual.apply(h, stream, a), 2, a)
        h = Gelu.apply(conv1d(Low.apply(norm(h, f"{block}.ln_2"), a), f"{block}.mlp.c_fc"), True, a)
        x = Residual.apply(conv1d(h, f"{block}.mlp.c_proj"), stream, a)
    return Dense.apply(Low.apply(norm(x, "transformer.ln_f"), a), table, None, a)


def bert(p, heads, tokens, places, a):
    """Logits (samples * n, words) of the tokens at places (samples, n)."""
    def norm(x, name):
        return Norm.apply(x, p[f"{name}.weight"], p[f"{name}.bias"], 1e-12, a)

    def linear(x, name):
        return Dense.apply(Low.apply(x, a), p[f"{name}.weight"], p[f"{name}.bias"], a)

    length = tokens.shape[1]
    table = p["bert.embeddings.word_embeddings.weight"]
    x = Spread.apply(Words.apply(table, tokens.flatten(), a), p["bert.embeddings.token_type_embeddings.weight"][:1], a)
    x = Spread.apply(x, p["bert.embeddings.position_embeddings.weight"][:length], a)
    x = norm(x, "bert.embeddings.LayerNorm")
    for layer in range(sum(name.endswith("self.query.weight") for name in p)):
        block = f"bert.encoder.layer.{layer}"
        *parts, stream = Fork.apply(x, 4, a)
        q, k, v = (linear(h, f"{block}.attention.self.{n}") for h, n in zip(parts, ("query", "key", "value")))
        h = linear(attend(q, k, v, length, heads, False, a), f"{block}.attention.output.dense")
        x = norm(Residual.apply(h, stream, a), f"{block}.attention.output.LayerNorm")
        h, stream = Fork.apply(x, 2, a)
        h = Gelu.apply(linear(h, f"{block}.intermediate.dense"), False, a)
        x = norm(Residual.apply(linear(h, f"{block}.output.dense"), stream, a), f"{block}.output.LayerNorm")
    rows = (torch.arange(len(places))[:, None] * length + places).flatten()
    h = Gelu.apply(linear(x[rows], "cls.predictions.transform.dense"), False, a)
    h = norm(Wide.apply(h, a), "cls.predictions.transform.LayerNorm")
    return Dense.apply(Low.apply(h, a), table, p["cls.predictions.bias"], a)


def step(forward, weights, wanted, precision, noise=None):
    """One step of forward(p, a) -> logits of the tokens `wanted`."""
    a = Arithmetic(precision.low, noise, precision.low_weights)
    p = task_reference._leaves(weights, precision, a)
    logits = forward(p, a)
    return task_reference._finished(CrossEntropy.apply(logits, wanted, a), p, precision, a, [], logits)


def gpt2_module(words, width, layers, heads, positions, feed_forward=None):
    from transformers import GPT2Config, GPT2LMHeadModel
    return GPT2LMHeadModel(GPT2Config(
        vocab_size=words, n_positions=positions, n_embd=width, n_layer=layers, n_head=heads, n_inner=feed_forward,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False, bos_token_id=None, eos_token_id=None))


def bert_module(words, width, layers, heads, positions, feed_forward=None):
    from transformers import BertConfig, BertForMaskedLM
    return BertForMaskedLM(BertConfig(
        vocab_size=words, hidden_size=width, num_hidden_layers=layers, num_attention_heads=heads,
        intermediate_size=feed_forward or 4 * width, max_position_embeddings=positions, hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0, pad_token_id=None))


def masked_count(tokens):
    return max(1, (15 * tokens + 50) // 100)


def masked(tokens, mask, position, seed, epoch=None):
    """The engine's masks (tasks/word_masking.h) on windows (samples, length), the first of which has `position` tokens of its
    epoch before it; no epoch: those of an evaluation. The masked tokens and the chosen places (samples, n), in order."""
    shown, places, count = tokens.clone(), [], masked_count(tokens.shape[1])
    substream = 0xFFFFFFFF if epoch is None else epoch
    for row, window in enumerate(shown):
        first = (position + row * len(window)) * 3
        drawn = first + 3 * numpy.arange(count)
        left = list(range(len(window)))
        swaps = philox.bounded(drawn, len(window) - numpy.arange(count), seed, philox.TASK, substream)
        for i, at in enumerate(swaps):
            left[i], left[i + at] = left[i + at], left[i]
        chosen = torch.tensor(sorted(left[:count]))
        fate = torch.from_numpy(philox.bounded(drawn + 1, 10, seed, philox.TASK, substream))
        other = torch.from_numpy(philox.bounded(drawn + 2, mask, seed, philox.TASK, substream))
        window[chosen] = torch.where(fate < 8, torch.full_like(other, mask), torch.where(fate == 8, other, window[chosen]))
        places.append(chosen)
    return shown, torch.stack(places)
