#include "train/step/state_before.h"

#include <utility>

#include "tensor/cast.h"
#include "tensor/layout.h"
#include "tensor/memory/memory.h"

namespace engine {
namespace {

bool found_finite(const DeviceRecord<kernels::GradientStatistics>& gradient_statistics) {
    return !gradient_statistics.defined() || gradient_statistics.host().found_inf == 0;
}

bool is_checked(const Tensor& tensor, const Device& device) {
    return is_floating(tensor.dtype()) && tensor.device() == device && tensor.numel() > 0;
}

}  // namespace

StateBefore::Copies StateBefore::make_copies(const std::vector<Place>& places) {
    Copies out{places, {}};
    for (const Place& place : places) out.to.push_back(empty_like(place.tensor.detach()));
    return out;
}

void StateBefore::lay_out() {
    if (places_ && now_.is_laid_out(*places_)) return;
    // Before the old copies go, so that a failure leaves nothing half laid out.
    places_.reset();
    StatePlaces places = now_.places();
    weights_ = make_copies(places.weights);
    optimizer_ = make_copies(places.optimizer);
    carried_ = make_copies(places.carried);
    find_checked(places);
    places_ = std::move(places);
}

void StateBefore::find_checked(const StatePlaces& places) {
    parameters_.clear();
    rest_.clear();
    const Device& device = now_.device();
    const std::size_t parameters = now_.parameter_count();
    for (std::size_t i = 0; i < places.weights.size(); ++i) {
        const Tensor& tensor = places.weights[i].tensor;
        if (is_checked(tensor, device)) (i < parameters ? parameters_ : rest_).push_back(tensor);
    }
    for (const Place& place : places.optimizer) {
        if (is_checked(place.tensor, device)) rest_.push_back(place.tensor);
    }
}

void StateBefore::keep(const SavedNumbers& counts) {
    const AccountingScope own(std::make_shared<MemoryAccounting>());
    lay_out();
    for (const Copies* const each : {&weights_, &optimizer_, &carried_}) {
        for (std::size_t i = 0; i < each->to.size(); ++i) {
            const Tensor& from = each->from[i].tensor;
            const Tensor& to = each->to[i];
            copy_bytes(to.data(), from.data(), from.bytes(), from.device());
        }
    }
    quantization_ = now_.saved_quantization();
    scaler_ = now_.scaler().saved_state();
    counts_ = counts;
}

void StateBefore::begin() {
    const AccountingScope own(std::make_shared<MemoryAccounting>());
    lay_out();
    check();
}

void StateBefore::check() {
    const AccountingScope own(std::make_shared<MemoryAccounting>());
    // The first update makes optimizer state; the copies of the state before it stay as they are.
    if (!now_.is_laid_out(*places_)) find_checked(now_.places());
    for (auto* const record : {&of_parameters_, &of_rest_}) {
        if (!record->defined()) *record = DeviceRecord<kernels::GradientStatistics>(now_.device());
    }
    check_gradients(of_parameters_, parameters_);
    check_gradients(of_rest_, rest_);
}

TrainingState StateBefore::state() const {
    const AccountingScope own(std::make_shared<MemoryAccounting>());
    const GradMode off(false);
    TrainingState out;
    const auto take = [](TensorMap& into, const Copies& copies, bool wide) {
        for (std::size_t i = 0; i < copies.to.size(); ++i) {
            const Tensor values = snapshot(copies.to[i]);
            into[copies.from[i].name] =
                wide && is_low(values.dtype()) ? to(values, DType::f32) : values;
        }
    };
    take(out.weights, weights_, true);
    take(out.optimizer, optimizer_, false);
    take(out.carried, carried_, false);
    out.quantization = quantization_;
    out.scaler = scaler_;
    out.counts = counts_;
    return out;
}

bool StateBefore::weights_are_finite() const { return found_finite(of_parameters_); }

bool StateBefore::is_finite() const { return weights_are_finite() && found_finite(of_rest_); }

}  // namespace engine
