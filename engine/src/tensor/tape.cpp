#include "tensor/tape.h"

#include <atomic>
#include <limits>
#include <utility>

#include "engine/base/error.h"
#include "tensor/free_list.h"
#include "tensor/tape_detail.h"

namespace engine {

namespace {

std::atomic<std::uint64_t> next_sequence{1};

std::shared_ptr<Node> gradient_accumulator(const std::shared_ptr<TensorImpl>& leaf) {
    if (auto found = leaf->accumulator.lock()) return found;
    // Sequence 0, so that it runs after every op. A leaf with hooks runs as soon as its gradient is
    // complete, so that communication overlaps the rest of the backward pass.
    constexpr auto first = std::numeric_limits<std::uint64_t>::max();
    auto made = std::allocate_shared<Node>(FreeListAllocator<Node>(), detail::accumulate_op,
                                           leaf->hooks.empty() ? 0 : first);
    made->outputs.push_back({leaf->shape, leaf->dtype, leaf->device});
    made->leaf = leaf;
    leaf->accumulator = made;
    return made;
}

}  // namespace

namespace detail {

Edge make_edge(const Tensor& tensor) {
    if (!tensor.requires_grad()) return {};
    const auto& impl = tensor.impl();
    if (impl->node) return {impl->node, impl->output_index};
    return {gradient_accumulator(impl), 0};
}

}  // namespace detail

Save save(const Tensor& input) { return {input, input.defined() ? input.version() : 0, -1}; }
Save save_output(const Tensor& output, int index) {
    return {output.detach(), output.version(), index};
}

Tensor Saved::operator[](int i) const {
    if (node_.released) {
        throw Error(ErrorCode::state,
                    std::string(node_.info().name) +
                        ": a second backward pass over this graph; its saved tensors were freed",
                    "Keep the graph with retain_graph in the first pass.");
    }
    const Save& kept = node_.saves[static_cast<std::size_t>(i)];
    if (kept.tensor.defined() && kept.tensor.version() != kept.version) {
        throw Error(ErrorCode::state,
                    std::string(node_.info().name) +
                        ": a tensor needed for its gradient was changed in place (version " +
                        std::to_string(kept.tensor.version()) + ", saved at " +
                        std::to_string(kept.version) + ")");
    }
    if (kept.output < 0 || !grad_enabled()) return kept.tensor;
    Tensor joined = kept.tensor.detach();
    joined.impl()->node = const_cast<Node&>(node_).shared_from_this();
    joined.impl()->output_index = static_cast<std::uint32_t>(kept.output);
    return joined;
}

bool Saved::needs_gradient(int input) const {
    return static_cast<std::size_t>(input) < node_.edges.size() &&
           node_.edges[static_cast<std::size_t>(input)].node != nullptr;
}

Node::~Node() {
    // A long chain of nodes would otherwise be destroyed by recursion, one stack frame a node.
    thread_local std::vector<std::shared_ptr<Node>>* pending_nodes = nullptr;
    std::vector<std::shared_ptr<Node>> local;
    const bool outermost = pending_nodes == nullptr;
    if (outermost) pending_nodes = &local;
    for (auto& edge : edges) {
        if (edge.node && edge.node.use_count() == 1) pending_nodes->push_back(std::move(edge.node));
    }
    for (auto& kept : saves) {
        const auto& impl = kept.tensor.impl();
        if (impl && impl.use_count() == 1 && impl->node)
            pending_nodes->push_back(std::move(impl->node));
    }
    if (!outermost) return;
    while (!local.empty()) {
        const auto node = std::move(local.back());
        local.pop_back();
    }
    pending_nodes = nullptr;
}

TensorList Node::apply(std::span<const Tensor> grads) const { return grad_fn(grads, Saved(*this)); }

bool any_requires_grad(std::span<const Tensor> inputs) {
    for (const auto& input : inputs) {
        if (input.requires_grad()) return true;
    }
    return false;
}

namespace {

std::shared_ptr<Node> make_node(const Op& info, std::span<const Tensor> inputs,
                                std::span<const Tensor> outputs, std::span<const Save> saves) {
    auto node = std::allocate_shared<Node>(FreeListAllocator<Node>(), info,
                                           next_sequence.fetch_add(1, std::memory_order_relaxed));
    node->edges.reserve(inputs.size());
    for (const auto& input : inputs) node->edges.push_back(detail::make_edge(input));
    node->outputs.reserve(outputs.size());
    for (const auto& output : outputs)
        node->outputs.push_back({output.shape(), output.dtype(), output.device()});
    node->saves.assign(saves.begin(), saves.end());
    return node;
}

void attach(const Tensor& output, const std::shared_ptr<Node>& node, std::uint32_t index) {
    output.impl()->node = node;
    output.impl()->output_index = index;
    if (index == 0) node->hooked = output.impl();
}

}  // namespace

Tensor record(const Op& info, std::initializer_list<Tensor> inputs, Tensor output,
              std::initializer_list<Save> saves, GradFn1 grad_fn) {
    const std::span<const Tensor> in(inputs.begin(), inputs.size());
    if (detail::observed) detail::notify({&info, in, {&output, 1}, in_backward()});
    if (!grad_enabled() || !any_requires_grad(in)) return output;
    auto node = make_node(info, in, {&output, 1}, {saves.begin(), saves.size()});
    node->grad_fn = [fn = std::move(grad_fn)](std::span<const Tensor> grads, const Saved& saved) {
        return TensorList{fn(grads[0], saved)};
    };
    attach(output, node, 0);
    return output;
}

Tensor record_many(const Op& info, std::span<const Tensor> inputs, Tensor output,
                   std::initializer_list<Save> saves, GradFn grad_fn) {
    if (detail::observed) detail::notify({&info, inputs, {&output, 1}, in_backward()});
    if (!grad_enabled() || !any_requires_grad(inputs)) return output;
    auto node = make_node(info, inputs, {&output, 1}, {saves.begin(), saves.size()});
    node->grad_fn = std::move(grad_fn);
    attach(output, node, 0);
    return output;
}

TensorList record_outputs(const Op& info, std::span<const Tensor> inputs, TensorList outputs,
                          std::vector<Save> saves, GradFn grad_fn) {
    if (detail::observed) detail::notify({&info, inputs, outputs, in_backward()});
    if (!grad_enabled() || !any_requires_grad(inputs)) return outputs;
    auto node = make_node(info, inputs, outputs, {});
    node->saves = std::move(saves);
    node->grad_fn = std::move(grad_fn);
    for (std::uint32_t i = 0; i < outputs.size(); ++i) {
        if (is_floating(outputs[i].dtype())) attach(outputs[i], node, i);
    }
    return outputs;
}

Tensor record_flat(const Op& info, std::span<const Tensor> inputs, Tensor output) {
    if (detail::observed) detail::notify({&info, inputs, {&output, 1}, in_backward()});
    return output;
}

}  // namespace engine
