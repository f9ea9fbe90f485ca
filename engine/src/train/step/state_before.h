#pragma once

#include <optional>

#include "kernels/multi_tensor.h"
#include "tensor/device_record.h"
#include "train/step/step_state.h"

namespace engine {

/// Copies of the state before a step, kept on the device while the step changes the original; and
/// whether the state is still finite after the step. Costs one copy and one read of the state a
/// step and, on a GPU, a synchronisation. The copies are not accounted to a run. One thread at a
/// time.
class StateBefore {
public:
    /// `now` must outlive this object.
    explicit StateBefore(const StepState& now) : now_(now) {}

    /// Before the first step that is kept: checks the state as it is.
    void begin();
    /// Must be called before the step. `counts` as in TrainingState.
    void keep(const SavedNumbers& counts);
    /// Must be called after the step.
    void check();

    /// The saved_state() before the step, on the host. Needs keep().
    TrainingState state() const;
    /// Whether the parameters were finite when they were checked last. Waits.
    bool weights_are_finite() const;
    /// Whether parameters, buffers and optimizer state were finite then.
    bool is_finite() const;

private:
    /// The state's own tensors, and a copy of each.
    struct Copies {
        std::vector<Place> from;
        TensorList to;
    };
    void lay_out();
    void find_checked(const StatePlaces& places);
    static Copies make_copies(const std::vector<Place>& places);

    const StepState& now_;
    std::optional<StatePlaces> places_;
    Copies weights_, optimizer_, carried_;
    TensorList parameters_, rest_;  // the floating ones
    TensorMap quantization_;
    SavedNumbers scaler_, counts_;
    DeviceRecord<kernels::GradientStatistics> of_parameters_, of_rest_;
};

}  // namespace engine
