#include <algorithm>

#include "models/layer_run.h"
#include "ops/pool/pool.h"
#include "ops/reduce/extremum.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/rearrange.h"
#include "ops/shape/slice.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "ops/vision/pad.h"
#include "ops/vision/upsample.h"

/// Layers that change the shape: views, pools, resizing and reductions.
namespace engine::network {
namespace {

LayerRun is_view(LayerFunction (*make)(const LayerSetup&), LayerTypeFunction types) { return {.make = make, .types = std::move(types), .view = true}; }

/// A layer that moves the elements of its value in steps.
LayerTypeFunction moves(std::vector<const Op*> steps) {
    return [steps = std::move(steps)](const LayerTypes& layer) {
        ValueType x = layer.in.front();
        for (const Op* step : steps) {
            const bool copies = step == &reshape_op && x.order == ElementOrder::permuted;
            x = layer.call(*step, {x});
            if (copies) layer.pass.set_copied(x);
        }
        return ValueTypes{x};
    };
}

/// Whether another shape needs a copy. In an image channels lie innermost: only its rows and columns
/// can be joined.
bool copies_for_shape(const LayerTypes& layer) {
    const ElementOrder order = layer.in.front().order;
    const Sizes &from = layer.input().sizes, &to = layer.output().sizes;
    if (order != ElementOrder::channels_last || from.size() != 4) return order == ElementOrder::permuted;
    const bool one_place = from[2] == Size{1} && from[3] == Size{1}, one_channel = from[1] == Size{1};
    const bool keeps_channels = to.size() > 1 && to[0] == from[0] && to[1] == from[1];
    return !one_place && !one_channel && !keeps_channels;
}

/// A layer that gives another shape, unless it is its value's own.
ValueTypes reshape_types(const LayerTypes& layer) {
    const ValueType& x = layer.in.front();
    if (layer.input().sizes == layer.output().sizes) return {x};
    ValueType y = layer.call(reshape_op, {x});
    const bool joins_places = layer.output().rank() == 3 && x.order == ElementOrder::channels_last;
    if (copies_for_shape(layer)) layer.pass.set_copied(y);
    else if (joins_places) y.order = ElementOrder::permuted;
    return {y};
}

LayerFunction make_flatten(const LayerSetup& setup) {
    return gives_one([from = setup.dimension("start_dim"), to = setup.dimension("end_dim")](const Tensor& x) { return from == to ? x : flatten(x, from, to); });
}

/// The numbers of a type's sizes from dimension `from` on.
std::vector<std::int64_t> numbers(const TensorType& type, std::size_t from, std::size_t count) {
    std::vector<std::int64_t> out;
    for (std::size_t i = from; i < from + count; ++i) out.push_back(type.sizes[i].number);
    return out;
}

LayerFunction make_unflatten(const LayerSetup& setup) {
    const int dim = setup.dimension("dim");
    const std::size_t parts = setup.arguments().list("sizes").size();
    return gives_one([dim, sizes = numbers(setup.output(), static_cast<std::size_t>(dim), parts)](const Tensor& x) {
        Shape shape;
        for (int i = 0; i < x.rank(); ++i) {
            if (i != dim) shape.push_back(x.size(i));
            else for (const std::int64_t size : sizes) shape.push_back(size);
        }
        return reshape(x, shape);
    });
}

LayerFunction make_reshape(const LayerSetup& setup) {
    return gives_one([sizes = numbers(setup.output(), 1, setup.output().sizes.size() - 1)](const Tensor& x) {
        Shape shape{x.size(0)};
        for (const std::int64_t size : sizes) shape.push_back(size);
        return reshape(x, shape);
    });
}

LayerFunction make_permute(const LayerSetup& setup) {
    return gives_one([dims = Dims(setup.dimensions("dims"))](const Tensor& x) { return permute(x, dims); });
}

LayerFunction make_transpose(const LayerSetup& setup) {
    return gives_one([a = setup.dimension("dim0"), b = setup.dimension("dim1")](const Tensor& x) { return transpose(x, a, b); });
}

LayerFunction make_squeeze(const LayerSetup& setup) {
    const int dim = setup.dimension("dim");
    // A batch or window of 1 stays.
    const bool goes = setup.output().rank() < setup.input().rank();
    return gives_one([dim, goes](const Tensor& x) { return goes ? squeeze(x, std::vector<std::int64_t>{dim}) : x; });
}

LayerFunction make_unsqueeze(const LayerSetup& setup) {
    return gives_one([dim = setup.dimension("dim", setup.output().rank())](const Tensor& x) { return unsqueeze(x, dim); });
}

LayerFunction make_select(const LayerSetup& setup) {
    return gives_one([dim = setup.dimension("dim"), index = setup.arguments().whole("index")](const Tensor& x) { return select(x, dim, index); });
}

LayerFunction make_slice(const LayerSetup& setup) {
    const LayerArguments& in = setup.arguments();
    return gives_one([dim = setup.dimension("dim"), from = in.whole("start"), to = in.whole("end"), step = in.whole("step")](const Tensor& x) { return slice(x, dim, from, to, step); });
}

LayerFunction make_split(const LayerSetup& setup) {
    const int dim = setup.dimension("dim");
    const std::int64_t length = setup.output().sizes[static_cast<std::size_t>(dim)].number;
    return gives_one([dim, length, from = setup.arguments().whole("i") * length](const Tensor& x) { return narrow(x, dim, from, length); });
}

LayerFunction make_flip(const LayerSetup& setup) {
    return gives_one([dims = setup.dimensions("dims")](const Tensor& x) { return flip(x, dims); });
}

LayerFunction make_roll(const LayerSetup& setup) {
    return gives_one([shifts = setup.arguments().list("shifts"), dims = setup.dimensions("dims")](const Tensor& x) { return roll(x, shifts, dims); });
}

ValueTypes roll_types(const LayerTypes& layer) {
    const std::vector<std::int64_t> dims = layer.dimensions("dims"), &shifts = layer.arguments().list("shifts");
    ValueType x = layer.in.front();
    for (std::size_t i = 0; i < dims.size(); ++i) {
        const Size& size = layer.input().sizes[static_cast<std::size_t>(dims[i])];
        if (shifts[i] == 0 || (size.is_number() && shifts[i] % size.number == 0)) continue;
        const ValueType first = layer.call(narrow_op, {x}), second = layer.call(narrow_op, {x});
        x = layer.call(cat_op, {first, second});
    }
    return {x};
}

PoolOptions pool_options(const LayerSetup& setup) {
    const LayerArguments& in = setup.arguments();
    PoolOptions options{.kernel = in.list("kernel_size"), .ceil_mode = in.flag("ceil_mode")};
    if (in.given("stride")) options.stride = in.list("stride");
    if (in.all.contains("padding")) options.padding = in.list("padding");
    if (in.all.contains("dilation")) options.dilation = in.list("dilation");
    if (in.all.contains("count_include_pad")) options.count_include_pad = in.flag("count_include_pad");
    return options;
}

template <typename F>
LayerRun pools(F f, const Op& op, TypePass::Gives gives = TypePass::Gives::widest) {
    return {.make = [f](const LayerSetup& setup) {
        return gives_one([f, options = pool_options(setup)](const Tensor& x) { return f(x, options); });
    }, .types = calls(op, gives)};
}

template <std::size_t dims, typename F>
LayerRun adapts(F f, const Op& op, TypePass::Gives gives = TypePass::Gives::widest) {
    return {.make = [f](const LayerSetup& setup) {
        PoolSize<dims> size{};
        std::ranges::copy(setup.arguments().list("output_size"), size.begin());
        return gives_one([f, size](const Tensor& x) { return f(x, size); });
    }, .types = calls(op, gives)};
}

template <typename F>
LayerRun pools_powers(F f, const Op& op) {
    return {.make = [f](const LayerSetup& setup) {
        return gives_one([f, p = setup.arguments().number("norm_type"), options = pool_options(setup)](const Tensor& x) { return f(x, p, options); });
    }, .types = calls(op, TypePass::Gives::f32_in_region)};
}

LayerFunction make_upsample(const LayerSetup& setup) {
    UpsampleTarget target{{}, {setup.arguments().number("scale_factor")}};
    InterpolateOptions options{.mode = setup.arguments().word("mode")};
    return gives_one([target, options](const Tensor& x) { return interpolate(x, target, options); });
}

const Op& upsampling(const std::string& mode, int dims) {
    if (mode == "bicubic") return upsample_bicubic2d_op;
    if (mode == "nearest") return dims == 1 ? upsample_nearest1d_op : dims == 2 ? upsample_nearest2d_op : upsample_nearest3d_op;
    return dims == 1 ? upsample_linear1d_op : dims == 2 ? upsample_bilinear2d_op : upsample_trilinear3d_op;
}

ValueTypes upsample_types(const LayerTypes& layer) {
    return {layer.call(upsampling(layer.arguments().word("mode"), layer.input().rank() - 2), {layer.in.front()})};
}

/// Amounts before and after the last dimensions, from the last on.
std::vector<std::int64_t> padded_sides(const GraphLayer& layer) {
    std::vector<std::int64_t> sides = layer.arguments().list("sizes");
    if (sides.size() == 1) sides.assign(2 * static_cast<std::size_t>(layer.input().rank() - 2), sides.front());
    return sides;
}

LayerFunction make_pad(const LayerSetup& setup) {
    const std::vector<std::int64_t> sides = padded_sides(setup);
    const std::string& mode = setup.arguments().word("mode");
    return gives_one([sides, mode = mode == "zeros" ? std::string("constant") : mode](const Tensor& x) { return pad(x, sides, mode); });
}

ValueTypes pad_types(const LayerTypes& layer) {
    const std::vector<std::int64_t> sides = padded_sides(layer);
    if (layer.arguments().word("mode") != "zeros") return {edge_padding_type(layer, sides)};
    const ValueType& x = layer.in.front();
    const bool pads = std::ranges::any_of(sides, [](std::int64_t each) { return each > 0; });
    return {pads ? layer.call(constant_pad_nd_op, {x}) : x};
}

template <typename F>
LayerRun reduces(F f, const Op& op) {
    return {.make = [f](const LayerSetup& setup) {
        return gives_one([f, dims = setup.dimensions("dims"), keepdim = setup.arguments().flag("keepdim")](const Tensor& x) { return f(x, dims, keepdim); });
    }, .types = calls(op)};
}

}  // namespace

LayerRun run_MaxPool1d() {
    return pools([](const Tensor& x, const PoolOptions& options) { return max_pool1d(x, options).values; }, max_pool1d_op);
}
LayerRun run_MaxPool2d() {
    return pools([](const Tensor& x, const PoolOptions& options) { return max_pool2d(x, options); }, max_pool2d_op);
}
LayerRun run_MaxPool3d() {
    return pools([](const Tensor& x, const PoolOptions& options) { return max_pool3d(x, options).values; }, max_pool3d_op, TypePass::Gives::from_f32);
}
LayerRun run_AvgPool1d() { return pools(avg_pool1d, avg_pool1d_op); }
LayerRun run_AvgPool2d() { return pools(avg_pool2d, avg_pool2d_op); }
LayerRun run_AvgPool3d() { return pools(avg_pool3d, avg_pool3d_op, TypePass::Gives::from_f32); }
LayerRun run_AdaptiveAvgPool1d() { return adapts<1>(adaptive_avg_pool1d, adaptive_avg_pool1d_op); }
LayerRun run_AdaptiveAvgPool2d() { return adapts<2>(adaptive_avg_pool2d, adaptive_avg_pool2d_op); }
LayerRun run_AdaptiveAvgPool3d() { return adapts<3>(adaptive_avg_pool3d, adaptive_avg_pool3d_op, TypePass::Gives::from_f32); }
LayerRun run_AdaptiveMaxPool1d() {
    return adapts<1>([](const Tensor& x, const PoolSize<1>& size) { return adaptive_max_pool1d(x, size).values; }, adaptive_max_pool1d_op);
}
LayerRun run_AdaptiveMaxPool2d() {
    return adapts<2>([](const Tensor& x, const PoolSize<2>& size) { return adaptive_max_pool2d(x, size, false).values; }, adaptive_max_pool2d_op);
}
LayerRun run_AdaptiveMaxPool3d() {
    return adapts<3>([](const Tensor& x, const PoolSize<3>& size) { return adaptive_max_pool3d(x, size).values; }, adaptive_max_pool3d_op, TypePass::Gives::from_f32);
}
LayerRun run_LPPool1d() { return pools_powers(lp_pool1d, lp_pool1d_op); }
LayerRun run_LPPool2d() { return pools_powers(lp_pool2d, lp_pool2d_op); }
LayerRun run_LPPool3d() { return pools_powers(lp_pool3d, lp_pool3d_op); }
LayerRun run_Flatten() { return is_view(make_flatten, reshape_types); }
LayerRun run_Unflatten() { return is_view(make_unflatten, reshape_types); }
LayerRun run_Reshape() { return is_view(make_reshape, reshape_types); }
LayerRun run_Permute() { return is_view(make_permute, moves({&permute_op})); }
LayerRun run_Transpose() { return is_view(make_transpose, moves({&permute_op})); }
LayerRun run_Squeeze() { return is_view(make_squeeze, reshape_types); }
LayerRun run_Unsqueeze() { return is_view(make_unsqueeze, reshape_types); }
LayerRun run_Select() { return is_view(make_select, moves({&narrow_op, &reshape_op})); }
LayerRun run_Slice() { return is_view(make_slice, moves({&slice_op})); }
LayerRun run_Split() { return is_view(make_split, moves({&narrow_op})); }
LayerRun run_Flip() { return {.make = make_flip, .types = moves({&flip_op})}; }
LayerRun run_Roll() { return {.make = make_roll, .types = roll_types}; }
LayerRun run_Upsample() { return {.make = make_upsample, .types = upsample_types}; }
LayerRun run_PixelShuffle() {
    return {.make = [](const LayerSetup& setup) {
        return gives_one([factor = setup.arguments().whole("upscale_factor")](const Tensor& x) { return pixel_shuffle(x, factor); });
    }, .types = moves({&reshape_op, &permute_op, &reshape_op})};
}
LayerRun run_PixelUnshuffle() {
    return {.make = [](const LayerSetup& setup) {
        return gives_one([factor = setup.arguments().whole("downscale_factor")](const Tensor& x) { return pixel_unshuffle(x, factor); });
    }, .types = moves({&reshape_op, &permute_op, &reshape_op})};
}
LayerRun run_Pad() { return {.make = make_pad, .types = pad_types}; }
LayerRun run_Mean() {
    return reduces([](const Tensor& x, const std::vector<std::int64_t>& dims, bool keepdim) { return mean(x, dims, keepdim); }, mean_op);
}
LayerRun run_Sum() {
    return reduces([](const Tensor& x, const std::vector<std::int64_t>& dims, bool keepdim) { return sum(x, dims, keepdim); }, sum_op);
}
LayerRun run_Max() {
    return reduces([](const Tensor& x, const std::vector<std::int64_t>& dims, bool keepdim) { return amax(x, dims, keepdim); }, amax_op);
}

}  // namespace engine::network
