#include <algorithm>
#include <functional>

#include "engine/instruments/xray.h"

namespace engine {
namespace {

void add(XrayTotal& sum, const XrayOp& op) {
    ++sum.ops;
    sum.us += op.us;
    sum.flops += op.flops;
    if (op.op == "to") {  // of a gradient, or around the model
        ++sum.casts;
        sum.cast_bytes += op.bytes_read + op.bytes_written;
        sum.cast_us += op.us;
    }
    for (const XrayCast& cast : op.casts) {
        ++sum.casts;
        sum.cast_bytes += cast.bytes;
        sum.cast_us += cast.us;
    }
}

std::vector<XrayTotal> totals(const Xray& xray, std::string XrayOp::*by) {
    std::vector<XrayTotal> out;
    for (const XrayOp& op : xray.ops) {
        auto sum = std::ranges::find(out, op.*by, &XrayTotal::name);
        if (sum == out.end()) {
            out.push_back({});
            out.back().name = op.*by;
            sum = out.end() - 1;
        }
        add(*sum, op);
    }
    std::ranges::stable_sort(out, std::greater<>(), &XrayTotal::us);
    return out;
}

}  // namespace

std::vector<XrayTotal> totals_by_dtype(const Xray& xray) {
    return totals(xray, &XrayOp::compute_dtype);
}
std::vector<XrayTotal> totals_by_module(const Xray& xray) { return totals(xray, &XrayOp::module); }
std::vector<XrayTotal> totals_by_op(const Xray& xray) { return totals(xray, &XrayOp::op); }

XrayTotal total(const Xray& xray) {
    XrayTotal sum;
    for (const XrayOp& op : xray.ops) add(sum, op);
    return sum;
}

}  // namespace engine
