#include "train/run/epoch_rules.h"

#include <cmath>

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

double BestMetric::figure(const Evaluated& evaluated) const {
    return ranked_figure(evaluated.validation.known() ? evaluated.validation : evaluated.test,
                         key_);
}

bool BestMetric::is_better(double value) const {
    if (std::isnan(value)) return false;
    constexpr double worst = std::numeric_limits<double>::infinity();
    if (std::isnan(state_.value)) return value != (higher_is_better_ ? -worst : worst);
    return higher_is_better_ ? value > state_.value * (1 + margin_.relative) + margin_.absolute
                             : value < state_.value * (1 - margin_.relative) - margin_.absolute;
}

bool BestMetric::see(const Evaluated& evaluated) {
    const double value = figure(evaluated);
    if (!is_better(value)) {
        ++state_.waited;
        return false;
    }
    state_ = {.value = value, .epoch = evaluated.epoch, .step = evaluated.step, .waited = 0};
    return true;
}

PlateauRate::PlateauRate(const std::vector<Metric>& metrics, const Options& options)
    : options_(options), best_(metrics, threshold) {}

bool PlateauRate::see(const Evaluated& evaluated) {
    if (best_.see(evaluated)) {
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

void PlateauRate::save_into(SavedNumbers& rules) const {
    engine::save_into(rules, "plateau.", best_.state());
    rules["plateau.bad_epochs"] = static_cast<double>(bad_epochs_);
    rules["plateau.multiplier"] = multiplier_;
}

void PlateauRate::load_from(const SavedNumbers& rules) {
    if (!rules.contains("plateau.multiplier")) return;
    best_.restore(best_metric_of(rules, "plateau."));
    bad_epochs_ = saved_count(rules, "plateau.bad_epochs");
    multiplier_ = saved_number(rules, "plateau.multiplier");
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
    : plateau_(make_plateau_rate(config, metrics)),
      patience_(config.early_stopping.patience),
      stopping_(metrics, {.absolute = config.early_stopping.min_delta}) {}

RunRequest EpochRules::request() const {
    return {.stop = patience_ > 0 && stopping_.state().waited >= patience_,
            .rate = plateau_ ? plateau_->multiplier() : 1};
}

RunRequest EpochRules::on_epoch(const Evaluated& evaluated) {
    if (!evaluated.validation.known() && !evaluated.test.known()) return {};
    if (plateau_) plateau_->see(evaluated);
    stopping_.see(evaluated);
    return request();
}

void EpochRules::save_state(SavedRun& saved) const {
    save_into(saved.rules, "stopping.", stopping_.state());
    if (plateau_) plateau_->save_into(saved.rules);
}

RunRequest EpochRules::load_state(const SavedRun& saved) {
    stopping_.restore(best_metric_of(saved.rules, "stopping."));
    if (plateau_) plateau_->load_from(saved.rules);
    return request();
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
