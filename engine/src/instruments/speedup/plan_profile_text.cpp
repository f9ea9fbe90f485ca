#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text_table.h"
#include "engine/instruments/plan_profile.h"

namespace engine {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t shown_rows = 10;

const char* name_of(XrayPass pass) {
    constexpr const char* names[] = {"forward", "backward", "update"};
    return names[static_cast<std::size_t>(pass)];
}

std::string plan_shape_text(const XrayTensor& tensor) {
    std::string out;
    for (const std::int64_t extent : tensor.shape)
        out += (out.empty() ? "" : "x") + std::to_string(extent);
    return out.empty() ? "1" : out;
}

std::string shapes_text(const std::vector<XrayTensor>& tensors) {
    std::string out;
    for (const XrayTensor& each : tensors) out += (out.empty() ? "" : ", ") + plan_shape_text(each);
    return out;
}

double flops_per_s(const PlanRow& row) { return row.us > 0 ? row.flops / row.us * 1e6 : 0; }

Cells cells(const PlanRow& row) {
    return {row.op,
            name_of(row.pass),
            row.compute_dtype,
            shapes_text(row.inputs),
            row.engine.empty() ? "own" : row.engine,
            std::to_string(row.runs),
            number_text("%.1f", row.us),
            number_text("%.1f", flops_per_s(row) * 1e-9),
            std::isnan(row.peak_share) ? "-" : number_text("%.1f %%", 100 * row.peak_share),
            number_text("%.1f", row.lost_us)};
}

ordered_json shapes(const std::vector<XrayTensor>& tensors) {
    ordered_json out = ordered_json::array();
    for (const XrayTensor& each : tensors)
        out.push_back({{"dtype", each.dtype}, {"shape", each.shape}});
    return out;
}

ordered_json to_value(const PlanRow& row) {
    const ordered_json share =
        std::isnan(row.peak_share) ? ordered_json() : ordered_json(row.peak_share);
    return {{"op", row.op},
            {"pass", name_of(row.pass)},
            {"compute_dtype", row.compute_dtype},
            {"inputs", shapes(row.inputs)},
            {"outputs", shapes(row.outputs)},
            {"engine", row.engine},
            {"runs", row.runs},
            {"us", row.us},
            {"flops", row.flops},
            {"flops_per_s", flops_per_s(row)},
            {"peak_share", share},
            {"lost_us", row.lost_us}};
}

}  // namespace

std::string text_of(const PlanProfile& profile) {
    std::vector<Cells> table = {{"operation", "pass", "type", "inputs", "engine", "runs", "us",
                                 "GFLOP/s", "of peak", "lost us"}};
    double us = 0, lost = 0;
    for (const PlanRow& row : profile.rows) {
        us += row.us;
        lost += row.lost_us;
        if (table.size() <= shown_rows) table.push_back(cells(row));
    }
    std::string out = "Plans of an eager step on " + profile.device + ", " +
                      number_text("%.3f", profile.step_ms) +
                      " ms: " + std::to_string(profile.rows.size()) + " that take " +
                      number_text("%.3f", us / 1000) + " ms, " + number_text("%.3f", lost / 1000) +
                      " ms more than at peak. The worst:\n";
    out += aligned(table, 5);
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
