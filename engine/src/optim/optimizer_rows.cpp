// Updates of the rows that a sparse gradient names.

#include <algorithm>

#include "core/sparse.h"
#include "engine/error.h"
#include "index/index_walk.h"
#include "index/sparse.h"
#include "kernels/sparse_rows.h"
#include "optim/optimizer.h"
#include "shape/view.h"

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
    Rows rows{static_cast<int>(i), place_numbers(gradient), {}, {}};
    const auto copied = [&](const Tensor& whole) {
        if (!whole.defined()) return array_or_null(whole, DType::f32);
        rows.whole.push_back(reshape(whole.detach(), {whole.numel() / length, length}));
        rows.copy.push_back(select_rows(rows.whole.back(), 0, rows.numbers, /*holes=*/true));
        return rows.copy.back().array();
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

void Optimizer::put_rows_back() {
    for (const Rows& rows : rows_) {
        for (std::size_t k = 0; k < rows.whole.size(); ++k) {
            const Tensor &whole = rows.whole[k], &copy = rows.copy[k];
            on(whole.device(), kernels::cpu::put_rows, kernels::cuda::put_rows)(
                whole.array(), copy.array(), rows.numbers.array(), whole.size(1), current_stream());
        }
    }
    rows_.clear();  // a recorded step must hold none of its memory
}

}  // namespace engine
