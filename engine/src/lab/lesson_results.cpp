#include "engine/lab/lesson_results.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/base/error.h"
#include "engine/base/table.h"
#include "engine/instruments/skips.h"
#include "engine/instruments/xray.h"
#include "engine/settings/catalog.h"
#include "record/median.h"

namespace engine {
namespace {

constexpr double no_result = std::numeric_limits<double>::quiet_NaN();

std::int64_t growths_of(const LessonRunView& run) {
    return std::ranges::count_if(run.events, [](const Event& event) {
        const auto* changed = std::get_if<ScaleChanged>(&event);
        return changed && changed->kind == ScaleChanged::Kind::grown;
    });
}

/// "f16" of an X-ray is "fp16" in a lesson.
std::string type_word(const std::string& dtype) {
    return dtype.starts_with('f') ? "fp" + dtype.substr(1) : dtype;
}

std::string type_word(const std::vector<XrayTensor>& tensors) {
    return tensors.empty() ? "none" : type_word(tensors.front().dtype);
}

/// "linear", or "fc1:linear".
bool is_named(const XrayOp& op, const std::string& text) {
    const std::size_t colon = text.find(':');
    if (colon == std::string::npos) return op.op == text;
    return op.module == text.substr(0, colon) && op.op == text.substr(colon + 1);
}

}  // namespace

struct MeasuredRuns::Kept {
    std::map<std::string, std::optional<Xray>> xrays;  ///< by run; nothing: it cannot be traced
    std::map<std::string, std::optional<SkipReport>> skips;  ///< nothing: the run had none
};

MeasuredRuns::MeasuredRuns(const LessonRunner& runner)
    : runner_(runner), kept_(std::make_unique<Kept>()) {}
MeasuredRuns::~MeasuredRuns() = default;

std::vector<double> MeasuredRuns::column(const std::string& run, const std::string& column) const {
    const LessonRunView* view = runner_.find(run);
    std::vector<double> out;
    if (!view) return out;
    for_each_named_field(view->metrics, [&](std::string_view name, auto member) {
        if (name != column) return;
        out.resize(static_cast<std::size_t>(view->record.size()));
        view->record.column(member, 0, out);
    });
    return out;
}

std::vector<std::string> lesson_result_keys() {
    std::vector<std::string> keys = {"steps",       "updates",  "skipped",       "growths",
                                     "diverged_at", "wall_s",   "samples_per_s", "peak_bytes",
                                     "step_ms",     "test_loss"};
    for (const TaskDescriptor& task : tasks())
        for (const Metric& metric : task.metrics)
            if (std::ranges::find(keys, "test_" + metric.key) == keys.end())
                keys.push_back("test_" + metric.key);
    return keys;
}

std::optional<double> MeasuredRuns::result(const std::string& run, const std::string& key) const {
    const LessonRunView* view = runner_.find(run);
    if (!view || !view->ended()) return std::nullopt;
    if (!view->done) return no_result;
    const RunDone& done = *view->done;
    if (key == "steps") return static_cast<double>(done.steps);
    if (key == "updates") return static_cast<double>(done.updates);
    if (key == "skipped") return static_cast<double>(done.skipped);
    if (key == "growths") return static_cast<double>(growths_of(*view));
    if (key == "diverged_at") return static_cast<double>(done.diverged_at);
    if (key == "wall_s") return done.wall_s;
    if (key == "samples_per_s") return done.samples_per_s;
    if (key == "peak_bytes") return static_cast<double>(done.peak_bytes);
    if (key == "step_ms") return median(column(run, "step_ms"));
    if (key == "test_loss") return done.test.loss;
    return done.test.of(std::string_view(key).substr(std::string_view("test_").size()));
}

std::optional<std::string> MeasuredRuns::xray(const std::string& run, const std::string& op,
                                              const std::string& field) const {
    const LessonRunView* view = runner_.find(run);
    if (!view) return std::nullopt;
    auto kept = kept_->xrays.find(run);
    if (kept == kept_->xrays.end()) {
        kept = kept_->xrays.emplace(run, std::nullopt).first;
        try {
            kept->second = xray_first_step(view->config);
        } catch (const Error&) {
            // The step is refused; the run's own failure reports why.
        }
    }
    if (!kept->second) return "none";
    const auto& ops = kept->second->ops;
    const auto found = std::ranges::find_if(ops, [&](const XrayOp& each) {
        return each.pass == XrayPass::forward && is_named(each, op);
    });
    if (found == ops.end()) return "none";
    if (field == "output") return type_word(found->outputs);
    if (field == "input") return type_word(found->inputs);
    if (field == "compute") return type_word(found->compute_dtype);
    return found->rule;
}

std::optional<LessonValue> MeasuredRuns::skip(const std::string& run,
                                              const std::string& field) const {
    const LessonRunView* view = runner_.find(run);
    if (!view || !view->ended()) return std::nullopt;
    auto kept = kept_->skips.find(run);
    if (kept == kept_->skips.end()) {
        kept = kept_->skips.emplace(run, std::nullopt).first;
        try {
            const SkipList skips = list_skips(view->folder);
            if (!skips.list.empty())
                kept->second = examine_skip(view->folder, skips.list.front().step);
        } catch (const Error&) {
            // Shown as "none": a run that ended before its first step has no skipped one.
        }
    }
    const auto& report = kept->second;
    if (field == "step") return report ? static_cast<double>(report->step) : 0.0;
    if (!report) return "none";
    if (field == "cause") return name(report->cause);
    if (!report->first) return "none";
    if (field == "stage") return name(report->first->stage);
    const std::string& text = field == "op" ? report->first->op : report->first->module;
    return text.empty() ? "none" : text;
}

bool MeasuredRuns::ended(const std::string& run) const {
    const LessonRunView* view = runner_.find(run);
    return view && view->ended();
}

namespace {

/// The key of the first case that holds. Final if that case is final and true and all earlier ones
/// are final and false, or if all cases are final.
CheckResult result_of_cases(const LessonCheck& check, const LessonMeasurements& measured,
                            const EarlierChecks& earlier) {
    CheckResult out{check.id, std::nullopt, true};
    for (const auto& each : check.cases) {
        const auto value = each.condition.value(measured, earlier);
        out.final = out.final && each.condition.is_final(measured, earlier);
        if (!value) return {check.id, std::nullopt, false};
        if (!is_true(*value)) continue;
        out.value = each.key;
        return out;
    }
    return out;
}

EarlierChecks to_earlier_checks(const std::vector<CheckResult>& results) {
    EarlierChecks out;
    for (const CheckResult& each : results) out.push_back({each.id, each.value, each.final});
    return out;
}

}  // namespace

std::vector<CheckResult> check_results(const Lesson& lesson, const LessonMeasurements& measured) {
    std::vector<CheckResult> out;
    for (const LessonCheck& check : lesson.checks) {
        const EarlierChecks earlier = to_earlier_checks(out);
        if (check.value)
            out.push_back({check.id, check.value->value(measured, earlier),
                           check.value->is_final(measured, earlier)});
        else
            out.push_back(result_of_cases(check, measured, earlier));
    }
    return out;
}

std::vector<ExpectationResult> expectation_results(const Lesson& lesson,
                                                   const LessonMeasurements& measured) {
    const EarlierChecks checks = to_earlier_checks(check_results(lesson, measured));
    std::vector<ExpectationResult> out;
    for (const LessonExpectation& each : lesson.expectations) {
        ExpectationResult result{each.line, each.condition.text(), std::nullopt};
        const auto value = each.condition.value(measured, checks);
        if (value && each.condition.is_final(measured, checks)) result.holds = is_true(*value);
        out.push_back(std::move(result));
    }
    return out;
}

namespace {

/// A loss scale moves by factors: its curves are compared by their powers of two.
double compared(const Prediction& prediction, double value) {
    return prediction.column == "loss_scale" ? std::log2(value) : value;
}

/// Mean distance of a drawn curve from the measured column, over the steps that were measured.
double distance(const Prediction& prediction, const std::vector<double>& drawn,
                const std::vector<double>& measured) {
    double sum = 0;
    std::int64_t count = 0;
    for (std::size_t i = 0; i < drawn.size(); ++i) {
        const double share =
            drawn.size() > 1 ? static_cast<double>(i) / static_cast<double>(drawn.size() - 1) : 0;
        const double step = prediction.low + share * (prediction.high - prediction.low);
        const auto row = static_cast<std::int64_t>(std::llround(step)) - 1;
        if (row < 0 || row >= static_cast<std::int64_t>(measured.size())) continue;
        const double value = compared(prediction, measured[static_cast<std::size_t>(row)]);
        const double guess = compared(prediction, drawn[i]);
        if (!std::isfinite(value) || std::isnan(guess)) continue;
        sum += std::abs(guess - value);
        ++count;
    }
    return count > 0 ? sum / static_cast<double>(count) : no_result;
}

double height(const Prediction& prediction, const std::vector<double>& values) {
    double low = no_result, high = no_result;
    for (const double value : values) {
        const double x = compared(prediction, value);
        if (!std::isfinite(x)) continue;
        low = std::isnan(low) ? x : std::min(low, x);
        high = std::isnan(high) ? x : std::max(high, x);
    }
    return high - low;
}

}  // namespace

std::optional<bool> is_right(const Prediction& prediction, const LessonAnswer& answer,
                             const std::optional<LessonValue>& measured) {
    if (!measured) return std::nullopt;
    constexpr double tolerance = 0.1;
    if (const auto* key = std::get_if<std::string>(&answer)) {
        const auto* word = std::get_if<std::string>(&*measured);
        return word && *word == *key;
    }
    if (const auto* number = std::get_if<double>(&answer)) {
        const auto* value = std::get_if<double>(&*measured);
        if (!value || std::isnan(*value)) return std::nullopt;
        const double scale = prediction.kind == Prediction::Kind::range
                                 ? prediction.high - prediction.low
                                 : std::abs(*value);
        return std::abs(*number - *value) <= prediction.within.value_or(tolerance * scale);
    }
    const auto* values = std::get_if<std::vector<double>>(&*measured);
    if (!values || values->empty()) return std::nullopt;
    return distance(prediction, std::get<std::vector<double>>(answer), *values) <=
           prediction.within.value_or(tolerance * height(prediction, *values));
}

std::string to_string(const std::optional<LessonValue>& value) {
    if (!value) return "-";
    if (const auto* word = std::get_if<std::string>(&*value)) return *word;
    if (const auto* series = std::get_if<std::vector<double>>(&*value))
        return std::to_string(series->size()) + " values";
    const double number = std::get<double>(*value);
    if (std::isnan(number)) return "nan";
    return number_text(shown_format(number), number);
}

const char* shown_format(double number) {
    return std::abs(number) < 1e15 && number == std::floor(number) ? "%.0f" : "%.4g";
}

}  // namespace engine
