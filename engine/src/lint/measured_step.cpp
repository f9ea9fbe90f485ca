// Findings that a training step tells.
#include <cmath>

#include "core/resolve_device.h"
#include "data/batch_loader.h"
#include "data/dataset_descriptor.h"
#include "lint/rules.h"
#include "train/run_needs.h"
#include "train/trainer.h"

namespace engine {
namespace {

/// The first step of a run of these settings, on a fresh model. Nothing is recorded.
StepRecord first_step(const RunConfig& config) {
    const Device device = resolve_device(config.device);
    check_precision_is_there(config, device);
    const DeviceScope scope(device);
    const DataParts data = open_dataset(config.dataset, config.seed);
    Trainer trainer(config, device, data.train.data->schema(), 1);
    const AccountingScope accounting(trainer.accounting());
    const Schema& schema = trainer.task().schema(true);
    LoaderOptions loading{.sampler = {.batch_size = config.batch_size,
                                      .seed = config.seed,
                                      .order = config.dataset.order,
                                      .window = config.bptt}};
    const bool holds = trainer.task().phases().size() > 1;
    const auto feed =
        make_feed(device, data.train, schema, loading,
                  {.per_step = config.accumulate, .held = holds ? config.accumulate : 1});
    feed->choose(loading);
    BatchLoader loader(data.train, schema, loading);
    std::vector<Batch> batches;
    do {
        loader.next(batches.emplace_back());
    } while (!batches.back().last_of_epoch && std::ssize(batches) < config.accumulate);
    return trainer.step(batches, *feed).row;
}

bool overflowed(const StepRecord& row) { return !std::isfinite(row.grad_norm); }

/// The largest power of two that the first gradients take, with one bit of room; nothing if the
/// step is not finite at any scale.
std::optional<double> fitting_scale(RunConfig config, StepRecord row) {
    while (overflowed(row)) {
        if (!std::isfinite(row.loss) || config.scaler.init_scale < 1) return std::nullopt;
        config.scaler.init_scale = power_of_two_below(config.scaler.init_scale) / 16;
        config.scaler.min_scale = 0;
        row = first_step(config);
    }
    const auto ceiling = static_cast<double>(row.scale_ceiling);
    return std::isfinite(ceiling) ? power_of_two_below(ceiling) / 2 : config.scaler.init_scale;
}

void static_scale_too_large(const RunConfig& config, const StepRecord& row, Findings& out) {
    if (resolve(config.precision).scaler != ScalerMode::constant || !overflowed(row)) return;
    const auto fits = fitting_scale(config, row);
    if (!fits) return;
    out.push_back({.id = "static-scale-too-large",
                   .severity = LintSeverity::error,
                   .sentence = msg("The static loss scale, {}, overflows in the first step",
                                   scale_words(config.scaler.init_scale)),
                   .reason = msg("A static scaler never skips: the update makes the weights NaN. A "
                                 "scale of {} fits the first gradients with one bit of headroom.",
                                 scale_words(*fits)),
                   .handbook = "A static scale fits the largest gradient",
                   .fix = {"scaler.init_scale=" + number_words(*fits), "scaler.min_scale=0"}});
}

void lost_updates(const RunConfig& config, const StepRecord& row, Findings& out) {
    constexpr float many = 0.5f;
    const ResolvedPrecision precision = resolve(config.precision);
    const bool plain = precision.weights == WeightFormat::fp16 && !precision.master_weights;
    if (!plain || !(row.lost_update_share > many)) return;
    out.push_back(
        {.id = "updates-lost",
         .severity = LintSeverity::warning,
         .sentence = msg("{} % of the first updates do not change their FP16 weight",
                         std::lround(100 * row.lost_update_share)),
         .reason = msg("They are smaller than half a unit in the last place of the weight. "
                       "Master weights in FP32 add them up."),
         .handbook = "Small updates need master weights",
         .fix = {"precision.master_weights=true"}});
}

}  // namespace

std::vector<LintFinding> lint_measured(const RunConfig& config) {
    const RunConfig whole = completed(config);
    const StepRecord row = first_step(whole);
    Findings out;
    static_scale_too_large(whole, row, out);
    lost_updates(whole, row, out);
    return out;
}

}  // namespace engine
