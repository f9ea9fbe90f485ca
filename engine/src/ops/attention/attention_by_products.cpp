#include "autograd/backward.h"
#include "ops/attention/attention_parts.h"

namespace engine::detail {
namespace {

const OpInfo operand_info{"attention_operand", CastPolicy::none, "attention_operand(x)", 2,
                          "It is in the op's type already."};

/// x as a node of its own in the graph, at which a backward pass may stop.
Tensor stop_at(const Tensor& x) {
    return record(operand_info, {x}, x.detach(), {},
                  [](const Tensor& dx, const Saved&) { return dx; });
}

}  // namespace

TensorList gradients_by_products(const Tensor& dy, const Saved& saved,
                                 const AttentionOptions& options) {
    const bool recorded = grad_enabled();
    Tensor inputs[3];
    TensorList wanted;
    for (int i = 0; i < 3; ++i) {
        if (!saved.needs_gradient(i)) {
            inputs[i] = saved[i].detach();
            continue;
        }
        inputs[i] = recorded ? stop_at(saved[i]) : saved[i].detach().set_requires_grad(true);
        wanted.push_back(inputs[i]);
    }
    const auto& [q, k, v] = inputs;
    Tensor y;
    {
        const GradMode on(true);
        y = attend(q, repeated_heads(k, q), repeated_heads(v, q), {}, options,
                   {q.size(0), q.size(1)})
                .y;
    }
    const TensorList found =
        grad({&y, 1}, wanted, {&dy, 1}, {.create_graph = recorded}, /*allow_unused=*/false);
    TensorList out(3);
    for (std::size_t i = 0, next = 0; i < 3; ++i)
        if (saved.needs_gradient(static_cast<int>(i))) out[i] = found[next++];
    return out;
}

}  // namespace engine::detail
