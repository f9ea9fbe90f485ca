#include "instruments/skips/skip_json.h"

#include "base/json_reader.h"
#include "engine/base/error.h"
#include "engine/instruments/skips.h"
#include "engine/base/json.h"

namespace engine {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

[[noreturn]] void refuse() {
    throw Error(ErrorCode::data, msg("The report of a skipped step is damaged."));
}

ordered_json to_json(const Message& message) {
    return {{"text", message.text}, {"args", message.args}};
}

Message parse_message(const json& object) {
    Message out(object.at("text").get<std::string>());
    out.args = object.at("args").get<std::vector<std::string>>();
    return out;
}

ordered_json to_json(const TensorGlance& each) {
    return {{"dtype", each.dtype}, {"shape", each.shape}, {"largest", json_number(each.largest)}};
}

TensorGlance parse_glance(const json& object) {
    return {object.at("dtype").get<std::string>(),
            object.at("shape").get<std::vector<std::int64_t>>(), number_of(object.at("largest"))};
}

ordered_json to_json(const SkipTest& test) {
    return {{"cause", name(test.cause)}, {"found", test.found}, {"finding", to_json(test.finding)}};
}

ordered_json to_json(const ChainLink& link) {
    return {{"module", link.module},
            {"dtype", link.dtype},
            {"largest", json_number(link.largest)},
            {"largest_in_f32", json_number(link.largest_in_f32)},
            {"weights", json_number(link.weights)},
            {"weights_in_f32", json_number(link.weights_in_f32)}};
}

ordered_json to_json(const SampleShare& each) {
    return {{"micro_batch", each.micro_batch},
            {"row", each.row},
            {"sample", each.sample},
            {"largest", json_number(each.largest)},
            {"share", json_number(each.share)},
            {"bad", each.bad}};
}

ordered_json to_json(const ExponentHistogram& each) {
    return {{"first_exponent", ExponentHistogram::first_exponent},
            {"bins", each.bins},
            {"zero", each.zero},
            {"below", each.below},
            {"infinite", each.infinite},
            {"nan", each.nan}};
}

ExponentHistogram parse_histogram(const json& object) {
    ExponentHistogram out;
    out.bins = object.at("bins").get<decltype(out.bins)>();
    out.zero = object.at("zero").get<std::int64_t>();
    out.below = object.at("below").get<std::int64_t>();
    out.infinite = object.at("infinite").get<std::int64_t>();
    out.nan = object.at("nan").get<std::int64_t>();
    return out;
}

ordered_json to_json(const TensorHistograms& each) {
    return {{"before", to_json(each.before)},
            {"scale", json_number(each.scale)},
            {"after", to_json(each.after)},
            {"other_scale", json_number(each.other_scale)},
            {"in_f32", each.in_f32}};
}

TensorHistograms parse_histograms(const json& object) {
    return {parse_histogram(object.at("before")), number_of(object.at("scale")),
            parse_histogram(object.at("after")), number_of(object.at("other_scale")),
            object.at("in_f32").get<bool>()};
}

template <typename T>
ordered_json to_list(const std::vector<T>& values) {
    ordered_json out = ordered_json::array();
    for (const T& each : values) out.push_back(engine::to_json(each));
    return out;
}
template <typename T>
ordered_json to_own_list(const std::vector<T>& values) {
    ordered_json out = ordered_json::array();
    for (const T& each : values) out.push_back(to_json(each));
    return out;
}

template <typename E, std::size_t count>
E value_of_name(const json& value) {
    const auto text = value.get<std::string>();
    for (std::size_t i = 0; i < count; ++i) {
        if (text == name(static_cast<E>(i))) return static_cast<E>(i);
    }
    refuse();
}
SkipCause parse_cause(const json& value) { return value_of_name<SkipCause, 7>(value); }
SkipStage parse_stage(const json& value) { return value_of_name<SkipStage, 5>(value); }

BadTensor parse_bad_tensor(const json& object) {
    BadTensor out;
    out.stage = parse_stage(object.at("stage"));
    out.op = object.at("op").get<std::string>();
    out.module = object.at("module").get<std::string>();
    out.name = object.at("name").get<std::string>();
    out.order = object.at("order").get<std::int64_t>();
    out.output = object.at("output").get<std::int64_t>();
    out.phase = object.at("phase").get<std::int64_t>();
    out.micro_batch = object.at("micro_batch").get<std::int64_t>();
    out.tensor = parse_glance(object.at("tensor"));
    out.infinite = object.at("infinite").get<std::int64_t>();
    out.nan = object.at("nan").get<std::int64_t>();
    out.total = object.at("total").get<std::int64_t>();
    out.index = object.at("index").get<std::vector<std::int64_t>>();
    out.value = number_of(object.at("value"));
    for (const json& each : object.at("inputs")) out.inputs.push_back(parse_glance(each));
    out.largest_in_f32 = number_of(object.at("largest_in_f32"));
    return out;
}

ChainLink parse_link(const json& object) {
    return {object.at("module").get<std::string>(), object.at("dtype").get<std::string>(),
            number_of(object.at("largest")),        number_of(object.at("largest_in_f32")),
            number_of(object.at("weights")),        number_of(object.at("weights_in_f32"))};
}

StepTrial parse_trial(const json& object) {
    return {number_of(object.at("scale")), object.at("passes").get<bool>(),
            number_of(object.at("loss")), number_of(object.at("grad_norm"))};
}

SampleShare share_of(const json& object) {
    return {object.at("micro_batch").get<std::int64_t>(),
            object.at("row").get<std::int64_t>(),
            object.at("sample").get<std::int64_t>(),
            number_of(object.at("largest")),
            number_of(object.at("share")),
            object.at("bad").get<std::int64_t>()};
}

void read_lists(SkipReport& out, const json& object) {
    for (const json& each : object.at("tests"))
        out.tests.push_back({parse_cause(each.at("cause")), each.at("found").get<bool>(),
                             parse_message(each.at("finding"))});
    for (const json& each : object.at("chain")) out.chain.push_back(parse_link(each));
    for (const json& each : object.at("ladder")) out.ladder.push_back(parse_trial(each));
    for (const json& each : object.at("samples")) out.samples.push_back(share_of(each));
}

SkipReport read(const json& object) {
    SkipReport out;
    out.run = object.at("run").get<std::string>();
    out.step = object.at("step").get<std::int64_t>();
    out.skipped = object.at("skipped").get<bool>();
    out.precision = object.at("precision").get<std::string>();
    out.device = object.at("device").get<std::string>();
    out.loss = number_of(object.at("loss"));
    out.loss_scale = number_of(object.at("loss_scale"));
    out.grad_norm = number_of(object.at("grad_norm"));
    out.f32_loss = number_of(object.at("f32_loss"));
    out.f32_grad_norm = number_of(object.at("f32_grad_norm"));
    out.cause = parse_cause(object.at("cause"));
    if (!object.at("first").is_null()) out.first = parse_bad_tensor(object.at("first"));
    out.operations = object.at("operations").get<std::int64_t>();
    out.passing_scale = number_of(object.at("passing_scale"));
    out.scale_bound = number_of(object.at("scale_bound"));
    out.samples_note = parse_message(object.at("samples_note"));
    // Earlier versions wrote neither.
    if (object.contains("histograms") && !object.at("histograms").is_null())
        out.histograms = parse_histograms(object.at("histograms"));
    out.capsule_bytes = object.value("capsule_bytes", std::int64_t{0});
    out.damaged_at = object.at("damaged_at").get<std::int64_t>();
    out.advice = parse_message(object.at("advice"));
    read_lists(out, object);
    return out;
}

}  // namespace

