#include "train/run/plateau_rate.h"

#include "optim/schedule_descriptor.h"
#include "train/step/make_optimizer.h"

namespace engine {
namespace {

constexpr Margin threshold{.relative = 1e-4};
constexpr double least_change = 1e-8;  // of the rate: PyTorch's eps

}  // namespace

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
    if (!(options_.lr * (multiplier_ - dropped) > least_change)) return false;
    multiplier_ = dropped;
    return true;
}

void PlateauRate::restore(const PlateauState& state) {
    best_.restore(state.best);
    bad_epochs_ = state.bad_epochs;
    multiplier_ = state.multiplier;
}

std::optional<PlateauRate> plateau_rate_of(const RunConfig& config,
                                           const std::vector<Metric>& metrics) {
    const auto schedule = schedule_of(config, 0);
    if (schedule.kind != kernels::ScheduleKind::plateau) return std::nullopt;
    const TypedOptions options(config.schedule.options,
                               schedule_descriptor(config.schedule.kind).options);
    return PlateauRate(metrics, {.lr = schedule.base,
                                 .factor = options.number("gamma"),
                                 .patience = options.whole("patience")});
}

}  // namespace engine
