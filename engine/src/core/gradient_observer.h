#pragma once

#include "core/tensor.h"

namespace engine {

/// Sees the gradients of a backward pass on the thread that it is attached to, each before it is
/// used, but no operation: operations run as if nobody watched.
class GradientObserver {
public:
    virtual ~GradientObserver() = default;
    /// Of an output of an operation. Not called for undefined and sparse ones.
    virtual void on_gradient(const Tensor& gradient) = 0;
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
}

}  // namespace engine
