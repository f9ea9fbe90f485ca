

class Recurrent(nn.Module):
    """LSTM, GRU or plain RNN with PyTorch's names. Products are rounded once, gates are FP32, states are rounded."""

    GATES = {"lstm": 4, "gru": 3, "rnn-tanh": 1, "rnn-relu": 1}

    def __init__(self, weights, cell, p, masks):
        super().__init__()
        self.cell, self.p, self.masks = cell, p, masks
        self.layers = sum(name.startswith("rnn.weight_hh_l") for name in weights)
        for name, weight in weights.items():
            if name.startswith("rnn."):
                self.register_parameter(name.removeprefix("rnn."), nn.Parameter(torch.empty_like(weight)))

    def step(self, gx, gh, h, c):
        if self.cell == "lstm":
            i, f, g, o = (gx + gh).chunk(4, 1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            return torch.sigmoid(o) * torch.tanh(c), c
        if self.cell == "gru":
            (xr, xz, xn), (hr, hz, hn) = gx.chunk(3, 1), gh.chunk(3, 1)
            n = torch.tanh(xn + torch.sigmoid(xr + hr) * hn)
            return n + torch.sigmoid(xz + hz) * (h - n), c
        return (torch.tanh if self.cell == "rnn-tanh" else torch.relu)(gx + gh), c

    def run(self, x, h, c, *params):
        """A layer: x (window, streams, in). All of one type."""
        dtype = x.dtype
        w_ih, w_hh, b_ih, b_hh = (param.float() for param in params)
        gx = rounded(F.linear(x.float(), w_ih, b_ih), dtype)
        h, c, out = h.float(), c.float(), []
        for row in gx:
            gh = rounded(F.linear(h, w_hh, b_hh), dtype)
            h, c = self.step(row, gh, h, c)
            h, c = rounded(h, dtype), rounded(c, dtype)
            out.append(h)
        return torch.stack(out).to(dtype), h.to(dtype), c.to(dtype)

    def forward(self, x, state):
        """x (window, streams, in) and the state that the window begins with, or none: outputs and the new state."""
        first = self.masks.take((self.layers - 1) * x.shape[0] * x.shape[1] * self.hidden) if self.p else 0
        last = []
        for layer in range(self.layers):
            params = [getattr(self, f"{name}_l{layer}") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
            zero = x.new_zeros(x.shape[1], self.hidden)
            h = state[0][layer].to(x.dtype) if state else zero
            c = state[1][layer].to(x.dtype) if len(state) > 1 else zero
            name = self.cell.replace("-", "_")
            x, *new = self.casting.call(name, "low", self.run, (x, h, c, *params), composed=True)
            last.append(new)
            if self.p and layer + 1 < self.layers:
                x = dropout(x, self.p, self.masks, first)
                first += x.numel()
        return x, [torch.stack(part).detach().float() for part in zip(*last)]

    @property
    def hidden(self):
        return self.weight_hh_l0.shape[1]


class RnnLm(nn.Module):
    def __init__(self, weights, masks):
        super().__init__()
        self.encoder = nn.Embedding(*weights["encoder.weight"].shape)
        self.drop = Dropped(OPTIONS["dropout"], masks)
        self.rnn = Recurrent(weights, OPTIONS["cell"], OPTIONS["dropout"], masks)
        self.decoder = nn.Linear(self.rnn.hidden, len(self.encoder.weight))
        if OPTIONS["tied"]:
            self.decoder.weight = self.encoder.weight

    def forward(self, tokens, *state):
        x, self.state = self.rnn(self.drop(self.encoder(tokens.t().contiguous())), state)
        return self.decoder(self.drop(x).flatten(0, 1))


class Attention(nn.Module):
    """Heads over rows (rows, width), sample after sample."""

    def attend(self, q, k, v, tokens, heads, is_causal):
        p, masks = OPTIONS["dropout"], self.masks

        def run(*parts):
            split = [part.reshape(-1, tokens, heads, part.shape[1] // heads).transpose(1, 2) for part in parts]
            return attention(*split, is_causal, p, masks).transpose(1, 2).reshape(q.shape)

        return self.casting.call("scaled_dot_product_attention", "low", run, (q, k, v), composed=True)


class Conv1D(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.empty(inputs, outputs)), nn.Parameter(torch.empty(outputs))

    def forward(self, x):
        return torch.addmm(self.bias, x, self.weight)


class GptAttention(Attention):
    def __init__(self, width, masks):
        super().__init__()
        self.masks = masks
        self.c_attn, self.c_proj = Conv1D(width, 3 * width), Conv1D(width, width)
        self.resid_dropout = Dropped(OPTIONS["dropout"], masks)

    def forward(self, x, tokens):
        y = self.attend(*self.c_attn(x).chunk(3, 1), tokens, OPTIONS["heads"], True)
        return self.resid_dropout(self.c_proj(y))


class GptMlp(nn.Module):
    def __init__(self, width, inner, masks):
        super().__init__()
        self.c_fc, self.c_proj = Conv1D(width, inner), Conv1D(inner, width)
        self.act, self.dropout = nn.GELU(approximate="tanh"), Dropped(OPTIONS["dropout"], masks)

    def forward(self, x):
        return self.dropout(self.c_proj(self.act(self.c_fc(x))))


class GptBlock(nn.Module):
    def __init__(self, width, inner, masks):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn, self.mlp = GptAttention(width, masks), GptMlp(width, inner, masks)

    def forward(self, x, tokens):
        x = self.attn(self.ln_1(x), tokens) + x
        return self.mlp(self.ln_2(x)) + x


class Gpt(nn.Module):
    """GPT-2 under its names."""

    def __init__(self, weights, masks):
        super().__init__()
        words, width = weights["transformer.wte.weight"].shape
        inner = weights["transformer.h.0.mlp.c_fc.weight"].shape[1]
        blocks = sum(name.endswith(".ln_1.weight") for name in weights)
        self.transformer = nn.Module()
        self.transformer.wte = nn.Embedding(words, width)
        self.transformer.wpe = nn.Embedding(*weights["transformer.wpe.weight"].shape)
        self.transformer.drop = Dropped(OPTIONS["dropout"], masks)
        self.transformer.h = nn.ModuleList(GptBlock(width, inner, masks) for _ in range(blocks))
        self.transformer.ln_f = nn.LayerNorm(width)
        self.lm_head = nn.Linear(width, words, bias=False)
        self.lm_head.weight = self.transformer.wte.weight

    def forward(self, tokens):
        parts, (samples, window) = self.transformer, tokens.shape
        x = parts.wte(tokens) + parts.wpe.weight[:window]
        x = parts.drop(x.reshape(samples * window, -1))
        for block in parts.h:
            x = block(x, window)
        return self.lm_head(parts.ln_f(x))


class BertResidual(nn.Module):
    def __init__(self, inputs, width, masks):
        super().__init__()
        self.dense, self.LayerNorm = nn.Linear(inputs, width), nn.LayerNorm(width, eps=1e-12)
        self.dropout = Dropped(OPTIONS["dropout"], masks)

    def forward(self, x, around):
        return self.LayerNorm(self.dropout(self.dense(x)) + around)


class BertSelf(Attention):
    def __init__(self, width, masks):
        super().__init__()
        self.masks = masks
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))

    def forward(self, x, tokens):
        return self.attend(self.query(x), self.key(x), self.value(x), tokens, OPTIONS["heads"], False)


class BertBlock(nn.Module):
    def __init__(self, width, inner, masks):
        super().__init__()
        self.attention = nn.Module()
        self.attention.self = BertSelf(width, masks)
        self.attention.output = BertResidual(width, width, masks)
        self.intermediate = nn.Module()
        self.intermediate.dense = nn.Linear(width, inner)
        self.output = BertResidual(inner, width, masks)

    def forward(self, x, tokens):
        x = self.attention.output(self.attention.self(x, tokens), x)
        return self.output(F.gelu(self.intermediate.dense(x)), x)


class Bert(nn.Module):
    """BertForMaskedLM under its names; a window is plain text, nothing is padding."""

    def __init__(self, weights, masks):
        super().__init__()
        words, width = weights["bert.embeddings.word_embeddings.weight"].shape
        inner = weights["bert.encoder.layer.0.intermediate.dense.weight"].shape[0]
        blocks = sum(name.endswith(".intermediate.dense.weight") for name in weights)
        self.bert = nn.Module()
        tables = self.bert.embeddings = nn.Module()
        for name in ("word", "position", "token_type"):
            shape = weights[f"bert.embeddings.{name}_embeddings.weight"].shape
            setattr(tables, f"{name}_embeddings", nn.Embedding(*shape))
        tables.LayerNorm = nn.LayerNorm(width, eps=1e-12)
        tables.dropout = Dropped(OPTIONS["dropout"], masks)
        self.bert.encoder = nn.Module()
        self.bert.encoder.layer = nn.ModuleList(BertBlock(width, inner, masks) for _ in range(blocks))
        head = nn.Module()
        head.bias = nn.Parameter(torch.empty(words))
        head.transform = nn.Module()
        head.transform.dense, head.transform.LayerNorm = nn.Linear(width, width), nn.LayerNorm(width, eps=1e-12)
        head.decoder = nn.Linear(width, words)
        head.decoder.weight, head.decoder.bias = tables.word_embeddings.weight, head.bias
        self.cls = nn.Module()
        self.cls.predictions = head

    def forward(self, tokens, places):
        tables, (samples, window) = self.bert.embeddings, tokens.shape
        x = tables.word_embeddings(tokens) + tables.token_type_embeddings.weight[:1]
        x = x + tables.position_embeddings.weight[:window]
        x = tables.dropout(tables.LayerNorm(x.reshape(samples * window, -1)))
        for block in self.bert.encoder.layer:
            x = block(x, window)
        head = self.cls.predictions
        x = x[(torch.arange(samples, device=x.device)[:, None] * window + places).flatten()]
        return head.decoder(head.transform.LayerNorm(F.gelu(head.transform.dense(x))))
