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

/// The op of a mode for that many dimensions after the first two; null if there is none.
const OpInfo* find_info(UpsampleMode mode, int dims);

/// A list of numbers, which the reader of cases takes for whole ones if all are.
std::vector<double> numbers(const OpArguments& args, const char* attr) {
    if (!args.has(attr)) return {};
    const AttrValue& value = args.attrs.at(attr);
    if (const auto* list = std::get_if<std::vector<double>>(&value)) return *list;
    const auto whole = args.integers(attr, {});
    return {whole.begin(), whole.end()};
}

template <UpsampleMode mode, int dims>
TensorList run(const OpArguments& args) {
    check_rank(*find_info(mode, dims), args.at(0), dims + 2);
    const UpsampleTarget target{args.integers("output_size", {}), numbers(args, "scale_factors")};
    return {upsample(mode, args.at(0), target, args.flag("align_corners", false))};
}

constexpr const char* weighs =
    "Weighs neighbours against each other: in fp32, so that a smooth image stays smooth.";
constexpr const char* chooses = "Listed with its family: it only copies, but its result is fp32.";

}  // namespace

const OpInfo upsample_nearest1d_info{"upsample_nearest1d",
                                     CastPolicy::f32,
                                     "upsample_nearest1d(x; output_size, scale_factors)",
                                     2,
                                     chooses,
                                     run<UpsampleMode::nearest, 1>};
const OpInfo upsample_nearest2d_info{"upsample_nearest2d",
                                     CastPolicy::f32,
                                     "upsample_nearest2d(x; output_size, scale_factors)",
                                     2,
                                     chooses,
                                     run<UpsampleMode::nearest, 2>};
const OpInfo upsample_nearest3d_info{"upsample_nearest3d",
                                     CastPolicy::f32,
                                     "upsample_nearest3d(x; output_size, scale_factors)",
                                     2,
                                     chooses,
                                     run<UpsampleMode::nearest, 3>};
const OpInfo upsample_nearest_exact1d_info{
    "_upsample_nearest_exact1d",
    CastPolicy::f32,
    "_upsample_nearest_exact1d(x; output_size, scale_factors)",
    2,
    chooses,
    run<UpsampleMode::nearest_exact, 1>};
const OpInfo upsample_nearest_exact2d_info{
    "_upsample_nearest_exact2d",
    CastPolicy::f32,
    "_upsample_nearest_exact2d(x; output_size, scale_factors)",
    2,
    chooses,
    run<UpsampleMode::nearest_exact, 2>};
const OpInfo upsample_nearest_exact3d_info{
    "_upsample_nearest_exact3d",
    CastPolicy::f32,
    "_upsample_nearest_exact3d(x; output_size, scale_factors)",
    2,
    chooses,
    run<UpsampleMode::nearest_exact, 3>};
const OpInfo upsample_linear1d_info{
    "upsample_linear1d",
    CastPolicy::f32,
    "upsample_linear1d(x; output_size, align_corners, scale_factors)",
    2,
    weighs,
    run<UpsampleMode::linear, 1>};
const OpInfo upsample_bilinear2d_info{
    "upsample_bilinear2d",
    CastPolicy::f32,
    "upsample_bilinear2d(x; output_size, align_corners, scale_factors)",
    2,
    weighs,
    run<UpsampleMode::linear, 2>};
const OpInfo upsample_trilinear3d_info{
    "upsample_trilinear3d",
    CastPolicy::f32,
    "upsample_trilinear3d(x; output_size, align_corners, scale_factors)",
    2,
    weighs,
    run<UpsampleMode::linear, 3>};
const OpInfo upsample_bicubic2d_info{
    "upsample_bicubic2d",
    CastPolicy::f32,
    "upsample_bicubic2d(x; output_size, align_corners, scale_factors)",
    2,
    weighs,
    run<UpsampleMode::cubic, 2>};
const OpInfo upsample_bilinear2d_aa_info{
    "_upsample_bilinear2d_aa",
    CastPolicy::f32,
    "_upsample_bilinear2d_aa(x; output_size, align_corners, scale_factors)",
    2,
    weighs,
    run<UpsampleMode::linear_aa, 2>};
