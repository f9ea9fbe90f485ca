#include "record/event_json.h"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/json_fields.h"
#include "engine/settings/run_config.h"
#include "settings/config_reader.h"

namespace engine {

void list_fields(const auto& f, Is<Metric> auto& metric) {
    f("key", metric.key);
    f.may_lack("title", metric.title);
    f.unless("unit", metric.unit, "");
    f.may_lack("higher_is_better", metric.higher_is_better, "is_share", metric.is_share);
}

void list_fields(const auto& f, Is<QuantizedProduct> auto& product) {
    f("module", product.module, "fprop", product.fprop, "dgrad", product.dgrad, "wgrad",
      product.wgrad, "engine", product.engine);
    f.unless("reason", product.reason, "");
}

namespace {

template <typename T>
constexpr T not_measured = std::numeric_limits<T>::quiet_NaN();

// More than any event of ours has; each takes several times the bytes of its text.
constexpr std::size_t max_event_args = 32, max_event_metrics = 64;
constexpr std::size_t max_text_size = 400;
constexpr std::size_t max_settings = 200;

template <typename T>
void shorten(std::vector<T>& list, std::size_t most) {
    if (list.size() > most) list.resize(most);
    list.shrink_to_fit();
}

/// The sentence in English, and its parts for another language where it has any.
void list_message(const FieldWriter& f, const std::string& field, const Message& message) {
    f.object[field] = message.str();
    if (message.args.empty()) return;
    f.object[field + "_text"] = message.text;
    f.object[field + "_args"] = message.args;
}
void list_message(const FieldReader& f, const std::string& field, Message& message) {
    const bool parts = f.object.contains(field + "_text");
    message = f.object.value(parts ? field + "_text" : field, std::string());
    if (!parts) return;
    message.args = f.object.value(field + "_args", std::vector<std::string>());
    shorten(message.args, max_event_args);
}

void list_messages(const FieldWriter& f, const char* key, const std::vector<Message>& messages) {
    ordered_json& list = f.object[key] = ordered_json::array();
    for (const Message& part : messages) {
        ordered_json each = ordered_json::object();
        list_message(FieldWriter{each}, "part", part);
        list.push_back(std::move(each));
    }
}
void list_messages(const FieldReader& f, const char* key, std::vector<Message>& messages) {
    for (const json& part : f.object.value(key, json::array()))
        list_message(FieldReader{part}, "part", messages.emplace_back());
}

enum class Written { known, loss_always, always };

/// The loss and the metrics of a part, whose keys begin with `prefix`. A part that was evaluated
/// has a loss or a metric; without either there was none.
void list_part(const FieldWriter& f, const std::string& prefix, const PartFigures& figures,
               Written written) {
    if (written == Written::known && !figures.known()) return;
    f.object[prefix + "loss"] = json_number(figures.loss);
    for (const MetricValue& metric : figures.metrics) {
        if (written == Written::always || !std::isnan(metric.value))
            f.object[prefix + metric.key] = json_number(metric.value);
    }
}
void list_part(const FieldReader& f, std::string_view prefix, PartFigures& figures, Written) {
    for (const auto& [field, value] : f.object.items()) {
        if (!field.starts_with(prefix)) continue;
        if (figures.metrics.size() == max_event_metrics) break;
        const std::string key = field.substr(prefix.size());
        if (key == "loss")
            figures.loss = number_of(value);
        else
            figures.metrics.push_back({key, number_of(value)});
    }
}

void list_config(const FieldWriter& f, const RunStarted& e) {
    f("config", settings_json(e.config, e.origin.has_value()));
    if (const auto broken = broken_on_purpose(e.config); !broken.empty()) f("teach", broken);
}
void list_config(const FieldReader& f, RunStarted& e) {
    e.config = parse_run_config(f.object.at("config").dump()).config;
}

void list_metrics(const FieldWriter& f, const RunStarted& e) {
    f("metrics", e.metrics, "step_metrics", e.step_metrics);
}
/// Earlier versions trained classifiers alone and wrote no metrics.
void list_metrics(const FieldReader& f, RunStarted& e) {
    f.may_lack("metrics", e.metrics);
    e.step_metrics = e.metrics;
    f.may_lack("step_metrics", e.step_metrics);
    for (auto* list : {&e.metrics, &e.step_metrics}) shorten(*list, max_event_metrics);
}

void list_event(const auto& f, Is<RunStarted> auto& e) {
    list_config(f, e);
    f.may_lack("device", e.device, "threads", e.threads, "parameters", e.parameters,
               "train_samples", e.train_samples, "test_samples", e.test_samples,
               "steps_planned", e.steps_planned, "folder", e.folder);
    f.unless("validation_samples", e.validation_samples, 0);
    f.may_lack("task", e.task, "unit", e.unit);
    list_metrics(f, e);
    f.unless("origin", e.origin, std::nullopt);
    f.unless("turns", e.turns, "");
    f.unless("first_step", e.first_step, 1);
    f.unless("steps_per_epoch", e.steps_per_epoch, 0);
}

void list_event(const auto& f, Is<RunResumed> auto& e) {
    f("step", e.step);
    f.may_lack("skipped", e.skipped);
    f.unless("parent", e.parent, "");
    list_messages(f, "restored", e.restored);
}

void list_event(const auto& f, Is<CheckpointSaved> auto& e) {
    f("step", e.step);
    f.may_lack("bytes", e.bytes);
    f.unless("seconds", e.seconds, not_measured<double>);
    f.unless("best", e.best, false);
}

void list_event(const auto& f, Is<StepExamined> auto& e) {
    f("step", e.step, "cause", e.cause);
    list_message(f, "verdict", e.verdict);
    f.unless("damaged_at", e.damaged_at, 0);
}

void list_pairs(const FieldWriter& f, const char* key,
                const std::vector<std::pair<std::string, std::string>>& pairs) {
    ordered_json& all = f.object[key] = ordered_json::object();
    for (const auto& [name, value] : pairs) all[name] = value;
}
void list_pairs(const FieldReader& f, const char* key,
                std::vector<std::pair<std::string, std::string>>& pairs) {
    const json all = f.object.value(key, json::object());
    for (const auto& [name, value] : all.items())
        if (pairs.size() < max_settings && value.is_string())
            pairs.emplace_back(name, value.get<std::string>());
}

void list_products(const FieldWriter& f, const std::vector<QuantizedProduct>& products) {
    ordered_json& list = f.object["products"] = ordered_json::array();
    for (const QuantizedProduct& each : products) {
        ordered_json& out = list.emplace_back(ordered_json::object());
        list_fields(FieldWriter{out}, each);
    }
}
void list_products(const FieldReader& f, std::vector<QuantizedProduct>& products) {
    for (const json& each : f.object.value("products", json::array()))
        list_fields(FieldReader{each}, products.emplace_back());
}

void list_event(const auto& f, Is<RecipeStarted> auto& e) {
    f("step", e.step, "recipe", e.recipe);
    list_pairs(f, "settings", e.settings);
    f.may_lack("quantised", e.quantised, "kept", e.kept);
    list_products(f, e.products);
}

void list_event(const auto& f, Is<ScaleAlarm> auto& e) {
    f("step", e.step, "module", e.module, "role", e.role, "kind", e.kind);
    f.unless("value", e.value, not_measured<double>);
    list_message(f, "hint", e.hint);
}

void list_event(const auto& f, Is<StateChanged> auto& e) { f("state", e.state); }

void list_event(const auto& f, Is<EpochDone> auto& e) {
    f("epoch", e.epoch);
    f.may_lack("step", e.step);
    list_part(f, "train_", e.train, Written::loss_always);
    list_part(f, "validation_", e.validation, Written::known);
    list_part(f, "test_", e.test, Written::known);
    f.unless("seconds", e.seconds, not_measured<double>);
    f.unless("epoch_ended", e.epoch_ended, true);
    f.unless("evaluated", e.evaluated, true);
}

void list_event(const auto& f, Is<ScaleChanged> auto& e) {
    f("step", e.step, "kind", e.kind);
    f.unless("from", e.from, not_measured<float>);
    f.unless("to", e.to, not_measured<float>);
    f.may_lack("clean_steps", e.clean_steps);
    f.unless("loss", e.loss, std::nullopt);
}

void list_event(const auto& f, Is<RunWarning> auto& e) {
    f.unless("step", e.step, 0);
    list_message(f, "message", e.message);
}

void list_event(const auto& f, Is<RunFailed> auto& e) {
    f("code", e.code);
    list_message(f, "message", e.message);
    list_message(f, "hint", e.hint);
}

void list_event(const auto& f, Is<RunDone> auto& e) {
    f("reason", e.reason);
    f.may_lack("steps", e.steps, "updates", e.updates, "skipped", e.skipped);
    list_part(f, "validation_", e.validation, Written::known);
    list_part(f, "test_", e.test, Written::always);
    f.unless("wall_s", e.wall_s, not_measured<double>);
    f.unless("samples_per_s", e.samples_per_s, not_measured<double>);
    f.may_lack("peak_bytes", e.peak_bytes);
    f.unless("diverged_at", e.diverged_at, 0);
    f.unless("replaced_samples", e.replaced_samples, 0);
    f.unless("unsaved", e.unsaved, 0);
}

/// In the order of Event.
constexpr std::array event_names = {"start",       "resumed", "state", "epoch",
                                    "scale",       "checkpoint", "examined", "quantization",
                                    "scale_alarm", "warning", "error", "done"};
static_assert(event_names.size() == std::variant_size_v<Event>);

template <std::size_t i = 0>
std::optional<Event> parse_object(const json& object) {
    if constexpr (i < event_names.size()) {
        if (object.at("event") != event_names[i]) return parse_object<i + 1>(object);
        std::variant_alternative_t<i, Event> e{};
        object.at("run").get_to(e.run);
        list_event(FieldReader{object}, e);
        return e;
    } else {
        return std::nullopt;
    }
}

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

template <typename T>
void append_field(std::string& out, std::string_view field, T value) {
    if constexpr (std::is_floating_point_v<T>) {
        if (std::isnan(value) && !nan_is_a_value(field)) return;
    }
    out.append(",\"").append(field).append("\":");
    append_figure(out, value);
}

void list_origin(const auto& f, auto& origin) {
    f("program", origin.program);
    f.may_lack("model", origin.model, "dataset", origin.dataset, "optimizer", origin.optimizer,
               "epochs", origin.epochs, "shares_every", origin.shares_every);
}

}  // namespace

void to_json(ordered_json& out, const Metric& metric) { list_fields(FieldWriter{out}, metric); }

void from_json(const json& in, Metric& metric) { list_fields(FieldReader{in}, metric); }

void to_json(ordered_json& out, const RunOrigin& origin) {
    list_origin(FieldWriter{out}, origin);
    ordered_json& settings = out["settings"] = ordered_json::object();
    for (const auto& [name, value] : origin.settings) settings[name] = value;
}

void from_json(const json& in, RunOrigin& origin) {
    list_origin(FieldReader{in}, origin);
    for (std::string* text :
         {&origin.program, &origin.model, &origin.dataset, &origin.optimizer})
        *text = shown_text(*text);
    for (std::int64_t* count : {&origin.epochs, &origin.shares_every})
        *count = std::max<std::int64_t>(*count, 0);
    const auto settings = in.find("settings");
    if (settings == in.end()) return;
    for (const auto& [name, value] : settings->get_ref<const json::object_t&>()) {
        if (origin.settings.size() == max_settings) break;
        origin.settings.emplace_back(
            shown_text(name),
            shown_text(value.is_string() ? value.get<std::string>() : value.dump()));
    }
}

ordered_json settings_json(const RunConfig& config, bool foreign) {
    ordered_json all = to_ordered_json(config);
    if (!foreign) return all;
    ordered_json shared = {{"precision", all.at("precision")}};
    if (resolve(config.precision).scaler != ScalerMode::off) shared["scaler"] = all.at("scaler");
    return shared;
}

bool nan_is_a_value(std::string_view field) { return field == "loss" || field == "grad_norm"; }

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

std::string to_json_line(const Event& event) {
    ordered_json object = {{"event", event_names[event.index()]}};
    std::visit([&](const auto& e) {
        object["run"] = e.run;
        list_event(FieldWriter{object}, e);
    }, event);
    return dumped(object);
}

std::string to_json_line(const std::string& run, const StepRecord& step,
                         std::span<const Metric> metrics) {
    std::string out = R"({"event":"step","run":)";
    out += dumped(json(run));
    for_each_named_field(metrics, [&](std::string_view field, auto member) {
        append_field(out, field, step.*member);
    });
    return out + "}";
}

}  // namespace engine
