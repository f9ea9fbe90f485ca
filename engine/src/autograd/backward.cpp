#include "autograd/backward.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "autograd/accumulate.h"
#include "autograd/shown_parts.h"
#include "engine/base/error.h"
#include "tensor/cast.h"
#include "tensor/gradient_shortcuts.h"
#include "tensor/observer.h"
#include "tensor/tape_detail.h"

namespace engine {
namespace {

std::atomic<std::uint64_t> next_pass{1};

bool later(const Node* a, const Node* b) { return a->sequence() < b->sequence(); }

/// The gradients of nodes on their way through a pass: added up as they come, shown to observers,
/// given to the gradient functions. Three shortcuts stand behind this interface, each with the same
/// numbers (tensor/gradient_shortcuts.h): a sum that a gradient function computes itself, a leaf's
/// gradient that stays in 16 bits, and a cast that passes such a gradient on. `returned`: gradients
/// of chosen inputs are handed out instead of left in the leaves, and take no shortcut.
class NodeGradients {
public:
    explicit NodeGradients(bool returned) : returned_(returned) {}

    void give(Node& node, std::uint32_t output, const Tensor& gradient) const {
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

    /// The gradients of the node's inputs; a leaf keeps its own.
    TensorList apply(Node& node) const {
        // A gradient that is added to an earlier one does not stay in 16 bits.
        if (node.leaf && node.leaf->grad)
            node.buffer[0] = late_cast(node.buffer[0], node.leaf->dtype);
        if (detail::gradients_are_observed()) show(node);
        if (const auto output = node.hooked.lock()) {
            for (const auto& hook : output->hooks) hook(node.buffer[0]);
        }
        if (!node.leaf) return passes_on(node) ? TensorList(node.buffer) : node.apply(node.buffer);
        accumulate(node.leaf, node.buffer[0]);
        return {};
    }

private:
    /// A gradient of the type and shape that the output had. That of a leaf may stay in 16 bits
    /// where the caller allows it (LowGradients).
    Tensor fitted(const Node& node, std::uint32_t output, const Tensor& gradient) const {
        const OutputMeta& meta = node.outputs[output];
        if (!(gradient.shape() == meta.shape)) {
            throw Error(ErrorCode::shape, std::string(node.info().name) + ": a gradient of shape " +
                                              to_string(gradient.shape()) +
                                              " came for an output of shape " +
                                              to_string(meta.shape));
        }
        const bool stays = gradient.dtype() == meta.dtype ||
                           (node.leaf && !returned_ && takes_low_gradient(*node.leaf, gradient));
        return stays ? gradient : cast_gradient(gradient, meta.dtype);
    }

    /// Whether the node's gradient function is given both and adds them itself. Only where the sum
    /// is not recorded.
    bool stays_pair(const Node& node, const Tensor& first, const Tensor& second) const {
        if (returned_ || grad_enabled() || !takes_pair(node)) return false;
        const auto output = node.hooked.lock();
        if (!detail::pair_is_allowed(node.info()) || (output && !output->hooks.empty()))
            return false;
        return !first.is_sparse() && !second.is_sparse();
    }
    /// A second gradient lies behind those of the outputs.
    static bool is_pair(const Node& node) { return node.buffer.size() > node.outputs.size(); }

    /// A cast whose input, a leaf, takes the gradient of the output as it is (LowGradients).
    bool passes_on(const Node& node) const {
        if (returned_ || &node.info() != &cast_op) return false;
        const Edge& edge = node.edges.front();
        return edge.node && edge.node->leaf &&
               takes_low_gradient(*edge.node->leaf, node.buffer.front());
    }
    /// Whether all observers see the node's gradients: not the two of a pair, nor those that stay
    /// in the leaf's grad as they are, neither at the cast that passes them on nor at the leaf.
    bool is_seen(const Node& node) const {
        if (node.leaf) return node.buffer.front().dtype() == node.leaf->dtype;
        return !is_pair(node) && !passes_on(node);
    }
    /// Shows observers the node's gradients. To those of operations alone also what a shortcut
    /// leaves out, aside: the sum of a pair, and the cast of a leaf's gradient.
    void show(const Node& node) const {
        if (is_seen(node)) {
            std::optional<AudienceScope> unseen;
            if (shows_parts(node)) unseen.emplace(Audience::gradients_alone);
            for (const auto& gradient : node.buffer) detail::show_gradient(node.info(), gradient);
        } else if (operations_are_observed() && !passes_on(node)) {
            const AudienceScope aside(Audience::aside);
            const Tensor& first = node.buffer.front();
            const DType type = node.outputs.front().dtype;
            detail::show_gradient(node.info(),
                                  is_pair(node) ? sum_of_gradients(first, node.buffer.back(), type)
                                                : late_cast(first, type));
        }
    }

    bool returned_;
};

/// The part of the graph that the roots of a pass reach: counts the uses of each node, marks those
/// that chosen inputs depend on, and hands out the nodes whose uses are all done, the one that was
/// recorded last first.
class ReachedGraph {
public:
    ReachedGraph() : id_(next_pass.fetch_add(1, std::memory_order_relaxed)) {}
    ~ReachedGraph() {
        for (auto& kept : outer_) {
            Node& node = *kept.node;
            node.pass = kept.pass;
            node.pending = kept.pending;
            node.needed = kept.needed;
            node.buffer = std::move(kept.buffer);
        }
    }
    ReachedGraph(const ReachedGraph&) = delete;
    ReachedGraph& operator=(const ReachedGraph&) = delete;

