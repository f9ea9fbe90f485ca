#pragma once

#include <initializer_list>
#include <span>

#include "tensor/op.h"

namespace engine {

/// One op as it ran, for X-ray, histograms and skips (decisions.md#observers, D9).
struct OpEvent {
    const Op* info;
    std::span<const Tensor> inputs;  // as the op used them, after casts
    std::span<const Tensor> outputs;
    bool in_backward;
};

/// Observes operations and gradients of the thread that it is attached to. Without an observer an op
/// pays one branch. current_module() (tensor/module_scope.h) is the module that an event belongs to.
class OpObserver {
public:
    virtual ~OpObserver() = default;
    /// False: it sees gradients alone.
    virtual bool sees_ops() const { return true; }
    virtual void on_op(const OpEvent&) {}
    /// A gradient of an output of `to` in a backward pass, before it is used. Not called for
    /// undefined and sparse ones, nor for one that a leaf takes in another type than its own
    /// (LowGradients).
    virtual void on_gradient(const Op& /*to*/, const Tensor&) {}
    /// Whether the gradient function of `to` may add up two gradients of its output itself
    /// (PairedGradFn). on_gradient is called for neither of them then, nor for their sum. Never
    /// where one sees operations.
    virtual bool allows_pair(const Op& /*to*/) const { return false; }
};

/// Attaches an observer to this thread while it lives. Several may be attached.
class ObserverScope {
public:
    explicit ObserverScope(OpObserver& observer);
    ~ObserverScope();
    ObserverScope(const ObserverScope&) = delete;
    ObserverScope& operator=(const ObserverScope&) = delete;

private:
    OpObserver* observer_;
};

namespace detail {
extern constinit thread_local bool observed;  // the one branch
extern constinit thread_local bool gradients_observed;
void notify(const OpEvent& event);

/// Whether this thread has an observer.
inline bool gradients_are_observed() noexcept { return gradients_observed; }
/// Whether every observer allows a sum of two gradients of `to`'s output to go unobserved.
bool pair_is_allowed(const Op& to);
/// Passes the gradient to all observers, unless it is undefined or sparse.
void show_gradient(const Op& to, const Tensor& gradient);
}  // namespace detail

/// Shows an operation that a kernel for several computed along with others, as if it had run alone.
void show_part(const Op& part, std::initializer_list<Tensor> inputs, const Tensor& output);

}  // namespace engine
