#include "train/trainer.h"

#include <utility>

#include "autograd/backward.h"
#include "core/cast.h"
#include "core/layout.h"
#include "core/library_scratch.h"
#include "core/observer.h"
#include "core/refusals.h"
#include "core/wide.h"
#include "engine/error.h"
#include "kernels/device_error.h"
#include "kernels/elementwise.h"
#include "kernels/parallel.h"
#include "linalg/norm.h"
#include "loss/cross_entropy.h"
#include "pointwise/binary.h"
#include "pointwise/unary.h"
#include "safetensors/safetensors.h"
#include "shape/view.h"
#include "train/fallback_warning.h"
#include "train/make_optimizer.h"
#include "train/run_needs.h"
#include "train/step_row.h"

namespace engine {
namespace {

/// Largest magnitude of the f16 gradients of a step: the upper edge of the loss-scale band. Kept on
/// the device; 0 where there were none.
class F16Range final : public OpObserver {
public:
    explicit F16Range(const Tensor& largest) : largest_(largest) {}
    void on_op(const OpEvent&) override {}
    void on_gradient(const OpInfo&, const Tensor& gradient) override {
        if (gradient.dtype() != DType::f16) return;
        const Tensor flat = dense(gradient);
        on(flat.device(), kernels::cpu::abs_max, kernels::cuda::abs_max)(
            largest_.data_as<float>(), flat.array(), current_stream());
    }

private:
    Tensor largest_;
};

DType dtype_of(const std::string& precision) {
    if (precision == "fp16") return DType::f16;
    return precision == "bf16" ? DType::bf16 : DType::f32;
}

}  // namespace

Trainer::Trainer(const RunConfig& config, const Device& device, const SampleShape& sample,
                 std::int64_t classes, std::int64_t planned)
    : config_(config),
      sample_(sample),
      precision_(resolve(config.precision)),
      planned_(planned),
      threads_(config.threads > 0 ? static_cast<int>(config.threads)
                                  : kernels::cpu::hardware_threads()),
      books_(std::make_shared<MemoryBooks>()),
      device_(device),
      ring_(device) {
    kernels::cpu::set_threads(threads_);
    check_model_fits(config_, sample_, classes, device_);
    const DeviceScope scope(device_);
    const BooksScope books(books_);
    book_library_scratch(books_, device_);
    model_ = make_model(config_.model, sample, classes, config_.seed, device_);
    if (!config_.model.init_from.empty()) load_weights(*model_, config_.model.init_from);
    make_precision();
    make_optimizer();
    keep_low_copies();
    const UseScope use(MemoryUse::workspace);
    tally_ = DeviceRecord<kernels::BatchTally>(device_);
    evaluation_ = DeviceRecord<Evaluation>(device_);
    evaluation_.clear();
    figures_ = DeviceRecord<kernels::StepFigures>(device_);
    figures_.clear();
    f16_max_ = Tensor::zeros({}, DType::f32, device_);
}

Trainer::~Trainer() = default;

void Trainer::make_precision() {
    if (precision_.weights == "fp16")
        convert_weights(*model_, DType::f16, precision_.batch_norm != "fp16");
    if (precision_.autocast != "off")
        region_.emplace(device_.kind, true, dtype_of(precision_.autocast));
    const ScalerConfig& s = config_.scaler;
    scaler_ =
        std::make_unique<GradScaler>(ScalerOptions{.init_scale = s.init_scale,
                                                   .growth_factor = s.growth_factor,
                                                   .backoff_factor = s.backoff_factor,
                                                   .growth_interval = s.growth_interval,
                                                   .enabled = precision_.scaler == "dynamic",
                                                   .min_scale = s.min_scale,
                                                   .max_scale = s.max_scale,
                                                   .hysteresis = static_cast<int>(s.hysteresis)});
    if (precision_.scaler == "static")
        static_scale_ = Tensor::full({}, s.init_scale, DType::f32, device_);
    watch_f16_ = precision_.scaler != "off" &&
                 (precision_.autocast == "fp16" || precision_.weights == "fp16");
}

void Trainer::make_optimizer() {
    const OptimizerOptions options{
        .scaling_aware = true, .master_weights = precision_.master_weights, .write_grads = false};
    optimizer_ = engine::make_optimizer(config_.optimizer, model_->parameters(), options);
}

/// D6: the optimizer writes these as it updates the masters, so no step casts a weight.
void Trainer::keep_low_copies() {
    if (!region_ || !region_->enabled()) return;
    const UseScope use(MemoryUse::cast_cache);
    const GradMode off(false);
    for (const auto& parameter : model_->parameters()) {
        if (!parameter.autocast_low || parameter.tensor.dtype() != DType::f32) continue;
        parameter.tensor.impl()->low_copy = std::make_shared<LowCopy>(
            LowCopy{to(parameter.tensor.detach(), region_->low()), parameter.tensor.version()});
    }
}

Trainer::Forward Trainer::forward(const DeviceBatch& batch) {
    const auto run = [&] {
        const Tensor x = precision_.weights == "fp16" ? to(batch.inputs, DType::f16) : batch.inputs;
        Tensor logits = model_->forward(x);
        // O2 gives its outputs in f32 (4.1).
        if (precision_.master_weights) logits = to(logits, DType::f32);
        return Forward{cross_entropy(logits, batch.labels), logits};
    };
    if (!region_) return run();
    const auto entered = region_->enter();
    return run();
}

Tensor Trainer::scaled(const Tensor& loss) {
    return static_scale_.defined() ? mul(loss, static_scale_) : scaler_->scale(loss);
}

/// loss + weight * norm of its gradient by the parameters, to be differentiated again (recipe 3.4):
/// the gradient is taken of the scaled loss, so that it survives fp16, and unscaled on the tape.
Tensor Trainer::penalised(const Tensor& loss) {
    if (config_.gradient_penalty == 0) return loss;
    TensorList weights;
    for (const auto& parameter : model_->parameters()) weights.push_back(parameter.tensor);
    const Tensor scaled_loss = scaled(loss);
    const TensorList grads =
        grad({&scaled_loss, 1}, weights, {}, {.create_graph = true}, /*allow_unused=*/true);
    std::optional<AutocastRegion::Entry> entered;
    if (region_) entered.emplace(*region_);
    const Tensor scale = loss_scale();
    TensorList norms;
    for (const auto& g : grads) {
        if (!g.defined()) continue;
        const Tensor wide = widened(g);
        norms.push_back(reshape(norm(scale.defined() ? mul(wide, reciprocal(scale)) : wide), {1}));
    }
    return add(loss, mul(norm(cat(norms, 0)), config_.gradient_penalty));
}

void Trainer::run_backward(const Tensor& loss) {
    F16Range range(f16_max_);
    std::optional<ObserverScope> attached;
    if (watch_f16_) attached.emplace(range);
    const Tensor whole = penalised(loss);
    backward(scaled(config_.accumulate > 1
                        ? mul(whole, 1.0 / static_cast<double>(config_.accumulate))
                        : whole));
}

void Trainer::tally(kernels::BatchTally* to, const Forward& out, const DeviceBatch& batch) const {
    const Tensor logits = in_layout(out.logits.detach(), Layout::contiguous);
    on(device_, kernels::cpu::tally_batch, kernels::cuda::tally_batch)(
        to, out.loss.array(), logits.array(), batch.labels.array(), logits.size(0), logits.size(1),
        current_stream());
}

template <typename Work>
void Trainer::with_batch_to_try(const Work& work) const {
    try {
        try {
            work();
        } catch (...) {
            forget_refusals(device_);
            throw;
        }
    } catch (const Error& error) {
        if (error.code() != ErrorCode::memory) throw;
        throw Error(error.code(), error.message(), smaller_batch(config_, *books_, device_));
    } catch (const kernels::OutOfMemory& error) {  // of a library, or pinned
        throw Error(ErrorCode::memory, out_of_memory(error, books_.get(), device_),
                    smaller_batch(config_, *books_, device_));
    }
}

void Trainer::submit(std::span<const Batch> batches, BatchFeed& feed) {
    with_batch_to_try([&] { submit_step(batches, feed); });
}

/// The work of a step on the device, from the batches to the figures. Asks nothing of the host but
/// the marks.
void Trainer::compute(std::size_t batches, const Supply& supply, StepMarks* marks) {
    const auto mark = [marks] {
        if (marks) marks->mark();
    };
    optimizer_->zero_grad();
    tally_.clear();
    if (watch_f16_) set_zero(f16_max_.data(), f16_max_.bytes(), device_);
    for (std::size_t i = 0; i < batches; ++i) {
        const DeviceBatch here = supply.get(i);
        const Forward out = forward(here);
        tally(tally_.data(), out, here);
        mark();
        run_backward(out.loss);
        supply.used(here);
        mark();
    }
    for (const auto& parameter : model_->parameters()) {
        if (const Tensor grad = parameter.tensor.grad(); grad.defined())
            grad.impl()->storage->block.rebook(MemoryUse::gradients);
    }
    if (!dump_path_.empty()) dump_gradients();
    apply_update();
}

void Trainer::submit_step(std::span<const Batch> batches, BatchFeed& feed) {
    kernels::cpu::set_threads(threads_);
    const DeviceScope scope(device_);
    const BooksScope books(books_);
    const Tf32Scope tf32(precision_.tf32);
    const kernels::LibraryFallbackScope heard(fallbacks_);
    // The first steps make the optimizer's state, the plans of the libraries and the cached blocks.
    constexpr int eager_steps = 3;
    const bool alike = may_replay(batches);
    const bool replays = alike && (recorded_ || (like_steps_ >= eager_steps && record()));
    StepMarks& marks = ring_.marks();
    marks.restart();
    marks.mark();
    if (replays) {
        replay(batches, feed);
    } else {
        compute(batches.size(),
                {[&](std::size_t i) { return feed.upload(batches[i]); },
                 [&](const DeviceBatch& batch) { feed.used(batch); }},
                &marks);
        if (alike) ++like_steps_;
    }
    ring_.push(figures_);
    StepRecord row{};
    row.step = ++steps_;
    for (const Batch& batch : batches) samples_ += batch.size();
    row.samples = samples_;
    row.memory_bytes = books_->total();
    row.peak_bytes = books_->peak();
    in_flight_.push_back(row);
}

std::optional<FinishedStep> Trainer::take(bool all) {
    if (ring_.size() == 0 || (!all && ring_.size() <= ring_.depth())) return std::nullopt;
    const DeviceScope scope(device_);
    const FigureRing::Arrived arrived = ring_.pop();
    const bool scaling = loss_scale().defined();
    StepRecord row = in_flight_.front();
    in_flight_.pop_front();
    fill_row(row, arrived,
             {.scaled = scaling, .may_skip = scaler_->is_enabled(), .watched_f16 = watch_f16_});
    updates_ = row.updates;
    return FinishedStep{row, scaling ? static_cast<double>(arrived.figures.next_loss_scale) : 1.0,
                        refusal_in(arrived.figures.refusal)};
}

FinishedStep Trainer::step(std::span<const Batch> batches, BatchFeed& feed) {
    submit(batches, feed);
    FinishedStep step = *take(true);
    if (step.refused) throw *step.refused;
    return step;
}

void Trainer::evaluate(const Batch& batch, BatchFeed& feed) {
    with_batch_to_try([&] { evaluate_batch(batch, feed); });
}

void Trainer::evaluate_batch(const Batch& batch, BatchFeed& feed) {
    kernels::cpu::set_threads(threads_);
    const DeviceScope scope(device_);
    const BooksScope books(books_);
    const Tf32Scope tf32(precision_.tf32);
    const kernels::LibraryFallbackScope heard(fallbacks_);
    const InferenceMode inference;
    model_->training = false;
    const DeviceBatch here = feed.upload(batch);
    const Forward out = forward(here);
    model_->training = true;
    tally(&evaluation_.data()->tally, out, here);
    if (kernels::RefusalNote* note = refusal_note(device_))
        kernels::cuda::take_refusal(&evaluation_.data()->refusal, note, current_stream());
    feed.used(here);
}

Tally Trainer::take_evaluation() {
    const auto [tally, refusal] = evaluation_.host();
    evaluation_.clear();
    if (const auto refused = refusal_in(refusal)) throw *refused;
    return {tally.loss_sum, tally.correct, tally.samples};
}

std::vector<Message> Trainer::take_warnings() {
    std::vector<Message> out = std::exchange(warnings_, {});
    for (const auto& fallback : fallbacks_.take()) out.push_back(tell(fallback));
    return out;
}

void Trainer::dump_gradients() {
    const GradMode off(false);
    const kernels::BatchTally tally = tally_.host();
    const Tensor scale_tensor = loss_scale();
    const double scale = scale_tensor.defined() ? scale_tensor.item() : 1;
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
    add_entry("loss", Tensor::full({}, tally.loss_sum / static_cast<double>(tally.samples),
                                   DType::f32, Device{}));
    for (const auto& parameter : model_->parameters()) {
        const Tensor grad = parameter.tensor.grad();
        if (grad.defined())
            add_entry("grad." + parameter.name, mul(to(grad, DType::f32), 1.0 / scale));
    }
    write_safetensors(dump_path_, entries, {});
    dump_path_.clear();
}

}  // namespace engine
