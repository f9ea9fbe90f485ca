#include "core/f16_range.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "core/layout.h"
#include "kernels/elementwise.h"

namespace engine {
namespace {

thread_local F16Range* current = nullptr;

}  // namespace

F16Range::F16Range(const Tensor& largest, std::vector<const OpInfo*> claiming)
    : largest_(largest), claiming_(std::move(claiming)), scope_(this) {
    assert(current == nullptr);
    current = this;
}

F16Range::~F16Range() {
    current = nullptr;
    try {
        settle();
    } catch (...) {  // a device that is lost says so at the next call
    }
}

void F16Range::measure(const Tensor& gradient) const {
    const Tensor flat = dense(gradient);
    on(flat.device(), kernels::cpu::abs_max, kernels::cuda::abs_max)(
        largest_.data_as<float>(), flat.array(), current_stream());
}

/// Nobody claimed the gradient: the gradient function took another path.
void F16Range::settle() {
    if (waiting_.defined()) measure(std::exchange(waiting_, {}));
}

void F16Range::on_gradient(const OpInfo& to, const Tensor& gradient) {
    settle();
    if (gradient.dtype() != DType::f16 || covered_.lock() == gradient.impl()) return;
    if (claims(to))
        waiting_ = gradient;
    else
        measure(gradient);
}

bool F16Range::claims(const OpInfo& to) const {
    return std::ranges::find(claiming_, &to) != claiming_.end();
}

bool F16Range::allows_pair(const OpInfo& to) const { return claims(to); }

float* F16Range::claim(const Tensor& dy) {
    if (current == nullptr || current->waiting_.impl() != dy.impl()) return nullptr;
    current->waiting_ = {};
    return current->largest_.data_as<float>();
}

float* F16Range::claim_sum(DType type) {
    if (current == nullptr || type != DType::f16) return nullptr;
    return current->largest_.data_as<float>();
}

void F16Range::cover(const Tensor& dx) {
    if (current != nullptr) current->covered_ = dx.impl();
}

}  // namespace engine
