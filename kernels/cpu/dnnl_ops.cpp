#include "cpu/dnnl_ops.h"

#include <array>
#include <bit>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <string>
#include <unordered_map>

#include "cpu/dnnl_cache.h"
#include "cpu/gemm_scratch.h"
#include "cpu/gemm_tiled.h"
#include "kernels/device.h"
#include "kernels/device_error.h"
#include "kernels/parallel.h"

namespace kernels::cpu {
namespace {

using dnnl::algorithm;
using dnnl::memory;
using dnnl::prop_kind;
using Arguments = std::unordered_map<int, memory>;

dnnl::engine& engine() {
    static dnnl::engine instance(dnnl::engine::kind::cpu, 0);
    return instance;
}

dnnl::stream& stream() {
    thread_local dnnl::stream instance(engine());
    return instance;
}

memory::data_type data_type(DType dtype) {
    return dtype == DType::bf16 ? memory::data_type::bf16 : memory::data_type::f32;
}

/// Without its instructions oneDNN's bf16 is slower than f32, or refused.
bool has_bf16() {
    static const bool has = [] {
        const CpuInfo cpu = info();
        return cpu.avx512_bf16 || cpu.amx_bf16;
    }();
    return has;
}

bool supported(DType dtype) { return dtype == DType::f32 || (dtype == DType::bf16 && has_bf16()); }

bool is_reference(const char* implementation) {
    const std::string name(implementation);
    return name.starts_with("ref") || name.starts_with("simple");
}

/// The first implementation of what `make` describes that is not reference code.
template <class Desc, class Make>
std::optional<Desc> optimized(const Make& make) {
    try {
        Desc desc = make();
        while (is_reference(desc.impl_info_str()))
            if (!desc.next_impl()) return std::nullopt;
        return desc;
    } catch (const dnnl::error& error) {
        if (error.status == dnnl_out_of_memory) throw OutOfMemory(0);
        if (error.status == dnnl_unimplemented || error.status == dnnl_invalid_arguments)
            return std::nullopt;
        throw DeviceError(std::string("oneDNN: ") + error.what());
    }
}

memory unbound(const memory::desc& desc) { return memory(desc, engine(), nullptr); }

void bind(memory& where, const void* data) { where.set_data_handle(const_cast<void*>(data)); }

/// Scratchpads are ours, so that shapes that run one after the other share one.
dnnl::primitive_attr user_scratchpad() {
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    return attributes;
}

void run(dnnl::primitive& primitive, Arguments& arguments) {
    const auto scratchpad = arguments.find(DNNL_ARG_SCRATCHPAD);
    if (scratchpad != arguments.end())
        bind(scratchpad->second,
             scratch_bytes(Scratch::library, scratchpad->second.get_desc().get_size()));
    try {
        primitive.execute(stream(), arguments);
    } catch (const dnnl::error& error) {
        throw DeviceError(std::string("oneDNN: ") + error.what());
    }
}

/// Threads that a call of so many multiply-adds is worth, held while it lives: oneDNN takes all
/// that libgomp offers, and waking a thread costs microseconds.
class ThreadLimit {
public:
    explicit ThreadLimit([[maybe_unused]] std::int64_t multiply_adds) : before_(threads()) {
#ifdef HALFTONE_SERIAL_KERNELS
        const bool one = true;
#else
        const bool one = multiply_adds < (std::int64_t{1} << 20);
#endif
        if (one && before_ > 1) set_threads(1);
    }
    ~ThreadLimit() {
        if (threads() != before_) set_threads(before_);
    }
    ThreadLimit(const ThreadLimit&) = delete;
    ThreadLimit& operator=(const ThreadLimit&) = delete;

private:
    int before_;
};

// ---- Matrix product

struct Product {
    dnnl::primitive primitive;
    Arguments arguments;  ///< empty: no implementation
};

struct ProductShape {
    DType in, out;
    std::int64_t batch, m, n, k;
    std::array<std::int64_t, 3> a, b, c;  ///< strides of batch, row and column
    bool bias;
    float alpha, beta;