const OpInfo upsample_bicubic2d_aa_info{
    "_upsample_bicubic2d_aa",
    CastPolicy::f32,
    "_upsample_bicubic2d_aa(x; output_size, align_corners, scale_factors)",
    2,
    weighs,
    run<UpsampleMode::cubic_aa, 2>};
namespace {

const OpInfo* find_info(UpsampleMode mode, int dims) {
    const struct {
        UpsampleMode mode;
        int dims;
        const OpInfo* info;
    } all[] = {
        {UpsampleMode::nearest, 1, &upsample_nearest1d_info},
        {UpsampleMode::nearest, 2, &upsample_nearest2d_info},
        {UpsampleMode::nearest, 3, &upsample_nearest3d_info},
        {UpsampleMode::nearest_exact, 1, &upsample_nearest_exact1d_info},
        {UpsampleMode::nearest_exact, 2, &upsample_nearest_exact2d_info},
        {UpsampleMode::nearest_exact, 3, &upsample_nearest_exact3d_info},
        {UpsampleMode::linear, 1, &upsample_linear1d_info},
        {UpsampleMode::linear, 2, &upsample_bilinear2d_info},
        {UpsampleMode::linear, 3, &upsample_trilinear3d_info},
        {UpsampleMode::cubic, 2, &upsample_bicubic2d_info},
        {UpsampleMode::linear_aa, 2, &upsample_bilinear2d_aa_info},
        {UpsampleMode::cubic_aa, 2, &upsample_bicubic2d_aa_info},
    };
    for (const auto& entry : all)
        if (entry.mode == mode && entry.dims == dims) return entry.info;
    return nullptr;
}

/// Sizes after the first two, and the factors as given.
struct Sizes {
    std::vector<std::int64_t> out;
    std::vector<std::optional<double>> scale;
};

Sizes choose_sizes(const OpInfo& info, const Tensor& x, const UpsampleTarget& target) {
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

Tensor upsample(UpsampleMode mode, const Tensor& x0, const UpsampleTarget& target,
                bool align_corners) {
    const OpInfo* info = find_info(mode, x0.rank() - 2);
    if (!info) {
        throw Error(ErrorCode::shape,
                    "upsample: no op of this mode for a tensor of shape " + to_string(x0.shape()));
    }
    if (intercepted(*info))
        return dispatched(
            *info, [](const auto&... a) { return upsample(a...); }, mode, x0, target,
            align_corners);
    const auto [x] = autocast(*info, x0);
    check_floating(*info, x);
    const NoAutocast inside(x.device().kind);
    const Sizes sizes = choose_sizes(*info, x, target);
    // A copy of a smaller image needs no wide type; its gradient is a sum.
    Tensor y = widened(x);
    const bool nearest = mode == UpsampleMode::nearest || mode == UpsampleMode::nearest_exact;
    // Equal sizes are copied, whatever factor led to them; the nearest modes heed the factor.
    const bool copies = nearest ? target.scale_factors.empty() : !is_smooth(mode);
    if (copies && same_sizes(x, sizes)) return to(mul(y, 1.0), x.dtype());
    for (int i = 0; i < x.rank() - 2; ++i) {
        const auto k = static_cast<std::size_t>(i);
        const std::int64_t in = x.size(i + 2), out = sizes.out[k];
        // Non-nearest modes multiply a neighbour of weight 0 here too, as PyTorch's CUDA kernels
        // do: an infinite one gives NaN.
        if (nearest && in == out && !sizes.scale[k]) continue;
        y = resampled(y, i + 2, axis_taps(mode, in, out, align_corners, sizes.scale[k]));
    }
    return to(y, x.dtype());
}

namespace {

/// Only for error messages about arguments.
const OpInfo interpolate_info{"interpolate", CastPolicy::none, "interpolate(x)", 2,
                              "A front over the upsample ops, each of which has its entry."};

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
        const Sizes sizes = choose_sizes(interpolate_info, x, target);
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
