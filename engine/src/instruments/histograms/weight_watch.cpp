#include "instruments/histograms/weight_watch.h"

#include <algorithm>
#include <limits>

#include "engine/base/message.h"
#include "ops/shape/slice.h"
#include "tensor/dtype.h"

namespace engine {

WeightWatch::WeightWatch(std::string parameter, std::vector<std::int64_t> index)
    : parameter_(std::move(parameter)), index_(std::move(index)) {}

std::string WeightWatch::dtype() const {
    const std::lock_guard lock(mutex_);
    return dtype_;
}

std::string WeightWatch::problem() const {
    const std::lock_guard lock(mutex_);
    return problem_;
}

std::optional<WeightChange> WeightWatch::at(std::int64_t step) const {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::lower_bound(changes_, step, {}, &WeightChange::step);
    if (found == changes_.end() || found->step != step) return std::nullopt;
    return *found;
}

std::int64_t WeightWatch::size() const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::int64_t>(changes_.size());
}

void WeightWatch::begin(std::string dtype) {
    const std::lock_guard lock(mutex_);
    dtype_ = std::move(dtype);
}

void WeightWatch::refuse(std::string problem) {
    const std::lock_guard lock(mutex_);
    problem_ = std::move(problem);
}

void WeightWatch::append(const WeightChange& change) {
    const std::lock_guard lock(mutex_);
    changes_.push_back(change);
}

WeightObserver::WeightObserver(std::shared_ptr<WeightWatch> watch) : watch_(std::move(watch)) {}

bool WeightObserver::observes(std::int64_t) const { return !looked_ || optimizer_; }

void WeightObserver::begin(const StepView& step) {
    if (!looked_) find(step);
    change_ = {.step = step.step};
}

void WeightObserver::find(const StepView& step) {
    looked_ = true;
    for (const Optimizer* optimizer : step.optimizers) {
        const auto& parameters = optimizer->parameters();
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            if (parameters[i].name != watch_->parameter()) continue;
            const Tensor& tensor = parameters[i].tensor;
            bool fits = tensor.rank() == static_cast<int>(watch_->index().size());
            for (int dim = 0; fits && dim < tensor.rank(); ++dim)
                fits = watch_->index()[static_cast<std::size_t>(dim)] < tensor.size(dim);
            if (!fits) {
                watch_->refuse(msg("{} has no such element.", watch_->parameter()).str());
                return;
            }
            optimizer_ = optimizer;
            parameter_ = i;
            watch_->begin(std::string(name(tensor.dtype())));
            return;
        }
    }
    watch_->refuse(msg("The model has no trained parameter {}.", watch_->parameter()).str());
}

double WeightObserver::element(const Tensor& tensor) const {
    if (!tensor.defined() || tensor.is_sparse()) return std::numeric_limits<double>::quiet_NaN();
    Tensor part = tensor.detach();
    for (const std::int64_t index : watch_->index()) part = select(part, 0, index);
    return part.item();
}

void WeightObserver::before_update(const StepView& step) {
    if (!optimizer_) return;
    const Tensor& weight = optimizer_->parameters()[parameter_].tensor;
    change_.before = element(weight);
    change_.master_before = element(optimizer_->master(parameter_));
    const Tensor scale = step.precision.loss_scale();
    change_.gradient = element(weight.grad()) / (scale.defined() ? scale.item() : 1.0);
    change_.lr = optimizer_->lr();
}

void WeightObserver::after_update(const StepView&) {
    if (!optimizer_) return;
    change_.after = element(optimizer_->parameters()[parameter_].tensor);
    change_.master_after = element(optimizer_->master(parameter_));
    const auto last = watch_->at(change_.step);
    if (!last) watch_->append(change_);
}

}  // namespace engine
