#include "train/run/trainer.h"

#include <utility>

#include "io/safetensors/safetensors.h"
#include "kernels/device_error.h"
#include "ops/index/sparse.h"
#include "ops/pointwise/binary.h"
#include "parallel/communicator.h"
#include "parallel/device_ranks.h"
#include "tasks/task_descriptor.h"
#include "tensor/cast.h"
#include "tensor/deferred_errors.h"
#include "tensor/device_record.h"
#include "tensor/layout.h"
#include "train/run/run_needs.h"
#include "train/step/step_observer.h"
#include "train/teach/broken_scaler.h"
#include "train/teach/composed_norms.h"
#include "train/teach/planted_fault.h"

namespace engine {
namespace {

/// Writes the loss and the unscaled f32 gradients of the first observed step to a safetensors file
/// ("loss", "grad.<name>").
class GradientDump final : public StepObserver {
public:
    /// `sums`: those of the step.
    GradientDump(std::string path, DeviceRecord<MetricSums> sums)
        : path_(std::move(path)), sums_(std::move(sums)) {}

    bool observes(std::int64_t) const override { return !written_; }
    /// Writes them before the update of the last phase. Throws Error(io).
    void before_update(const StepView& step) override {
        if (step.phase + 1 < step.task.phases().size()) return;
        written_ = true;
        const GradMode off(false);
        const MetricSums sums = sums_.host();
        const Tensor loss_scale = step.precision.loss_scale();
        const double scale = loss_scale.defined() ? loss_scale.item() : 1;
        TensorList held;
        std::vector<TensorEntry> entries;
        const auto add_entry = [&](const std::string& name, const Tensor& value) {
            held.push_back(
                in_layout(to(value.detach(), DType::f32), Layout::contiguous).copy_to(Device{}));
            const Tensor& kept = held.back();
            entries.push_back({name,
                               "F32",
                               {kept.shape().begin(), kept.shape().end()},
                               {kept.data_as<const std::byte>(), kept.bytes()}});
        };
        add_entry("loss", Tensor::full({}, sums.loss / sums.weight, DType::f32, Device{}));
        for (const auto& parameter : step.model.parameters()) {
            const Tensor grad = parameter.tensor.grad();
            if (grad.defined())
                add_entry("grad." + parameter.name,
                          mul(to(to_dense(grad), DType::f32), 1.0 / scale));
        }
        write_safetensors(path_, entries, {});
    }

private:
    std::string path_;
    DeviceRecord<MetricSums> sums_;
    bool written_ = false;
};

/// The fields of a captured batch. What autocast would cast before anything else reads it lies in
/// autocast's type already: the feed rounds it once, as the cast would. Images that convolutions
/// alone read lie as those read them.
Schema captured_schema(const Task& task, const Model& model, const MixedPrecision& precision,
                       bool training) {
    Schema schema = task.schema(training);
    const auto low = precision.low_type();
    if (!low || !model.casts_inputs_first()) return schema;
    for (std::size_t f = 0; f < schema.fields.size(); ++f) {
        FieldSpec& field = schema.fields[f];
        if (!is_floating(field.dtype) || !task.gives_to_model_alone(f)) continue;
        field.dtype = *low;
        field.padded_pixels = field.kind == FieldKind::image && model.convolves_inputs_first();
    }
    return schema;
}

}  // namespace

Trainer::Trainer(const RunConfig& config, const Device& device, const Schema& data,
                 const PlannedSteps& planned, std::shared_ptr<Communicator> ranks,
                 std::int64_t memory_limit)
    : config_(config),
      context_(config, device, std::move(ranks), make_composed_norms(config.teach)),
      scratch_(context_.accounting(), device),
      task_(make_task(config, data)),
      rows_(device, *task_) {
    const ModelShape shape = task_->model_shape();
    check_model_fits(config_, shape, device);
    accounting()->set_limit(memory_limit);
    const RunContext::Entry entered(context_);
    model_ = make_model(config_.model, shape, config_.seed, device);
    model_->recompute_blocks = config_.recompute == Recompute::blocks;
    if (!config_.model.init_from.empty()) {
        warnings_ = load_weights(*model_, config_.model.init_from,
                                 config_.model.new_head ? Head::drawn_if_other : Head::read,
                                 config_.model.init_key);
    }
    freeze(*model_, config_.model.freeze);
    take_from_first(model_->parameters());
    take_from_first(model_->buffers());
    step_ = std::make_unique<TrainStep>(config_, *task_, *model_, device, planned, context_.ranks(),
                                        make_broken_scaler(config_, device));
    step_->deliver_figures(rows_.slots());
    const MixedPrecision& precision = step_->precision();
    graph_ = std::make_unique<StepGraph>(*step_, captured_schema(*task_, *model_, precision, true),
                                         device, config_.batch_size, config_.accumulate);
    if (const PlantConfig& plant = config_.teach.plant; plant.kind != PlantKind::none)
        attach(std::make_shared<PlantedFault>(plant, task_->schema(true), *model_));
    evaluator_ = std::make_unique<Evaluator>(*task_, *model_, precision, device);
    evaluation_graph_ = std::make_unique<EvaluationGraph>(
        *evaluator_, *model_, precision, captured_schema(*task_, *model_, precision, false),
        device);
    set_recording(true);
}

Trainer::~Trainer() = default;

/// Copies rank 0's values to all ranks.
void Trainer::take_from_first(const std::vector<Parameter>& tensors) const {
    Communicator* const ranks = context_.ranks();
    if (!ranks) return;
    for (const Parameter& each : tensors) {
        broadcast_over(*ranks, each.tensor.array(), device());
        each.tensor.bump_version();
    }
}

template <typename Work>
void Trainer::with_batch_to_try(const Work& work) const {
    const MemoryAccounting& accounting = *context_.accounting();
    try {
        try {
            work();
        } catch (...) {
            clear_deferred_errors(device());
            throw;
        }
    } catch (const Error& error) {
        if (error.code() != ErrorCode::memory) throw;
        throw Error(error.code(), error.message(), smaller_batch(config_, accounting, device()));
    } catch (const kernels::OutOfMemory& error) {  // of a library, or pinned
        throw Error(ErrorCode::memory, out_of_memory(error, &accounting, device()),
                    smaller_batch(config_, accounting, device()));
    }
}

void Trainer::submit(std::span<const Batch> batches, BatchFeed& feed) {
    with_batch_to_try([&] { submit_step(batches, feed); });
}

void Trainer::submit_step(std::span<const Batch> batches, BatchFeed& feed) {
    const RunContext::Entry entered(context_);
    if (before_) before_->keep(counts());
    if (batches.front().index_in_epoch == 0) step_->state().carried().reset();
    step_->observers().announce(steps_ + 1);
    const bool replays = graph_->prepare(batches);
    StepMarks& marks = rows_.begin(step_->figures());
    if (replays) {
        graph_->replay(batches, feed, marks.next_event());
    } else {
        marks.mark();
        std::vector<std::int64_t> terms;
        for (const Batch& batch : batches) {
            const std::int64_t rows = batch.share.all > 0 ? batch.share.all : batch.rows();
            terms.push_back(task_->loss_terms(rows, batch.samples));
        }
        step_->compute(batches.size(),
                       {[&](std::size_t i) { return feed.upload(batches[i]); },
                        [&](const DeviceBatch& batch) { feed.used(batch); }, std::move(terms)},
                       &marks);
        marks.mark();
    }
    if (before_) before_->check();
    for (const Batch& batch : batches) samples_ += batch.samples;
    const QuantizedLayers* const quantized = step_->precision().quantized();
    rows_.push({.step = ++steps_,
                .samples = samples_,
                .memory_bytes = accounting()->total(),
                .peak_bytes = accounting()->peak(),
                .scale_floor = step_->observers().scale_floor(steps_),
                .exchange = ranks() ? step_->forward_backward().exchange_timer() : ExchangeTimer(),
                .casts = quantized ? std::optional(quantized->casts()) : std::nullopt,
                .kept_share = quantized ? quantized->kept_share()
                                        : std::numeric_limits<float>::quiet_NaN()});
}

std::optional<CompletedStep> Trainer::take(bool all) {
    const DeviceScope scope(device());
    const MixedPrecision& precision = step_->precision();
    auto step = rows_.take(all, {.scaled = precision.loss_scale().defined(),
                                 .may_skip = precision.scaler().is_dynamic(),
                                 .watched_f16 = precision.watches_f16(),
                                 .updates_apart = updates_apart_});
    if (!step) return step;
    updates_ = step->row.updates;
    if (DeviceRanks* const gpus = ranks() ? ranks()->on_device() : nullptr) gpus->check_intact();
    return step;
}

CompletedStep Trainer::step(std::span<const Batch> batches, BatchFeed& feed) {
    submit(batches, feed);
    CompletedStep step = *take(true);
    if (step.refused) throw *step.refused;
    return step;
}

TrainingState Trainer::saved_state() {
    const RunContext::Entry entered(context_);
    TrainingState out = step_->state().saved_state();
    out.counts = counts();
    return out;
}

SavedNumbers Trainer::counts() const {
    return {{"steps", static_cast<double>(steps_)},
            {"updates", static_cast<double>(updates_)},
            {"updates_apart", static_cast<double>(updates_apart_)},
            {"samples", static_cast<double>(samples_)}};
}

void Trainer::keep_states(bool keep) {
    const RunContext::Entry entered(context_);
    if (!keep) {
        before_.reset();
    } else if (!before_) {
        before_ = std::make_unique<StateBefore>(step_->state());
        before_->begin();
    }
}

TrainingState Trainer::kept_state() {
    const RunContext::Entry entered(context_);
    return before_->state();
}

void Trainer::load_state(const TrainingState& saved, const StateChange& change) {
    const RunContext::Entry entered(context_);
    try {
        step_->state().load_state(saved, change);
    } catch (const Error& error) {
        throw Error(ErrorCode::data, error.message(), error.hint());
    }
    const auto count = [&](const char* name) { return saved_count(saved.counts, name); };
    steps_ = count("steps");
    // Older checkpoints lack this count.
    const std::int64_t apart = saved.counts.contains("updates_apart") ? count("updates_apart") : 0;
    if (change.own_updates) {
        updates_apart_ = updates_ - (count("updates") - apart);
    } else {
        updates_ = count("updates");
        updates_apart_ = apart;
    }
    samples_ = count("samples");
}

void Trainer::begin_evaluation() {
    const RunContext::Entry entered(context_);
    take_from_first(model_->buffers());
    evaluator_->begin();
    evaluation_graph_->begin();
}

MetricSums Trainer::take_evaluation() { return evaluator_->take(context_.ranks()); }

Tensor Trainer::evaluate(const Batch& batch, BatchFeed& feed) {
    Tensor predicted;
    if (batch.share.idle()) return predicted;
    with_batch_to_try([&] {
        const RunContext::Entry entered(context_);
        predicted = evaluation_graph_->add(batch, feed, graph_->pool());
    });
    return predicted;
}

/// The exchange of several ranks uses the host and a stream of its own.
void Trainer::set_recording(bool on) {
    graph_->set_enabled(on && !ranks());
    evaluation_graph_->set_enabled(on && !ranks());
}

void Trainer::set_rate_multiplier(double multiplier) {
    const RunContext::Entry entered(context_);
    step_->update().set_rate_multiplier(multiplier);
}

std::vector<Message> Trainer::take_warnings() {
    std::vector<Message> out = std::exchange(warnings_, {});
    for (Message& warning : graph_->take_warnings()) out.push_back(std::move(warning));
    for (Message& warning : evaluation_graph_->take_warnings()) out.push_back(std::move(warning));
    for (Message& fallback : context_.take_fallbacks()) out.push_back(std::move(fallback));
    return out;
}

void Trainer::dump_next_gradients(std::string path) {
    attach(std::make_shared<GradientDump>(std::move(path), step_->forward_backward().sums()));
}

}  // namespace engine
