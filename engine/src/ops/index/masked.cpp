#include "ops/index/masked.h"

#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "kernels/reduce.h"
#include "ops/index/gather.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/check.h"
#include "tensor/check_values.h"
#include "tensor/layout.h"
#include "tensor/transfer.h"

namespace engine {
namespace {

void check_mask(const Op& info, const Tensor& mask) {
    if (mask.dtype() != DType::boolean) {
        throw Error(ErrorCode::dtype,
                    std::string(info.name) + ": the mask must be bool, not " + name(mask.dtype()));
    }
}

/// For each true place of a row-major mask the number of true places before it; -1 for the others.
/// At most `most` places are true.
Tensor ranks(const Tensor& mask, std::int64_t most) {
    const Tensor truths = to(mask, DType::f64), counts = empty_like(truths);
    on(mask.device(), kernels::cpu::scan, kernels::cuda::scan)(
        counts.array(), {nullptr, DType::f64, 0}, truths.array(), 1, truths.numel(), 1, false,
        current_stream());
    if (mask.numel() > 0) {
        const Tensor all = narrow(reshape(counts, {counts.numel()}), 0, counts.numel() - 1, 1);
        check_whole_values({"masked_scatter: the mask is true ",
                            " times, the source has " + std::to_string(most) + " elements"},
                           to(all, DType::i64), 0, most);
    }
    const Tensor none = Tensor::full({}, -1, DType::i64, mask.device());
    return reshape(where(mask, to(add(counts, -1.0), DType::i64), none), {mask.numel()});
}

/// x where `kept`, a (rows, cols) rule of the last two dimensions, holds; else 0.
template <typename Kept>
Tensor triangle(const Op& info, const Tensor& x, const Kept& kept) {
    if (x.rank() < 2) {
        throw Error(ErrorCode::shape, std::string(info.name) +
                                          ": takes at least two dimensions, not " +
                                          to_string(x.shape()));
    }
    const std::int64_t rows = x.size(-2 + x.rank()), cols = x.size(-1 + x.rank());
    const Tensor host = Tensor::empty({rows, cols}, DType::boolean, Device{});
    auto* mask = host.data_as<std::uint8_t>();
    for (std::int64_t r = 0; r < rows && cols > 0; ++r)
        for (std::int64_t c = 0; c < cols; ++c) mask[r * cols + c] = kept(r, c) ? 1 : 0;
    const Tensor zero = Tensor::full({}, 0, x.dtype(), x.device());
    return where(constant_on(x.device(), host), x, zero);
}

}  // namespace

TensorList run_masked_fill(const Op&, const OpArguments& args) {
    if (args.has("value")) return {masked_fill(args.at(0), args.at(1), args.number("value", 0))};
    return {masked_fill(args.at(0), args.at(1), args.at(2))};
}

Tensor masked_fill(const Tensor& x, const Tensor& mask, double value) {
    return masked_fill(x, mask, Tensor::full({}, value, x.dtype(), x.device()));
}

Tensor masked_fill(const Tensor& x0, const Tensor& mask0, const Tensor& value0) {
    return masked_fill_op.call(
        x0, mask0, value0, [&](const Tensor& x, const Tensor& mask, const Tensor& value) {
            check_mask(masked_fill_op, mask);
            if (value.rank() != 0)
                throw Error(ErrorCode::shape,
                            "masked_fill: the value must be a number or 0-d, not " +
                                to_string(value.shape()));
            return where(mask, to(value, x.dtype()), x);
        });
}

Tensor masked_scatter(const Tensor& x0, const Tensor& given0, const Tensor& source0) {
    return masked_scatter_op.call(
        x0, given0, source0, [&](const Tensor& x, const Tensor& given, const Tensor& source) {
            check_mask(masked_scatter_op, given);
            same_type(masked_scatter_op, {x, source});
            const Shape shape = broadcast_shapes("masked_scatter", x.shape(), given.shape());
            const Tensor mask = in_layout(expanded_view(given, shape), Layout::contiguous);
            Tensor rank;
            {
                const GradMode off(false);
                rank = ranks(mask, source.numel());
            }
            const Tensor chosen = rows_or_zeros(reshape(source, {source.numel()}), 0, rank);
            return where(mask, reshape(chosen, shape), x);
        });
}

Tensor tril(const Tensor& x0, std::int64_t diagonal) {
    return tril_op.call(x0, diagonal, [&](const Tensor& x) {
        return triangle(tril_op, x,
                        [=](std::int64_t r, std::int64_t c) { return c - r <= diagonal; });
    });
}

Tensor triu(const Tensor& x0, std::int64_t diagonal) {
    return triu_op.call(x0, diagonal, [&](const Tensor& x) {
        return triangle(triu_op, x,
                        [=](std::int64_t r, std::int64_t c) { return c - r >= diagonal; });
    });
}

}  // namespace engine
