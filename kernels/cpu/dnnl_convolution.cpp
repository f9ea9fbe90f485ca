#include <array>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <vector>

#include "cpu/dnnl_common.h"
#include "cpu/dnnl_ops.h"
#include "cpu/gemm_scratch.h"
#include "kernels/parallel.h"
#include "kernels/thread_context.h"

namespace kernels::cpu {
namespace {

struct Convolution {
    std::string route;  ///< empty: no implementation
    dnnl::primitive primitive;
    Arguments arguments;
    dnnl::primitive reorder;  ///< weights to or from the primitive's layout
    Arguments reorder_arguments;
    std::size_t blocked_bytes = 0;  ///< 0: the primitive takes the weights as they are
};

struct ConvGeometry {
    memory::desc x, w, y, bias, plain_w;
    memory::dims strides, dilation, pad_begin, pad_end;
    std::int64_t group_channels;  ///< input channels of a group
    bool windows_meet_input;
};

/// Whether each of `taps` meets the input for some output place.
bool taps_meet_input(std::int64_t taps, std::int64_t dilation, std::int64_t pad, std::int64_t in,
                     std::int64_t out, std::int64_t stride) {
    for (std::int64_t tap = 0; tap < taps; ++tap) {
        bool meets = false;
        for (std::int64_t o = 0; o < out && !meets; ++o) {
            const std::int64_t at = o * stride + tap * dilation - pad;
            meets = at >= 0 && at < in;
        }
        if (!meets) return false;
    }
    return true;
}

/// Whether each output place has a tap that meets the input.
bool windows_meet_input(std::int64_t taps, std::int64_t dilation, std::int64_t pad, std::int64_t in,
                        std::int64_t out, std::int64_t stride) {
    for (std::int64_t o = 0; o < out; ++o) {
        bool meets = false;
        for (std::int64_t tap = 0; tap < taps && !meets; ++tap) {
            const std::int64_t at = o * stride + tap * dilation - pad;
            meets = at >= 0 && at < in;
        }
        if (!meets) return false;
    }
    return true;
}

/// The convolution without strides of a single output place and dilations of a single tap, which
/// change nothing but what oh() and ow() say: oneDNN 3.7 computes wrong sums by AMX for a stride of
/// a single place.
Conv2dShape without_idle_steps(Conv2dShape s) {
    const std::int64_t oh = s.oh(), ow = s.ow();
    const auto set_pitch = [](std::int64_t out, std::int64_t taps, std::int64_t& stride,
                              std::int64_t& dilation) {
        if (out == 1) stride = 1;
        if (taps == 1) dilation = 1;
    };
    set_pitch(oh, s.r, s.stride_h, s.dilation_h);
    set_pitch(ow, s.s, s.stride_w, s.dilation_w);
    return s;
}

ConvGeometry geometry(DType dtype, const Conv2dShape& given, bool with_bias) {
    const std::int64_t oh = given.oh(), ow = given.ow();
    const Conv2dShape s = without_idle_steps(given);
    using tag = memory::format_tag;
    const memory::data_type type = data_type(dtype);
    const memory::dims weights =
        s.groups == 1 ? memory::dims{s.k, s.c, s.r, s.s}
                      : memory::dims{s.groups, s.k / s.groups, s.c / s.groups, s.r, s.s};
    // The end's padding is what makes oneDNN's output size ours; it may be negative.
    const auto end = [](std::int64_t out, std::int64_t stride, std::int64_t taps,
                        std::int64_t dilation, std::int64_t in, std::int64_t begin) {
        return (out - 1) * stride + (taps - 1) * dilation + 1 - in - begin;
    };
    return {
        .x = {{s.n, s.c, s.h, s.w}, type, tag::nhwc},
        .w = {weights, type, tag::any},
        .y = {{s.n, s.k, oh, ow}, type, tag::nhwc},
        .bias = with_bias ? memory::desc({s.k}, type, tag::x) : memory::desc(),
        .plain_w = {weights, type, s.groups == 1 ? tag::oihw : tag::goihw},
        .strides = {s.stride_h, s.stride_w},
        .dilation = {s.dilation_h - 1, s.dilation_w - 1},
        .pad_begin = {s.pad_h, s.pad_w},
        .pad_end = {end(oh, s.stride_h, s.r, s.dilation_h, s.h, s.pad_h),
                    end(ow, s.stride_w, s.s, s.dilation_w, s.w, s.pad_w)},
        .group_channels = s.c / s.groups,
        .windows_meet_input = windows_meet_input(s.r, s.dilation_h, s.pad_h, s.h, oh, s.stride_h) &&
                              windows_meet_input(s.s, s.dilation_w, s.pad_w, s.w, ow, s.stride_w)};
}

bool uses_amx(const std::string& route) { return route.find("amx") != std::string::npos; }

/// Faults of oneDNN's implementations, found by comparing thousands of random shapes with exact
/// sums:
/// - 2.6 computes wrong bf16 weight gradients by AMX, from memory that it never wrote, for rows
/// that
///   are dilated and more than two blocks of input channels of which the last is not full.
/// - 3.7's convolutions by batched products crash where a window lies in the padding as a whole.
bool has_fault(ConvDirection direction, const std::string& route, const ConvGeometry& g) {
    constexpr std::int64_t block = 16;
    if (route.starts_with("brg") && !g.windows_meet_input) return true;
    return direction == ConvDirection::weight_gradient && uses_amx(route) && g.dilation[0] > 0 &&
           g.group_channels > 2 * block && g.group_channels % block != 0;
}

/// The first implementation that can be trusted.
template <class Desc>
Desc sound(ConvDirection direction, Desc desc, const ConvGeometry& g) {
    return skip_reference(std::move(desc),
                          [&](const std::string& route) { return has_fault(direction, route, g); });
}

template <class Gradient>
constexpr ConvDirection direction_of =
    std::is_same_v<Gradient, dnnl::convolution_backward_weights> ? ConvDirection::weight_gradient
                                                                 : ConvDirection::data_gradient;

using ForwardDesc = dnnl::convolution_forward::primitive_desc;

constexpr auto direct = algorithm::convolution_direct;
constexpr auto training = prop_kind::forward_training;

#if DNNL_VERSION_MAJOR >= 3

ForwardDesc any_forward_desc(const ConvGeometry& g) {
    return {dnnl_engine(), training,  direct,           g.x, g.w, g.y, g.strides, g.dilation,
            g.pad_begin,   g.pad_end, user_scratchpad()};
}

ForwardDesc forward_desc(const ConvGeometry& g, bool bias) {
    return sound(ConvDirection::forward,
                 bias
                     ? ForwardDesc(dnnl_engine(), training, direct, g.x, g.w, g.bias, g.y,
                                   g.strides, g.dilation, g.pad_begin, g.pad_end, user_scratchpad())
                     : any_forward_desc(g),
                 g);
}

template <class Gradient>
typename Gradient::primitive_desc gradient_desc(const ConvGeometry& g) {
    const ForwardDesc hint = any_forward_desc(g);
    return sound(direction_of<Gradient>,
                 typename Gradient::primitive_desc(dnnl_engine(), direct, g.x, g.w, g.y, g.strides,
                                                   g.dilation, g.pad_begin, g.pad_end, hint,
                                                   user_scratchpad()),
                 g);
}

#else

ForwardDesc forward_desc(const ConvGeometry& g, bool bias) {
    using Forward = dnnl::convolution_forward;
    const auto desc = bias ? Forward::desc(training, direct, g.x, g.w, g.bias, g.y, g.strides,
                                           g.dilation, g.pad_begin, g.pad_end)
                           : Forward::desc(training, direct, g.x, g.w, g.y, g.strides, g.dilation,
                                           g.pad_begin, g.pad_end);
    return sound(ConvDirection::forward, ForwardDesc(desc, user_scratchpad(), dnnl_engine()), g);
}

template <class Gradient>
typename Gradient::primitive_desc gradient_desc(const ConvGeometry& g) {
    const dnnl::convolution_forward::desc forward(training, direct, g.x, g.w, g.y, g.strides,
                                                  g.dilation, g.pad_begin, g.pad_end);
    const ForwardDesc hint(forward, user_scratchpad(), dnnl_engine());
    const typename Gradient::desc desc(direct, g.x, g.w, g.y, g.strides, g.dilation, g.pad_begin,
                                       g.pad_end);
    return sound(direction_of<Gradient>,
                 typename Gradient::primitive_desc(desc, user_scratchpad(), dnnl_engine(), hint),
                 g);
}

#endif

/// Puts the primitive's blocked weights and their reorder beside the plain ones.
void block_weights(Convolution& conv, int argument, const memory::desc& plain,
                   const memory::desc& blocked, bool is_output) {
    conv.arguments[argument] = unbound(blocked);
    if (blocked == plain) return;
    conv.blocked_bytes = blocked.get_size();
    const memory::desc& from = is_output ? blocked : plain;
    const memory::desc& to = is_output ? plain : blocked;
    conv.reorder = dnnl::reorder({dnnl_engine(), from, dnnl_engine(), to});
    conv.reorder_arguments = {{DNNL_ARG_FROM, unbound(from)}, {DNNL_ARG_TO, unbound(to)}};
}

Convolution make_convolution(ConvDirection direction, const ConvGeometry& g, bool bias) {
    Convolution conv;
    const auto fill = [&](const auto& desc, auto make) {
        if (!desc) return;
        conv.route = desc->impl_info_str();
        conv.primitive = make(*desc);
        conv.arguments[DNNL_ARG_SCRATCHPAD] = unbound(desc->scratchpad_desc());
    };
    if (direction == ConvDirection::forward) {
        const auto desc = optimized<ForwardDesc>([&] { return forward_desc(g, bias); });
        fill(desc, [](const ForwardDesc& d) { return dnnl::convolution_forward(d); });
        if (!desc) return conv;
        conv.arguments[DNNL_ARG_SRC] = unbound(g.x);
        conv.arguments[DNNL_ARG_DST] = unbound(g.y);
        if (bias) conv.arguments[DNNL_ARG_BIAS] = unbound(g.bias);
        block_weights(conv, DNNL_ARG_WEIGHTS, g.plain_w, desc->weights_desc(), false);
    } else if (direction == ConvDirection::data_gradient) {
        using Gradient = dnnl::convolution_backward_data;
        using Desc = Gradient::primitive_desc;
        const auto desc = optimized<Desc>([&] { return gradient_desc<Gradient>(g); });
        fill(desc, [](const Desc& d) { return Gradient(d); });
        if (!desc) return conv;
        conv.arguments[DNNL_ARG_DIFF_SRC] = unbound(g.x);
        conv.arguments[DNNL_ARG_DIFF_DST] = unbound(g.y);
        block_weights(conv, DNNL_ARG_WEIGHTS, g.plain_w, desc->weights_desc(), false);
    } else {
        using Gradient = dnnl::convolution_backward_weights;
        using Desc = Gradient::primitive_desc;
        const auto desc = optimized<Desc>([&] { return gradient_desc<Gradient>(g); });
        fill(desc, [](const Desc& d) { return Gradient(d); });
        if (!desc) return conv;
        conv.arguments[DNNL_ARG_SRC] = unbound(g.x);
        conv.arguments[DNNL_ARG_DIFF_DST] = unbound(g.y);
        block_weights(conv, DNNL_ARG_DIFF_WEIGHTS, g.plain_w, desc->diff_weights_desc(), true);
    }
    return conv;
}

Convolution& convolution(ConvDirection direction, DType dtype, const Conv2dShape& s, bool bias) {
    thread_local ShapeCache<Convolution> cache;
    const ShapeKey key{{static_cast<std::int64_t>(direction) +
                            4 * static_cast<std::int64_t>(dtype) + (bias ? 64 : 0),
                        s.n, s.c, s.h, s.w, s.k, s.r, s.s, s.stride_h, s.stride_w, s.pad_h, s.pad_w,
                        s.dilation_h, s.dilation_w, s.groups, threads()}};
    return cache.get(key,
                     [&] { return make_convolution(direction, geometry(dtype, s, bias), bias); });
}

/// oneDNN (2.6, AVX-512) leaves the gradient of a bf16 weight unwritten if its tap only meets
/// padding.
bool leaves_gradient_unwritten(ConvDirection direction, DType dtype, const Conv2dShape& s) {
    return direction == ConvDirection::weight_gradient && dtype == DType::bf16 &&
           !(taps_meet_input(s.r, s.dilation_h, s.pad_h, s.h, s.oh(), s.stride_h) &&
             taps_meet_input(s.s, s.dilation_w, s.pad_w, s.w, s.ow(), s.stride_w));
}

/// oneDNN (2.6, AVX-512) multiplies bf16 channels in pairs. An odd last channel is paired with
/// whatever follows in memory, times zero: NaN if that is infinite.
bool pairs_spread_infinity(ConvDirection direction, const ConvOperands& operands,
                           const Conv2dShape& s) {
    if (direction == ConvDirection::forward)
        return s.c / s.groups % 2 == 1 &&
               !is_finite({operands.x, DType::bf16, s.n * s.c * s.h * s.w});
    return direction == ConvDirection::data_gradient && s.k / s.groups % 2 == 1 &&
           !is_finite({operands.y, DType::bf16, s.n * s.k * s.oh() * s.ow()});
}

/// x, w and y of the convolution as arrays.
std::array<Array, 3> tensors(DType dtype, const ConvOperands& operands, const Conv2dShape& s) {
    return {Array{operands.x, dtype, s.n * s.c * s.h * s.w},
            Array{operands.w, dtype, s.k * (s.c / s.groups) * s.r * s.s},
            Array{operands.y, dtype, s.n * s.k * s.oh() * s.ow()}};
}

/// The place in tensors() of the one that the convolution writes.
std::size_t written(ConvDirection direction) {
    if (direction == ConvDirection::forward) return 2;
    return direction == ConvDirection::data_gradient ? 0 : 1;
}

/// Whether an implementation multiplies elements of its operands, or memory that is not part of
/// them, by a padding zero: in a bf16 weight gradient, the neighbour of an odd pixel or stale
/// scratch memory; with AMX, the filling of a tile; in a data gradient by oneDNN 3's batched
/// products, the weights of windows outside dy. Such an element turns sums of others into NaN if it
/// is not finite, and changes no bit of them if it is.
bool multiplies_padding(const std::string& route, ConvDirection direction, DType dtype) {
    if (direction == ConvDirection::data_gradient && route.starts_with("brg")) return true;
    // oneDNN's depthwise code has neither pairs nor tiles.
    return dtype == DType::bf16 && route.find("_dw:") == std::string::npos &&
           (direction == ConvDirection::weight_gradient || uses_amx(route));
}

std::int64_t multiply_adds(const Conv2dShape& s) {
    return s.n * s.oh() * s.ow() * s.k * (s.c / s.groups) * s.r * s.s;
}

void execute(Convolution& conv, ConvDirection direction, const ConvOperands& operands) {
    const bool weight_gradient = direction == ConvDirection::weight_gradient;
    bind(conv.arguments[direction == ConvDirection::data_gradient ? DNNL_ARG_DIFF_SRC
                                                                  : DNNL_ARG_SRC],
         operands.x);
    bind(conv.arguments[direction == ConvDirection::forward ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST],
         operands.y);
    if (direction == ConvDirection::forward && operands.bias)
        bind(conv.arguments[DNNL_ARG_BIAS], operands.bias);
    memory& weights = conv.arguments[weight_gradient ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS];
    if (conv.blocked_bytes == 0) {
        bind(weights, operands.w);
        run(conv.primitive, conv.arguments);
        return;
    }
    void* blocked = scratch_bytes(Scratch::library_weights, conv.blocked_bytes);
    bind(weights, blocked);
    bind(conv.reorder_arguments[weight_gradient ? DNNL_ARG_TO : DNNL_ARG_FROM], operands.w);
    bind(conv.reorder_arguments[weight_gradient ? DNNL_ARG_FROM : DNNL_ARG_TO], blocked);
    if (!weight_gradient) run(conv.reorder, conv.reorder_arguments);
    run(conv.primitive, conv.arguments);
    if (weight_gradient) run(conv.reorder, conv.reorder_arguments);
}

/// Like execute(), with zeros in scratch memory and behind copies of the operands: the result then
/// depends on the operands alone.
void execute_alone(Convolution& conv, ConvDirection direction, DType dtype,
                   const ConvOperands& operands, const Conv2dShape& shape) {
    constexpr std::size_t behind = 4096;
    const std::array<Array, 3> own = tensors(dtype, operands, shape);
    std::vector<std::byte> copies[3];  // no scratch memory, where the caller may have its operands
    void* places[3];
    for (std::size_t i = 0; i < 3; ++i) {
        places[i] = own[i].data;
        if (i == written(direction)) continue;
        const std::size_t bytes = static_cast<std::size_t>(own[i].size) * size_of(dtype);
        copies[i].resize(bytes + behind);
        std::memcpy(copies[i].data(), own[i].data, bytes);
        places[i] = copies[i].data();
    }
    const std::size_t library = conv.arguments[DNNL_ARG_SCRATCHPAD].get_desc().get_size();
    std::memset(scratch_bytes(Scratch::library, library), 0, library);
    std::memset(scratch_bytes(Scratch::library_weights, conv.blocked_bytes), 0, conv.blocked_bytes);
    execute(conv, direction, {places[0], places[1], places[2], operands.bias});
}

/// Whether execute() may leave its result as it is. Otherwise it holds something that is not
/// finite, and whether that belongs there must follow from the operands alone: a run that is
/// resumed finds other values in scratch memory and around its operands.
bool is_trusted(Convolution& conv, ConvDirection direction, DType dtype,
                const ConvOperands& operands, const Conv2dShape& shape) {
    if (!multiplies_padding(conv.route, direction, dtype)) return true;
    const Array result = tensors(dtype, operands, shape)[written(direction)];
    if (is_finite(result)) return true;
    execute_alone(conv, direction, dtype, operands, shape);
    return is_finite(result);
}

}  // namespace

bool dnnl_convolution(ConvDirection direction, DType dtype, const ConvOperands& operands,
                      const Conv2dShape& shape) {
    if (!dnnl_supports(dtype) || leaves_gradient_unwritten(direction, dtype, shape)) return false;
    const ThreadLimit limit(multiply_adds(shape));
    const bool bias = operands.bias != nullptr && direction == ConvDirection::forward;
    Convolution& conv = convolution(direction, dtype, shape, bias);
    if (conv.route.empty()) return false;
    // oneDNN's depthwise code does not use pairs.
    const bool paired = dtype == DType::bf16 && conv.route.find("_dw:") == std::string::npos;
    if (paired && pairs_spread_infinity(direction, operands, shape)) return false;
    execute(conv, direction, operands);
    if (!is_trusted(conv, direction, dtype, operands, shape)) return false;
    if (auto* const used = plan_uses()) used->push_back("oneDNN " + conv.route);
    return true;
}

std::string dnnl_convolution_route(ConvDirection direction, DType dtype, const Conv2dShape& shape) {
    if (!dnnl_supports(dtype) || leaves_gradient_unwritten(direction, dtype, shape)) return {};
    const ThreadLimit limit(multiply_adds(shape));
    return convolution(direction, dtype, shape, false).route;
}

}  // namespace kernels::cpu
