#include <algorithm>
#include <cmath>
#include <set>

#include "network/kind_forms.h"

/// Layers that change the shape: views, pools, resizing and reductions.
namespace engine::network {
namespace {

/// A copy of the values in another shape. A view costs nothing.
void view(LayerCall& call, Sizes sizes) {
    call.give(std::move(sizes));
    call.outputs.back().whole = call.input().whole;
}

/// The dimension that an argument names; each may come once.
int next_dimension(const LayerCall& call, std::int64_t given, std::set<int>& seen) {
    const int dim = call.dimension(given);
    if (!seen.insert(dim).second) call.fail(msg("{}: dimension {} comes twice.", call.kind.name, given));
    return dim;
}

std::size_t dim_at(const LayerCall& call, const char* name) {
    return static_cast<std::size_t>(call.dimension(call.arguments.whole(name)));
}

void flatten(LayerCall& call) {
    const std::size_t from = dim_at(call, "start_dim"), to = dim_at(call, "end_dim");
    const Sizes& in = call.sizes();
    if (from > to) call.fail(msg("{}: start_dim is behind end_dim in {}.", call.kind.name, to_string(in)));
    Sizes out(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(from));
    out.push_back(from == to ? in[from] : number_size(product(call, {in.begin() + static_cast<std::ptrdiff_t>(from), in.begin() + static_cast<std::ptrdiff_t>(to) + 1})));
    out.insert(out.end(), in.begin() + static_cast<std::ptrdiff_t>(to) + 1, in.end());
    view(call, std::move(out));
}

/// Sizes of which one may be -1, so that their product is `total`.
Sizes completed(const LayerCall& call, const std::vector<std::int64_t>& given, std::int64_t total) {
    Sizes out;
    std::int64_t known = 1;
    std::ptrdiff_t open = -1;
    for (const std::int64_t each : given) {
        if (each == -1 && open < 0)
            open = static_cast<std::ptrdiff_t>(out.size());
        else if (each < 1)
            call.fail(msg("{}: a size is 1 or more, and -1 once for the rest.", call.kind.name));
        else if (__builtin_mul_overflow(known, each, &known))
            call.fail(msg("{}: a size of 2^62 or more.", call.kind.name));
        out.push_back(number_size(each));
    }
    if (open >= 0 ? total % known != 0 : total != known)
        call.fail(msg("{}: {} elements do not fit into {}.", call.kind.name, total, to_string(out)));
    if (open >= 0) out[static_cast<std::size_t>(open)] = number_size(total / known);
    return out;
}

void unflatten(LayerCall& call) {
    const std::size_t dim = dim_at(call, "dim");
    const Sizes parts = completed(call, call.arguments.list("sizes"), call.number_at(static_cast<int>(dim)));
    Sizes out = call.sizes();
    out.erase(out.begin() + static_cast<std::ptrdiff_t>(dim));
    out.insert(out.begin() + static_cast<std::ptrdiff_t>(dim), parts.begin(), parts.end());
    view(call, std::move(out));
}

void reshape(LayerCall& call) {
    const Sizes& in = call.sizes();
    if (in.empty()) call.fail(msg("Reshape takes N x ...; the input is {}.", to_string(in)));
    Sizes out = completed(call, call.arguments.list("sizes"), product(call, std::span(in).subspan(1)));
    out.insert(out.begin(), in.front());
    view(call, std::move(out));
}

void permute(LayerCall& call) {
    Sizes out;
    std::set<int> seen;
    for (const std::int64_t each : call.arguments.list("dims")) {
        out.push_back(call.sizes()[static_cast<std::size_t>(next_dimension(call, each, seen))]);
    }
    if (out.size() != call.sizes().size())
        call.fail(msg("Permute: {} has {} dimensions, and all of them have to be named.", to_string(call.sizes()), call.input().rank()));
    view(call, std::move(out));
}

void transpose(LayerCall& call) {
    Sizes out = call.sizes();
    std::swap(out[dim_at(call, "dim0")], out[dim_at(call, "dim1")]);
    view(call, std::move(out));
}

void squeeze(LayerCall& call) {
    const std::size_t dim = dim_at(call, "dim");
    Sizes out = call.sizes();
    if (out[dim] == number_size(1)) out.erase(out.begin() + static_cast<std::ptrdiff_t>(dim));
    view(call, std::move(out));
}

void unsqueeze(LayerCall& call) {
    Sizes out = call.sizes();
    const int dim = call.dimension(call.arguments.whole("dim"), call.input().rank() + 1);
    not_the_batch(call, dim);
    out.insert(out.begin() + dim, number_size(1));
    view(call, std::move(out));
}

void select(LayerCall& call) {
    const std::size_t dim = dim_at(call, "dim");
    not_the_batch(call, static_cast<int>(dim));
    Sizes out = call.sizes();
    const std::int64_t index = call.arguments.whole("index");
    const Size& size = out[dim];
    if (size.is_number() ? index < -size.number || index >= size.number : index != 0 && index != -1)
        call.fail(msg("Select: there is no item {} in dimension {} of {}.", index, dim, to_string(out)));
    out.erase(out.begin() + static_cast<std::ptrdiff_t>(dim));
    view(call, std::move(out));
}

void slice(LayerCall& call) {
    const std::size_t dim = dim_at(call, "dim");
    const std::int64_t size = call.number_at(static_cast<int>(dim)), step = call.arguments.whole("step");
    const auto bounded = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size); };
    const std::int64_t from = bounded(call.arguments.whole("start")), to = bounded(call.arguments.whole("end"));
    if (to <= from) call.fail(msg("Slice: nothing is left of dimension {} of {}.", dim, to_string(call.sizes())));
    Sizes out = call.sizes();
    out[dim] = number_size((to - from + step - 1) / step);
    view(call, std::move(out));
}

