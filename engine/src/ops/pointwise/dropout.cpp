#include "ops/pointwise/dropout.h"

#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "kernels/dropout.h"
#include "ops/pointwise/binary.h"
#include "tensor/check.h"
#include "tensor/layout.h"

namespace engine {
namespace {

Tensor drawn_mask(const Shape& shape, const Device& device, double p, const RandomSource& source,
                  std::uint64_t offset, std::int64_t runs) {
    const Tensor mask = Tensor::empty(shape, DType::boolean, device);
    const auto draw = [&](const kernels::Array& part, std::uint64_t first) {
        on(device, kernels::cpu::dropout_mask, kernels::cuda::dropout_mask)(
            part, {source.stream, source.substream_data(), first}, p, current_stream());
    };
    const BatchShare& share = source.share;
    if (share.whole()) {
        draw(mask.array(), offset);
        return mask;
    }
    const std::int64_t run = shape.numel() / runs;
    for (std::int64_t r = 0; r < runs; ++r) {
        draw({mask.data_as<std::uint8_t>() + r * run, DType::boolean, run},
             offset + static_cast<std::uint64_t>(share.of_all(run) * r + share.before(run)));
    }
    return mask;
}

/// x * mask * scale outside the tape.
Tensor kept(const Tensor& x, const Tensor& mask, double scale) {
    const Tensor from = dense(x), chosen = in_layout(mask.detach(), layout_of(from));
    const Tensor y = empty_like(from);
    on(x.device(), kernels::cpu::dropout_apply, kernels::cuda::dropout_apply)(
        y.array(), from.array(), chosen.array(), scale, current_stream());
    return y;
}

void check_probability(double p) {
    if (!(p >= 0 && p <= 1)) {
        throw Error(ErrorCode::value, "dropout: p must lie in [0, 1], not be " + std::to_string(p));
    }
}

}  // namespace

TensorList run_dropout(const Op&, const OpArguments& args) {
    if (!args.flag("training", true)) return {args.at(0)};
    return {dropout(args.at(0), args.at(1), args.number("p", 0.5))};
}

Tensor dropout(const Tensor& x0, const Tensor& mask0, double p) {
    return dropout_op.call(x0, mask0, p, [&](const Tensor& x, const Tensor& mask) {
        check_floating(dropout_op, x);
        check_probability(p);
        check_shapes(dropout_op, mask.shape() == x.shape(), x, mask);
        const double scale = p == 1 ? 0 : 1 / (1 - p);
        return record(
            dropout_op, {x}, kept(x, mask, scale), {save(mask)},
            [p](const Tensor& dy, const Saved& saved) { return dropout(dy, saved[0], p); });
    });
}

Tensor dropout(const Tensor& x0, double p, const RandomSource& source, std::uint64_t offset,
               std::int64_t runs) {
    return dropout_op.call(x0, p, source, offset, runs, [&](const Tensor& x) {
        check_probability(p);
        return dropout(x, drawn_mask(x.shape(), x.device(), p, source, offset, runs), p);
    });
}

Tensor dropout_parts(const Tensor& x, int dims, double p, const RandomSource& source,
                     std::uint64_t offset) {
    check_floating(dropout_op, x);
    check_probability(p);
    Shape ones;
    for (int dim = 0; dim < x.rank(); ++dim) ones.push_back(dim < dims ? x.size(dim) : 1);
    Tensor factors;
    {
        const GradMode off(false);
        const Tensor kept_places = drawn_mask(ones, x.device(), p, source, offset, 1);
        const Tensor scale = Tensor::full(ones, p == 1 ? 0 : 1 / (1 - p), x.dtype(), x.device());
        factors = kept(scale, kept_places, 1);
    }
    return mul(x, factors);
}

}  // namespace engine
