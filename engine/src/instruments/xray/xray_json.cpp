#include <nlohmann/json.hpp>

#include "base/json_fields.h"
#include "base/json_reader.h"
#include "engine/base/error.h"
#include "engine/instruments/xray.h"
#include "io/file/atomic_file.h"
#include "io/file/file_modes.h"

namespace engine {
namespace {

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

}  // namespace

void list_fields(const auto& f, Is<XrayTensor> auto& tensor) {
    f("dtype", tensor.dtype, "shape", tensor.shape);
}

void list_fields(const auto& f, Is<XrayCast> auto& cast) {
    f("from", cast.from, "to", cast.to, "elements", cast.elements, "bytes", cast.bytes,
      "us", cast.us);
}

void list_fields(const auto& f, Is<XrayOp> auto& op) {
    f("op", op.op, "module", op.module, "pass", op.pass, "inputs", op.inputs,
      "outputs", op.outputs, "compute_dtype", op.compute_dtype, "rule", op.rule, "key", op.key,
      "why", op.why, "casts", op.casts, "cached_casts", op.cached_casts,
      "kept_copies", op.kept_copies, "start_us", op.start_us, "us", op.us, "flops", op.flops,
      "bytes_read", op.bytes_read, "bytes_written", op.bytes_written,
      "memory_bytes", op.memory_bytes);
    f.unless("call", op.call, std::int64_t{0});
    f.finite("peak_share", op.peak_share);
    f.may_lack("engine", op.engine);
}

void list_fields(const auto& f, Is<XrayTotal> auto& sum) {
    f("name", sum.name, "ops", sum.ops, "us", sum.us, "flops", sum.flops, "casts", sum.casts,
      "cast_bytes", sum.cast_bytes, "cast_us", sum.cast_us);
}

void list_fields(const auto& f, Is<XrayOutcome> auto& outcome) {
    f("loss", outcome.loss, "gradient_error", outcome.gradient_error, "step_ms", outcome.step_ms,
      "slowest_ms", outcome.slowest_ms, "peak_bytes", outcome.peak_bytes,
      "found_inf", outcome.found_inf);
}

void list_fields(const auto& f, Is<Xray> auto& xray) {
    f("step", xray.step, "device", xray.device, "precision", xray.precision);
    f.derived("force", [&] { return to_value(xray.force); });
    f("step_ms", xray.step_ms, "untraced_ms", xray.untraced_ms);
    f.may_lack("slowest_ms", xray.slowest_ms);
    f("loss", xray.loss, "peak_bytes", xray.peak_bytes, "peaks", xray.peaks);
    f.derived("by_dtype", [&] { return totals_by_dtype(xray); });
    f.derived("by_module", [&] { return totals_by_module(xray); });
    f.derived("by_op", [&] { return totals_by_op(xray); });
    f("ops", xray.ops);
}

std::string to_json(const Xray& xray) { return dumped(ordered_json(xray)); }

std::string to_json(const XrayExperiment& experiment) {
    return dumped(ordered_json{{"force", to_value(experiment.forced)},
                               {"before", experiment.before},
                               {"after", experiment.after},
                               {"conclusion", experiment.conclusion.str()}});
}

Xray xray_from_json(const std::string& text) {
    JsonFault fault;
    const json value = read_json(text, {}, &fault);
    if (value.is_discarded())
        throw Error(ErrorCode::data, msg("This is not an X-ray of a step: {}", fault.str()));
    try {
        Xray out;
        out.slowest_ms = value.at("untraced_ms");  // traces of earlier versions have no spread
        value.get_to(out);
        out.force = forced_from(value.at("force"));
        return out;
    } catch (const json::exception&) {
    } catch (const std::invalid_argument&) {
    }
    throw Error(ErrorCode::data, msg("This is not an X-ray of a step: {}",
                                     "a field is missing or of another type"));
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
