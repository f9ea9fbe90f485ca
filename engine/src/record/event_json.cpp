#include "record/event_json.h"

#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/settings/run_config.h"
#include "engine/base/json.h"
#include "settings/config_reader.h"

namespace engine {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

/// Leaves out what was not measured.
void put_measured(ordered_json& object, const char* field, double value) {
    if (!std::isnan(value)) object[field] = json_number(value);
}

/// A part that was evaluated has a loss or a metric; without either there was none.
void put_part(ordered_json& object, const std::string& part, const PartFigures& figures) {
    if (!figures.known()) return;
    object[part + "_loss"] = json_number(figures.loss);
    for (const MetricValue& metric : figures.metrics)
        put_measured(object, (part + "_" + metric.key).c_str(), metric.value);
}

ordered_json to_object(const Metric& metric) {
    ordered_json object = {{"key", metric.key}, {"title", metric.title}};
    if (!metric.unit.empty()) object["unit"] = metric.unit;
    object["higher_is_better"] = metric.higher_is_better;
    object["is_share"] = metric.is_share;
    return object;
}

/// The sentence in English, and its parts for another language where it has any.
void put_message(ordered_json& object, const std::string& field, const Message& message) {
    object[field] = message.str();
    if (message.args.empty()) return;
    object[field + "_text"] = message.text;
    object[field + "_args"] = message.args;
}

ordered_json head(const char* kind, const std::string& run) {
    return {{"event", kind}, {"run", run}};
}

ordered_json to_object(const RunStarted& e) {
    ordered_json object = head("start", e.run);
    object["config"] = settings_json(e.config, e.origin.has_value());
    if (const auto broken = broken_on_purpose(e.config); !broken.empty()) object["teach"] = broken;
    object["device"] = e.device;
    object["threads"] = e.threads;
    object["parameters"] = e.parameters;
    object["train_samples"] = e.train_samples;
    object["test_samples"] = e.test_samples;
    object["steps_planned"] = e.steps_planned;
    object["folder"] = e.folder;
    if (e.validation_samples != 0) object["validation_samples"] = e.validation_samples;
    object["task"] = e.task;
    object["unit"] = e.unit;
    object["metrics"] = metrics_json(e.metrics);
    object["step_metrics"] = metrics_json(e.step_metrics);
    if (e.origin) object["origin"] = origin_json(*e.origin);
    if (!e.turns.empty()) object["turns"] = e.turns;
    if (e.first_step != 1) object["first_step"] = e.first_step;
    if (e.steps_per_epoch != 0) object["steps_per_epoch"] = e.steps_per_epoch;
    return object;
}

ordered_json to_object(const RunResumed& e) {
    ordered_json object = head("resumed", e.run);
    object["step"] = e.step;
    object["skipped"] = e.skipped;
    if (!e.parent.empty()) object["parent"] = e.parent;
    object["restored"] = ordered_json::array();
    for (const Message& part : e.restored) {
        ordered_json each = ordered_json::object();
        put_message(each, "part", part);
        object["restored"].push_back(std::move(each));
    }
    return object;
}

ordered_json to_object(const CheckpointSaved& e) {
    ordered_json object = head("checkpoint", e.run);
    object["step"] = e.step;
    object["bytes"] = e.bytes;
    object["seconds"] = json_number(e.seconds);
    if (e.best) object["best"] = true;
    return object;
}

ordered_json to_object(const StepExamined& e) {
    ordered_json object = head("examined", e.run);
    object["step"] = e.step;
    object["cause"] = e.cause;
    put_message(object, "verdict", e.verdict);
    if (e.damaged_at != 0) object["damaged_at"] = e.damaged_at;
    return object;
}

ordered_json to_object(const StateChanged& e) {
    ordered_json object = head("state", e.run);
    object["state"] = name(e.state);
    return object;
}

ordered_json to_object(const EpochDone& e) {
    ordered_json object = head("epoch", e.run);
    object["epoch"] = e.epoch;
    object["step"] = e.step;
    object["train_loss"] = json_number(e.train.loss);
    for (const MetricValue& metric : e.train.metrics)
        put_measured(object, ("train_" + metric.key).c_str(), metric.value);
    put_part(object, "validation", e.validation);
    put_part(object, "test", e.test);
    object["seconds"] = json_number(e.seconds);
    if (!e.epoch_ended) object["epoch_ended"] = false;
    return object;
}

ordered_json to_object(const ScaleChanged& e) {
    ordered_json object = head("scale", e.run);
    object["step"] = e.step;
    object["kind"] = name(e.kind);
    object["from"] = json_number(static_cast<double>(e.from));
    object["to"] = json_number(static_cast<double>(e.to));
    object["clean_steps"] = e.clean_steps;
    if (e.loss) object["loss"] = json_number(static_cast<double>(*e.loss));
    return object;
}

ordered_json to_object(const RunWarning& e) {
    ordered_json object = head("warning", e.run);
    if (e.step != 0) object["step"] = e.step;
    put_message(object, "message", e.message);
    return object;
}

ordered_json to_object(const RunFailed& e) {
    ordered_json object = head("error", e.run);
    object["code"] = name(e.code);
    put_message(object, "message", e.message);
    put_message(object, "hint", e.hint);
    return object;
}

ordered_json to_object(const RunDone& e) {
    ordered_json object = head("done", e.run);
    object["reason"] = name(e.reason);
    object["steps"] = e.steps;
    object["updates"] = e.updates;
    object["skipped"] = e.skipped;
    put_part(object, "validation", e.validation);
    object["test_loss"] = json_number(e.test.loss);
    for (const MetricValue& metric : e.test.metrics)
        object["test_" + metric.key] = json_number(metric.value);
    object["wall_s"] = json_number(e.wall_s);
    object["samples_per_s"] = json_number(e.samples_per_s);
    object["peak_bytes"] = e.peak_bytes;
    if (e.diverged_at != 0) object["diverged_at"] = e.diverged_at;
    if (e.replaced_samples != 0) object["replaced_samples"] = e.replaced_samples;
    if (e.unsaved != 0) object["unsaved"] = e.unsaved;
    return object;
}

/// The shortest digits that read back as the same number.
template <typename T>
void append_number(std::string& out, T value) {
    std::array<char, 48> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    out.append(digits.data(), end);
}

template <typename T>
void append_field(std::string& out, std::string_view field, T value) {
    if constexpr (std::is_floating_point_v<T>) {
        if (std::isnan(value) && !nan_is_a_value(field)) return;
    }
    out.append(",\"").append(field).append("\":");
    if constexpr (std::is_same_v<T, std::uint8_t>) {
        out += value != 0 ? "true" : "false";
    } else if constexpr (std::is_floating_point_v<T>) {
        if (std::isfinite(value)) {
            append_number(out, value);
        } else {
            out += std::isnan(value) ? "\"nan\"" : value > 0 ? "\"inf\"" : "\"-inf\"";
        }
    } else {
        append_number(out, value);
    }
}

}  // namespace

