// Updates of the rows that a sparse gradient names.

#include <algorithm>

#include "engine/base/error.h"
#include "ops/index/sparse.h"
#include "optim/optimizer.h"
#include "tensor/sparse.h"

namespace engine {
bool Optimizer::updates_rows(int parameter) const {
    return std::ranges::any_of(rows_, [&](const Rows& r) { return r.parameter == parameter; });
}

void Optimizer::collect_rows(std::size_t i, std::vector<kernels::UpdateTensor>& tensors) {
    const GradMode off(false);
    const UseScope use(MemoryUse::workspace);
    const Tensor& weight = parameters_[i].tensor;
    if (!weight.is_contiguous())
        throw Error(ErrorCode::value, "optimizer: " + parameters_[i].name +
                                          " is not row-major, and its gradient is sparse");
    weight.set_grad(coalesce(weight.grad()));
    const Tensor gradient = weight.grad();
    const SparseParts& parts = sparse_parts(gradient);
    const std::int64_t n = parts.indices.size(1);
    const std::int64_t length = n == 0 ? 0 : parts.values.numel() / n;
    if (length == 0) return;
    Rows rows{static_cast<int>(i), place_numbers(gradient), {}};
    const auto copied = [&](const Tensor& whole) {
        if (!whole.defined()) return array_or_null(whole, DType::f32);
        const Tensor copy = Tensor::empty({n, length}, whole.dtype(), whole.device());
        moved_.push_back({whole.data(), copy.data(), rows.numbers.data_as<const std::int64_t>(), n,
                          whole.numel() / length,
                          length * static_cast<std::int64_t>(size_of(whole.dtype()))});
        rows.copies.push_back(copy);
        return copy.array();
    };
    const Slot& slot = slots_[i];
    kernels::UpdateTensor part;
    part.master = copied(stored(i));
    part.grad = parts.values.array();
    part.state1 = copied(slot.state1);
    part.state2 = copied(slot.state2);
    part.state3 = copied(slot.state3);
    part.low = copied(low_values(i));
    part.group = slot.group;
    part.parameter = static_cast<int>(i);
    part.behind_low = slot.master.defined();
    tensors.push_back(part);
    rows_.push_back(std::move(rows));
}

void Optimizer::fetch_rows() {
    if (moved_.empty()) return;
    on(device(), kernels::cpu::fetch_rows, kernels::cuda::fetch_rows)(moved_, current_stream());
}

void Optimizer::put_rows_back() {
    if (!moved_.empty())
        on(device(), kernels::cpu::put_rows, kernels::cuda::put_rows)(moved_, current_stream());
    moved_.clear();
    rows_.clear();  // a recorded step must hold none of its memory
}

}  // namespace engine
