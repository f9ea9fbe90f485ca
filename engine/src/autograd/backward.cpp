#include "autograd/backward.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "autograd/accumulate.h"
#include "engine/base/error.h"
#include "tensor/cast.h"
#include "tensor/gradient_shortcuts.h"
#include "tensor/observer.h"
#include "tensor/tape_detail.h"

namespace engine {
namespace {

std::atomic<std::uint64_t> next_pass{1};

bool later(const Node* a, const Node* b) { return a->sequence() < b->sequence(); }

/// One backward pass over the part of the graph that the roots reach.
class Pass {
public:
    explicit Pass(const BackwardOptions& options)
        : options_(options), id_(next_pass.fetch_add(1, std::memory_order_relaxed)) {}
    ~Pass() {
        for (auto& kept : outer_) {
            Node& node = *kept.node;
            node.pass = kept.pass;
            node.pending = kept.pending;
            node.needed = kept.needed;
            node.buffer = std::move(kept.buffer);
        }
    }
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;

    void add_root(const Tensor& output, const Tensor& gradient) {
        const Edge edge = detail::make_edge(output);
        if (!edge.node) {
            throw Error(ErrorCode::state,
                        "backward: the output does not require a gradient, so there is no graph",
                        "Set requires_grad on a leaf before the forward pass.");
        }
        visit(edge.node.get());
        give(*edge.node, edge.output, gradient.defined() ? gradient : one_like(output));
        roots_.push_back(edge.node);
    }

    /// Only paths to these are followed, and their gradients are kept instead of given to leaves.
    void capture(std::span<const Tensor> inputs) {
        captured_.resize(inputs.size());
        for (const auto& input : inputs) wanted_.push_back(detail::make_edge(input));
        capturing_ = true;
    }

    TensorList run() {
        count();
        std::vector<Node*> ready;
        ready.reserve(usual_depth);
        for (auto& root : roots_) {
            if (root->pending == 0 &&
                std::find(ready.begin(), ready.end(), root.get()) == ready.end()) {
                ready.push_back(root.get());
            }
        }
        std::make_heap(ready.begin(), ready.end(), later);
        while (!ready.empty()) {
            std::pop_heap(ready.begin(), ready.end(), later);
            Node* node = ready.back();
            ready.pop_back();
            step(*node, ready);
        }
        return std::move(captured_);
    }

private:
    static constexpr std::size_t usual_depth = 32;  // of small networks' graphs

    static Tensor one_like(const Tensor& output) {
        if (output.numel() != 1) {
            throw Error(ErrorCode::shape,
                        "backward: the output has shape " + to_string(output.shape()) +
                            "; only a one-element output needs no gradient given");
        }
        return Tensor::full(output.shape(), 1.0, output.dtype(), output.device());
    }

    /// Resets the scratch of a node seen for the first time in this pass. True then.
    bool visit(Node* node) {
        if (node->pass == id_) return false;
        if (detail::backward_depth() > 1) {
            outer_.push_back({node->shared_from_this(), node->pass, node->pending, node->needed,
                              std::move(node->buffer)});
        }
        node->pass = id_;
        node->pending = 0;
        node->needed = !capturing_;
        node->buffer.clear();
        node->buffer.resize(node->outputs.size());
        return true;
    }

    void count() {
        std::vector<Node*> stack, order;
        stack.reserve(usual_depth);
        order.reserve(usual_depth);
        const auto push = [&](Node* node) {
            stack.push_back(node);
            order.push_back(node);
        };
        for (auto& root : roots_) {
            if (std::find(order.begin(), order.end(), root.get()) == order.end()) push(root.get());
        }
        while (!stack.empty()) {
            Node* node = stack.back();
            stack.pop_back();
            for (const auto& edge : node->edges) {
                if (!edge.node) continue;
                if (visit(edge.node.get())) push(edge.node.get());
                ++edge.node->pending;
            }
        }
        if (capturing_) mark_needed(order);
    }

    /// A node is needed if one of the inputs to be captured can be reached through it.
    void mark_needed(std::vector<Node*>& order) {
        for (const auto& edge : wanted_) {
            if (edge.node && edge.node->pass == id_) edge.node->needed = true;
        }
        std::sort(order.begin(), order.end(),
                  [](Node* a, Node* b) { return a->sequence() < b->sequence(); });
        for (Node* node : order) {
            for (const auto& edge : node->edges) {
                if (edge.node && edge.node->needed) node->needed = true;
            }
        }
    }

    /// A gradient of the type and shape that the output had. That of a leaf may stay in 16 bits
    /// where the caller allows it (LowGradients), but for those that are returned.
    Tensor fitted(const Node& node, std::uint32_t output, const Tensor& gradient) const {
        const OutputMeta& meta = node.outputs[output];
        if (!(gradient.shape() == meta.shape)) {
            throw Error(ErrorCode::shape, std::string(node.info().name) + ": a gradient of shape " +
                                              to_string(gradient.shape()) +
                                              " came for an output of shape " +
                                              to_string(meta.shape));
        }
        const bool stays = gradient.dtype() == meta.dtype ||
                           (node.leaf && !capturing_ && takes_low_gradient(*node.leaf, gradient));
        return stays ? gradient : cast_gradient(gradient, meta.dtype);
    }

    void give(Node& node, std::uint32_t output, const Tensor& gradient) {
        if (!gradient.defined()) return;
        Tensor& slot = node.buffer[output];
        Tensor fit = fitted(node, output, gradient);
        if (!slot.defined()) {
            slot = std::move(fit);
            return;
        }
        const DType type = node.outputs[output].dtype;
        if (is_pair(node)) {
            slot = sum_of_gradients(slot, node.buffer.back(), type);
            node.buffer.pop_back();
        }
        if (stays_pair(node, slot, fit))
            node.buffer.push_back(std::move(fit));
        else
            slot = sum_of_gradients(slot, fit, type);
    }

