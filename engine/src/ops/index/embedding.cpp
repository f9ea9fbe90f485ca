#include "ops/index/embedding.h"

#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/index/gather.h"
#include "ops/index/index_walk.h"
#include "ops/index/sparse.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/check.h"
#include "tensor/layout.h"

namespace engine {
namespace {

/// How the table's rows get their gradients.
struct Table {
    Shape shape;
    std::optional<std::int64_t> padding_idx;
    bool scale_by_count;
};

/// The index with -1 where it names the padding row.
Tensor without_padding(const Tensor& index, const Table& table) {
    if (!table.padding_idx) return index;
    const auto number = [&](std::int64_t value) {
        return Tensor::full({}, static_cast<double>(value), DType::i64, index.device());
    };
    return where(equal(index, number(*table.padding_idx)), number(-1), index);
}

/// dy (n, d) divided by the number of times that its row is named, in the type that sums run in.
Tensor shared_out(const Tensor& dy, const Tensor& index, std::int64_t rows) {
    const Tensor wide = widened(dy);
    const Shape n{index.numel()};
    const Tensor ones = Tensor::full(n, 1, wide.dtype(), dy.device());
    const Tensor counts = rows_added(ones, {rows}, 0, index);
    return div(wide, reshape(rows_or_zeros(counts, 0, index), {index.numel(), 1}));
}

/// Gradient of the table from dy (n, d) and the index (n).
Tensor table_gradient(const Tensor& dy, const Tensor& index, const Table& table) {
    const Tensor rows = table.scale_by_count ? shared_out(dy, index, table.shape[0]) : dy;
    const Tensor sum = rows_added(rows, table.shape, 0, without_padding(index, table));
    return to(sum, dy.dtype());
}

/// The gradient as the rows that the index names; those of the padding row are zero. Equal rows are
/// not added up: callers that need that use coalesce().
Tensor sparse_gradient(const Tensor& dy, const Tensor& index, const Table& table) {
    if (grad_enabled()) {
        throw Error(ErrorCode::state, "embedding: a sparse gradient has no gradient of its own",
                    "Use sparse = false where a second derivative is wanted.");
    }
    Tensor rows = to(table.scale_by_count ? shared_out(dy, index, table.shape[0]) : dy, dy.dtype());
    if (table.padding_idx) {
        const Tensor kept = without_padding(index, table);
        const Tensor none = Tensor::scalar(0, dy.dtype(), dy.device());
        const Tensor zero = Tensor::full({}, 0, DType::i64, dy.device());
        rows = where(reshape(less(kept, zero), {index.numel(), 1}), none, rows);
    }
    return sparse_tensor(reshape(index, {1, index.numel()}), rows, table.shape);
}

Table table_of(const Tensor& weight, const EmbeddingOptions& options) {
    Table table{weight.shape(), options.padding_idx, options.scale_grad_by_freq};
    if (!table.padding_idx) return table;
    const std::int64_t rows = weight.size(0);
    if (*table.padding_idx < -rows || *table.padding_idx >= rows) {
        throw Error(ErrorCode::value, "embedding: padding_idx " +
                                          std::to_string(*table.padding_idx) +
                                          " is not a row of a table of " + std::to_string(rows));
    }
    if (*table.padding_idx < 0) *table.padding_idx += rows;
    return table;
}

}  // namespace

Tensor embedding(const Tensor& asked0, const Tensor& table0, const EmbeddingOptions& options) {
    return embedding_op.call(
        asked0, table0, options, [&](const Tensor& asked, const Tensor& weight) {
            check_floating(embedding_op, weight);
            check_rank(embedding_op, weight, 2);
            const Table table = table_of(weight, options);
            const Tensor index =
                reshape(checked_index(embedding_op, asked, weight.size(0)), {asked.numel()});
            const Tensor rows = select_rows(weight, 0, index);
            const Tensor y =
                record(embedding_op, {weight}, rows, {save(index)},
                       [table, sparse = options.sparse](const Tensor& dy, const Saved& saved) {
                           return sparse ? sparse_gradient(dy, saved[0], table)
                                         : table_gradient(dy, saved[0], table);
                       });
            Shape shape = asked.shape();
            shape.push_back(weight.size(1));
            return reshape(y, shape);
        });
}

}  // namespace engine
