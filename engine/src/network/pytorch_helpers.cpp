#include "network/pytorch_helpers.h"

#include <functional>
#include <map>

namespace engine::network {
namespace {

/// A recurrent layer that goes on from the batch before; `state` and `detached` say how its state is read.
std::string carrying_class(const std::string& name, const std::string& state, const std::string& detached) {
    return "class Carry" + name + "(nn." + name + R"():
    """Begins with the state with which the batch before ended."""

    state = None

    def forward(self, x):
        state = self.state
        if state is not None and )" + state + R"(.size(1) != x.size(0):
            state = None
        x, state = super().forward(x, state)
        self.state = )" + detached + R"(
        return x, state
)";
}

const std::map<std::string, std::string, std::less<>>& helper_sources() {
    static const std::map<std::string, std::string, std::less<>> sources = {
        {"EmbeddingTables", R"(class EmbeddingTables(nn.ModuleList):
    """A table for each column."""

    def __init__(self, rows, width):
        super().__init__(nn.Embedding(count, width) for count in rows)

    def forward(self, x):
        return torch.stack([table(x[:, i]) for i, table in enumerate(self)], 1)
)"},
        {"Positions", R"(class Positions(nn.Module):
    """A row for each place of a sequence."""

    def __init__(self, context, width):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(context, width))

    def forward(self, x):
        return self.weight[: x.size(1)]
)"},
        {"drop_path", R"(def drop_path(x, p, training):
    """Sets whole samples to 0 while training."""
    if not training or p == 0:
        return x
    kept = torch.rand(x.size(0), *[1] * (x.dim() - 1), device=x.device) >= p
    return x * kept / (1 - p) if p < 1 else x * 0
)"},
        {"DropPath", R"(class DropPath(nn.Module):
    """Sets whole samples to 0 while training."""

    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x):
        return drop_path(x, self.p, self.training)
)"},
        {"CarryLSTM", carrying_class("LSTM", "state[0]", "tuple(each.detach() for each in state)")},
        {"CarryGRU", carrying_class("GRU", "state", "state.detach()")},
        {"CarryRNN", carrying_class("RNN", "state", "state.detach()")},
        {"causal_mask", R"(def causal_mask(queries, keys):
    """True where a place must not look: at those behind it."""
    shape = queries.size(1), keys.size(1)
    return torch.ones(shape, dtype=torch.bool, device=queries.device).triu(1)
)"},
        {"mask_of_heads", R"(def mask_of_heads(mask, queries, keys, num_heads):
    """A mask for each sample and head."""
    mask = mask.expand(queries.size(0), num_heads, queries.size(1), keys.size(1))
    return mask.flatten(0, 1)
)"},
        {"rotary", R"(def rotary(x, base):
    """Turns pairs of features by angles that grow with the place."""
    half = x.size(-1) // 2
    places = torch.arange(x.size(1), device=x.device, dtype=torch.float64)
    pairs = torch.arange(half, device=x.device, dtype=torch.float64)
    angles = torch.outer(places, base ** (-pairs / half))
    angles = angles.view(x.size(1), *[1] * (x.dim() - 3), half)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x.split(half, -1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)
)"},
        {"attention", R"(def attention(q, k, v, num_heads, causal, mask=None):
    """Attention of queries, keys and values with several heads."""
    q, k, v = (x.unflatten(2, (num_heads, -1)).transpose(1, 2) for x in (q, k, v))
    x = F.scaled_dot_product_attention(q, k, v, mask, is_causal=causal)
    return x.transpose(1, 2).flatten(2)
)"}};
    return sources;
}

}  // namespace

std::string_view pytorch_helper(std::string_view name) { return helper_sources().find(name)->second; }

std::vector<std::string> pytorch_helper_names() {
    std::vector<std::string> names;
    for (const auto& each : helper_sources()) names.push_back(each.first);
    return names;
}

}  // namespace engine::network
