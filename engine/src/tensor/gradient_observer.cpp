#include "tensor/gradient_observer.h"

#include <utility>

#include "tensor/observer.h"

namespace engine {

namespace detail {
constinit thread_local GradientObserver* gradient_observer = nullptr;

bool gradients_are_observed() noexcept { return observed || gradient_observer != nullptr; }

bool pair_is_allowed(const OpInfo& to) {
    if (observed) return false;
    return gradient_observer == nullptr || gradient_observer->allows_pair(to);
}

void show_gradient(const OpInfo& to, const Tensor& gradient) {
    if (!gradient.defined() || gradient.is_sparse()) return;
    if (observed) notify_gradient(to, gradient);
    if (gradient_observer != nullptr) gradient_observer->on_gradient(to, gradient);
}
}  // namespace detail

GradientObserverScope::GradientObserverScope(GradientObserver* observer) noexcept
    : before_(std::exchange(detail::gradient_observer, observer)) {}
GradientObserverScope::~GradientObserverScope() { detail::gradient_observer = before_; }

}  // namespace engine
