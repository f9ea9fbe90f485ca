#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json_reader.h"
#include "engine/base/error.h"
#include "engine/instruments/xray.h"
#include "io/file/atomic_file.h"
#include "io/file/file_modes.h"
#include "engine/base/json.h"

namespace engine {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::array pass_names = {"forward", "backward", "update"};

/// JSON has no infinity and no NaN: null.
ordered_json number(double value) {
    return std::isfinite(value) ? ordered_json(value) : ordered_json();
}
/// Figures of a result, in the words of the events.
double figure_from(const json& value) {
    if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (value == "inf") return std::numeric_limits<double>::infinity();
    if (value == "-inf") return -std::numeric_limits<double>::infinity();
    return value.get<double>();
}

ordered_json tensors(const std::vector<XrayTensor>& list) {
    ordered_json out = ordered_json::array();
    for (const auto& each : list) out.push_back({{"dtype", each.dtype}, {"shape", each.shape}});
    return out;
}
std::vector<XrayTensor> tensors_from(const json& list) {
    std::vector<XrayTensor> out;
    for (const json& each : list)
        out.push_back({each.at("dtype"), each.at("shape").get<std::vector<std::int64_t>>()});
    return out;
}

ordered_json casts(const std::vector<XrayCast>& list) {
    ordered_json out = ordered_json::array();
    for (const auto& each : list) {
        out.push_back({{"from", each.from},
                       {"to", each.to},
                       {"elements", each.elements},
                       {"bytes", each.bytes},
                       {"us", each.us}});
    }
    return out;
}
std::vector<XrayCast> casts_from(const json& list) {
    std::vector<XrayCast> out;
    for (const json& each : list)
        out.push_back(
            {each.at("from"), each.at("to"), each.at("elements"), each.at("bytes"), each.at("us")});
    return out;
}

ordered_json to_value(const XrayOp& op) {
    return {{"op", op.op},
            {"module", op.module},
            {"pass", pass_names.at(static_cast<std::size_t>(op.pass))},
            {"inputs", tensors(op.inputs)},
            {"outputs", tensors(op.outputs)},
            {"compute_dtype", op.compute_dtype},
            {"rule", op.rule},
            {"key", op.key},
            {"why", op.why},
            {"casts", casts(op.casts)},
            {"cached_casts", op.cached_casts},
            {"kept_copies", op.kept_copies},
            {"start_us", op.start_us},
            {"us", op.us},
            {"flops", op.flops},
            {"bytes_read", op.bytes_read},
            {"bytes_written", op.bytes_written},
            {"memory_bytes", op.memory_bytes},
            {"peak_share", number(op.peak_share)},
            {"engine", op.engine}};
}

XrayPass pass_from(const std::string& word) {
    for (std::size_t i = 0; i < pass_names.size(); ++i) {
        if (pass_names[i] == word) return static_cast<XrayPass>(i);
    }
    throw Error(ErrorCode::data, msg("An X-ray has no pass {}.", word));
}

XrayOp op_from(const json& value) {
    XrayOp op;
    op.op = value.at("op");
    op.module = value.at("module");
    op.pass = pass_from(value.at("pass"));
    op.inputs = tensors_from(value.at("inputs"));
    op.outputs = tensors_from(value.at("outputs"));
    op.compute_dtype = value.at("compute_dtype");
    op.rule = value.at("rule");
    op.key = value.at("key");
    op.why = value.at("why");
    op.casts = casts_from(value.at("casts"));
    op.cached_casts = value.at("cached_casts");
    op.kept_copies = value.at("kept_copies");
    op.start_us = value.at("start_us");
    op.us = value.at("us");
    op.flops = value.at("flops");
    op.bytes_read = value.at("bytes_read");
    op.bytes_written = value.at("bytes_written");
    op.memory_bytes = value.at("memory_bytes");
    if (value.at("peak_share").is_number()) op.peak_share = value.at("peak_share");
    op.engine = value.value("engine", "");  // older files have none
    return op;
}

ordered_json to_value(const std::vector<XrayTotal>& sums) {
    ordered_json out = ordered_json::array();
    for (const auto& sum : sums) {
        out.push_back({{"name", sum.name},
                       {"ops", sum.ops},
                       {"us", sum.us},
                       {"flops", sum.flops},
                       {"casts", sum.casts},
                       {"cast_bytes", sum.cast_bytes},
                       {"cast_us", sum.cast_us}});
    }
    return out;
}

ordered_json to_value(const ForcedTypes& forced) {
    ordered_json out = ordered_json::object();
    for (const auto& [key, type] : forced) out[key] = word_of(type);
    return out;
}

ForcedTypes forced_from(const json& object) {
    ForcedTypes out;
    for (const auto& [key, type] : object.items()) {
        if (const auto word = value_of_word<ForcedType>(type.get<std::string>())) out[key] = *word;
    }
    return out;
}

ordered_json to_value(const XrayOutcome& outcome) {
    return {{"loss", json_number(outcome.loss)},
            {"gradient_error", json_number(outcome.gradient_error)},
            {"step_ms", outcome.step_ms},
            {"slowest_ms", outcome.slowest_ms},
            {"peak_bytes", outcome.peak_bytes},
            {"found_inf", outcome.found_inf}};
}

Xray parsed(const std::string& text) {
    JsonFault fault;
    const json value = read_json(text, {}, &fault);
    if (value.is_discarded())
        throw Error(ErrorCode::data, msg("This is not an X-ray of a step: {}", fault.str()));
    Xray out;
    out.step = value.at("step");
    out.device = value.at("device");
    out.precision = value.at("precision");
    out.force = forced_from(value.at("force"));
    out.step_ms = value.at("step_ms");
    out.untraced_ms = value.at("untraced_ms");
    out.slowest_ms = value.value("slowest_ms", out.untraced_ms);  // older traces have no spread
    out.loss = figure_from(value.at("loss"));
    out.peak_bytes = value.at("peak_bytes");
    out.peaks = value.at("peaks").get<std::map<std::string, double>>();
    for (const json& op : value.at("ops")) out.ops.push_back(op_from(op));
    return out;
}

}  // namespace

