#include "ops/elementary.h"

#include "amp/autocast.h"
#include "engine/error.h"
#include "kernels/elementwise.h"
#include "ops/binary.h"
#include "ops/check.h"
#include "ops/compare.h"
#include "ops/layout.h"
#include "ops/unary.h"

namespace engine {
namespace {

using kernels::UnaryOp;

template <Tensor (*op)(const Tensor&)>
TensorList run(const OpArguments& args) {
    return {op(args.at(0))};
}
std::optional<double> bound(const OpArguments& args, const char* attr) {
    if (!args.has(attr)) return std::nullopt;
    return args.number(attr, 0);
}
TensorList run_clamp(const OpArguments& args) {
    return {clamp(args.at(0), bound(args, "min"), bound(args, "max"))};
}

constexpr const char* no_entry = "Not on the autocast list: runs in its input's type.";
constexpr const char* steep = "Its slope grows without bound towards its pole, so it runs in fp32.";

Tensor compute(const OpInfo& info, const Tensor& x, UnaryOp op) {
    check_floating(info, x);
    const Tensor from = dense(x);
    const Tensor y = empty_like(from);
    on(x.device(), kernels::cpu::unary, kernels::cuda::unary)(y.array(), from.array(), op,
                                                              current_stream());
    return y;
}

}  // namespace

const OpInfo expm1_info{"expm1",   CastPolicy::f32, "expm1(x)", 2, "exp leaves fp16 above 11.09.",
                        run<expm1>};
const OpInfo log1p_info{"log1p", CastPolicy::f32, "log1p(x)", 2, steep, run<log1p>};
const OpInfo log2_info{"log2", CastPolicy::f32, "log2(x)", 2, steep, run<log2>};
const OpInfo log10_info{"log10", CastPolicy::f32, "log10(x)", 2, steep, run<log10>};
const OpInfo sin_info{"sin", CastPolicy::none, "sin(x)", 2, no_entry, run<sin>};
const OpInfo cos_info{"cos", CastPolicy::none, "cos(x)", 2, no_entry, run<cos>};
const OpInfo erf_info{"erf", CastPolicy::none, "erf(x)", 2, no_entry, run<erf>};
const OpInfo clamp_info{"clamp", CastPolicy::none, "clamp(x; min?, max?)", 2, no_entry, run_clamp};

Tensor expm1(const Tensor& x0) {
    const auto [x] = autocast(expm1_info, x0);
    const Tensor y = compute(expm1_info, x, UnaryOp::expm1);
    return record(expm1_info, {x}, y, {save_output(y)},
                  [](const Tensor& dy, const Saved& saved) { return mul(dy, add(saved[0], 1.0)); });
}

Tensor log1p(const Tensor& x0) {
    const auto [x] = autocast(log1p_info, x0);
    return record(log1p_info, {x}, compute(log1p_info, x, UnaryOp::log1p), {save(x)},
                  [](const Tensor& dy, const Saved& saved) { return div(dy, add(saved[0], 1.0)); });
}

Tensor log2(const Tensor& x0) {
    const auto [x] = autocast(log2_info, x0);
    constexpr double ln_2 = 0.69314718055994530942;
    return record(
        log2_info, {x}, compute(log2_info, x, UnaryOp::log2), {save(x)},
        [](const Tensor& dy, const Saved& saved) { return div(dy, mul(saved[0], ln_2)); });
}

Tensor log10(const Tensor& x0) {
    const auto [x] = autocast(log10_info, x0);
    constexpr double ln_10 = 2.30258509299404568402;
    return record(
        log10_info, {x}, compute(log10_info, x, UnaryOp::log10), {save(x)},
        [](const Tensor& dy, const Saved& saved) { return div(dy, mul(saved[0], ln_10)); });
}

Tensor sin(const Tensor& x) {
    return record(sin_info, {x}, compute(sin_info, x, UnaryOp::sin), {save(x)},
                  [](const Tensor& dy, const Saved& saved) { return mul(dy, cos(saved[0])); });
}

Tensor cos(const Tensor& x) {
    return record(cos_info, {x}, compute(cos_info, x, UnaryOp::cos), {save(x)},
                  [](const Tensor& dy, const Saved& saved) { return neg(mul(dy, sin(saved[0]))); });
}

Tensor erf(const Tensor& x) {
    constexpr double two_by_root_pi = 1.12837916709551257390;
    return record(erf_info, {x}, compute(erf_info, x, UnaryOp::erf), {save(x)},
                  [](const Tensor& dy, const Saved& saved) {
                      const Tensor bell = exp(neg(mul(saved[0], saved[0])));
                      return mul(dy, mul(bell, two_by_root_pi));
                  });
}

Tensor clamp(const Tensor& x, std::optional<double> low, std::optional<double> high) {
    check_floating(clamp_info, x);
    if (!low && !high) throw Error(ErrorCode::value, "clamp: neither min nor max is given");
    Tensor y = x.detach();
    {
        const GradMode off(false);
        if (low) y = maximum(y, number_beside(x, *low));
        if (high) y = minimum(y, number_beside(x, *high));
    }
    // At a bound itself any slope from 0 to 1 is right; PyTorch takes the smallest, as relu does.
    return record(clamp_info, {x}, y, {save(x)}, [low, high](const Tensor& dy, const Saved& saved) {
        const Tensor zero = Tensor::scalar(0, dy.dtype(), dy.device());
        Tensor dx = dy;
        if (low) dx = where(greater(saved[0], number_beside(saved[0], *low)), dx, zero);
        if (high) dx = where(less(saved[0], number_beside(saved[0], *high)), dx, zero);
        return dx;
    });
}

}  // namespace engine
