#include "event_words.h"

#include <cmath>

#include "engine/base/table.h"
#include "engine/number/figure_text.h"
#include "engine/record/scale_outlook.h"
#include "engine/runs/end_notice.h"
#include "engine/settings/run_config.h"

namespace app {

std::string loss_text(double loss) {
    return std::isfinite(loss) ? engine::number_text("%.4g", loss) : engine::figure_text(loss);
}

namespace {

/// Returns the sentence that explains a skip, or an empty string for the usual ones.
std::string health_of(const engine::ScaleChanged& skip) {
    using Kind = engine::ScaleChanged::Kind;
    if (skip.kind == Kind::skipped_persistent)
        return skip.loss ? ": persistent, lowering the scale cannot fix it"
                         : ": persistent, look for a NaN in the backward pass";
    if (skip.kind != Kind::skipped_calibrating) return "";
    const std::int64_t more = engine::skips_to_usual_scale(skip);
    if (more == 0) return ": normal while calibrating";
    return ": still too large, about " + std::to_string(more) + " more to the default scale";
}

}  // namespace

std::string scale_change_text(const engine::ScaleChanged& event) {
    const std::string change = "scale " + engine::scale_text(event.from) + " → " + engine::scale_text(event.to);
    const std::string step = "step " + std::to_string(event.step) + ": ";
    if (event.kind == engine::ScaleChanged::Kind::grown)
        return step + std::to_string(event.clean_steps) + " clean steps, " + change;
    const std::string cause =
        event.loss ? "the loss is " + loss_text(static_cast<double>(*event.loss))
                   : "overflow in the gradients";
    return step + cause + ", step skipped, " + change + health_of(event);
}

std::string test_metrics(const engine::PartFigures& figures, const char* part) {
    std::string out;
    for (const auto& metric : figures.metrics) {
        if (!std::isnan(metric.value))
            out += std::string(", ") + part + ' ' + metric.key + ' ' +
                   engine::number_text("%.4g", metric.value);
    }
    return out;
}

std::string end_text(const engine::RunDone& done) {
    const std::string reason = std::string(" (") + engine::name(done.reason) + ")";
    if (engine::end_state(done) != "diverged") return "done" + reason;
    return "diverged" +
           (done.diverged_at > 0 ? " at step " + std::to_string(done.diverged_at) : "") +
           (done.reason == engine::DoneReason::diverged ? "" : reason);
}

std::string own_start(const engine::RunStarted& event) {
    const std::string broken = engine::broken_on_purpose_text(event.config);
    return (broken.empty() ? "" : "broken on purpose (" + broken + "), ") +
           std::to_string(event.parameters) + " parameters, " +
           std::to_string(event.train_samples) + " training and " +
           std::to_string(event.test_samples) + " test " +
           (event.unit == "images" ? "samples" : event.unit) + ", on " + event.device +
           ", kept in " + event.folder;
}

std::string foreign_start(const engine::RunStarted& event) {
    std::string text = "trained by " + event.origin->program;
    if (!event.origin->model.empty()) text += ", model " + event.origin->model;
    if (!event.origin->dataset.empty()) text += ", data " + event.origin->dataset;
    if (event.parameters > 0) text += ", " + std::to_string(event.parameters) + " parameters";
    return text + ", on " + event.device;
}

}  // namespace app
