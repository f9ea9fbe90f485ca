#include "ops/norm/layer_norm.h"

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/norm/row_norm.h"
#include "tensor/check.h"
#include "tensor/wide.h"

namespace engine {
namespace {

Shape normalized_shape_of(const OpArguments& args) {
    return Shape(args.integers("normalized_shape", {}));
}
TensorList run_layer_norm(const OpArguments& args) {
    return {layer_norm(args.at(0), normalized_shape_of(args), args.get(1), args.get(2),
                       args.number("eps", 1e-5))};
}
TensorList run_native_layer_norm(const OpArguments& args) {
    return native_layer_norm(args.at(0), normalized_shape_of(args), args.get(1), args.get(2),
                             args.number("eps", 1e-5));
}
TensorList run_rms_norm(const OpArguments& args) {
    std::optional<double> eps;
    if (args.has("eps")) eps = args.number("eps", 0);
    return {rms_norm(args.at(0), normalized_shape_of(args), args.get(1), eps)};
}

void check_shape(const OpInfo& info, const Tensor& x, const Shape& normalized_shape,
                 const Tensor& parameter) {
    const int lead = x.rank() - normalized_shape.rank();
    bool fits = normalized_shape.rank() > 0 && lead >= 0;
    for (int i = 0; fits && i < normalized_shape.rank(); ++i)
        fits = x.size(lead + i) == normalized_shape[i];
    if (!fits) {
        throw Error(ErrorCode::shape,
                    std::string(info.name) + ": normalized_shape " + to_string(normalized_shape) +
                        " does not end the input's shape " + to_string(x.shape()));
    }
    if (parameter.defined() && !(parameter.shape() == normalized_shape)) {
        throw Error(ErrorCode::shape, std::string(info.name) + ": a parameter has shape " +
                                          to_string(parameter.shape()) + ", normalized_shape is " +
                                          to_string(normalized_shape));
    }
}

RowNorm normalized(const OpInfo& info, const Tensor& x0, const Tensor& weight0, const Tensor& bias0,
                   const Shape& normalized_shape, std::optional<double> asked_eps, bool rms) {
    const auto [x, weight, bias] = autocast(info, x0, weight0, bias0);
    check_floating(info, x);
    check_norm_parameters(info, x, {weight, bias});
    check_shape(info, x, normalized_shape, weight);
    check_shape(info, x, normalized_shape, bias);
    const NoAutocast inside(x.device().kind);
    const double eps = asked_eps.value_or(x.dtype() == DType::f64 ? 0x1p-52 : 0x1p-23);
    std::int64_t rows = 1;
    for (int i = 0; i < x.rank() - normalized_shape.rank(); ++i) rows *= x.size(i);
    return row_norm(info, x, widened(weight), widened(bias),
                    {rows, normalized_shape.numel(), eps, rms}, x.dtype());
}

constexpr const char* why =
    "Sums of squares overflow fp16, and small deviations are lost in its rounding: fp32 "
    "throughout.";

}  // namespace

const OpInfo layer_norm_info{
    "layer_norm", CastPolicy::f32, "layer_norm(x, weight?, bias?; normalized_shape, eps)", 2,
    why,          run_layer_norm};
const OpInfo native_layer_norm_info{"native_layer_norm",
                                    CastPolicy::f32,
                                    "native_layer_norm(x, weight?, bias?; normalized_shape, eps)",
                                    2,
                                    why,
                                    run_native_layer_norm};
const OpInfo rms_norm_info{
    "rms_norm", CastPolicy::f32, "rms_norm(x, weight?; normalized_shape, eps)", 2,
    why,        run_rms_norm};

Tensor layer_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight,
                  const Tensor& bias, double eps) {
    if (intercepted(layer_norm_info))
        return dispatched(
            layer_norm_info, [](const auto&... a) { return layer_norm(a...); }, x, normalized_shape,
            weight, bias, eps);
    return normalized(layer_norm_info, x, weight, bias, normalized_shape, eps, false).y;
}

TensorList native_layer_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight,
                             const Tensor& bias, double eps) {
    if (intercepted(native_layer_norm_info))
        return dispatched(
            native_layer_norm_info, [](const auto&... a) { return native_layer_norm(a...); }, x,
            normalized_shape, weight, bias, eps);
    const RowNorm made =
        normalized(native_layer_norm_info, x, weight, bias, normalized_shape, eps, false);
    Shape shape = x.shape();
    for (int i = x.rank() - normalized_shape.rank(); i < x.rank(); ++i) shape[i] = 1;
    const auto shaped = [&](const Tensor& t) {
        t.impl()->shape = shape;
        t.impl()->strides = contiguous_strides(shape);
        return t;
    };
    return {made.y, shaped(made.mean.detach()), shaped(made.rstd.detach())};
}

Tensor rms_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight,
                std::optional<double> eps) {
    if (intercepted(rms_norm_info))
        return dispatched(
            rms_norm_info, [](const auto&... a) { return rms_norm(a...); }, x, normalized_shape,
            weight, eps);
    return normalized(rms_norm_info, x, weight, {}, normalized_shape, eps, true).y;
}

}  // namespace engine
