#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "amp/autocast.h"
#include "engine/error.h"
#include "engine/run_config.h"
#include "engine/step_record.h"
#include "kernels/cuda_graph.h"
#include "kernels/library_fallback.h"
#include "models/model.h"
#include "optim/optimizer.h"
#include "scaler/grad_scaler.h"
#include "train/batch_feed.h"
#include "train/figure_ring.h"

namespace engine {

/// Loss and accuracy over a number of samples.
struct Tally {
    double loss_sum = 0;
    std::int64_t correct = 0;
    std::int64_t samples = 0;

    double loss() const { return loss_sum / static_cast<double>(samples); }
    double accuracy() const { return static_cast<double>(correct) / static_cast<double>(samples); }
};

/// A step as its figures tell it, and the scale of the step after it (1 without a scaler).
struct FinishedStep {
    StepRecord row;
    double next_loss_scale = 1;
    std::optional<Error> refused;  ///< a value of the step, found on a GPU: the run is to end
};

/// Model, precision and optimizer of one run: computes steps, keeps no thread, no file and no clock
/// but the step's. One thread at a time.
///
/// On a GPU a step is only given to the device: nothing waits for it, and its figures are taken
/// when the next step has been given.
class Trainer {
public:
    /// `planned`: updates that the schedule stretches over. Throws Error.
    Trainer(const RunConfig& config, const Device& device, const SampleShape& sample,
            std::int64_t classes, std::int64_t planned);
    ~Trainer();

    /// Gives one optimizer step on `config.accumulate` batches to the device. Throws Error; one of
    /// code memory names a batch size to try.
    void submit(std::span<const Batch> batches, BatchFeed& feed);
    /// The oldest step that was submitted and not taken: if one more than may be in flight was
    /// submitted, or if `all`. Everything of the row that the computation knows is filled; epoch,
    /// elapsed_s, step_ms (on a GPU), data_ms and samples_per_s are the caller's.
    std::optional<FinishedStep> take(bool all);
    /// submit() and what comes of it at once; throws a value that was refused.
    FinishedStep step(std::span<const Batch> batches, BatchFeed& feed);
    /// Forward pass in evaluation mode, added to a tally on the device. Throws Error, as submit().
    void evaluate(const Batch& batch, BatchFeed& feed);
    /// The evaluated batches since the last call; waits for them. Throws Error(value).
    Tally take_evaluation();

    /// On a GPU, whether steps are recorded as a graph after the first few and replayed (D5); on
    /// unless it is switched off.
    void set_recording(bool on) { recording_ = on; }
    /// The steps submitted so far that were replayed.
    std::int64_t replayed_steps() const { return replayed_; }
    /// Kernels, copies and fills in the recorded step; 0 where there is none.
    std::int64_t graph_nodes() const { return recorded_ ? recorded_->graph->nodes() : 0; }

    /// Writes the loss and the unscaled f32 gradients of the next step to this safetensors file
    /// ("loss", "grad.<name>").
    void dump_next_gradients(std::string path) { dump_path_ = std::move(path); }
    /// What the user should know of the steps and evaluations since the last call: convolutions
    /// that the GPU's library does not compute, a step that could not be recorded.
    std::vector<Message> take_warnings();

    Model& model() { return *model_; }
    const Device& device() const { return device_; }
    /// Of the steps taken.
    std::int64_t updates() const { return updates_; }
    /// Submitted.
    std::int64_t steps() const { return steps_; }
    std::int64_t samples() const { return samples_; }
    const std::shared_ptr<MemoryBooks>& books() const { return books_; }

private:
    struct Forward {
        Tensor loss;  // 0-d, unscaled
        Tensor logits;
    };
    /// The whole step as one graph: its inputs lie where the recording read them.
    struct RecordedStep {
        std::shared_ptr<MemoryPool> pool;
        std::vector<DeviceBatch> inputs;
        std::unique_ptr<kernels::cuda::Graph> graph;
    };
    /// Where a step's batches come from: number i of it, and that it is no more needed.
    struct Supply {
        std::function<DeviceBatch(std::size_t)> get;
        std::function<void(const DeviceBatch&)> used;
    };
    /// Evaluated batches since they were asked for.
    struct Evaluation {
        kernels::BatchTally tally;
        kernels::RefusalNote refusal;
    };
    /// What runs out of memory in `work` says a batch size to try. Of work that fails no refused
    /// value is left for the next run on the device.
    template <typename Work>
    void with_batch_to_try(const Work& work) const;
    void evaluate_batch(const Batch& batch, BatchFeed& feed);
    void submit_step(std::span<const Batch> batches, BatchFeed& feed);
    void compute(std::size_t batches, const Supply& supply, StepMarks* marks);
    bool may_replay(std::span<const Batch> batches) const;
    void fill_static_inputs(std::span<const Batch> batches, BatchFeed& feed);
    RecordedStep recorded_step();
    bool record();
    void stay_eager(bool out_of_memory, const std::string& reason);
    void replay(std::span<const Batch> batches, BatchFeed& feed);
    void make_precision();
    void make_optimizer();
    void keep_low_copies();
    Forward forward(const DeviceBatch& batch);
    Tensor scaled(const Tensor& loss);
    Tensor penalised(const Tensor& loss);
    void run_backward(const Tensor& loss);
    void tally(kernels::BatchTally* to, const Forward& out, const DeviceBatch& batch) const;
    Tensor loss_scale() const;
    void judge();
    void clip();
    void clip_by_value();
    void apply_update();
    void gather(const kernels::StepSources& sources) const;
    void dump_gradients();

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
    bool watch_f16_ = false;

    // Of the step in the making, on the device.
    DeviceRecord<kernels::BatchTally> tally_;
    DeviceRecord<Evaluation> evaluation_;
    DeviceRecord<kernels::Judgement> judgement_;
    DeviceRecord<kernels::StepFigures> figures_;
    Tensor f16_max_;  // 0-d f32

    std::optional<RecordedStep> recorded_;
    bool recording_ = true;
    int like_steps_ = 0;  // computed eagerly in a row with full batches
    std::int64_t replayed_ = 0;

    FigureRing ring_;
    std::deque<StepRecord> in_flight_;  // what the host knows of the steps in the ring
    kernels::LibraryFallbacks fallbacks_;
    std::vector<Message> warnings_;  // but for those of fallbacks_
    std::int64_t steps_ = 0;
    std::int64_t updates_ = 0;
    std::int64_t samples_ = 0;
    std::string dump_path_;
};

}  // namespace engine
