#include "engine/instruments/xray.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <tuple>
#include <utility>

#include "engine/base/plain_text.h"
#include "instruments/replay/run_replay.h"
#include "instruments/replay/step_variant.h"
#include "instruments/xray/op_trace.h"
#include "instruments/xray/peak_speed.h"
#include "io/file/work_progress.h"
#include "tensor/device.h"

namespace engine {
namespace {

/// A step of fewer operations than this share of the device's speed is no measurement.
constexpr double min_flops = 1e4;

void add_shares(Xray& xray) {
    for (XrayOp& op : xray.ops) {
        const auto peak = xray.peaks.find(op.compute_dtype);
        if (peak == xray.peaks.end() || op.flops < min_flops || op.us <= 0) continue;
        op.peak_share = op.flops / (op.us * 1e-6) / peak->second;
    }
}

double milliseconds(std::chrono::steady_clock::duration time) {
    return std::chrono::duration<double, std::milli>(time).count();
}

/// Milliseconds of the step: for a short step the best of three, since other work of the machine
/// can only add time, and the slowest of them.
std::pair<double, double> untraced_ms(CapsuleStep& step) {
    using Clock = std::chrono::steady_clock;
    constexpr double long_ms = 300;
    double best = std::numeric_limits<double>::infinity(), slowest = 0;
    for (int i = 0; i < 3 && (i == 0 || best < long_ms); ++i) {
        poll_work();
        step.rewind();
        const auto start = Clock::now();
        step.run();
        const double taken = milliseconds(Clock::now() - start);
        best = std::min(best, taken);
        slowest = std::max(slowest, taken);
    }
    return {best, slowest};
}

/// Runs the step several times: to warm up, on the clock, and under the trace.
Xray traced(const StepCapsule& capsule, const RunConfig& config) {
    using Clock = std::chrono::steady_clock;
    CapsuleStep step(capsule, config);
    // Choices of the run's step are made anew, to be listed too.
    if (config == capsule.config) step.trainer().set_decisions(nullptr);
    poll_work();
    step.run();
    Xray out;
    std::tie(out.untraced_ms, out.slowest_ms) = untraced_ms(step);
    out.peak_bytes = step.trainer().accounting()->peak();
    poll_work();
    step.rewind();
    const auto trace =
        std::make_shared<OpTrace>(step.trainer().device(), step.trainer().accounting());
    step.trainer().attach(trace);
    const auto start = Clock::now();
    out.loss = step.run().row.loss;
    out.step_ms = milliseconds(Clock::now() - start);
    out.ops = trace->take();
    out.step_ms -= trace->aside_ms();
    out.step = capsule.step();
    out.device = to_string(step.trainer().device());
    out.precision = config.precision.preset;
    out.force = config.precision.force;
    out.peaks = peak_speeds(step.trainer().device());
    add_shares(out);
    return out;
}

Xray traced(const StepCapsule& capsule) { return traced(capsule, capsule.config); }

std::string join_keys(const ForcedTypes& forced) {
    return join(forced, ", ", [](const auto& each) {
        return each.first + " = " + word_of(each.second);
    });
}

/// An error with the digits that mean something.
std::string shown(double error) { return number_text("%.3g", error); }

Message conclusion(const ForcedTypes& forced, const XrayOutcome& before, const XrayOutcome& after) {
    const std::string keys = join_keys(forced);
    const int change =
        static_cast<int>(std::lround(100 * (after.step_ms / std::max(before.step_ms, 1e-9) - 1)));
    if (after.found_inf && !before.found_inf)
        return msg("{}: a gradient is no longer finite; a dynamic scaler skips such a step.", keys);
    if (after.found_inf) return msg("{}: a gradient is still not finite.", keys);
    if (before.found_inf)
        return msg(
            "{}: all gradients are finite, which they were not before; the step's time "
            "changes by {} %.",
            keys, change);
    if (after.gradient_error < 0.9 * before.gradient_error)
        return msg("{}: the gradient error falls from {} to {}; the step's time changes by {} %.",
                   keys, shown(before.gradient_error), shown(after.gradient_error), change);
    if (after.gradient_error > 1.1 * before.gradient_error)
        return msg("{}: the gradient error rises from {} to {}; the step's time changes by {} %.",
                   keys, shown(before.gradient_error), shown(after.gradient_error), change);
    return msg("{}: the gradient error stays at {}; the step's time changes by {} %.", keys,
               shown(after.gradient_error), change);
}

XrayExperiment experiment(const StepCapsule& capsule, const ForcedTypes& forced) {
    XrayExperiment out;
    out.forced = forced;
    StepComparison trial(capsule);
    out.before = trial.outcome(capsule.config);
    poll_work();
    RunConfig changed = capsule.config;
    for (const auto& [key, type] : forced) changed.precision.force[key] = type;
    out.after = trial.outcome(changed);
    out.conclusion = conclusion(forced, out.before, out.after);
    return out;
}

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

/// Pass, module, operation.
using PairKey = std::tuple<XrayPass, std::string, std::string>;

PairKey place_of(const XrayOp& op) { return {op.pass, op.module, op.op}; }

std::map<PairKey, std::vector<std::size_t>> by_place(const Xray& trace) {
    std::map<PairKey, std::vector<std::size_t>> out;
    for (std::size_t i = 0; i < trace.ops.size(); ++i) out[place_of(trace.ops[i])].push_back(i);
    return out;
}

}  // namespace

Xray xray_first_step(const RunConfig& config) {
    return xray_step(capture_first_step(config));
}

Xray xray_step(const std::filesystem::path& run_folder, std::int64_t step) {
    return traced(capsule_before(run_folder, step));
}

Xray xray_step(const CapturedStep& step) { return traced(step.capsule()); }

Xray xray_step(const CapturedStep& step, const PrecisionConfig& precision) {
    RunConfig config = step.config();
    config.precision = precision;
    return traced(step.capsule(), config);
}

XrayExperiment try_forced(const CapturedStep& step, const ForcedTypes& forced) {
    return experiment(step.capsule(), forced);
}

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

std::vector<XrayPair> pair_ops(const Xray& first, const Xray& second) {
    const auto places = by_place(second);
    std::map<PairKey, std::size_t> seen;
    std::vector<std::ptrdiff_t> partners;
    std::vector<bool> taken(second.ops.size(), false);
    for (const XrayOp& op : first.ops) {
        const PairKey place = place_of(op);
        const std::size_t nth = seen[place]++;
        const auto found = places.find(place);
        const bool has = found != places.end() && nth < found->second.size();
        partners.push_back(has ? static_cast<std::ptrdiff_t>(found->second[nth]) : -1);
        if (has) taken[found->second[nth]] = true;
    }
    // Operations that only the second trace has keep their order, after the partner of their
    // predecessor.
    std::vector<XrayPair> out;
    std::size_t next = 0;
    const auto add_until = [&](std::size_t end) {
        for (; next < end; ++next) {
            if (!taken[next]) out.push_back({nullptr, &second.ops[next]});
        }
    };
    for (std::size_t i = 0; i < first.ops.size(); ++i) {
        const auto partner = partners[i];
        if (partner < 0) {
            out.push_back({&first.ops[i], nullptr});
            continue;
        }
        add_until(static_cast<std::size_t>(partner));
        out.push_back({&first.ops[i], &second.ops[static_cast<std::size_t>(partner)]});
    }
    add_until(second.ops.size());
    return out;
}

}  // namespace engine
