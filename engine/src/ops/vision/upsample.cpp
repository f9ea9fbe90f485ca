#include "ops/vision/upsample.h"

#include <algorithm>
#include <cmath>

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/index/gather.h"
#include "ops/pointwise/binary.h"
#include "ops/pool/pool.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/check.h"
#include "tensor/transfer.h"

namespace engine {
namespace {

constexpr struct {
    const Op& op;
    UpsampleMode mode;
    int dims;  // after the first two
} variants[] = {
    {upsample_nearest1d_op, UpsampleMode::nearest, 1},
    {upsample_nearest2d_op, UpsampleMode::nearest, 2},
    {upsample_nearest3d_op, UpsampleMode::nearest, 3},
    {upsample_nearest_exact1d_op, UpsampleMode::nearest_exact, 1},
    {upsample_nearest_exact2d_op, UpsampleMode::nearest_exact, 2},
    {upsample_nearest_exact3d_op, UpsampleMode::nearest_exact, 3},
    {upsample_linear1d_op, UpsampleMode::linear, 1},
    {upsample_bilinear2d_op, UpsampleMode::linear, 2},
    {upsample_trilinear3d_op, UpsampleMode::linear, 3},
    {upsample_bicubic2d_op, UpsampleMode::cubic, 2},
    {upsample_bilinear2d_aa_op, UpsampleMode::linear_aa, 2},
    {upsample_bicubic2d_aa_op, UpsampleMode::cubic_aa, 2},
};

/// Sizes after the first two, and the factors as given.
struct Sizes {
    std::vector<std::int64_t> out;
    std::vector<std::optional<double>> scale;
};

Sizes choose_sizes(const Op& info, const Tensor& x, const UpsampleTarget& target) {
    const auto dims = static_cast<std::size_t>(x.rank() - 2);
    const bool by_size = !target.output_size.empty();
    if (by_size == !target.scale_factors.empty() ||
        (by_size ? target.output_size.size() : target.scale_factors.size()) != dims) {
        throw Error(ErrorCode::value, std::string(info.name) + ": takes " + std::to_string(dims) +
                                          " sizes or as many factors");
    }
    Sizes sizes{target.output_size, std::vector<std::optional<double>>(dims)};
    for (std::size_t i = 0; i < dims && !by_size; ++i) {
        const double scale = target.scale_factors[i];
        if (!(scale > 0))
            throw Error(ErrorCode::value, std::string(info.name) + ": a factor must be positive");
        sizes.scale[i] = scale;
        const double size =
            std::floor(static_cast<double>(x.size(static_cast<int>(i) + 2)) * scale);
        if (size > static_cast<double>(max_elements))
            throw Error(ErrorCode::value, std::string(info.name) + ": a factor of " +
                                              std::to_string(scale) + " is too large");
        sizes.out.push_back(static_cast<std::int64_t>(size));
    }
    for (std::size_t i = 0; i < dims; ++i) {
        if (sizes.out[i] < 1 || x.size(static_cast<int>(i) + 2) < 1)
            throw Error(ErrorCode::value, std::string(info.name) + ": " + to_string(x.shape()) +
                                              " does not become one with a size of " +
                                              std::to_string(sizes.out[i]));
    }
    return sizes;
}

bool is_smooth(UpsampleMode mode) {
    return mode == UpsampleMode::linear_aa || mode == UpsampleMode::cubic_aa;
}

bool same_sizes(const Tensor& x, const Sizes& sizes) {
    bool same = true;
    for (std::size_t i = 0; i < sizes.out.size(); ++i)
        same = same && x.size(static_cast<int>(i) + 2) == sizes.out[i];
    return same;
}

/// One tap's numbers, a row of `taps`, on the device.
Tensor tap_row(const Tensor& taps, std::int64_t t, const Device& device) {
    return constant_on(device, reshape(narrow(taps, 0, t, 1), {taps.size(1)}));
}

/// x, in the type it is computed in, along one dimension.
Tensor resampled(const Tensor& x, int dim, const AxisTaps& taps) {
    Tensor sum;
    for (std::int64_t t = 0; t < taps.index.size(0); ++t) {
        Tensor part = rows_or_zeros(x, dim, tap_row(taps.index, t, x.device()));
        if (taps.weight.defined()) {
            Shape shape;
            for (int i = 0; i < x.rank(); ++i) shape.push_back(i == dim ? part.size(dim) : 1);
            const Tensor weights = tap_row(to(taps.weight, x.dtype()), t, x.device());
            part = mul(part, reshape(weights, shape));
        }
        sum = sum.defined() ? add(sum, part) : part;
    }
    return sum;
}

}  // namespace

TensorList run_upsample(const Op& op, const OpArguments& args) {
    const auto& found =
        *std::ranges::find_if(variants, [&](const auto& v) { return &v.op == &op; });
    check_rank(op, args.at(0), found.dims + 2);
    const UpsampleTarget target{args.integers("output_size", {}), args.numbers("scale_factors")};
    return {upsample(found.mode, args.at(0), target, args.flag("align_corners", false))};
}

Tensor upsample(UpsampleMode mode, const Tensor& x0, const UpsampleTarget& target,
                bool align_corners) {
    const auto found = std::ranges::find_if(
        variants, [&](const auto& v) { return v.mode == mode && v.dims == x0.rank() - 2; });
    if (found == std::end(variants)) {
        throw Error(ErrorCode::shape,
                    "upsample: no op of this mode for a tensor of shape " + to_string(x0.shape()));
    }
    const Op& op = found->op;
    return op.call(x0, target, align_corners, [&](const Tensor& x) {
        check_floating(op, x);
        const NoAutocast inside(x.device().kind);
        const Sizes sizes = choose_sizes(op, x, target);
        // A copy of a smaller image needs no wide type; its gradient is a sum.
        Tensor y = widened(x);
        const bool nearest = mode == UpsampleMode::nearest || mode == UpsampleMode::nearest_exact;
        // Equal sizes are copied, whatever factor led to them; the nearest modes heed the factor.
        const bool copies = nearest ? target.scale_factors.empty() : !is_smooth(mode);
        if (copies && same_sizes(x, sizes)) return to(mul(y, 1.0), x.dtype());
        for (int i = 0; i < x.rank() - 2; ++i) {
            const auto k = static_cast<std::size_t>(i);
            const std::int64_t in = x.size(i + 2), out = sizes.out[k];
            // Non-nearest modes multiply a neighbour of weight 0 here too, as PyTorch's CUDA
            // kernels do: an infinite one gives NaN.
            if (nearest && in == out && !sizes.scale[k]) continue;
            y = resampled(y, i + 2, axis_taps(mode, in, out, align_corners, sizes.scale[k]));
        }
        return to(y, x.dtype());
    });
}

namespace {

/// Only for error messages about arguments.
constexpr Op interpolate_op("interpolate(x)");

UpsampleMode choose_mode(const InterpolateOptions& options, int dims) {
    const std::string& mode = options.mode;
    if (options.antialias) {
        if (mode == "bilinear") return UpsampleMode::linear_aa;
        if (mode == "bicubic") return UpsampleMode::cubic_aa;
        throw Error(ErrorCode::value, "interpolate: antialias goes with bilinear and bicubic");
    }
    if (mode == "nearest") return UpsampleMode::nearest;
    if (mode == "nearest-exact") return UpsampleMode::nearest_exact;
    const char* linear[] = {"linear", "bilinear", "trilinear"};
    if (dims >= 1 && dims <= 3 && mode == linear[dims - 1]) return UpsampleMode::linear;
    if (mode == "bicubic") return UpsampleMode::cubic;
    throw Error(ErrorCode::value, "interpolate: mode " + mode + " does not fit " +
                                      std::to_string(dims) + " dimensions after the first two");
}

}  // namespace

Tensor interpolate(const Tensor& x, UpsampleTarget target, const InterpolateOptions& options) {
    const int dims = x.rank() - 2;
    if (dims < 1 || dims > 3) {
        throw Error(ErrorCode::shape,
                    "interpolate: takes (N, C, ...) with one to three more "
                    "dimensions, not " +
                        to_string(x.shape()));
    }
    const auto n = static_cast<std::size_t>(dims);
    if (target.output_size.size() == 1) target.output_size.resize(n, target.output_size[0]);
    if (target.scale_factors.size() == 1) target.scale_factors.resize(n, target.scale_factors[0]);
    const bool area = options.mode == "area";
    if (target.output_size.empty() && (area || options.recompute_scale_factor)) {
        const Sizes sizes = choose_sizes(interpolate_op, x, target);
        target = {sizes.out, {}};
    }
    if (!area) return upsample(choose_mode(options, dims), x, target, options.align_corners);
    if (dims != 2 || target.output_size.size() != 2) {
        throw Error(ErrorCode::shape,
                    "interpolate: mode area is written for images (N, C, H, W), not for " +
                        to_string(x.shape()));
    }
    return adaptive_avg_pool2d(x, {target.output_size[0], target.output_size[1]});
}

}  // namespace engine
