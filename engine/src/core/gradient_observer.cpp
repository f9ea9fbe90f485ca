#include "core/gradient_observer.h"

#include <utility>

namespace engine {

namespace detail {
constinit thread_local GradientObserver* gradient_observer = nullptr;
}

GradientObserverScope::GradientObserverScope(GradientObserver* observer) noexcept
    : before_(std::exchange(detail::gradient_observer, observer)) {}
GradientObserverScope::~GradientObserverScope() { detail::gradient_observer = before_; }

}  // namespace engine