std::string to_json(const Xray& xray, int indent) {
    ordered_json out = {{"step", xray.step},
                        {"device", xray.device},
                        {"precision", xray.precision},
                        {"force", to_value(xray.force)},
                        {"step_ms", xray.step_ms},
                        {"untraced_ms", xray.untraced_ms},
                        {"slowest_ms", xray.slowest_ms},
                        {"loss", json_number(xray.loss)},
                        {"peak_bytes", xray.peak_bytes},
                        {"peaks", xray.peaks},
                        {"by_dtype", to_value(totals_by_dtype(xray))},
                        {"by_module", to_value(totals_by_module(xray))},
                        {"by_op", to_value(totals_by_op(xray))}};
    ordered_json& ops = out["ops"] = ordered_json::array();
    for (const XrayOp& op : xray.ops) ops.push_back(to_value(op));
    return out.dump(indent, ' ', false, json::error_handler_t::replace);
}

std::string to_json(const XrayExperiment& experiment) {
    const ordered_json out = {{"force", to_value(experiment.forced)},
                              {"before", to_value(experiment.before)},
                              {"after", to_value(experiment.after)},
                              {"conclusion", experiment.conclusion.str()}};
    return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

Xray xray_from_json(const std::string& text) {
    try {
        return parsed(text);
    } catch (const json::exception&) {
        throw Error(ErrorCode::data, msg("This is not an X-ray of a step: {}",
                                         "a field is missing or of another type"));
    }
}

std::filesystem::path xray_file(const std::filesystem::path& run_folder, std::int64_t step) {
    return run_folder / "xray" / (std::to_string(step) + ".json");
}

void save_xray(const std::filesystem::path& run_folder, const Xray& xray) {
    const auto file = xray_file(run_folder, xray.step);
    std::error_code error;
    make_private_folders(file.parent_path(), error);
    if (error) {
        throw Error(ErrorCode::io,
                    msg("{} could not be made: {}", file.parent_path().string(), error.message()));
    }
    write_file(file, to_json(xray));
}

}  // namespace engine
