#include "train/run/epoch_rules.h"

#include <cmath>

#include "engine/base/metric.h"
#include "optim/optimizer_descriptor.h"
#include "train/step/make_optimizer.h"

namespace engine {
namespace {

constexpr Margin threshold{.relative = 1e-4};
constexpr double min_change = 1e-8;  // of the rate: PyTorch's eps

}  // namespace

BestMetric::BestMetric(const std::vector<Metric>& metrics, Margin margin) : margin_(margin) {
    if (metrics.empty()) return;
    key_ = metrics.front().key;
    higher_is_better_ = metrics.front().higher_is_better;
}

double BestMetric::figure(const PartFigures& validation, const PartFigures& test) const {
    const PartFigures& part = validation.known() ? validation : test;
    return ranked_figure(part, key_);
}

bool BestMetric::is_better(double value) const {
    if (std::isnan(value)) return false;
    constexpr double worst = std::numeric_limits<double>::infinity();
    if (std::isnan(state_.value)) return value != (higher_is_better_ ? -worst : worst);
    return higher_is_better_ ? value > state_.value * (1 + margin_.relative) + margin_.absolute
                             : value < state_.value * (1 - margin_.relative) - margin_.absolute;
}

bool BestMetric::see(const PartFigures& validation, const PartFigures& test, std::int64_t epoch,
                     std::int64_t step) {
    const double value = figure(validation, test);
    if (!is_better(value)) {
        ++state_.waited;
        return false;
    }
    state_ = {.value = value, .epoch = epoch, .step = step, .waited = 0};
    return true;
}

PlateauRate::PlateauRate(const std::vector<Metric>& metrics, const Options& options)
    : options_(options), best_(metrics, threshold) {}

bool PlateauRate::see(const PartFigures& validation, const PartFigures& test, std::int64_t epoch,
                      std::int64_t step) {
    if (best_.see(validation, test, epoch, step)) {
        bad_epochs_ = 0;
        return false;
    }
    if (++bad_epochs_ <= options_.patience) return false;
    bad_epochs_ = 0;
    const double dropped = multiplier_ * options_.factor;
    if (!(options_.lr * (multiplier_ - dropped) > min_change)) return false;
    multiplier_ = dropped;
    return true;
}

void PlateauRate::restore(const PlateauState& state) {
    best_.restore(state.best);
    bad_epochs_ = state.bad_epochs;
    multiplier_ = state.multiplier;
}

std::optional<PlateauRate> make_plateau_rate(const RunConfig& config,
                                             const std::vector<Metric>& metrics) {
    const auto schedule = make_schedule(config, 0);
    if (schedule.kind != kernels::ScheduleKind::plateau) return std::nullopt;
    const TypedOptions options(config.schedule.options,
                               schedule_descriptor(config.schedule.kind).options);
    return PlateauRate(metrics, {.lr = schedule.base,
                                 .factor = options.number("gamma"),
                                 .patience = options.integer("patience")});
}

EpochRules::EpochRules(const RunConfig& config, const std::vector<Metric>& metrics)
    : plateau_(make_plateau_rate(config, metrics)), stopping_(config.early_stopping, metrics) {}

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
