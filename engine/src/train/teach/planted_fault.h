#pragma once

#include <functional>
#include <optional>

#include "data/schema.h"
#include "engine/settings/run_config.h"
#include "models/model.h"
#include "ops/attention/scaled_scores.h"
#include "optim/optimizers.h"
#include "tensor/observer.h"
#include "train/step/step_observer.h"

namespace engine {

/// The fault of teach.plant: changes something in the planted step only, and for adam-epsilon-zero
/// also before it. Attach it before all other observers, so that they see the damaged state in
/// their begin().
class PlantedFault final : public StepObserver {
public:
    /// `schema`: of a training batch. Throws Error(settings) where the fault fits neither the model
    /// nor its data.
    PlantedFault(const PlantConfig& plant, const Schema& schema, Model& model);

    bool observes(std::int64_t step) const override;
    void begin(const StepView& step) override;
    /// Throws Error(settings) for a sample that the batch does not have.
    void before_forward(const StepView& step, DeviceBatch& batch, TensorList& state) override;
    void before_update(const StepView& step) override;
    /// Throws Error(settings) if the named module computed no attention.
    void after_update(const StepView& step) override;
    void end(const StepView& step) override;

private:
    bool is(PlantKind kind) const { return plant_.kind == kind; }
    void find_field(const Schema& schema);
    void find_parameter(const Schema& schema, const Model& model);
    [[noreturn]] void refuse(const Message& why) const;
    std::int64_t sample_in(const DeviceBatch& batch) const;
    void damage_batch(DeviceBatch& batch) const;
    void damage_row(const StepView& step, const DeviceBatch& batch);
    void damage_parameter(const StepView& step) const;
    void put_nan(const Tensor& values) const;
    void zero_adam_denominator(const StepView& step);

    /// Turns the boxes of a sample around, once it is known which anchors and regions lie on them:
    /// their right sides come to lie left of their left ones.
    class TurnedBoxes final : public OpObserver {
    public:
        /// boxes (N, G, 4)
        TurnedBoxes(Tensor boxes, std::int64_t sample)
            : boxes_(std::move(boxes)), sample_(sample) {}
        void on_op(const OpEvent& event) override;
        bool reads_inputs() const override { return false; }

    private:
        Tensor boxes_;
        std::int64_t sample_;
        bool done_ = false;
        ObserverScope scope_{*this};
    };

    PlantConfig plant_;
    std::size_t field_ = 0;  // of the batch, that is changed or read
    Parameter parameter_;
    std::optional<std::int64_t> row_;
    std::optional<ScaledScores> scores_;
    std::optional<TurnedBoxes> boxes_;
    std::function<void(TensorList&)> on_outputs_;
    Adam* adam_ = nullptr;  // whose epsilon is 0 for the step
    double epsilon_ = 0;    // its own
};

}  // namespace engine