    /// Resets the scratch of a node seen for the first time in this pass. True then.
    bool visit(Node* node) {
        if (node->pass == id_) return false;
        if (detail::backward_depth() > 1) {
            outer_.push_back({node->shared_from_this(), node->pass, node->pending, node->needed,
                              std::move(node->buffer)});
        }
        node->pass = id_;
        node->pending = 0;
        node->needed = false;
        node->buffer.clear();
        node->buffer.resize(node->outputs.size());
        return true;
    }

    /// `wanted`: inputs whose gradients alone are needed; none: all are.
    void start(const std::vector<std::shared_ptr<Node>>& roots, const std::vector<Edge>& wanted) {
        std::vector<Node*> stack, order;
        stack.reserve(usual_depth);
        order.reserve(usual_depth);
        const auto push = [&](Node* node) {
            stack.push_back(node);
            order.push_back(node);
        };
        for (auto& root : roots) {
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
        mark_needed(order, wanted);
        ready_.reserve(usual_depth);
        for (auto& root : roots) {
            if (root->pending == 0 &&
                std::find(ready_.begin(), ready_.end(), root.get()) == ready_.end()) {
                ready_.push_back(root.get());
            }
        }
        std::make_heap(ready_.begin(), ready_.end(), later);
    }
    /// Null: there is none left.
    Node* next() {
        if (ready_.empty()) return nullptr;
        std::pop_heap(ready_.begin(), ready_.end(), later);
        Node* const node = ready_.back();
        ready_.pop_back();
        return node;
    }
    /// One of the node's uses is done.
    void used(Node& node) {
        if (--node.pending != 0) return;
        ready_.push_back(&node);
        std::push_heap(ready_.begin(), ready_.end(), later);
    }

private:
    static constexpr std::size_t usual_depth = 32;  // of small networks' graphs

    /// A node is needed if one of the wanted inputs can be reached through it.
    void mark_needed(std::vector<Node*>& order, const std::vector<Edge>& wanted) const {
        if (wanted.empty()) {
            for (Node* node : order) node->needed = true;
            return;
        }
        for (const auto& edge : wanted) {
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

    /// Scratch of a pass that this one runs inside of (recomputation): both may meet at a leaf.
    struct Outer {
        std::shared_ptr<Node> node;
        std::uint64_t pass;
        std::int32_t pending;
        bool needed;
        TensorList buffer;
    };

    std::uint64_t id_;
    std::vector<Outer> outer_;
    std::vector<Node*> ready_;
};

/// Frees the saved tensors; edges stay for the walk in progress. A node that saved nothing stays
/// usable, so a later pass may run through it again: the shared weight cast of an autocast region,
/// or the trunk below two losses.
void release(Node& node) {
    if (node.saves.empty()) return;
    node.saves.clear();
    node.released = true;
}

Tensor one_like(const Tensor& output) {
    if (output.numel() != 1) {
        throw Error(ErrorCode::shape, "backward: the output has shape " +
                                          to_string(output.shape()) +
                                          "; only a one-element output needs no gradient given");
    }
    return Tensor::full(output.shape(), 1.0, output.dtype(), output.device());
}

/// One backward pass, from the node that was recorded last to the first.
class Pass {
public:
    /// `inputs`: only paths to these are followed, and their gradients are returned instead of
    /// given to leaves. None: all leaves.
    Pass(bool retain_graph, std::span<const Tensor> inputs)
        : retain_graph_(retain_graph), gradients_(!inputs.empty()), returned_(inputs.size()) {
        for (const auto& input : inputs) wanted_.push_back(detail::make_edge(input));
    }

    void add_root(const Tensor& output, const Tensor& gradient) {
        const Edge edge = detail::make_edge(output);
        if (!edge.node) {
            throw Error(ErrorCode::state,
                        "backward: the output does not require a gradient, so there is no graph",
                        "Set requires_grad on a leaf before the forward pass.");
        }
        graph_.visit(edge.node.get());
        gradients_.give(*edge.node, edge.output, gradient.defined() ? gradient : one_like(output));
        roots_.push_back(edge.node);
    }

    TensorList run() {
        graph_.start(roots_, wanted_);
        while (Node* const node = graph_.next()) step(*node);
        return std::move(returned_);
    }

private:
    void step(Node& node) {
        const auto alive = node.shared_from_this();
        const ModuleScope opened(node.module());
        TensorList gradients;
        const bool any = std::any_of(node.buffer.begin(), node.buffer.end(),
                                     [](const Tensor& t) { return t.defined(); });
        for (std::size_t i = 0; i < wanted_.size(); ++i) {
            if (wanted_[i].node.get() == &node) returned_[i] = node.buffer[wanted_[i].output];
        }
        if (any && node.needed && (wanted_.empty() || !node.leaf))
            gradients = gradients_.apply(node);
        node.buffer.clear();
        for (std::size_t i = 0; i < node.edges.size(); ++i) {
            Node* next = node.edges[i].node.get();
            if (!next) continue;
            if (i < gradients.size() && next->needed)
                gradients_.give(*next, node.edges[i].output, gradients[i]);
            graph_.used(*next);
        }
        if (!retain_graph_ && !node.leaf && any && node.needed) release(node);
    }

    bool retain_graph_;
    NodeGradients gradients_;
    ReachedGraph graph_;
    std::vector<std::shared_ptr<Node>> roots_;
    std::vector<Edge> wanted_;
    TensorList returned_;
};

TensorList run_pass(std::span<const Tensor> outputs, std::span<const Tensor> grads,
                    std::span<const Tensor> inputs, BackwardOptions options) {
    options.retain_graph = options.retain_graph || options.create_graph;
    const GradMode mode(options.create_graph);
    const detail::BackwardScope scope(!options.retain_graph);
    Pass pass(options.retain_graph, inputs);
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
