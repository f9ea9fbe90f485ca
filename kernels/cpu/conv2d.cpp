#include "kernels/conv2d.h"

#include <cstddef>
#include <string>
#include <vector>

#include "cpu/conv2d_paths.h"
#include "cpu/dnnl_ops.h"
#include "cpu/gemm_scratch.h"
#include "kernels/elementwise.h"

namespace kernels::cpu {
namespace {

std::int64_t input_size(const Conv2dShape& s) { return s.n * s.c * s.h * s.w; }
std::int64_t output_size(const Conv2dShape& s) { return s.n * s.k * s.oh() * s.ow(); }
std::int64_t weight_size(const Conv2dShape& s) { return s.k * (s.c / s.groups) * s.r * s.s; }

/// f32 shapes for which our tiles are faster than oneDNN, measured on Zen 4 and Zen 5: few
/// channels, which do not fill oneDNN's blocks, and gradients of large images with up to 64
/// channels. Not with groups, of which a tile computes one: a depthwise convolution would use one
/// column of it.
bool tiles_beat_f32(ConvDirection direction, const Conv2dShape& s) {
    if (s.groups > 1) return false;
    const bool large = s.oh() * s.ow() >= 256;
    const bool moves_by_one = s.stride_h == 1 && s.stride_w == 1 && s.r * s.s > 1;
    if (direction == ConvDirection::forward)
        return (s.c <= 8 && s.k <= 16) || (large && moves_by_one && s.c == 64 && s.k == 64);
    if (direction == ConvDirection::data_gradient)
        return s.c >= 2 && (s.c <= 8 || (large && moves_by_one && s.c <= 64));
    return s.c >= 3 && s.c <= 64 && large;
}

/// Whether tiles are faster for 16-bit types without oneDNN arithmetic. Tiles convert their input
/// while it is in the cache; the path through oneDNN's f32 converts whole tensors, and is faster
/// for small images with many channels.
bool tiles_beat_conversion(ConvDirection direction, const Conv2dShape& s) {
    if (s.groups > 1) return false;
    if (direction == ConvDirection::forward) return s.c <= 128 || s.r * s.s == 1;
    const std::int64_t pixels = s.oh() * s.ow();
    if (direction == ConvDirection::weight_gradient)
        return s.c >= 3 && pixels >= 64 && weight_size(s) <= 300000;
    if (s.c <= 8) return true;
    return s.stride_h == 1 && s.stride_w == 1 ? pixels >= 256 : s.c <= 64 || s.r * s.s == 1;
}

/// Shapes for which we have a loop beside the tiles, faster for 16-bit types than oneDNN's f32 on
/// converted tensors. f32 takes it where oneDNN has nothing.
bool has_own_loop(DType dtype, const Conv2dShape& s) {
    return dtype != DType::f64 && is_depthwise(s);
}

void own_forward(Array y, ConstArray x, ConstArray w, ConstArray bias, const Conv2dShape& shape) {
    if (has_own_loop(y.dtype, shape))
        conv2d_forward_depthwise(y, x, w, bias, shape);
    else
        conv2d_forward_tiled(y, x, w, bias, shape);
}

void own_weight_gradient(Array dw, ConstArray dy, ConstArray x, const Conv2dShape& shape) {
    if (has_own_loop(dw.dtype, shape))
        conv2d_weight_gradient_depthwise(dw, dy, x, shape);
    else
        conv2d_weight_gradient_tiled(dw, dy, x, shape);
}

/// The gradient by our tiles. Tiles that do not scatter multiply weights by zeros around dy, which
/// must not turn an infinite weight into NaN: no pixel of dx depends on them.
void own_data_gradient(Array dx, ConstArray dy, ConstArray w, const Conv2dShape& shape) {
    if (has_own_loop(dx.dtype, shape)) return conv2d_data_gradient_depthwise(dx, dy, w, shape);
    if (shape.stride_h > 1 || shape.stride_w > 1 || shape.c <= 8 || !is_finite(w))
        conv2d_data_gradient_scattered(dx, dy, w, shape);
    else
        conv2d_data_gradient_tiled(dx, dy, w, shape);
}

float* converted(Scratch kind, const void* data, DType dtype, std::int64_t size) {
    float* result = scratch<float>(kind, static_cast<std::size_t>(size));
    cast({result, DType::f32, size}, {data, dtype, size}, {});
    return result;
}

/// An f32 convolution pixel by pixel, or by oneDNN. False: oneDNN has nothing for it.
bool pixels_or_library(ConvDirection direction, const ConvOperands& operands,
                       const Conv2dShape& shape) {
    if (!pixels_are_faster(direction, shape))
        return dnnl_convolution(direction, DType::f32, operands, shape);
    const auto of = [](const void* data) { return static_cast<const float*>(data); };
    const auto to = [](void* data) { return static_cast<float*>(data); };
    if (direction == ConvDirection::forward)
        conv2d_forward_pixels(to(operands.y), of(operands.x), of(operands.w), of(operands.bias),
                              shape);
    else if (direction == ConvDirection::data_gradient)
        conv2d_data_gradient_pixels(to(operands.x), of(operands.y), of(operands.w), shape);
    else
        conv2d_weight_gradient_pixels(to(operands.w), of(operands.y), of(operands.x), shape);
    return true;
}

/// A 16-bit convolution by an f32 one. Operands are exact in f32; its sums are rounded once more,
/// to their dtype.
bool through_f32(ConvDirection direction, DType dtype, const ConvOperands& operands,
                 const Conv2dShape& s) {
    const std::int64_t sizes[] = {input_size(s), weight_size(s), output_size(s)};
    const void* sources[] = {operands.x, operands.w, operands.y};
    constexpr Scratch kinds[] = {Scratch::operand_a, Scratch::operand_b, Scratch::operand_c};
    const int written = direction == ConvDirection::forward         ? 2
                        : direction == ConvDirection::data_gradient ? 0
                                                                    : 1;
    float* wide[3];
    for (int i = 0; i < 3; ++i)
        wide[i] = i == written ? scratch<float>(kinds[i], static_cast<std::size_t>(sizes[i]))
                               : converted(kinds[i], sources[i], dtype, sizes[i]);
    const float* bias =
        operands.bias ? converted(Scratch::operand_d, operands.bias, dtype, s.k) : nullptr;
    if (!pixels_or_library(direction, {wide[0], wide[1], wide[2], bias}, s)) return false;
    cast({const_cast<void*>(sources[written]), dtype, sizes[written]},
         {wide[written], DType::f32, sizes[written]}, {});
    return true;
}

/// False: our own code has to do it.
bool by_library(ConvDirection direction, DType dtype, const ConvOperands& operands,
                const Conv2dShape& shape) {
    if (dtype == DType::f64) return false;
    if (dtype == DType::f32) {
        // Forward tiles multiply the padding's zeros, which must not turn infinite weights into
        // NaN.
        const bool by_tiles = tiles_beat_f32(direction, shape) &&
                              (direction != ConvDirection::forward ||
                               is_finite({operands.w, DType::f32, weight_size(shape)}));
        return !by_tiles && pixels_or_library(direction, operands, shape);
    }
    if (dnnl_convolution(direction, dtype, operands, shape)) return true;
    return !has_own_loop(dtype, shape) && !tiles_beat_conversion(direction, shape) &&
           !dnnl_convolution_route(direction, DType::f32, shape).empty() &&
           through_f32(direction, dtype, operands, shape);
}

// oneDNN's arguments are one kind of pointer, read or written.
void* argument(ConstArray array) { return const_cast<void*>(array.data); }

/// Copies weights between (K, R, S, C / groups) in memory and PyTorch's order.
void permute_weights(Array to, ConstArray from, const Conv2dShape& s, bool to_channels_last) {
    const std::int64_t channels = s.c / s.groups, pixels = s.r * s.s;
    Strided y{to.data, to.dtype, 3, {s.k, channels, pixels}, {channels * pixels, pixels, 1}};
    ConstStrided x{from.data, from.dtype, 3, y.shape, y.strides};
    (to_channels_last ? y.strides : x.strides) = {channels * pixels, 1, channels};
    copy_strided(y, x, {});
}

/// Room for weights in PyTorch's order, for a shape with channels_last_weights.
class RowMajorWeights {
public:
    RowMajorWeights(DType dtype, const Conv2dShape& shape)
        : shape_(shape),
          bytes_(static_cast<std::size_t>(weight_size(shape)) * size_of(dtype)),
          array_{bytes_.data(), dtype, weight_size(shape)} {
        shape_.channels_last_weights = false;
    }
    RowMajorWeights(ConstArray channels_last, const Conv2dShape& shape)
        : RowMajorWeights(channels_last.dtype, shape) {
        permute_weights(array_, channels_last, shape_, false);
    }
    void copy_to(Array channels_last) const {
        permute_weights(channels_last, array_, shape_, true);
    }
    Array array() const { return array_; }
    const Conv2dShape& shape() const { return shape_; }

private:
    Conv2dShape shape_;
    std::vector<std::byte> bytes_;
    Array array_;
};

}  // namespace

void conv2d_forward(Array y, ConstArray x, ConstArray w, ConstArray bias, const Conv2dShape& shape,
                    Stream stream) {
    if (y.size == 0) return;
    if (shape.channels_last_weights) {
        const RowMajorWeights own(w, shape);
        return conv2d_forward(y, x, own.array(), bias, own.shape(), stream);
    }
    const ConvOperands operands{argument(x), argument(w), y.data, bias.data};
    if (!by_library(ConvDirection::forward, y.dtype, operands, shape))
        own_forward(y, x, w, bias, shape);
}

void conv2d_data_gradient(Array dx, ConstArray dy, ConstArray w, const Conv2dShape& shape,
                          Stream stream) {
    if (dx.size == 0) return;
    if (shape.channels_last_weights) {
        const RowMajorWeights own(w, shape);
        return conv2d_data_gradient(dx, dy, own.array(), own.shape(), stream);
    }
    const ConvOperands operands{dx.data, argument(w), argument(dy)};
    if (!by_library(ConvDirection::data_gradient, dx.dtype, operands, shape))
        own_data_gradient(dx, dy, w, shape);
}

void conv2d_weight_gradient(Array dw, Array dbias, ConstArray dy, ConstArray x,
                            const Conv2dShape& shape, Stream stream) {
    if (shape.channels_last_weights) {
        const RowMajorWeights own(dw.dtype, shape);
        conv2d_weight_gradient(own.array(), dbias, dy, x, own.shape(), stream);
        return own.copy_to(dw);
    }
    const ConvOperands operands{argument(x), dw.data, argument(dy)};
    if (dw.size > 0 && (x.size == 0 || dy.size == 0 ||
                        !by_library(ConvDirection::weight_gradient, dw.dtype, operands, shape)))
        own_weight_gradient(dw, dy, x, shape);
    if (dbias.data && dbias.size > 0) conv2d_bias_gradient(dbias, dy);
}

const char* conv2d_route(DType dtype, const Conv2dShape& shape) {
    constexpr auto forward = ConvDirection::forward;
    static thread_local std::string route;
    const bool wide = dtype == DType::f32;
    if (dtype == DType::f64 || (wide && tiles_beat_f32(forward, shape))) return "tiled";
    if (wide && pixels_are_faster(forward, shape)) return "pixels";
    route = dnnl_convolution_route(forward, dtype, shape);
    if (!route.empty()) return route.c_str();
    if (has_own_loop(dtype, shape)) return "depthwise";
    if (wide || tiles_beat_conversion(forward, shape)) return "tiled";
    if (pixels_are_faster(forward, shape)) return "pixels through f32";
    route = dnnl_convolution_route(forward, DType::f32, shape);
    if (route.empty()) return "tiled";
    route += " through f32";
    return route.c_str();
}

}  // namespace kernels::cpu
