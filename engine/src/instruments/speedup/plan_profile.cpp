#include "engine/instruments/plan_profile.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "engine/base/json.h"
#include "engine/base/plain_text.h"
#include "engine/base/table.h"
#include "instruments/xray/op_trace.h"
#include "instruments/xray/peak_speed.h"
#include "kernels/cuda_device.h"
#include "tensor/tensor.h"
#include "train/bench/bench_steps.h"

namespace engine {
namespace {

constexpr int warm_up_steps = 3, traced_steps = 5;

/// Fewer operations than this are no measure of speed; fewer a byte wait for memory.
constexpr double min_plan_flops = 1e4, min_flops_a_byte = 0.5;

bool is_plan(const XrayOp& op) {
    const auto bytes = static_cast<double>(op.bytes_read + op.bytes_written);
    return op.pass != XrayPass::update && op.flops >= min_plan_flops &&
           (!op.engine.empty() || op.flops >= min_flops_a_byte * bytes);
}

bool belongs_to(const XrayOp& op, const PlanRow& row) {
    return op.op == row.op && op.pass == row.pass && op.compute_dtype == row.compute_dtype &&
           op.inputs == row.inputs && op.outputs == row.outputs && op.engine == row.engine;
}

double cast_us(const XrayOp& op) {
    double us = 0;
    for (const XrayCast& cast : op.casts) us += cast.us;
    return us;
}

/// The least time of operation `i` over the steps, without its casts.
double best_us(const std::vector<std::vector<XrayOp>>& steps, std::size_t i) {
    double best = std::numeric_limits<double>::infinity();
    for (const auto& ops : steps)
        if (i < ops.size()) best = std::min(best, std::max(0.0, ops[i].us - cast_us(ops[i])));
    return best;
}

void add_peak_share(PlanRow& row, const std::map<std::string, double>& peaks) {
    const auto peak = peaks.find(row.compute_dtype);
    if (peak == peaks.end() || !(peak->second > 0) || !(row.us > 0)) return;
    const double ideal_us = row.flops / peak->second * 1e6;
    row.peak_share = ideal_us / row.us;
    row.lost_us = std::max(0.0, row.us - ideal_us);
}

/// Keeps a GPU busy while the host gives it a step: with fills, at some terabyte a second.
class HeadStart {
public:
    HeadStart(const Device& device, double host_ms) : device_(device) {
        if (device.kind == Device::Kind::cpu) return;
        const DeviceScope here(device);
        const std::int64_t room = kernels::cuda::device_info(device.index).memory_bytes / 32;
        bytes_ = std::clamp<std::int64_t>(room, 1, std::int64_t{1} << 30);
        // A fill of a GiB takes at least 0.2 ms on the fastest cards.
        const double fill_ms = 0.2 * static_cast<double>(bytes_) / (1 << 30);
        fills_ = static_cast<int>(std::clamp(std::ceil(1.5 * host_ms / fill_ms), 1.0, 400.0));
        filled_ = Tensor::empty({bytes_}, DType::u8, device);
    }
    void give() const {
        const DeviceScope here(device_);
        for (int i = 0; i < fills_; ++i)
            kernels::cuda::set_zero(filled_.data(), static_cast<std::size_t>(bytes_),
                                    current_stream());
    }

private:
    Device device_;
    std::int64_t bytes_ = 0;
    int fills_ = 0;
    Tensor filled_;
};

constexpr std::size_t shown_rows = 10;

std::string plan_shape_text(const XrayTensor& tensor) {
    return tensor.shape.empty() ? "1" : join(tensor.shape, "x");
}

double flops_per_s(const PlanRow& row) { return row.us > 0 ? row.flops / row.us * 1e6 : 0; }

Table::Row cells(const PlanRow& row) {
    return {row.op,
            name(row.pass),
            row.compute_dtype,
            join(row.inputs, ", ", plan_shape_text),
            row.engine.empty() ? "own" : row.engine,
            row.runs,
            Cell(row.us, "%.1f"),
            Cell(flops_per_s(row) * 1e-9, "%.1f"),
            Cell(100 * row.peak_share, "%.1f %%"),
            Cell(row.lost_us, "%.1f")};
}

ordered_json shapes(const std::vector<XrayTensor>& tensors) {
    ordered_json out = ordered_json::array();
    for (const XrayTensor& each : tensors)
        out.push_back({{"dtype", each.dtype}, {"shape", each.shape}});
    return out;
}

ordered_json to_value(const PlanRow& row) {
    return {{"op", row.op},
            {"pass", name(row.pass)},
            {"compute_dtype", row.compute_dtype},
            {"inputs", shapes(row.inputs)},
            {"outputs", shapes(row.outputs)},
            {"engine", row.engine},
            {"runs", row.runs},
            {"us", row.us},
            {"flops", row.flops},
            {"flops_per_s", flops_per_s(row)},
            {"peak_share", finite_or_null(row.peak_share)},
            {"lost_us", row.lost_us}};
}

}  // namespace

PlanProfile make_profile(const std::vector<std::vector<XrayOp>>& steps,
                         const std::map<std::string, double>& peaks) {
    PlanProfile out;
    out.peaks = peaks;
    const std::vector<XrayOp>& last = steps.back();
    for (std::size_t i = 0; i < last.size(); ++i) {
        const XrayOp& op = last[i];
        if (!is_plan(op)) continue;
        auto row = std::ranges::find_if(out.rows,
                                        [&](const PlanRow& each) { return belongs_to(op, each); });
        if (row == out.rows.end())
            row = out.rows.insert(row, {.op = op.op,
                                        .pass = op.pass,
                                        .compute_dtype = op.compute_dtype,
                                        .inputs = op.inputs,
                                        .outputs = op.outputs,
                                        .engine = op.engine});
        ++row->runs;
        row->us += best_us(steps, i);
        row->flops += op.flops;
    }
    for (PlanRow& row : out.rows) add_peak_share(row, peaks);
    std::ranges::stable_sort(out.rows, std::greater{}, &PlanRow::lost_us);
    return out;
}

PlanProfile profile_plans(const RunConfig& config) {
    BenchSteps steps(config);
    Trainer& trainer = steps.trainer();
    trainer.set_recording(false);
    steps.block(warm_up_steps);
    steps.take_host_time();
    steps.block(1);
    const HeadStart ahead(trainer.device(), steps.take_host_time().count());
    const auto trace = std::make_shared<OpTrace>(trainer.device(), trainer.accounting());
    trainer.attach(trace);
    std::vector<std::vector<XrayOp>> traces;
    double step_ms = std::numeric_limits<double>::infinity();
    for (int i = 0; i < traced_steps; ++i) {
        ahead.give();
        steps.block(1);
        traces.push_back(trace->take());
        if (traces.back().empty()) continue;
        const XrayOp& end = traces.back().back();
        step_ms = std::min(step_ms, (end.start_us + end.us) / 1000);
    }
    PlanProfile out = make_profile(traces, peak_speeds(trainer.device()));
    out.device = to_string(trainer.device());
    out.step_ms = step_ms;
    return out;
}

std::string text_of(const PlanProfile& profile) {
    Table table{{"operation", "pass", "type", "inputs", "engine", "runs", "us", "GFLOP/s",
                 "of peak", "lost us"}};
    double us = 0, lost = 0;
    for (const PlanRow& row : profile.rows) {
        us += row.us;
        lost += row.lost_us;
        if (table.rows.size() < shown_rows) table.rows.push_back(cells(row));
    }
    std::string out = "Plans of an eager step on " + profile.device + ", " +
                      number_text("%.3f", profile.step_ms) +
                      " ms: " + std::to_string(profile.rows.size()) + " that take " +
                      number_text("%.3f", us / 1000) + " ms, " + number_text("%.3f", lost / 1000) +
                      " ms more than at peak. The worst:\n";
    out += to_text(table, 5);
    for (const auto& [dtype, peak] : profile.peaks)
        out += "A large product in " + dtype + " reaches " + number_text("%.1f", peak * 1e-9) +
               " GFLOP/s here.\n";
    return out;
}

std::string to_json(const PlanProfile& profile) {
    ordered_json rows = ordered_json::array();
    for (const PlanRow& row : profile.rows) rows.push_back(to_value(row));
    return ordered_json{{"event", "plan_profile"},
                        {"device", profile.device},
                        {"step_ms", profile.step_ms},
                        {"peaks", profile.peaks},
                        {"plans", rows}}
        .dump();
}

}  // namespace engine
