#include "instruments/skips/skip_json.h"

#include "base/json_fields.h"
#include "base/json_reader.h"
#include "engine/base/error.h"
#include "engine/instruments/skips.h"

namespace engine {

void list_fields(const auto& f, Is<Message> auto& message) {
    f("text", message.text, "args", message.args);
}

void list_fields(const auto& f, Is<TensorGlance> auto& tensor) {
    f("dtype", tensor.dtype, "shape", tensor.shape, "largest", tensor.largest);
}

void list_fields(const auto& f, Is<SkipTest> auto& test) {
    f("cause", test.cause, "found", test.found, "finding", test.finding);
}

void list_fields(const auto& f, Is<ChainLink> auto& link) {
    f("module", link.module, "dtype", link.dtype, "largest", link.largest,
      "largest_in_f32", link.largest_in_f32, "weights", link.weights,
      "weights_in_f32", link.weights_in_f32);
}

void list_fields(const auto& f, Is<SampleShare> auto& share) {
    f("micro_batch", share.micro_batch, "row", share.row, "sample", share.sample,
      "largest", share.largest, "share", share.share, "bad", share.bad);
}

void list_fields(const auto& f, Is<ExponentHistogram> auto& histogram) {
    f.derived("first_exponent", [] { return ExponentHistogram::first_exponent; });
    f("bins", histogram.bins, "zero", histogram.zero, "below", histogram.below,
      "infinite", histogram.infinite, "nan", histogram.nan);
}

void list_fields(const auto& f, Is<TensorHistograms> auto& histograms) {
    f("before", histograms.before, "scale", histograms.scale, "after", histograms.after,
      "other_scale", histograms.other_scale, "in_f32", histograms.in_f32);
}

void list_fields(const auto& f, Is<StepTrial> auto& trial) {
    f("scale", trial.scale, "passes", trial.passes, "loss", trial.loss,
      "grad_norm", trial.grad_norm);
}

void list_fields(const auto& f, Is<BadTensor> auto& bad) {
    f("stage", bad.stage, "op", bad.op, "module", bad.module, "name", bad.name, "order", bad.order,
      "output", bad.output, "phase", bad.phase, "micro_batch", bad.micro_batch,
      "tensor", bad.tensor, "infinite", bad.infinite, "nan", bad.nan, "total", bad.total,
      "index", bad.index, "value", bad.value, "inputs", bad.inputs,
      "largest_in_f32", bad.largest_in_f32);
}

void list_fields(const auto& f, Is<SkipReport> auto& report) {
    f("run", report.run, "step", report.step, "skipped", report.skipped, "cause", report.cause);
    f.derived("verdict", [&] { return report.verdict().str(); });
    f("precision", report.precision, "device", report.device, "loss", report.loss,
      "loss_scale", report.loss_scale, "grad_norm", report.grad_norm, "f32_loss", report.f32_loss,
      "f32_grad_norm", report.f32_grad_norm, "tests", report.tests, "first", report.first,
      "operations", report.operations, "chain", report.chain, "ladder", report.ladder,
      "passing_scale", report.passing_scale, "scale_bound", report.scale_bound,
      "samples", report.samples, "samples_note", report.samples_note);
    f.may_lack("histograms", report.histograms, "capsule_bytes", report.capsule_bytes);
    f("damaged_at", report.damaged_at, "advice", report.advice);
}

void to_json(nlohmann::ordered_json& out, const SkipReport& report) {
    list_fields(FieldWriter{out}, report);
}

void from_json(const nlohmann::json& in, SkipReport& report) {
    list_fields(FieldReader{in}, report);
}

std::string to_json_line(const SkipReport& report) {
    return dumped(nlohmann::ordered_json(report));
}

std::string to_json_line(const StepTrial& trial) { return dumped(nlohmann::ordered_json(trial)); }

SkipReport parse_skip_report(std::string_view text) {
    try {
        return read_json(text).get<SkipReport>();
    } catch (const nlohmann::json::exception&) {
    } catch (const std::invalid_argument&) {
    }
    throw Error(ErrorCode::data, msg("The report of a skipped step is damaged."));
}

void list_fields(const auto& f, Is<SkippedStep> auto& step) {
    f("step", step.step, "skipped", step.skipped, "loss", step.loss, "loss_scale", step.loss_scale,
      "grad_norm", step.grad_norm,
      "cause", step.report ? std::optional(step.report->cause) : std::nullopt);
}

void list_fields(const auto& f, Is<RecurringSample> auto& each) {
    f("sample", each.sample, "steps", each.steps, "chance", each.chance);
}

void list_fields(const auto& f, Is<SkipList> auto& skips) {
    f("run", skips.run, "steps", skips.steps, "clean_steps", skips.clean_steps, "skips", skips.list,
      "recurring_samples", skips.recurring);
}

std::string to_json_line(const SkipList& skips) { return dumped(nlohmann::ordered_json(skips)); }

}  // namespace engine