void split(LayerCall& call) {
    const std::size_t dim = dim_at(call, "dim");
    const std::int64_t size = call.number_at(static_cast<int>(dim)), part = call.arguments.whole("i"), parts = call.arguments.whole("n");
    if (size % parts != 0) call.fail(msg("Split: {} does not part into {} equal ones. Use {}.", size, parts, divisors_text(size)));
    if (part >= parts) call.fail(msg("Split: the parts are 0 to {}, not {}.", parts - 1, part));
    Sizes out = call.sizes();
    out[dim] = number_size(size / parts);
    view(call, std::move(out));
}

void flip(LayerCall& call) {
    std::set<int> seen;
    for (const std::int64_t each : call.arguments.list("dims")) not_the_batch(call, next_dimension(call, each, seen));
    view(call, call.sizes());
    call.count_elements();
}

void roll(LayerCall& call) {
    std::set<int> seen;
    for (const std::int64_t each : call.arguments.list("dims")) not_the_batch(call, next_dimension(call, each, seen));
    if (call.arguments.list("shifts").size() != call.arguments.list("dims").size())
        call.fail(msg("Roll: one shift for each dimension."));
    view(call, call.sizes());
    call.count_elements();
}

// Pools and resizing: N x channels x sizes.

void need_pooled(LayerCall& call) {
    call.need_numbers(call.input());
    static constexpr const char* forms[] = {"N x channels x length", "N x channels x height x width", "N x channels x depth x height x width"};
    call.need_rank(call.kind.dimensions + 2, forms[call.kind.dimensions - 1]);
}

/// An argument that only some pools have.
std::vector<std::int64_t> sizes_or(const LayerCall& call, const char* name, std::int64_t usual) {
    if (!call.arguments.all.contains(name)) return std::vector<std::int64_t>(static_cast<std::size_t>(call.kind.dimensions), usual);
    return call.arguments.list(name);
}

void pool(LayerCall& call) {
    need_pooled(call);
    const auto& kernel = call.arguments.list("kernel_size");
    const auto& stride = call.arguments.given("stride") ? call.arguments.list("stride") : kernel;
    const auto padding = sizes_or(call, "padding", 0), dilation = sizes_or(call, "dilation", 1);
    Sizes out(call.sizes().begin(), call.sizes().begin() + 2);
    for (std::size_t i = 0; i < kernel.size(); ++i) {
        if (padding[i] > kernel[i] / 2)
            call.fail(msg("{}: padding = {} is more than half of the window {}.", call.kind.name, padding[i], kernel[i]));
        out.push_back(window_output(call, call.sizes()[i + 2], kernel[i], stride[i], padding[i], padding[i], dilation[i], call.arguments.flag("ceil_mode")));
        if (out.back().is_number() && out.back().number < 1)
            call.fail(smaller_than_window(call.kind.name, to_string(call.sizes())));
    }
    call.give(std::move(out));
    call.count_elements();
}

