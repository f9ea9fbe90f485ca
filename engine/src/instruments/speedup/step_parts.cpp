#include <algorithm>

#include "engine/instruments/pay_off.h"

namespace engine {
namespace {

/// Multiply-adds per byte from which arithmetic matters; below, an operation is bound by memory.
constexpr double least_intensity = 0.5;
/// An operation is brief if it takes less than this, and work explains less than half of it.
constexpr double brief_us = 20;

double bytes_of(const XrayOp& op) { return static_cast<double>(op.bytes_read + op.bytes_written); }

/// Bytes a microsecond that the best of the larger operations reached: what memory gives here.
double bandwidth_of(const Xray& xray) {
    constexpr double large = 1 << 20;
    double best = 0;
    for (const XrayOp& op : xray.ops)
        if (op.us > 0 && bytes_of(op) >= large) best = std::max(best, bytes_of(op) / op.us);
    constexpr double usual = 10'000;  // 10 GB/s, where no operation is large enough to tell
    return best > 0 ? best : usual;
}

/// Microseconds that the operation's arithmetic and traffic take at full speed.
double work_us(const Xray& xray, const XrayOp& op, double bandwidth) {
    const auto peak = xray.peaks.find(op.compute_dtype);
    const double arithmetic = peak == xray.peaks.end() ? 0 : op.flops / peak->second * 1e6;
    return std::max(arithmetic, bytes_of(op) / bandwidth);
}

bool is_product(const XrayOp& op) {
    return bytes_of(op) > 0 && op.flops / bytes_of(op) >= least_intensity;
}

}  // namespace

StepParts parts_of(const Xray& xray) {
    StepParts parts;
    const double bandwidth = bandwidth_of(xray);
    for (const XrayOp& op : xray.ops) {
        double cast_us = 0;
        for (const XrayCast& cast : op.casts) {
            cast_us += cast.us;
            parts.cast_bytes += cast.bytes;
        }
        const double own_us = std::max(0.0, op.us - cast_us);
        parts.casts += cast_us / 1000;
        if (op.op == "to") {
            parts.casts += own_us / 1000;
            parts.cast_bytes += op.bytes_read + op.bytes_written;
        } else if (op.pass == XrayPass::update) {
            parts.update += own_us / 1000;
        } else if (own_us < brief_us && 2 * work_us(xray, op, bandwidth) < own_us) {
            parts.brief += own_us / 1000;
            ++parts.brief_ops;
        } else if (is_product(op)) {
            parts.products += own_us / 1000;
            parts.product_flops += op.flops;
        } else {
            parts.memory += own_us / 1000;
        }
    }
    return parts;
}

}  // namespace engine
