#include "instruments/histograms/weight_changes.h"

#include "kernels/multi_tensor.h"
#include "tensor/layout.h"
#include "tensor/tape.h"

namespace engine {
namespace {

/// Elements whose multiples are aligned for vectors and packs of every kernel.
constexpr std::int64_t alignment = 64;

}  // namespace

void WeightChanges::add(const Tensor& weight) {
    const DType type = weight.dtype() == DType::f64 ? DType::f64 : DType::f32;
    Copies& all = copies(type);
    weights_.push_back({weight, type, all.size});
    all.size += (weight.numel() / alignment + 1) * alignment;
}

void WeightChanges::copy() {
    if (weights_.empty()) return;
    const UseScope use(MemoryUse::workspace);
    ignored_ = Tensor::zeros({}, DType::f32, weights_.front().tensor.device());
    for (const DType type : {DType::f32, DType::f64}) {
        Copies& all = copies(type);
        if (all.size > 0)
            all.memory = Tensor::empty({all.size}, type, weights_.front().tensor.device());
    }
    combine(false);
}

void WeightChanges::subtract() {
    if (!weights_.empty()) combine(true);
}

/// copy = weight, or weight - copy.
void WeightChanges::combine(bool with_copies) {
    const GradMode off(false);
    const UseScope use(MemoryUse::workspace);
    TensorList now;  // a dense copy of a weight must outlive the call
    std::vector<kernels::Array> out;
    std::vector<kernels::ConstArray> x, y;
    now.reserve(weights_.size());
    out.reserve(weights_.size());
    x.reserve(weights_.size());
    if (with_copies) y.reserve(weights_.size());
    for (std::size_t i = 0; i < weights_.size(); ++i) {
        const kernels::ConstArray copy = change(i);
        now.push_back(dense(weights_[i].tensor));
        out.push_back({const_cast<void*>(copy.data), copy.dtype, copy.size});
        x.push_back(now.back().array());
        if (with_copies) y.push_back(copy);
    }
    on(now.front().device(), kernels::cpu::multi_tensor_axpby, kernels::cuda::multi_tensor_axpby)(
        out, 1, x, -1, y, ignored_.data_as<float>(), current_stream());
}

kernels::ConstArray WeightChanges::change(std::size_t i) const {
    const Weight& weight = weights_[i];
    const auto at = static_cast<std::size_t>(weight.offset) * size_of(weight.type);
    return {copies(weight.type).memory.data_as<std::byte>() + at, weight.type,
            weight.tensor.numel()};
}

Tensor WeightChanges::change_tensor(std::size_t i) const {
    const Weight& weight = weights_[i];
    const Tensor now = dense(weight.tensor);  // whose layout the copy has
    return view_of(copies(weight.type).memory, now.shape(), now.strides(), weight.offset);
}

void WeightChanges::clear() {
    weights_.clear();
    f32_ = f64_ = {};
    ignored_ = {};
}

}  // namespace engine