void adaptive_pool(LayerCall& call) {
    need_pooled(call);
    Sizes out(call.sizes().begin(), call.sizes().begin() + 2);
    for (const std::int64_t size : call.arguments.list("output_size")) out.push_back(number_size(size));
    call.give(std::move(out));
    call.count_elements();
}

LayerKind pool_kind(const char* name, int dimensions, bool maximum) {
    std::vector<LayerArgument> arguments = {arg::required(arg::sizes("kernel_size", {1}, "Kernel size.")),
                                            arg::sizes("stride", {}, "Stride of the window; by default the kernel size."),
                                            arg::sizes("padding", {0}, "Padding on each side.", 0)};
    if (maximum) arguments.push_back(arg::sizes("dilation", {1}, "Spacing of the kernel's elements."));
    arguments.push_back(arg::flag("ceil_mode", false, "Rounds the size of the output up instead of down."));
    if (!maximum) arguments.push_back(arg::flag("count_include_pad", true, "Includes the padding in the mean."));
    return {.name = name,
            .help = maximum ? "The largest number of each window." : "The mean of each window.",
            .arguments = std::move(arguments),
            .shape = pool,
            .dimensions = dimensions,
            .pytorch_order = maximum ? std::vector<std::string>{"kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode"} : std::vector<std::string>()};
}

LayerKind adaptive_kind(const char* name, int dimensions, bool maximum) {
    return {.name = name,
            .help = maximum ? "The largest numbers of equal parts." : "The means of equal parts.",
            .arguments = {arg::required(arg::sizes("output_size", {1}, "Size of the output along each dimension."))},
            .shape = adaptive_pool,
            .dimensions = dimensions};
}

LayerKind power_pool_kind(const char* name, int dimensions) {
    return {.name = name,
            .help = "The power mean of each window, times its size.",
            .arguments = {arg::required(arg::number("norm_type", 2, "Exponent of the norm.", 1)), arg::required(arg::sizes("kernel_size", {1}, "Kernel size.")),
                          arg::sizes("stride", {}, "Stride of the window; by default the kernel size."), arg::flag("ceil_mode", false, "Rounds the size of the output up instead of down.")},
            .shape = pool,
            .dimensions = dimensions};
}

void upsample(LayerCall& call) {
    call.need_numbers(call.input());
    const std::string& mode = call.arguments.word("mode");
    const int rank = call.input().rank();
    const int needed = mode == "linear" ? 3 : mode == "trilinear" ? 5 : mode == "nearest" ? rank : 4;
    if (rank < 3 || rank > 5 || rank != needed)
        call.fail(msg("Upsample: mode={} does not take {}.", mode, to_string(call.sizes())));
    Sizes out(call.sizes().begin(), call.sizes().begin() + 2);
    for (int dim = 2; dim < rank; ++dim) {
        const double size = std::floor(static_cast<double>(call.number_at(dim)) * call.arguments.number("scale_factor"));
        if (size < 1 || size >= static_cast<double>(size_limit)) call.fail(msg("Upsample: nothing is left of {}.", to_string(call.sizes())));
        out.push_back(number_size(static_cast<std::int64_t>(size)));
    }
    call.give(std::move(out));
    call.count_elements();
}

void pixel_shuffle(LayerCall& call) {
    call.need_numbers(call.input());
    call.need_rank(4, "N x channels x height x width");
    const bool back = call.kind.name == "PixelUnshuffle";
    const std::int64_t factor = call.arguments.whole(back ? "downscale_factor" : "upscale_factor");
    const std::int64_t channels = call.number_at(1), height = call.number_at(2), width = call.number_at(3);
    if (back ? height % factor != 0 || width % factor != 0 : channels % (factor * factor) != 0)
        call.fail(msg("{}({}): {} does not part into blocks of this size.", call.kind.name, factor, to_string(call.sizes())));
    if (back)
        call.give({call.sizes()[0], number_size(channels * factor * factor), number_size(height / factor), number_size(width / factor)});
    else
        call.give({call.sizes()[0], number_size(channels / (factor * factor)), number_size(height * factor), number_size(width * factor)});
    call.count_elements();
}

