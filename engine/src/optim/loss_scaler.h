#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>

#include "engine/settings/run_config.h"
#include "kernels/multi_tensor.h"
#include "kernels/step_ends.h"
#include "optim/optimizer.h"
#include "tensor/device_record.h"
#include "tensor/tensor.h"

namespace engine {

/// Statistics of these gradients, undefined ones left out, by one pass that reads each where it
/// lies and waits for nothing. Of a sparse gradient the stored values are read; in f16 those of one
/// place are added up first, since their sum may overflow.
void check_gradients(const DeviceRecord<kernels::GradientStatistics>& out,
                     std::span<const Tensor> gradients);
/// The flags added up on `device`; undefined if there are none.
Tensor sum_of_flags(const TensorList& flags, const Device& device);
/// Moves a scale by the flag of a step, on its device (loss-scaler.md#update, 2.7).
void move_scale(const DeviceRecord<kernels::ScaleState>& state, const Tensor& found_inf,
                const kernels::ScaleUpdate& rule);

/// By name: scale, growth_factor, backoff_factor, growth_interval, growth_tracker; with hysteresis
/// hysteresis_tracker too, the overflows until the next back-off.
std::map<std::string, double> named_values(const kernels::ScaleState& state,
                                           const kernels::ScaleUpdate& rule);

/// The loss scale of a training run (loss-scaler.md): none, a constant one, or one that moves.
/// Everything happens on the device: the optimizers divide by the scale and skip by the flag of the
/// gradient check themselves, and the kernel that ends the step moves the scale. Only saved_state()
/// waits.
class LossScaler {
public:
    LossScaler(ScalerMode mode, const ScalerConfig& config, const Device& device);
    virtual ~LossScaler() = default;
    LossScaler(const LossScaler&) = delete;
    LossScaler& operator=(const LossScaler&) = delete;

    /// 0-d f32 on the device; undefined: there is none.
    const Tensor& scale() const { return scale_; }
    /// Whether the scale moves, and steps with an overflow are skipped.
    bool is_dynamic() const { return dynamic_; }

    /// loss * scale, recorded; without a scale the loss itself.
    Tensor scaled(const Tensor& loss) const;
    /// A step begins, of which nothing was found yet.
    void begin() { found_inf_.clear(); }
    /// A micro-batch was differentiated that is not the last of its phase. `check` makes the
    /// gradient check of the phase's optimizers and returns their flags.
    virtual void after_micro_batch(const std::function<TensorList()>& check) { (void)check; }
    /// The scale that the gradients have where they are clipped; undefined: 1.
    virtual Tensor clip_scale() const { return scale_; }
    /// Steps the optimizer, whose gradients were checked.
    void step(Optimizer& optimizer, const DeviceRecord<kernels::GradientStatistics>& checked);
    /// Leaves the move of the scale to the kernel that ends the step. Returns the flag that it
    /// reads, which must live until the launch.
    Tensor end(kernels::StepEnding& ending);

    /// As named_values(); empty: the scale does not move.
    std::map<std::string, double> saved_state() const;
    /// Goes on with a saved scale and its counts; the policy stays that of the settings.
    virtual void load_state(const kernels::ScaleState& saved);
    const kernels::ScaleUpdate& rule() const { return rule_; }

protected:
    /// Moves the scale now, by what was found in the step so far and by these flags.
    void move_by(const TensorList& flags);

private:
    bool dynamic_;
    kernels::ScaleUpdate rule_;
    DeviceRecord<kernels::ScaleState> state_;
    Tensor scale_;          // of state_
    TensorList found_inf_;  // by optimizer that stepped
};

}  // namespace engine
