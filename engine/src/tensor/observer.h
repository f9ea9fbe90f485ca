#pragma once

#include <initializer_list>
#include <span>

#include "tensor/op.h"

namespace engine {

/// One op as it ran, for X-ray, histograms and skips (decisions.md#observers, D9).
struct OpEvent {
    const OpInfo* info;
    std::span<const Tensor> inputs;  // as the op used them, after casts
    std::span<const Tensor> outputs;
    bool in_backward;
};

/// Observes every op of the thread that it is attached to. Without an observer an op pays one
/// branch. current_module() (tensor/module_scope.h) is the module that an event belongs to.
class OpObserver {
public:
    virtual ~OpObserver() = default;
    virtual void on_op(const OpEvent& event) = 0;
    /// A gradient of an output of `to` in a backward pass, before it is used. Not called for
    /// undefined ones, nor for one that a leaf takes in another type than its own (LowGradients).
    virtual void on_gradient(const OpInfo& to, const Tensor& gradient);
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
extern thread_local bool observed;  // the one branch
void notify(const OpEvent& event);
void notify_gradient(const OpInfo& to, const Tensor& gradient);
}  // namespace detail

/// Shows an operation that a kernel for several computed along with others, as if it had run alone.
void show_part(const OpInfo& part, std::initializer_list<Tensor> inputs, const Tensor& output);

/// Observes the gradients of a backward pass on the thread that it is attached to, each before it
/// is used, but no operation: fusions stay as they are.
class GradientObserver {
public:
    virtual ~GradientObserver() = default;
    /// A gradient of an output of `to`. Not called for undefined and sparse ones, nor for one that
    /// a leaf takes in another type than its own (LowGradients).
    virtual void on_gradient(const OpInfo& to, const Tensor& gradient) = 0;
    /// Whether the gradient function of `to` may add up two gradients of its output itself
    /// (PairedGradFn). on_gradient is called for neither of them then, nor for their sum.
    virtual bool allows_pair(const OpInfo& /*to*/) const { return false; }
};

/// Replaces this thread's gradient observer while it lives; null: none.
class GradientObserverScope {
public:
    explicit GradientObserverScope(GradientObserver* observer) noexcept;
    ~GradientObserverScope();
    GradientObserverScope(const GradientObserverScope&) = delete;
    GradientObserverScope& operator=(const GradientObserverScope&) = delete;

private:
    GradientObserver* before_;
};

namespace detail {
extern constinit thread_local GradientObserver* gradient_observer;

/// Whether this thread has an OpObserver or a GradientObserver.
bool gradients_are_observed() noexcept;
/// Whether every observer allows a sum of two gradients of `to`'s output to go unobserved.
bool pair_is_allowed(const OpInfo& to);
/// Passes the gradient to all observers, unless it is undefined or sparse.
void show_gradient(const OpInfo& to, const Tensor& gradient);
}  // namespace detail

}  // namespace engine