void pad(LayerCall& call) {
    call.need_numbers(call.input());
    std::vector<std::int64_t> sides = call.arguments.list("sizes");
    const std::size_t spatial = static_cast<std::size_t>(std::max(0, call.input().rank() - 2));
    if (sides.size() == 1) sides.assign(2 * spatial, sides.front());
    if (sides.empty() || sides.size() % 2 != 0 || sides.size() > 2 * spatial)
        call.fail(msg("Pad: {} takes one number, or pairs for its last dimensions: [left, right, top, bottom].", to_string(call.sizes())));
    Sizes out = call.sizes();
    const std::string& mode = call.arguments.word("mode");
    for (std::size_t i = 0; i < sides.size(); i += 2) {
        const std::size_t dim = out.size() - 1 - i / 2;
        const std::int64_t size = call.number_at(static_cast<int>(dim)), before = sides[i], after = sides[i + 1];
        if (before < 0 || after < 0 || before > size_limit / 4 || after > size_limit / 4)
            call.fail(msg("Pad: {} is out of range.", before < 0 ? before : after));
        if (mode == "reflect" && std::max(before, after) >= size)
            call.fail(msg("padding_mode=reflect: the padding {} has to be below the size {}.", std::max(before, after), size));
        out[dim] = number_size(size + before + after);
    }
    call.give(std::move(out));
    call.count_elements();
}

void reduce(LayerCall& call) {
    call.need_numbers(call.input());
    std::set<int> dims;
    for (const std::int64_t each : call.arguments.list("dims")) {
        not_the_batch(call, next_dimension(call, each, dims));
    }
    if (dims.empty()) call.fail(msg("{}: no dimension is named.", call.kind.name));
    Sizes out;
    for (int dim = 0; dim < call.input().rank(); ++dim) {
        if (!dims.contains(dim))
            out.push_back(call.sizes()[static_cast<std::size_t>(dim)]);
        else if (call.arguments.flag("keepdim"))
            out.push_back(number_size(1));
    }
    call.give(std::move(out));
    call.count_elements();
}

LayerKind reduction(const char* name, const char* help) {
    return {.name = name,
            .help = help,
            .arguments = {arg::required(arg::list("dims", {}, "A dimension or a list of them.")), arg::flag("keepdim", false, "Keeps the reduced dimensions with size 1.")},
            .shape = reduce};
}

LayerKind view_kind(const char* name, const char* help, void (*shape)(LayerCall&), std::vector<LayerArgument> arguments) {
    return {.name = name, .help = help, .arguments = std::move(arguments), .shape = shape};
}

LayerArgument any_whole(const char* name, std::int64_t usual, const char* help) {
    return arg::whole(name, usual, help, -static_cast<double>(size_limit), static_cast<double>(size_limit));
}

}  // namespace

