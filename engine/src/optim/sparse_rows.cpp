#include "optim/sparse_rows.h"

#include "core/sparse.h"

namespace engine {
namespace {

/// n elements of an array; of none, none.
kernels::Array part(const kernels::Array& array, std::int64_t first, std::int64_t n) {
    if (array.data == nullptr) return array;
    return {static_cast<std::byte*>(array.data) +
                static_cast<std::size_t>(first) * size_of(array.dtype),
            array.dtype, n};
}

/// The row-major number of each place, on the host.
std::vector<std::int64_t> rows_of(const Tensor& indices, const Shape& shape) {
    const Tensor host = indices.copy_to(Device{});
    const std::int64_t n = indices.size(1);
    std::vector<std::int64_t> rows(static_cast<std::size_t>(n), 0);
    for (int k = 0; k < static_cast<int>(indices.size(0)); ++k) {
        for (std::size_t i = 0; i < rows.size(); ++i)
            rows[i] = rows[i] * shape[k] +
                      host.data_as<std::int64_t>()[static_cast<std::size_t>(k * n) + i];
    }
    return rows;
}

}  // namespace

void add_rows(const kernels::UpdateTensor& all, const Tensor& grad,
              std::vector<kernels::UpdateTensor>& tensors) {
    const SparseParts& parts = sparse_parts(grad);
    const auto rows = rows_of(parts.indices, grad.shape());
    const std::int64_t length = rows.empty() ? 0 : parts.values.numel() / parts.values.size(0);
    for (std::size_t first = 0, end = 0; first < rows.size(); first = end) {
        for (end = first + 1; end < rows.size() && rows[end] == rows[end - 1] + 1;) ++end;
        const std::int64_t at = rows[first] * length;
        const std::int64_t n = static_cast<std::int64_t>(end - first) * length;
        tensors.push_back({part(all.master, at, n),
                           part(all.grad, static_cast<std::int64_t>(first) * length, n),
                           part(all.state1, at, n), part(all.state2, at, n), part(all.low, at, n),
                           all.state3, all.group, all.parameter, all.behind_low});
    }
}

}  // namespace engine
