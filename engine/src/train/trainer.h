#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "amp/autocast.h"
#include "amp/grad_scaler.h"
#include "data/batch_loader.h"
#include "engine/run_config.h"
#include "engine/step_record.h"
#include "models/model.h"
#include "optim/optimizer.h"

namespace engine {

/// Loss and accuracy over a number of samples.
struct Tally {
    double loss_sum = 0;
    std::int64_t correct = 0;
    std::int64_t samples = 0;

    double loss() const { return loss_sum / static_cast<double>(samples); }
    double accuracy() const { return static_cast<double>(correct) / static_cast<double>(samples); }
};

/// Model, precision and optimizer of one run: computes steps, keeps no thread, no file and no clock
/// but the step's. One thread at a time.
class Trainer {
public:
    /// `planned`: updates that the schedule stretches over. Throws Error.
    Trainer(const RunConfig& config, const SampleShape& sample, std::int64_t classes,
            std::int64_t planned);
    ~Trainer();

    /// One optimizer step on `config.accumulate` batches. Everything of the row that the
    /// computation knows is filled; epoch, elapsed_s, data_ms and samples_per_s are the caller's.
    /// Throws Error; one of code memory names a batch size to try.
    StepRecord step(std::span<const Batch> batches);
    /// Forward pass in evaluation mode.
    Tally evaluate(const Batch& batch);

    /// Writes the loss and the unscaled f32 gradients of the next step to this safetensors file
    /// ("loss", "grad.<name>").
    void dump_next_gradients(std::string path) { dump_path_ = std::move(path); }
    Model& model() { return *model_; }
    std::int64_t updates() const { return updates_; }
    std::int64_t steps() const { return steps_; }
    std::int64_t samples() const { return samples_; }
    /// The scale of the next step: 1 without a scaler.
    double next_loss_scale() const;
    const std::shared_ptr<MemoryBooks>& books() const { return books_; }

private:
    struct Forward {
        Tensor loss;  // 0-d, unscaled
        Tensor logits;
    };
    StepRecord compute_step(std::span<const Batch> batches);
    void make_precision();
    void make_optimizer();
    void keep_low_copies();
    Tensor inputs_of(const Batch& batch) const;
    Tensor labels_of(const Batch& batch) const;
    Forward forward(const Batch& batch);
    Tensor scaled(const Tensor& loss);
    void run_backward(const Tensor& scaled_loss, StepRecord& row);
    kernels::Judgement judge();
    void clip(const kernels::Judgement& judgement);
    void apply_update(StepRecord& row);
    void fill_gradient_figures(StepRecord& row, const kernels::Judgement& judgement) const;
    void dump_gradients(double loss);

    RunConfig config_;
    SampleShape sample_;
    ResolvedPrecision precision_;
    std::int64_t planned_;
    int threads_;
    std::shared_ptr<MemoryBooks> books_;
    Device device_;
    std::optional<AutocastRegion> region_;
    std::unique_ptr<Model> model_;
    std::unique_ptr<Optimizer> optimizer_;
    std::unique_ptr<GradScaler> scaler_;
    Tensor static_scale_;  // 0-d f32; undefined unless the scaler is static
    std::int64_t steps_ = 0;
    std::int64_t updates_ = 0;
    std::int64_t samples_ = 0;
    std::string dump_path_;
};

}  // namespace engine
