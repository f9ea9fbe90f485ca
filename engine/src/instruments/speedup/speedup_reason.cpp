#include <algorithm>
#include <cmath>

#include "engine/instruments/speedup.h"
#include "engine/number/figure_text.h"
#include "engine/settings/catalog.h"

namespace engine {
namespace {

/// Below this a speed-up is nothing that a person notices.
constexpr double min_speed_up = 1.05;

std::string low_type(const std::string& precision) {
    return computes_in_bf16(precision) ? "bf16" : "f16";
}
std::string low_name(const std::string& precision) {
    return computes_in_bf16(precision) ? "BF16" : "FP16";
}

int percent(double part, double whole) {
    return whole > 0 ? static_cast<int>(std::lround(100 * part / whole)) : 0;
}
/// Two decimals.
double rounded(double value) { return std::round(100 * value) / 100; }
double gigaflops(double flops) { return std::round(flops * 1e-9); }

/// How much faster a large product is in 16 bits than in f32; 1 where that is unknown.
double product_gain(const Speedup& p) {
    const auto low = p.peaks.find(low_type(p.precision)), wide = p.peaks.find("f32");
    if (low == p.peaks.end() || wide == p.peaks.end() || !(wide->second > 0)) return 1;
    return low->second / wide->second;
}

PayReason find_pay_reason(const Speedup& p) {
    if (p.pays()) {
        const double products = p.fp32.products - p.amp.products;
        const double traffic = p.fp32.memory - p.amp.memory;
        return products >= traffic ? PayReason::products : PayReason::traffic;
    }
    if (p.speed_up >= min_speed_up) return PayReason::undecided;
    const double step = p.amp.total();
    if (p.amp.brief >= 0.35 * step) return PayReason::launch_bound;
    if (p.amp.casts >= 0.15 * step) return PayReason::casts;
    if (p.fp32.products >= 0.3 * p.fp32.total() && product_gain(p) < 1.1)
        return PayReason::no_arithmetic;
    if (p.fp32.products < 0.3 * p.fp32.total())
        return p.amp.update >= std::max(p.amp.memory, p.amp.products) ? PayReason::update
                                                                      : PayReason::memory_bound;
    return PayReason::small_products;
}

Message pays_by_products(const Speedup& p) {
    return msg(
        "{} trains {} times as fast as FP32: matrix products and convolutions are {} % of the FP32 "
        "step and take {} ms instead of {} ms.",
        p.precision, rounded(p.speed_up), percent(p.fp32.products, p.fp32.total()),
        rounded(p.amp.products), rounded(p.fp32.products));
}
Message pays_by_traffic(const Speedup& p) {
    return msg(
        "{} trains {} times as fast as FP32: operations that move data are {} % of the FP32 step, "
        "and with half the bytes they take {} ms instead of {} ms.",
        p.precision, rounded(p.speed_up), percent(p.fp32.memory, p.fp32.total()),
        rounded(p.amp.memory), rounded(p.fp32.memory));
}
Message no_arithmetic(const Speedup& p) {
    const auto peak = [&](const std::string& type) {
        const auto found = p.peaks.find(type);
        return found == p.peaks.end() ? 0.0 : gigaflops(found->second);
    };
    return msg(
        "{} does not pay off ({} times FP32's speed): this device multiplies {} no faster than "
        "FP32. A large product reaches {} GFLOP/s in {} and {} in FP32.",
        p.precision, rounded(p.speed_up), low_name(p.precision), peak(low_type(p.precision)),
        low_name(p.precision), peak("f32"));
}
Message launch_bound(const Speedup& p) {
    return msg(
        "{} does not pay off ({} times FP32's speed): {} % of the step is the fixed cost of {} "
        "short operations, which no type makes cheaper. A larger batch helps.",
        p.precision, rounded(p.speed_up), percent(p.amp.brief, p.amp.total()), p.amp.brief_ops);
}
Message casts(const Speedup& p) {
    return msg(
        "{} does not pay off ({} times FP32's speed): casts are {} % of its step and move {}.",
        p.precision, rounded(p.speed_up), percent(p.amp.casts, p.amp.total()),
        bytes_text(p.amp.cast_bytes));
}
Message memory_bound(const Speedup& p) {
    return msg(
        "{} does not pay off ({} times FP32's speed): matrix products and convolutions are only {} "
        "% of the FP32 step. {} % goes to operations that move data, which take {} ms instead of "
        "{} ms.",
        p.precision, rounded(p.speed_up), percent(p.fp32.products, p.fp32.total()),
        percent(p.fp32.memory, p.fp32.total()), rounded(p.amp.memory), rounded(p.fp32.memory));
}
Message update_bound(const Speedup& p) {
    return msg(
        "{} does not pay off ({} times FP32's speed): the optimizer is {} % of the step, and keeps "
        "FP32 weights in every precision. A larger batch helps.",
        p.precision, rounded(p.speed_up), percent(p.amp.update, p.amp.total()));
}
Message small_products(const Speedup& p) {
    const double rate = p.amp.products > 0 ? p.amp.product_flops / (p.amp.products * 1e-3) : 0;
    const auto peak = p.peaks.find(low_type(p.precision));
    return msg(
        "{} does not pay off ({} times FP32's speed): products and convolutions of these sizes "
        "reach {} % of the speed of a large one in {}. Sizes that are multiples of 8, and a larger "
        "batch, help.",
        p.precision, rounded(p.speed_up), peak == p.peaks.end() ? 0 : percent(rate, peak->second),
        low_name(p.precision));
}

Message undecided(const Speedup& p) {
    return msg(
        "{}: too early to say. It was {} times as fast as FP32 in the median, but {} to {} times "
        "in "
        "single blocks: something else uses this machine.",
        p.precision, rounded(p.speed_up), rounded(p.least), rounded(p.most));
}

Message make_sentence(const Speedup& p) {
    switch (p.reason) {
        case PayReason::products:
            return pays_by_products(p);
        case PayReason::traffic:
            return pays_by_traffic(p);
        case PayReason::no_arithmetic:
            return no_arithmetic(p);
        case PayReason::launch_bound:
            return launch_bound(p);
        case PayReason::casts:
            return casts(p);
        case PayReason::memory_bound:
            return memory_bound(p);
        case PayReason::update:
            return update_bound(p);
        case PayReason::undecided:
            return undecided(p);
        case PayReason::small_products:
            break;
    }
    return small_products(p);
}

}  // namespace

bool Speedup::pays() const { return least > 1 && speed_up >= min_speed_up; }

void explain(Speedup& speedup) {
    speedup.reason = find_pay_reason(speedup);
    speedup.sentence = make_sentence(speedup);
}

}  // namespace engine
