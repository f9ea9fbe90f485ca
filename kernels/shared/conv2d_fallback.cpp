#include "kernels/conv2d_fallback.h"

#include <algorithm>
#include <utility>

namespace kernels {
namespace {

thread_local Conv2dFallbacks* listener = nullptr;

bool alike(const Conv2dFallback& a, const Conv2dFallback& b) {
    Conv2dShape shape = a.shape;
    shape.n = b.shape.n;
    return a.pass == b.pass && a.dtype == b.dtype && shape == b.shape;
}

}  // namespace

void Conv2dFallbacks::note(const Conv2dFallback& fallback) {
    const auto known = [&](const Conv2dFallback& other) { return alike(fallback, other); };
    if (std::none_of(known_.begin(), known_.end(), known)) known_.push_back(fallback);
}

std::vector<Conv2dFallback> Conv2dFallbacks::take() {
    const auto first = known_.begin() + static_cast<std::ptrdiff_t>(taken_);
    taken_ = known_.size();
    return {first, known_.end()};
}

Conv2dFallbackScope::Conv2dFallbackScope(Conv2dFallbacks& fallbacks) noexcept
    : before_(std::exchange(listener, &fallbacks)) {}
Conv2dFallbackScope::~Conv2dFallbackScope() { listener = before_; }

void note_conv2d_fallback(Conv2dPass pass, DType dtype, const Conv2dShape& shape) {
    if (listener) listener->note({pass, dtype, shape});
}

}  // namespace kernels