ordered_json to_json(const StepTrial& trial) {
    return {{"scale", json_number(trial.scale)},
            {"passes", trial.passes},
            {"loss", json_number(trial.loss)},
            {"grad_norm", json_number(trial.grad_norm)}};
}

ordered_json to_json(const BadTensor& tensor) {
    return {{"stage", name(tensor.stage)},
            {"op", tensor.op},
            {"module", tensor.module},
            {"name", tensor.name},
            {"order", tensor.order},
            {"output", tensor.output},
            {"phase", tensor.phase},
            {"micro_batch", tensor.micro_batch},
            {"tensor", to_json(tensor.tensor)},
            {"infinite", tensor.infinite},
            {"nan", tensor.nan},
            {"total", tensor.total},
            {"index", tensor.index},
            {"value", json_number(tensor.value)},
            {"inputs", to_own_list(tensor.inputs)},
            {"largest_in_f32", json_number(tensor.largest_in_f32)}};
}

ordered_json to_json(const SkipReport& report) {
    ordered_json out = {{"run", report.run},
                        {"step", report.step},
                        {"skipped", report.skipped},
                        {"cause", name(report.cause)},
                        {"verdict", report.verdict().str()},
                        {"precision", report.precision},
                        {"device", report.device},
                        {"loss", json_number(report.loss)},
                        {"loss_scale", json_number(report.loss_scale)},
                        {"grad_norm", json_number(report.grad_norm)},
                        {"f32_loss", json_number(report.f32_loss)},
                        {"f32_grad_norm", json_number(report.f32_grad_norm)}};
    out["tests"] = to_own_list(report.tests);
    out["first"] = report.first ? to_json(*report.first) : ordered_json();
    out["operations"] = report.operations;
    out["chain"] = to_own_list(report.chain);
    out["ladder"] = to_list(report.ladder);
    out["passing_scale"] = json_number(report.passing_scale);
    out["scale_bound"] = json_number(report.scale_bound);
    out["samples"] = to_own_list(report.samples);
    out["samples_note"] = to_json(report.samples_note);
    out["histograms"] = report.histograms ? to_json(*report.histograms) : ordered_json();
    out["capsule_bytes"] = report.capsule_bytes;
    out["damaged_at"] = report.damaged_at;
    out["advice"] = to_json(report.advice);
    return out;
}

SkipReport skip_report_from(const json& object) {
    try {
        return read(object);
    } catch (const json::exception&) {
        refuse();
    }
}

std::string to_json_line(const SkipReport& report) {
    return to_json(report).dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string to_json_line(const StepTrial& trial) { return to_json(trial).dump(); }

SkipReport parse_skip_report(std::string_view text) {
    const json object = read_json(text);
    if (!object.is_object()) refuse();
    return skip_report_from(object);
}

std::string to_json_line(const SkipList& skips) {
    ordered_json out = {{"run", skips.run},
                        {"steps", skips.steps},
                        {"clean_steps", skips.clean_steps},
                        {"skips", ordered_json::array()},
                        {"recurring_samples", ordered_json::array()}};
    for (const SkippedStep& each : skips.list) {
        ordered_json line = {{"step", each.step},
                             {"skipped", each.skipped},
                             {"loss", json_number(each.loss)},
                             {"loss_scale", json_number(each.loss_scale)},
                             {"grad_norm", json_number(each.grad_norm)}};
        line["cause"] = each.report ? ordered_json(name(each.report->cause)) : ordered_json();
        out["skips"].push_back(std::move(line));
    }
    for (const RecurringSample& each : skips.recurring)
        out["recurring_samples"].push_back(
            {{"sample", each.sample}, {"steps", each.steps}, {"chance", json_number(each.chance)}});
    return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace engine