LayerKind kind_MaxPool1d() { return pool_kind("MaxPool1d", 1, true); }
LayerKind kind_MaxPool2d() { return pool_kind("MaxPool2d", 2, true); }
LayerKind kind_MaxPool3d() { return pool_kind("MaxPool3d", 3, true); }
LayerKind kind_AvgPool1d() { return pool_kind("AvgPool1d", 1, false); }
LayerKind kind_AvgPool2d() { return pool_kind("AvgPool2d", 2, false); }
LayerKind kind_AvgPool3d() { return pool_kind("AvgPool3d", 3, false); }
LayerKind kind_AdaptiveAvgPool1d() { return adaptive_kind("AdaptiveAvgPool1d", 1, false); }
LayerKind kind_AdaptiveAvgPool2d() { return adaptive_kind("AdaptiveAvgPool2d", 2, false); }
LayerKind kind_AdaptiveAvgPool3d() { return adaptive_kind("AdaptiveAvgPool3d", 3, false); }
LayerKind kind_AdaptiveMaxPool1d() { return adaptive_kind("AdaptiveMaxPool1d", 1, true); }
LayerKind kind_AdaptiveMaxPool2d() { return adaptive_kind("AdaptiveMaxPool2d", 2, true); }
LayerKind kind_AdaptiveMaxPool3d() { return adaptive_kind("AdaptiveMaxPool3d", 3, true); }
LayerKind kind_LPPool1d() { return power_pool_kind("LPPool1d", 1); }
LayerKind kind_LPPool2d() { return power_pool_kind("LPPool2d", 2); }
LayerKind kind_LPPool3d() { return power_pool_kind("LPPool3d", 3); }
LayerKind kind_Flatten() {
    return view_kind("Flatten", "Dimensions as one.", flatten, {arg::positional(arg::dimension("start_dim", 1)), arg::dimension("end_dim", -1)});
}
LayerKind kind_Unflatten() {
    return view_kind("Unflatten", "A dimension as several; -1 stands for the rest.", unflatten, {arg::required(arg::dimension("dim", 1)), arg::required(arg::list("sizes", {}, "Sizes of the new dimensions; one may be -1."))});
}
LayerKind kind_Reshape() {
    return view_kind("Reshape", "Another shape of each sample; -1 stands for the rest.", reshape, {arg::required(arg::list("sizes", {}, "Sizes of the new shape, without N.", LayerArgument::Form::rest))});
}
LayerKind kind_Permute() {
    return view_kind("Permute", "Dimensions in another order.", permute, {arg::required(arg::list("dims", {}, "The new order of all dimensions.", LayerArgument::Form::rest))});
}
LayerKind kind_Transpose() {
    return view_kind("Transpose", "Two dimensions exchanged.", transpose, {arg::required(arg::dimension("dim0", 1)), arg::required(arg::dimension("dim1", 2))});
}
LayerKind kind_Squeeze() { return view_kind("Squeeze", "Without a dimension of size 1.", squeeze, {arg::required(arg::dimension("dim", 1))}); }
LayerKind kind_Unsqueeze() { return view_kind("Unsqueeze", "With a new dimension of size 1.", unsqueeze, {arg::required(arg::dimension("dim", 1))}); }
LayerKind kind_Select() {
    return view_kind("Select", "One item of a dimension, which goes.", select, {arg::required(arg::dimension("dim", 1)), arg::required(any_whole("index", 0, "The item; -1 is the last."))});
}
LayerKind kind_Slice() {
    return view_kind("Slice", "Items of a dimension.", slice,
                     {arg::required(arg::dimension("dim", 1)), arg::required(any_whole("start", 0, "The first item.")),
                      arg::required(any_whole("end", 1, "The item after the last.")), arg::whole("step", 1, "Step from one item to the next.", 1, static_cast<double>(size_limit / 4))});
}
LayerKind kind_Split() {
    return view_kind("Split", "Part i of n equal ones.", split,
                     {arg::required(arg::dimension("dim", 1)), arg::required(arg::whole("i", 0, "Index of the part, from 0.", 0)), arg::required(arg::whole("n", 1, "Number of parts."))});
}
LayerKind kind_Flip() { return view_kind("Flip", "Reverses dimensions.", flip, {arg::required(arg::list("dims", {}, "Dimensions to reverse or to shift along.", LayerArgument::Form::rest))}); }
LayerKind kind_Roll() {
    return view_kind("Roll", "Moved along dimensions, the end to the front.", roll, {arg::required(arg::list("shifts", {}, "Number of positions to shift by, for each dimension.")), arg::required(arg::list("dims", {}, "Dimensions to reverse or to shift along."))});
}
LayerKind kind_Upsample() {
    std::vector<FieldChoice> modes;
    for (const char* mode : {"nearest", "linear", "bilinear", "bicubic", "trilinear"}) modes.push_back({mode, mode});
    return view_kind("Upsample", "Larger by a factor.", upsample, {arg::required(arg::number("scale_factor", 2, "Scale factor.", 1e-6, 1e6)), arg::word("mode", "nearest", std::move(modes), "Interpolation mode.")});
}
LayerKind kind_PixelShuffle() {
    return view_kind("PixelShuffle", "Channels become blocks of pixels.", pixel_shuffle, {arg::required(arg::whole("upscale_factor", 2, "Side length of a block, in pixels.", 1, 65536))});
}
LayerKind kind_PixelUnshuffle() {
    return view_kind("PixelUnshuffle", "Blocks of pixels become channels.", pixel_shuffle, {arg::required(arg::whole("downscale_factor", 2, "Side length of a block, in pixels.", 1, 65536))});
}
LayerKind kind_Pad() {
    return view_kind("Pad", "Values around the last dimensions.", pad,
                     {arg::required(arg::list("sizes", {}, "A number, or [left, right, top, bottom].")),
                      arg::word("mode", "zeros", {{"zeros", "zeros"}, {"reflect", "reflect"}, {"replicate", "replicate"}}, "Values in the padding.")});
}
LayerKind kind_Mean() { return reduction("Mean", "The mean over dimensions."); }
LayerKind kind_Sum() { return reduction("Sum", "The sum over dimensions."); }
LayerKind kind_Max() { return reduction("Max", "The largest number over dimensions."); }

}  // namespace engine::network
