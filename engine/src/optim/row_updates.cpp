#include "optim/row_updates.h"

#include <algorithm>

#include "engine/base/error.h"
#include "ops/index/sparse.h"
#include "tensor/memory/memory.h"
#include "tensor/tape.h"

namespace engine {

void RowUpdates::clear() {
    rows_.clear();
    moved_.clear();
}

bool RowUpdates::hold(int number) const {
    return std::ranges::any_of(rows_, [&](const Rows& r) { return r.parameter == number; });
}

kernels::UpdateTensor RowUpdates::add(int number, const Parameter& parameter,
                                      const Values& values) {
    const GradMode off(false);
    const UseScope use(MemoryUse::workspace);
    const Tensor& weight = parameter.tensor;
    if (!weight.is_contiguous())
        throw Error(ErrorCode::value, "optimizer: " + parameter.name +
                                          " is not row-major, and its gradient is sparse");
    weight.set_grad(coalesce(weight.grad()));
    const Tensor gradient = weight.grad();
    const SparseParts& parts = sparse_parts(gradient);
    const std::int64_t n = parts.indices.size(1);
    const std::int64_t length = n == 0 ? 0 : parts.values.numel() / n;
    if (length == 0) return {};
    Rows rows{number, place_numbers(gradient), {}};
    const auto copied = [&](const Tensor& whole) {
        if (!whole.defined()) return array_or_null(whole, DType::f32);
        const Tensor copy = Tensor::empty({n, length}, whole.dtype(), whole.device());
        moved_.push_back({whole.data(), copy.data(), rows.numbers.data_as<const std::int64_t>(), n,
                          whole.numel() / length,
                          length * static_cast<std::int64_t>(size_of(whole.dtype()))});
        rows.copies.push_back(copy);
        return copy.array();
    };
    kernels::UpdateTensor part;
    part.master = copied(values.stored);
    part.grad = parts.values.array();
    part.state1 = copied(values.state1);
    part.state2 = copied(values.state2);
    part.state3 = copied(values.state3);
    part.low = copied(values.low);
    part.parameter = number;
    rows_.push_back(std::move(rows));
    return part;
}

void RowUpdates::fetch(const Device& device) const {
    if (moved_.empty()) return;
    on(device, kernels::cpu::fetch_rows, kernels::cuda::fetch_rows)(moved_, current_stream());
}

void RowUpdates::put_back(const Device& device) {
    if (!moved_.empty())
        on(device, kernels::cpu::put_rows, kernels::cuda::put_rows)(moved_, current_stream());
    clear();
}

}  // namespace engine