ordered_json metrics_json(const std::vector<Metric>& metrics) {
    ordered_json list = ordered_json::array();
    for (const Metric& metric : metrics) list.push_back(to_object(metric));
    return list;
}

ordered_json origin_json(const RunOrigin& origin) {
    ordered_json object = {
        {"program", origin.program},         {"model", origin.model},
        {"dataset", origin.dataset},         {"optimizer", origin.optimizer},
        {"epochs", origin.epochs},           {"shares_every", origin.shares_every},
        {"settings", ordered_json::object()}};
    for (const auto& [name, value] : origin.settings) object["settings"][name] = value;
    return object;
}

ordered_json settings_json(const RunConfig& config, bool foreign) {
    ordered_json all = to_ordered_json(config);
    if (!foreign) return all;
    ordered_json shared = {{"precision", all.at("precision")}};
    if (resolve(config.precision).scaler != ScalerMode::off) shared["scaler"] = all.at("scaler");
    return shared;
}

bool nan_is_a_value(std::string_view field) { return field == "loss" || field == "grad_norm"; }

std::string to_json_line(const Event& event) {
    const ordered_json object = std::visit([](const auto& e) { return to_object(e); }, event);
    return object.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string to_json_line(const std::string& run, const StepRecord& step,
                         std::span<const Metric> metrics) {
    std::string out = R"({"event":"step","run":)";
    out += json(run).dump(-1, ' ', false, json::error_handler_t::replace);
    for_each_named_field(metrics, [&](std::string_view field, auto member) {
        append_field(out, field, step.*member);
    });
    return out + "}";
}

}  // namespace engine
