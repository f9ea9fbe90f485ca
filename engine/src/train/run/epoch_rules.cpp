#include "train/run/epoch_rules.h"

namespace engine {

EpochRules::EpochRules(const RunConfig& config, const std::vector<Metric>& metrics)
    : plateau_(plateau_rate_of(config, metrics)), stopping_(config.early_stopping, metrics) {}

void EpochRules::see(const PartFigures& validation, const PartFigures& test, std::int64_t epoch,
                     std::int64_t step) {
    if (!validation.known() && !test.known()) return;
    if (plateau_) plateau_->see(validation, test, epoch, step);
    stopping_.see(validation, test, epoch, step);
}

SavedNumbers EpochRules::saved_state() const {
    SavedNumbers out;
    save_into(out, "stopping.", stopping_.best().state());
    if (!plateau_) return out;
    const PlateauState plateau = plateau_->state();
    save_into(out, "plateau.", plateau.best);
    out["plateau.bad_epochs"] = static_cast<double>(plateau.bad_epochs);
    out["plateau.multiplier"] = plateau.multiplier;
    return out;
}

void EpochRules::load_state(const SavedNumbers& saved) {
    stopping_.restore(best_metric_of(saved, "stopping."));
    if (!plateau_ || !saved.contains("plateau.multiplier")) return;
    plateau_->restore({best_metric_of(saved, "plateau."), saved_count(saved, "plateau.bad_epochs"),
                       saved_number(saved, "plateau.multiplier")});
}

void save_into(SavedNumbers& out, const std::string& prefix, const BestMetricState& best) {
    out[prefix + "value"] = best.value;
    out[prefix + "epoch"] = static_cast<double>(best.epoch);
    out[prefix + "step"] = static_cast<double>(best.step);
    out[prefix + "waited"] = static_cast<double>(best.waited);
}

BestMetricState best_metric_of(const SavedNumbers& saved, const std::string& prefix) {
    const auto count = [&](const char* name) { return saved_count(saved, prefix + name); };
    return {saved_number(saved, prefix + "value"), count("epoch"), count("step"), count("waited")};
}

}  // namespace engine