    /// Whether the node's gradient function is given both and adds them itself. Only where the sum
    /// is neither recorded nor seen.
    bool stays_pair(const Node& node, const Tensor& first, const Tensor& second) const {
        if (capturing_ || grad_enabled() || !takes_pair(node)) return false;
        if (!detail::pair_is_allowed(node.info()) || has_hooks(node)) return false;
        return !first.is_sparse() && !second.is_sparse();
    }
    static bool has_hooks(const Node& node) {
        const auto output = node.hooked.lock();
        return output && !output->hooks.empty();
    }
    /// A second gradient lies behind those of the outputs.
    static bool is_pair(const Node& node) { return node.buffer.size() > node.outputs.size(); }

    void keep_captured(const Node& node) {
        for (std::size_t i = 0; i < wanted_.size(); ++i) {
            if (wanted_[i].node.get() == &node) captured_[i] = node.buffer[wanted_[i].output];
        }
    }

    void step(Node& node, std::vector<Node*>& ready) {
        const auto alive = node.shared_from_this();
        const ModuleScope opened(node.module());
        TensorList gradients;
        const bool any = std::any_of(node.buffer.begin(), node.buffer.end(),
                                     [](const Tensor& t) { return t.defined(); });
        if (capturing_) keep_captured(node);
        if (any && node.needed && !(capturing_ && node.leaf)) gradients = apply(node);
        node.buffer.clear();
        for (std::size_t i = 0; i < node.edges.size(); ++i) {
            Node* next = node.edges[i].node.get();
            if (!next) continue;
            if (i < gradients.size() && next->needed)
                give(*next, node.edges[i].output, gradients[i]);
            if (--next->pending == 0) {
                ready.push_back(next);
                std::push_heap(ready.begin(), ready.end(), later);
            }
        }
        if (!options_.retain_graph && !node.leaf && any && node.needed) release(node);
    }

    /// A cast whose input, a leaf, takes the gradient of the output as it is (LowGradients).
    bool passes_on(const Node& node) const {
        if (capturing_ || &node.info() != &cast_info) return false;
        const Edge& edge = node.edges.front();
        return edge.node && edge.node->leaf &&
               takes_low_gradient(*edge.node->leaf, node.buffer.front());
    }
    /// Whether observers see the node's gradients: not those that stay in the leaf's grad as they
    /// are, neither at the cast that passes them on nor at the leaf.
    bool is_seen(const Node& node) const {
        if (node.leaf) return node.buffer.front().dtype() == node.leaf->dtype;
        return !passes_on(node);
    }

    TensorList apply(Node& node) {
        if (detail::gradients_are_observed() && is_seen(node) && !is_pair(node)) {
            for (const auto& gradient : node.buffer) detail::show_gradient(node.info(), gradient);
        }
        if (const auto output = node.hooked.lock()) {
            for (const auto& hook : output->hooks) hook(node.buffer[0]);
        }
        if (!node.leaf) return passes_on(node) ? TensorList(node.buffer) : node.apply(node.buffer);
        accumulate(node.leaf, node.buffer[0]);
        return {};
    }

    /// Frees the saved tensors; edges stay for the walk in progress. A node that saved nothing
    /// stays usable, so a later pass may run through it again: the shared weight cast of an
    /// autocast region, or the trunk below two losses.
    static void release(Node& node) {
        if (node.saves.empty()) return;
        node.saves.clear();
        node.released = true;
    }

    /// Scratch of a pass that this one runs inside of (recomputation): both may meet at a leaf.
    struct Outer {
        std::shared_ptr<Node> node;
        std::uint64_t pass;
        std::int32_t pending;
        bool needed;
        TensorList buffer;
    };

    BackwardOptions options_;
    std::uint64_t id_;
    std::vector<Outer> outer_;
    bool capturing_ = false;
    std::vector<std::shared_ptr<Node>> roots_;
    std::vector<Edge> wanted_;
    TensorList captured_;
};

TensorList run_pass(std::span<const Tensor> outputs, std::span<const Tensor> grads,
                    std::span<const Tensor> inputs, BackwardOptions options) {
    options.retain_graph = options.retain_graph || options.create_graph;
    const GradMode mode(options.create_graph);
    const detail::BackwardScope scope(!options.retain_graph);
    Pass pass(options);
    if (!inputs.empty()) pass.capture(inputs);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        pass.add_root(outputs[i], i < grads.size() ? grads[i] : Tensor());
    }
    return pass.run();
}

}  // namespace

void backward(std::span<const Tensor> outputs, std::span<const Tensor> grads,
              const BackwardOptions& options) {
    run_pass(outputs, grads, {}, options);
}

TensorList grad(std::span<const Tensor> outputs, std::span<const Tensor> inputs,
                std::span<const Tensor> grad_outputs, const BackwardOptions& options,
                bool allow_unused) {
    for (const auto& input : inputs) {
        if (!input.requires_grad())
            throw Error(ErrorCode::state, "grad: an input does not require a gradient");
    }
    TensorList found = run_pass(outputs, grad_outputs, inputs, options);
    for (const auto& gradient : found) {
        if (!gradient.defined() && !allow_unused) {
            throw Error(ErrorCode::state, "grad: an input has no part in the outputs",
                        "Pass allow_unused.");
        }
    }
    return found;
}

}  // namespace engine