    ShapeKey key() const {
        return {{static_cast<std::int64_t>(in) * 16 + static_cast<std::int64_t>(out) * 256 +
                     (bias ? 1 : 0),
                 batch, m, n, k, a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], threads(),
                 std::bit_cast<std::int32_t>(alpha), std::bit_cast<std::int32_t>(beta)}};
    }
};

memory::desc strided(DType dtype, std::int64_t batch, std::int64_t rows, std::int64_t cols,
                     const std::array<std::int64_t, 3>& strides) {
    if (batch == 1) return {{rows, cols}, data_type(dtype), {strides[1], strides[2]}};
    return {{batch, rows, cols}, data_type(dtype), {strides[0], strides[1], strides[2]}};
}

dnnl::primitive_attr product_attributes(const ProductShape& shape) {
    dnnl::primitive_attr attributes = user_scratchpad();
    dnnl::post_ops after;
#if DNNL_VERSION_MAJOR >= 3
    if (shape.alpha != 1) after.append_eltwise(algorithm::eltwise_linear, shape.alpha, 0.f);
#else
    if (shape.alpha != 1) after.append_eltwise(1.f, algorithm::eltwise_linear, shape.alpha, 0.f);
#endif
    if (shape.beta != 0) after.append_sum(shape.beta);
    attributes.set_post_ops(after);
    return attributes;
}

Product make_product(const ProductShape& shape) {
    using Desc = dnnl::matmul::primitive_desc;
    const memory::desc a = strided(shape.in, shape.batch, shape.m, shape.k, shape.a);
    const memory::desc b = strided(shape.in, shape.batch, shape.k, shape.n, shape.b);
    const memory::desc c = strided(shape.out, shape.batch, shape.m, shape.n, shape.c);
    const memory::desc bias =
        shape.bias ? strided(shape.out, shape.batch > 1 ? -1 : 1, 1, shape.n, {shape.n, shape.n, 1})
                   : memory::desc();
    const auto desc = optimized<Desc>([&] {
#if DNNL_VERSION_MAJOR >= 3
        return shape.bias ? Desc(engine(), a, b, bias, c, product_attributes(shape))
                          : Desc(engine(), a, b, c, product_attributes(shape));
#else
        return Desc(shape.bias ? dnnl::matmul::desc(a, b, bias, c) : dnnl::matmul::desc(a, b, c),
                    product_attributes(shape), engine());
#endif
    });
    if (!desc) return {};
    Product product{dnnl::matmul(*desc),
                    {{DNNL_ARG_SRC, unbound(a)},
                     {DNNL_ARG_WEIGHTS, unbound(b)},
                     {DNNL_ARG_DST, unbound(c)},
                     {DNNL_ARG_SCRATCHPAD, unbound(desc->scratchpad_desc())}}};
    if (shape.bias) product.arguments[DNNL_ARG_BIAS] = unbound(bias);
    return product;
}

// ---- Convolution

struct Convolution {
    std::string route;  ///< empty: no implementation
    dnnl::primitive primitive;
    Arguments arguments;
    int written = 0, first = 0, second = 0;  ///< which argument is which operand
    dnnl::primitive reorder;                 ///< weights to or from the primitive's layout
    Arguments reorder_arguments;
    std::size_t blocked_bytes = 0;  ///< 0: the primitive takes the weights as they are
};

struct ConvGeometry {
    memory::desc x, w, y, bias, plain_w;
    memory::dims strides, dilation, pad_begin, pad_end;
};

ConvGeometry geometry(DType dtype, const Conv2dShape& s, bool with_bias) {
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
    return {.x = {{s.n, s.c, s.h, s.w}, type, tag::nhwc},
            .w = {weights, type, tag::any},
            .y = {{s.n, s.k, s.oh(), s.ow()}, type, tag::nhwc},
            .bias = with_bias ? memory::desc({s.k}, type, tag::x) : memory::desc(),
            .plain_w = {weights, type, s.groups == 1 ? tag::oihw : tag::goihw},
            .strides = {s.stride_h, s.stride_w},
            .dilation = {s.dilation_h - 1, s.dilation_w - 1},
            .pad_begin = {s.pad_h, s.pad_w},
            .pad_end = {end(s.oh(), s.stride_h, s.r, s.dilation_h, s.h, s.pad_h),
                        end(s.ow(), s.stride_w, s.s, s.dilation_w, s.w, s.pad_w)}};
}

dnnl::convolution_forward::primitive_desc forward_desc(const ConvGeometry& g, bool bias) {
    using Forward = dnnl::convolution_forward;
    constexpr auto direct = algorithm::convolution_direct;
#if DNNL_VERSION_MAJOR >= 3
    return bias ? Forward::primitive_desc(engine(), prop_kind::forward_training, direct, g.x, g.w,
                                          g.bias, g.y, g.strides, g.dilation, g.pad_begin,
                                          g.pad_end, user_scratchpad())
                : Forward::primitive_desc(engine(), prop_kind::forward_training, direct, g.x, g.w,
                                          g.y, g.strides, g.dilation, g.pad_begin, g.pad_end,
                                          user_scratchpad());
#else
    const auto desc = bias ? Forward::desc(prop_kind::forward_training, direct, g.x, g.w, g.bias,
                                           g.y, g.strides, g.dilation, g.pad_begin, g.pad_end)
                           : Forward::desc(prop_kind::forward_training, direct, g.x, g.w, g.y,
                                           g.strides, g.dilation, g.pad_begin, g.pad_end);
    return {desc, user_scratchpad(), engine()};
#endif
}

dnnl::convolution_backward_data::primitive_desc data_desc(const ConvGeometry& g) {
    constexpr auto direct = algorithm::convolution_direct;
#if DNNL_VERSION_MAJOR >= 3
    return {engine(),         direct,     g.x,         g.w,       g.y,
            g.strides,        g.dilation, g.pad_begin, g.pad_end, forward_desc(g, false),
            user_scratchpad()};
#else
    const dnnl::convolution_backward_data::desc desc(direct, g.x, g.w, g.y, g.strides, g.dilation,
                                                     g.pad_begin, g.pad_end);
    return {desc, user_scratchpad(), engine(), forward_desc(g, false)};
#endif
}

dnnl::convolution_backward_weights::primitive_desc weights_desc(const ConvGeometry& g) {
    constexpr auto direct = algorithm::convolution_direct;
#if DNNL_VERSION_MAJOR >= 3
    return {engine(),         direct,     g.x,         g.w,       g.y,
            g.strides,        g.dilation, g.pad_begin, g.pad_end, forward_desc(g, false),
            user_scratchpad()};
#else
    const dnnl::convolution_backward_weights::desc desc(direct, g.x, g.w, g.y, g.strides,
                                                        g.dilation, g.pad_begin, g.pad_end);
    return {desc, user_scratchpad(), engine(), forward_desc(g, false)};
#endif
}

/// Puts the primitive's blocked weights and their reorder beside the plain ones.
void block_weights(Convolution& conv, int argument, const memory::desc& plain,
                   const memory::desc& blocked, bool is_output) {
    conv.arguments[argument] = unbound(blocked);
    if (blocked == plain) return;
    conv.blocked_bytes = blocked.get_size();
    const memory::desc& from = is_output ? blocked : plain;
    const memory::desc& to = is_output ? plain : blocked;
    conv.reorder = dnnl::reorder({engine(), from, engine(), to});
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
        using Desc = dnnl::convolution_forward::primitive_desc;
        const auto desc = optimized<Desc>([&] { return forward_desc(g, bias); });
        fill(desc, [](const Desc& d) { return dnnl::convolution_forward(d); });
        if (!desc) return conv;
        conv.arguments[DNNL_ARG_SRC] = unbound(g.x);
        conv.arguments[DNNL_ARG_DST] = unbound(g.y);
        if (bias) conv.arguments[DNNL_ARG_BIAS] = unbound(g.bias);
        block_weights(conv, DNNL_ARG_WEIGHTS, g.plain_w, desc->weights_desc(), false);
    } else if (direction == ConvDirection::data_gradient) {
        using Desc = dnnl::convolution_backward_data::primitive_desc;
        const auto desc = optimized<Desc>([&] { return data_desc(g); });
        fill(desc, [](const Desc& d) { return dnnl::convolution_backward_data(d); });
        if (!desc) return conv;
        conv.arguments[DNNL_ARG_DIFF_SRC] = unbound(g.x);
        conv.arguments[DNNL_ARG_DIFF_DST] = unbound(g.y);
        block_weights(conv, DNNL_ARG_WEIGHTS, g.plain_w, desc->weights_desc(), false);
    } else {
        using Desc = dnnl::convolution_backward_weights::primitive_desc;
        const auto desc = optimized<Desc>([&] { return weights_desc(g); });
        fill(desc, [](const Desc& d) { return dnnl::convolution_backward_weights(d); });
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

std::int64_t multiply_adds(const Conv2dShape& s) {
    return s.n * s.oh() * s.ow() * s.k * (s.c / s.groups) * s.r * s.s;
}

}  // namespace

bool dnnl_gemm(const Matrix& c, const ConstMatrix& a, const ConstMatrix& b,
               const GemmOptions& options) {
    if (!supported(a.dtype) || c.rows == 0 || c.cols == 0 || a.cols == 0) return false;
    // oneDNN adds the bias first.
    if (options.alpha != 1 && options.bias) return false;
    if (options.batch != 1 && (options.stride_a == 0 || options.stride_b == 0)) return false;
    const auto strides = [](const auto& matrix, std::int64_t batch, bool transposed) {
        return transposed ? std::array{batch, std::int64_t{1}, matrix.ld}
                          : std::array{batch, matrix.ld, std::int64_t{1}};
    };
    const ProductShape shape{.in = a.dtype,
                             .out = c.dtype,
                             .batch = options.batch,
                             .m = c.rows,
                             .n = c.cols,
                             .k = a.cols,
                             .a = strides(a, options.stride_a, a.transposed),
                             .b = strides(b, options.stride_b, b.transposed),
                             .c = strides(c, options.stride_c, false),
                             .bias = options.bias != nullptr,
                             .alpha = static_cast<float>(options.alpha),
                             .beta = static_cast<float>(options.beta)};
    const ThreadLimit limit(shape.batch * shape.m * shape.n * shape.k);
    thread_local ShapeCache<Product> cache;
    Product& product = cache.get(shape.key(), [&] { return make_product(shape); });
    if (product.arguments.empty()) return false;
    bind(product.arguments[DNNL_ARG_SRC], a.data);
    bind(product.arguments[DNNL_ARG_WEIGHTS], b.data);
    bind(product.arguments[DNNL_ARG_DST], c.data);
    if (shape.bias) bind(product.arguments[DNNL_ARG_BIAS], options.bias);
    run(product.primitive, product.arguments);
    // Not oneDNN's own relu, which turns a NaN into 0.
    if (options.relu) clamp_at_zero(c, options.batch, options.stride_c);
    return true;
}

bool dnnl_convolution(ConvDirection direction, DType dtype, const ConvOperands& operands,
                      const Conv2dShape& shape) {
    if (!supported(dtype)) return false;
    const ThreadLimit limit(multiply_adds(shape));
    const bool bias = operands.bias != nullptr && direction == ConvDirection::forward;
    Convolution& conv = convolution(direction, dtype, shape, bias);
    if (conv.route.empty()) return false;
    const bool weight_gradient = direction == ConvDirection::weight_gradient;
    bind(conv.arguments[direction == ConvDirection::data_gradient ? DNNL_ARG_DIFF_SRC
                                                                  : DNNL_ARG_SRC],
         operands.x);
    bind(conv.arguments[direction == ConvDirection::forward ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST],
         operands.y);
    if (bias) bind(conv.arguments[DNNL_ARG_BIAS], operands.bias);
    memory& weights = conv.arguments[weight_gradient ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS];
    if (conv.blocked_bytes == 0) {
        bind(weights, operands.w);
        run(conv.primitive, conv.arguments);
        return true;
    }
    void* blocked = scratch_bytes(Scratch::library_weights, conv.blocked_bytes);
    bind(weights, blocked);
    bind(conv.reorder_arguments[weight_gradient ? DNNL_ARG_TO : DNNL_ARG_FROM], operands.w);
    bind(conv.reorder_arguments[weight_gradient ? DNNL_ARG_FROM : DNNL_ARG_TO], blocked);
    if (!weight_gradient) run(conv.reorder, conv.reorder_arguments);
    run(conv.primitive, conv.arguments);
    if (weight_gradient) run(conv.reorder, conv.reorder_arguments);
    return true;
}

std::string dnnl_convolution_route(ConvDirection direction, DType dtype, const Conv2dShape& shape) {
    if (!supported(dtype)) return {};
    const ThreadLimit limit(multiply_adds(shape));
    return convolution(direction, dtype, shape, false).route;
}

}  // namespace kernels::cpu
