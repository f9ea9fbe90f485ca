#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/json_reader.h"
#include "record/event_json.h"
#include "engine/base/json.h"

namespace engine {
namespace {

using nlohmann::json;

constexpr double not_measured = std::numeric_limits<double>::quiet_NaN();

// More than any event of ours has; each takes several times the bytes of its text.
constexpr std::size_t max_event_args = 32, max_event_metrics = 64;

double number(const json& object, const char* field) {
    const auto at = object.find(field);
    return at == object.end() ? not_measured : number_of(*at);
}

Message message(const json& object, const std::string& field) {
    if (!object.contains(field + "_text")) return object.value(field, std::string());
    Message out = object.at(field + "_text").get<std::string>();
    out.args = object.value(field + "_args", std::vector<std::string>());
    if (out.args.size() > max_event_args) out.args.resize(max_event_args);
    out.args.shrink_to_fit();
    return out;
}

/// The loss and the metrics of a part, whose fields begin with `prefix`.
PartFigures part(const json& object, std::string_view prefix) {
    PartFigures figures;
    for (const auto& [field, value] : object.items()) {
        if (!field.starts_with(prefix)) continue;
        if (figures.metrics.size() == max_event_metrics) break;
        const std::string key = field.substr(prefix.size());
        if (key == "loss")
            figures.loss = number(object, field.c_str());
        else
            figures.metrics.push_back({key, number(object, field.c_str())});
    }
    return figures;
}

/// Throws if no value has this name.
template <typename Enum>
Enum from_name(const json& word) {
    if (const auto value = value_of_name<Enum>(word.get_ref<const std::string&>())) return *value;
    throw std::invalid_argument("unknown name");
}

Event started(const json& o) {
    RunStarted e;
    e.run = o.at("run").get<std::string>();
    e.config = parse_run_config(o.at("config").dump()).config;
    e.device = o.value("device", std::string());
    e.threads = o.value("threads", std::int64_t{0});
    e.parameters = o.value("parameters", std::int64_t{0});
    e.train_samples = o.value("train_samples", std::int64_t{0});
    e.test_samples = o.value("test_samples", std::int64_t{0});
    e.steps_planned = o.value("steps_planned", std::int64_t{0});
    e.folder = o.value("folder", std::string());
    e.validation_samples = o.value("validation_samples", std::int64_t{0});
    e.task = o.value("task", e.task);
    e.unit = o.value("unit", e.unit);
    // Earlier versions trained classifiers alone and wrote no metrics.
    if (o.contains("metrics")) e.metrics = parse_metrics(o.at("metrics"));
    e.step_metrics = o.contains("step_metrics") ? parse_metrics(o.at("step_metrics")) : e.metrics;
    if (o.contains("origin")) e.origin = parse_origin(o.at("origin"));
    e.turns = o.value("turns", std::string());
    e.first_step = o.value("first_step", std::int64_t{1});
    e.steps_per_epoch = o.value("steps_per_epoch", std::int64_t{0});
    return e;
}

Event resumed(const json& o) {
    RunResumed e;
    e.run = o.at("run").get<std::string>();
    e.step = o.at("step").get<std::int64_t>();
    e.skipped = o.value("skipped", std::int64_t{0});
    e.parent = o.value("parent", std::string());
    if (!o.contains("restored")) return e;
    for (const json& part : o.at("restored")) e.restored.push_back(message(part, "part"));
    return e;
}

Event checkpoint_saved(const json& o) {
    CheckpointSaved e;
    e.run = o.at("run").get<std::string>();
    e.step = o.at("step").get<std::int64_t>();
    e.bytes = o.value("bytes", std::int64_t{0});
    e.seconds = number(o, "seconds");
    e.best = o.value("best", false);
    return e;
}

Event step_examined(const json& o) {
    return StepExamined{o.at("run").get<std::string>(), o.at("step").get<std::int64_t>(),
                        o.at("cause").get<std::string>(), message(o, "verdict"),
                        o.value("damaged_at", std::int64_t{0})};
}

Event state_changed(const json& o) {
    return StateChanged{o.at("run").get<std::string>(), from_name<RunState>(o.at("state"))};
}

Event epoch_done(const json& o) {
    EpochDone e;
    e.run = o.at("run").get<std::string>();
    e.epoch = o.at("epoch").get<std::int64_t>();
    e.step = o.value("step", std::int64_t{0});
    e.train = part(o, "train_");
    e.validation = part(o, "validation_");
    e.test = part(o, "test_");
    e.seconds = number(o, "seconds");
    e.epoch_ended = o.value("epoch_ended", true);
    return e;
}

Event scale_changed(const json& o) {
    ScaleChanged e{o.at("run").get<std::string>(),
                   o.at("step").get<std::int64_t>(),
                   from_name<ScaleChanged::Kind>(o.at("kind")),
                   static_cast<float>(number(o, "from")),
                   static_cast<float>(number(o, "to")),
                   o.value("clean_steps", std::int64_t{0})};
    if (o.contains("loss")) e.loss = static_cast<float>(number(o, "loss"));
    return e;
}

Event warning(const json& o) {
    return RunWarning{o.at("run").get<std::string>(), message(o, "message"),
                      o.value("step", std::int64_t{0})};
}

Event failed(const json& o) {
    return RunFailed{o.at("run").get<std::string>(), from_name<ErrorCode>(o.at("code")),
                     message(o, "message"), message(o, "hint")};
}

Event done(const json& o) {
    RunDone e;
    e.run = o.at("run").get<std::string>();
    e.reason = from_name<DoneReason>(o.at("reason"));
    e.steps = o.value("steps", std::int64_t{0});
    e.updates = o.value("updates", std::int64_t{0});
    e.skipped = o.value("skipped", std::int64_t{0});
    e.validation = part(o, "validation_");
    e.test = part(o, "test_");
    e.wall_s = number(o, "wall_s");
    e.samples_per_s = number(o, "samples_per_s");
    e.peak_bytes = o.value("peak_bytes", std::int64_t{0});
    e.diverged_at = o.value("diverged_at", std::int64_t{0});
    e.replaced_samples = o.value("replaced_samples", std::int64_t{0});
    e.unsaved = o.value("unsaved", std::int64_t{0});
    return e;
}

std::optional<Event> parse_object(const json& object) {
    const auto& kind = object.at("event");
    if (kind == "start") return started(object);
    if (kind == "resumed") return resumed(object);
    if (kind == "checkpoint") return checkpoint_saved(object);
    if (kind == "examined") return step_examined(object);
    if (kind == "state") return state_changed(object);
    if (kind == "epoch") return epoch_done(object);
    if (kind == "scale") return scale_changed(object);
    if (kind == "warning") return warning(object);
    if (kind == "error") return failed(object);
    if (kind == "done") return done(object);
    return std::nullopt;
}

}  // namespace

std::vector<Metric> parse_metrics(const json& list) {
    std::vector<Metric> metrics;
    for (const json& one : list) {
        if (metrics.size() == max_event_metrics) break;
        metrics.push_back({one.at("key").get<std::string>(), one.value("title", std::string()),
                           one.value("unit", std::string()), one.value("higher_is_better", true),
                           one.value("is_share", false)});
    }
    return metrics;
}

namespace {

constexpr std::size_t max_text_size = 400;
constexpr std::size_t max_settings = 200;

/// One line of at most max_text_size bytes, cut between two characters of UTF-8.
std::string shown_text(std::string text) {
    if (text.size() > max_text_size) {
        std::size_t end = max_text_size;
        while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0u) == 0x80u) --end;
        text.resize(end);
    }
    std::replace_if(
        text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
    return text;
}

std::string text_of(const json& object, const char* field) {
    const auto at = object.find(field);
    return at == object.end() ? std::string() : shown_text(at->get<std::string>());
}

}  // namespace

RunOrigin parse_origin(const json& object) {
    RunOrigin origin;
    origin.program = shown_text(object.at("program").get<std::string>());
    origin.model = text_of(object, "model");
    origin.dataset = text_of(object, "dataset");
    origin.optimizer = text_of(object, "optimizer");
    origin.epochs = std::max<std::int64_t>(object.value("epochs", std::int64_t{0}), 0);
    origin.shares_every = std::max<std::int64_t>(object.value("shares_every", std::int64_t{1}), 0);
    const auto settings = object.find("settings");
    if (settings == object.end()) return origin;
    for (const auto& [name, value] : settings->get_ref<const json::object_t&>()) {
        if (origin.settings.size() == max_settings) break;
        origin.settings.emplace_back(
            shown_text(name),
            shown_text(value.is_string() ? value.get<std::string>() : value.dump()));
    }
    return origin;
}

std::optional<Event> parse_event(std::string_view line) {
    const json object = read_json(line, event_bounds);
    if (!object.is_object()) return std::nullopt;
    try {
        return parse_object(object);
    } catch (const json::exception&) {
        return std::nullopt;  // a field is missing or of another type
    } catch (const std::invalid_argument&) {
        return std::nullopt;
    }
}

}  // namespace engine
