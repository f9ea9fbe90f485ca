#include "train/run/restored.h"

#include <algorithm>

#include "engine/number/figure_text.h"
#include "engine/settings/catalog.h"

namespace engine {
namespace {

std::int64_t whole(const SavedNumbers& saved, const char* name) { return saved_count(saved, name); }

Message restored_weights(const SavedRun& saved, const StateChange& change) {
    const auto count = saved.training.weights.size();
    if (change.same_precision) return msg("Weights and buffers: {} tensors.", count);
    return msg("Weights and buffers: {} tensors, converted to the other precision.", count);
}

std::string optimizer_title(const RunConfig& config) {
    const auto all = optimizers();
    const auto found = std::ranges::find(all, config.optimizer.kind, &OptimizerInfo::kind);
    return found == all.end() ? config.optimizer.kind : found->title;
}

std::string saved_scale(const SavedRun& saved) {
    return power_text(saved_number(saved.training.scaler, "scale"));
}

Message restored_optimizer(const SavedRun& saved, const RunConfig& now, const StateChange& change) {
    const std::int64_t updates = whole(saved.training.counts, "updates");
    if (!change.same_optimizer) {
        return msg("Optimizer: {} starts afresh and replaces {}; {} updates count as applied.",
                   optimizer_title(now), optimizer_title(saved.config), updates);
    }
    const auto masters = std::ranges::count_if(saved.training.optimizer, [](const auto& entry) {
        return entry.first.ends_with(".master");
    });
    const std::string title = optimizer_title(now);
    if (masters == 0) return msg("Optimizer {}: state after {} updates.", title, updates);
    return msg("Optimizer {}: state after {} updates, with {} master weights.", title, updates,
               masters);
}

Message restored_scaler(const SavedRun& saved, const RunConfig& now) {
    const bool scales = resolve(now.precision).scaler == ScalerMode::dynamic;
    if (!scales) return msg("Loss scale: none, this precision has no dynamic scaler.");
    if (now.teach.resume_without_scaler && !saved.training.scaler.empty()) {
        return msg(
            "Loss scale: begins again at {}, on purpose (teach.resume_without_scaler); {} "
            "was saved.",
            power_text(now.scaler.init_scale), saved_scale(saved));
    }
    if (saved.training.scaler.empty())
        return msg("Loss scale: begins at {}.", power_text(now.scaler.init_scale));
    return msg("Loss scale {}, growth tracker {}.", saved_scale(saved),
               whole(saved.training.scaler, "growth_tracker"));
}

/// Forced types change how a step computes and not what is stored.
PrecisionConfig stored_precision(PrecisionConfig precision) {
    precision.force.clear();
    return precision;
}

}  // namespace

StateChange change_of(const RunConfig& saved, const RunConfig& now) {
    return {.same_precision = stored_precision(saved.precision) == stored_precision(now.precision),
            .same_optimizer = saved.optimizer.kind == now.optimizer.kind};
}

std::vector<Message> restored_parts(const SavedRun& saved, const RunConfig& now) {
    const StateChange change = change_of(saved.config, now);
    const std::int64_t steps = saved.step();
    std::vector<Message> out = {
        restored_weights(saved, change),
        restored_optimizer(saved, now, change),
        restored_scaler(saved, now),
        msg("Learning-rate schedule: after {} applied updates.",
            whole(saved.training.counts, "updates")),
        msg("Data: continues with batch {} of epoch {}.", whole(saved.progress, "batch") + 1,
            whole(saved.progress, "epoch") + 1),
        msg("Random numbers: seed {}, after step {}.", saved.config.seed, steps)};
    if (!saved.training.carried.empty())
        out.push_back(msg("Carried state: {} tensors.", saved.training.carried.size()));
    out.push_back(msg("Step record: up to step {}.", steps));
    return out;
}

}  // namespace engine
