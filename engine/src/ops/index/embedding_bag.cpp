#include "ops/index/embedding_bag.h"

#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "kernels/embedding_bag.h"
#include "ops/index/gather.h"
#include "ops/index/index_walk.h"
#include "ops/index/sparse.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/check.h"
#include "tensor/check_values.h"
#include "tensor/layout.h"

namespace engine {
namespace {

/// A checked call. The tape keeps the memory of the offsets.
struct Call {
    kernels::Bags bags;
    Shape table;
    bool mean, sparse;

    bool is_one_each() const {
        return bags.offsets == nullptr && bags.terms == bags.count && bags.padding < 0;
    }
};

[[noreturn]] void refuse(const std::string& why) {
    throw Error(ErrorCode::shape, "embedding_bag: " + why);
}

/// Offsets as a dense i64 tensor: ascending numbers from 0 to at most `terms`.
Tensor checked_offsets(const Tensor& asked, std::int64_t terms) {
    const GradMode off(false);
    const Tensor offsets = checked_index(embedding_bag_op, asked, terms + 1);
    const std::int64_t n = offsets.numel();
    if (n == 0) return offsets;
    const ValueRule first{"embedding_bag: the first offset is ", ", not 0"};
    check_whole_values(first, narrow(offsets, 0, 0, 1), 0, 0);
    if (n == 1) return offsets;
    const Tensor lengths = sub(narrow(offsets, 0, 1, n - 1), narrow(offsets, 0, 0, n - 1));
    const ValueRule order{"embedding_bag: offsets must ascend; a bag has ", " indices"};
    check_whole_values(order, lengths, 0, terms);
    return offsets;
}

std::int64_t padding_row(const EmbeddingBagOptions& options, std::int64_t rows) {
    if (!options.padding_idx) return -1;
    const std::int64_t padding = *options.padding_idx;
    if (padding < -rows || padding >= rows) {
        throw Error(ErrorCode::value, "embedding_bag: padding_idx " + std::to_string(padding) +
                                          " is not a row of a table of " + std::to_string(rows));
    }
    return padding < 0 ? padding + rows : padding;
}

kernels::Bags bags_of(const Tensor& index, const Tensor& offsets,
                      const EmbeddingBagOptions& options) {
    kernels::Bags bags{.terms = index.numel(), .with_end = options.include_last_offset};
    if (index.rank() == 2) {
        if (offsets.defined()) refuse("an index of rows of bags takes no offsets");
        bags.count = index.size(0);
        return bags;
    }
    if (index.rank() != 1 || !offsets.defined() || offsets.rank() != 1)
        refuse("needs an index (bags, n), or an index (n) with offsets (bags), got " +
               to_string(index.shape()));
    bags.count = offsets.numel() - (bags.with_end ? 1 : 0);
    if (bags.count < 0) refuse("include_last_offset needs an offset at the least");
    return bags;
}

/// The number of each index's bag; -1 for those that take no part.
Tensor bag_numbers(const Tensor& index, const kernels::Bags& bags) {
    Tensor y = Tensor::empty({bags.terms}, DType::i64, index.device());
    on(index.device(), kernels::cpu::bag_numbers, kernels::cuda::bag_numbers)(
        y.array(), index.array(), bags, current_stream());
    return y;
}

/// The index with -1 for those that take no part.
Tensor with_holes(const Tensor& index, const Tensor& bag) {
    const auto number = [&](double value) {
        return Tensor::full({}, value, DType::i64, index.device());
    };
    return where(less(bag, number(0)), number(-1), index);
}

/// dy (bags, d) of the bag of each index, divided as the mean is: (n, d), zeros in holes.
Tensor spread(const Tensor& dy, const Tensor& bag, const Call& call) {
    if (call.is_one_each()) return dy;
    if (!call.mean) return rows_or_zeros(dy, 0, bag);
    const Tensor wide = widened(dy);
    const Tensor one = Tensor::scalar(1, wide.dtype(), dy.device());
    const Tensor ones = Tensor::full({call.bags.terms}, 1, wide.dtype(), dy.device());
    const Tensor counts = maximum(rows_added(ones, {call.bags.count}, 0, bag), one);
    return rows_or_zeros(div(wide, reshape(counts, {call.bags.count, 1})), 0, bag);
}

/// The table's gradient from that of the row of each index (n, d).
Tensor table_gradient(const Tensor& rows, const Tensor& index, const Tensor& bag, const Call& call,
                      DType dtype) {
    if (!call.sparse) return to(rows_added(rows, call.table, 0, with_holes(index, bag)), dtype);
    if (grad_enabled()) {
        throw Error(ErrorCode::state, "embedding_bag: a sparse gradient has no gradient of its own",
                    "Use sparse = false where a second derivative is wanted.");
    }
    return sparse_tensor(reshape(index, {1, call.bags.terms}), to(rows, dtype), call.table);
}

/// Saved: index, offsets, weight and sample weights; each of the last two is needed only for the
/// gradient of the other.
TensorList gradients(const Tensor& dy, const Saved& saved, const Call& call) {
    const Tensor index = saved[0], sample_weights = saved[3];
    kernels::Bags bags = call.bags;
    if (saved[1].defined()) bags.offsets = saved[1].data_as<const std::int64_t>();
    const Tensor bag = bag_numbers(index, bags);
    const Tensor rows = spread(dy, bag, call);
    TensorList out(2);
    if (!sample_weights.defined()) {
        out[0] = table_gradient(rows, index, bag, call, dy.dtype());
        return out;
    }
    const Tensor wide = widened(rows);
    const std::int64_t n = call.bags.terms;
    if (saved.needs_gradient(0)) {
        const Tensor scaled = mul(wide, reshape(widened(sample_weights), {n, 1}));
        out[0] = table_gradient(scaled, index, bag, call, dy.dtype());
    }
    if (saved.needs_gradient(1)) {
        const Tensor named = widened(rows_or_zeros(saved[2], 0, with_holes(index, bag)));
        out[1] = reshape(to(sum(mul(wide, named), {1}), dy.dtype()), sample_weights.shape());
    }
    return out;
}

void check_sample_weights(const Tensor& index, const Tensor& weight, const Tensor& sample_weights,
                          BagMode mode) {
    if (!sample_weights.defined()) return;
    if (mode != BagMode::sum)
        throw Error(ErrorCode::value, "embedding_bag: sample weights need the mode sum");
    same_type(embedding_bag_op, {weight, sample_weights});
    check_shapes(embedding_bag_op, sample_weights.shape() == index.shape(), index, sample_weights);
}

}  // namespace

Tensor embedding_bag(const Tensor& index0, const Tensor& table0, const Tensor& offsets0,
                     const Tensor& weights0, const EmbeddingBagOptions& options) {
    const auto bags_of_rows = [&](const Tensor& asked, const Tensor& weight,
                                  const Tensor& asked_offsets, const Tensor& sample_weights) {
        // The gradient of a cast table passes the cast, which needs it dense.
        const bool sparse = options.sparse && weight.dtype() == table0.dtype();
        check_floating(embedding_bag_op, weight);
        check_rank(embedding_bag_op, weight, 2);
        check_sample_weights(asked, weight, sample_weights, options.mode);
        kernels::Bags bags = bags_of(asked, asked_offsets, options);
        bags.padding = padding_row(options, weight.size(0));
        const Tensor index =
            reshape(checked_index(embedding_bag_op, asked, weight.size(0)), {bags.terms});
        Tensor offsets;
        if (asked_offsets.defined()) {
            offsets = checked_offsets(asked_offsets, bags.terms);
            bags.offsets = offsets.data_as<const std::int64_t>();
        }
        const bool mean = options.mode == BagMode::mean;
        const Tensor table = in_layout(weight.detach(), Layout::contiguous);
        const Tensor factors = sample_weights.defined()
                                   ? in_layout(sample_weights.detach(), Layout::contiguous)
                                   : Tensor();
        Tensor y = Tensor::empty({bags.count, weight.size(1)}, weight.dtype(), weight.device());
        on(weight.device(), kernels::cpu::embedding_bag, kernels::cuda::embedding_bag)(
            y.array(), table.array(), index.array(),
            factors.defined() ? kernels::ConstArray(factors.array())
                              : kernels::ConstArray(nullptr, weight.dtype(), 0),
            bags, weight.size(1), mean, current_stream());
        const Call call{bags, weight.shape(), mean, sparse};
        const Tensor inputs[] = {weight, sample_weights};
        return record_many(
            embedding_bag_op, inputs, y,
            {save(index), save(offsets), save(sample_weights.defined() ? weight : Tensor()),
             save(sample_weights)},
            [call](std::span<const Tensor> dy, const Saved& saved) {
                return gradients(dy[0], saved, call);
            });
    };
    return embedding_bag_op.call(index0, table0, offsets0, weights0, options, bags_of_rows);
}

}  // namespace engine
