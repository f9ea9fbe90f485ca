#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include "tensor/compute_context.h"
#include "tensor/module_scope.h"
#include "tensor/observer.h"
#include "tensor/op.h"
#include "tensor/tensor.h"

namespace engine {

// The tape (decisions.md#op-is-one-free-function, D2). An output owns the node that made it and a
// node never owns its output.

/// Whether ops of this thread record gradients.
inline bool grad_enabled() noexcept { return ComputeContext::of_thread().records; }
/// Sets grad_enabled() of this thread for the object's lifetime.
using GradMode = ContextScope<&ComputeContext::records>;

/// Whether an InferenceMode is alive on this thread.
inline bool inference_mode() noexcept { return ComputeContext::of_thread().infers; }
/// No gradients, and casts are never cached (autocast.md#interplay, 1.7).
class InferenceMode {
    ContextScope<&ComputeContext::infers> infers_{true};
    GradMode no_grad_{false};
};

/// A tensor kept for the gradient: an input or an output. An output is kept outside the graph and
/// joined to its node again when read, since a node must not own its output.
struct Save {
    Tensor tensor;
    std::uint32_t version = 0;
    int output = -1;  // which output; -1: an input
};
Save save(const Tensor& input);
Save save_output(const Tensor& output, int index = 0);

/// The saved tensors, for a gradient function.
class Saved {
public:
    explicit Saved(const Node& node) : node_(node) {}
    /// Saved tensor i. Throws Error(state) naming the op if the tensor was written to since, or was
    /// freed by an earlier backward pass.
    Tensor operator[](int i) const;
    /// Whether input i requires a gradient. The function may leave the others undefined.
    bool needs_gradient(int input) const;

private:
    const Node& node_;
};

/// Maps the gradients of the outputs to those of the inputs, in order. On both sides an undefined
/// tensor stands for zero.
using GradFn = std::function<TensorList(std::span<const Tensor> grads, const Saved& saved)>;
/// A gradient function of one output and one input.
using GradFn1 = std::function<Tensor(const Tensor& grad, const Saved& saved)>;

struct Edge {
    std::shared_ptr<Node> node;
    std::uint32_t output = 0;
};

/// Shape and type that a gradient of an output must have.
struct OutputMeta {
    Shape shape;
    DType dtype;
    Device device;
};

class Node : public std::enable_shared_from_this<Node> {
public:
    /// The node belongs to the module that is open on this thread.
    Node(const Op& info, std::uint64_t sequence)
        : info_(info), sequence_(sequence), module_(current_module_name()) {}
    virtual ~Node();
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;

    const Op& info() const { return info_; }
    std::uint64_t sequence() const { return sequence_; }
    /// The module whose forward pass recorded the node; for a leaf, the first one that used it.
    ModuleName module() const { return module_; }

    std::vector<Edge> edges;  // one per input; null where it requires no gradient
    std::vector<OutputMeta> outputs;
    std::vector<Save> saves;
    GradFn grad_fn;
    std::weak_ptr<TensorImpl> hooked;  // the output whose hooks see its gradient
    bool released = false;             // a backward pass has freed the saves

    /// Gradients by input.
    TensorList apply(std::span<const Tensor> grads) const;
    /// For the node of a leaf: the leaf that accumulates the arriving gradient. Null for an op's
    /// node.
    std::shared_ptr<TensorImpl> leaf;

    // Scratch of one backward pass.
    std::uint64_t pass = 0;
    std::int32_t pending = 0;
    bool needed = false;
    TensorList buffer;

private:
    const Op& info_;
    std::uint64_t sequence_;
    ModuleName module_;
};

/// Records how `output` was computed, and returns it. `inputs` are the tensors as the op used them,
/// after its casts. Only notifies observers if gradient mode is off or no input requires a
/// gradient. Every op calls it; one without a gradient, such as a comparison, passes an empty
/// function.
Tensor record(const Op& info, std::initializer_list<Tensor> inputs, Tensor output,
              std::initializer_list<Save> saves, GradFn1 grad_fn);
Tensor record_many(const Op& info, std::span<const Tensor> inputs, Tensor output,
                   std::initializer_list<Save> saves, GradFn grad_fn);
TensorList record_outputs(const Op& info, std::span<const Tensor> inputs, TensorList outputs,
                          std::vector<Save> saves, GradFn grad_fn);
/// An op without a gradient.
Tensor record_flat(const Op& info, std::span<const Tensor> inputs, Tensor output);

/// True if an op on these inputs must be recorded.
bool any_requires_grad(std::span<const Tensor> inputs);

/// True while this thread runs a backward pass (autograd/backward.h).
inline bool in_backward() noexcept { return ComputeContext::of_thread().backward_depth > 0; }
/// True while this thread recomputes a segment (autograd/checkpoint.h). Side effects of a forward
/// pass, such as running statistics, must be skipped then: the first run made them.
inline bool recomputing() noexcept { return ComputeContext::of_thread().recomputes; }

}  // namespace engine
