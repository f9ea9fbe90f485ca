#include "tensor/f16_range.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "kernels/elementwise.h"
#include "kernels/multi_tensor.h"
#include "tensor/layout.h"
#include "tensor/tape_detail.h"

namespace engine {
namespace {

thread_local F16Range* current = nullptr;

// A launch takes as long as reading some MiB. What waits for others takes memory, and a gradient
// function that could have written into a gradient that it alone held takes memory of its own.
constexpr std::size_t small_gradient = std::size_t{4} << 20;
constexpr std::size_t max_kept = std::size_t{32} << 20;

}  // namespace

F16Range::F16Range(const Tensor& largest, std::vector<const Op*> claiming)
    : largest_(largest), claiming_(std::move(claiming)), scope_(*this) {
    assert(current == nullptr);
    current = this;
}

F16Range::~F16Range() {
    current = nullptr;
    try {
        settle();
        measure_kept();
    } catch (...) {  // a device that is lost says so at the next call
    }
}

void F16Range::measure(const Tensor& gradient) {
    const Tensor flat = dense(gradient);
    on(flat.device(), kernels::cpu::abs_max, kernels::cuda::abs_max)(
        largest_.data_as<float>(), flat.array(), current_stream());
}

void F16Range::measure_later(const Tensor& gradient) {
    if (gradient.device().kind != Device::Kind::cuda || gradient.bytes() > small_gradient)
        return measure(gradient);
    kept_.push_back(dense(gradient));
    kept_bytes_ += gradient.bytes();
    if (kept_bytes_ > max_kept) measure_kept();
}

void F16Range::measure_kept() {
    if (kept_.empty()) return;
    std::vector<kernels::ConstArray> arrays;
    for (const Tensor& gradient : kept_) arrays.emplace_back(gradient.array());
    const DeviceScope scope(largest_.device());
    kernels::cuda::multi_tensor_abs_max(largest_.data_as<float>(), arrays, current_stream());
    kept_.clear();
    kept_bytes_ = 0;
}

/// Nobody claimed the gradient: the gradient function took another path.
void F16Range::settle() {
    if (waiting_.defined()) measure_later(std::exchange(waiting_, {}));
}

void F16Range::on_gradient(const Op& to, const Tensor& gradient) {
    settle();
    if (gradient.dtype() != DType::f16 || covered_.lock() == gradient.impl()) return;
    if (claims(to))
        waiting_ = gradient;
    else if (&to == &detail::accumulate_op)
        measure(gradient);  // kept, it would be no leaf's own memory, and be copied
    else
        measure_later(gradient);
}

bool F16Range::claims(const Op& to) const {
    return std::ranges::find(claiming_, &to) != claiming_.end();
}

bool F16Range::allows_pair(const Op& to) const { return claims(to); }

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
