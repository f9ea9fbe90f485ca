#pragma once

#include "tensor/op.h"

namespace engine {

/// Sees the gradients of a backward pass on the thread that it is attached to, each before it is
/// used, but no operation: operations run as if nobody watched.
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

/// Attaches an observer to this thread while it lives, in the place of one before it; null: none.
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
/// Shows the gradient to them, unless it is undefined or sparse.
void show_gradient(const OpInfo& to, const Tensor& gradient);
}  // namespace detail

}  // namespace engine
