#include "train/trainer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/observer.h"
#include "engine/error.h"
#include "kernels/device.h"
#include "kernels/device_error.h"
#include "kernels/elementwise.h"
#include "kernels/parallel.h"
#include "kernels/scaler.h"
#include "ops/binary.h"
#include "ops/cast.h"
#include "ops/layout.h"
#include "ops/loss.h"
#include "ops/unary.h"
#include "optim/adamw.h"
#include "optim/sgd.h"
#include "store/safetensors.h"
#include "train/run_needs.h"
#include "train/schedule.h"

namespace engine {
namespace {

constexpr float unknown = std::numeric_limits<float>::quiet_NaN();

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

/// The figures of the judged gradients, unscaled.
void fill_gradient_figures(StepRecord& row, const kernels::Judgement& judgement) {
    const double scale = static_cast<double>(row.loss_scale);
    row.grad_norm = static_cast<float>(std::sqrt(judgement.sum_squares) / scale);
    row.grad_max = static_cast<float>(static_cast<double>(judgement.abs_max) / scale);
    const bool measurable = std::isfinite(row.grad_max) && row.grad_max > 0;
    row.grad_max_exponent = measurable ? static_cast<float>(std::ilogb(row.grad_max)) : unknown;
    const auto share = [&](std::int64_t part) {
        return judgement.nonzero > 0 ? static_cast<float>(static_cast<double>(part) /
                                                          static_cast<double>(judgement.nonzero))
                                     : 0.0f;
    };
    row.f16_zero_share = share(judgement.to_zero);
    row.f16_subnormal_share = share(judgement.subnormal);
    row.f16_overflow_share = share(judgement.overflow);
    const bool known = std::isfinite(row.scaled_f16_max) && row.scaled_f16_max > 0;
    row.scale_ceiling =
        known ? static_cast<float>(65504.0 * scale / static_cast<double>(row.scaled_f16_max))
              : unknown;
}

/// Marks of a step: its begin, then the ends of the forward and the backward pass of each batch,
/// and the end. A step that was replayed as a whole has its begin and its end alone.
void fill_times(StepRecord& row, const std::vector<float>& gaps) {
    for (const float gap : gaps) row.step_ms += gap;
    if (gaps.size() == 1) {
        row.forward_ms = row.backward_ms = row.optimizer_ms = unknown;
        return;
    }
    for (std::size_t i = 0; i + 1 < gaps.size(); ++i)
        (i % 2 == 0 ? row.forward_ms : row.backward_ms) += gaps[i];
    row.optimizer_ms = gaps.back();
}

/// Work given to the compute stream is recorded instead of run while the object lives.
class CaptureScope {
public:
    CaptureScope() { kernels::cuda::begin_capture(current_stream()); }
    ~CaptureScope() {
        if (open_) kernels::cuda::abandon_capture(current_stream());
    }
    CaptureScope(const CaptureScope&) = delete;
    CaptureScope& operator=(const CaptureScope&) = delete;
    std::unique_ptr<kernels::cuda::Graph> end() {
        open_ = false;
        return kernels::cuda::end_capture(current_stream());
    }

private:
    bool open_ = true;
};

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
    model_ = make_model(config_.model, sample, classes, config_.seed, device_);
    if (!config_.model.init_from.empty()) load_weights(*model_, config_.model.init_from);
    make_precision();
    make_optimizer();
    keep_low_copies();
    const UseScope use(MemoryUse::workspace);
    tally_ = DeviceRecord<kernels::BatchTally>(device_);
    evaluation_ = DeviceRecord<kernels::BatchTally>(device_);
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
    scaler_ = std::make_unique<GradScaler>(ScalerOptions{.init_scale = s.init_scale,
                                                         .growth_factor = s.growth_factor,
                                                         .backoff_factor = s.backoff_factor,
                                                         .growth_interval = s.growth_interval,
                                                         .enabled = precision_.scaler == "dynamic",
                                                         .min_scale = s.min_scale,
                                                         .max_scale = s.max_scale});
    if (precision_.scaler == "static")
        static_scale_ = Tensor::full({}, s.init_scale, DType::f32, device_);
    watch_f16_ = precision_.scaler != "off" &&
                 (precision_.autocast == "fp16" || precision_.weights == "fp16");
}

void Trainer::make_optimizer() {
    const OptimizerOptions options{
        .scaling_aware = true, .master_weights = precision_.master_weights, .write_grads = false};
    const OptimizerConfig& o = config_.optimizer;
    if (o.kind == "adamw") {
        optimizer_ = std::make_unique<AdamW>(
            model_->parameters(), AdamWOptions{o.lr, o.beta1, o.beta2, o.eps, o.weight_decay},
            options);
    } else {
        optimizer_ = std::make_unique<Sgd>(
            model_->parameters(), SgdOptions{o.lr, o.momentum, 0, o.weight_decay, o.nesterov},
            options);
    }
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
        const Tensor logits = model_->forward(x);
        return Forward{cross_entropy(logits, batch.labels), logits};
    };
    if (!region_) return run();
    const auto entered = region_->enter();
    return run();
}

Tensor Trainer::scaled(const Tensor& loss) {
    const Tensor part =
        config_.accumulate > 1 ? mul(loss, 1.0 / static_cast<double>(config_.accumulate)) : loss;
    if (static_scale_.defined()) return mul(part, static_scale_);
    return scaler_->scale(part);
}

void Trainer::run_backward(const Tensor& scaled_loss) {
    if (!watch_f16_) {
        backward(scaled_loss);
        return;
    }
    F16Range range(f16_max_);
    const ObserverScope attached(range);
    backward(scaled_loss);
}

void Trainer::tally(const DeviceRecord<kernels::BatchTally>& to, const Forward& out,
                    const DeviceBatch& batch) const {
    const Tensor logits = in_layout(out.logits.detach(), Layout::contiguous);
    on(device_, kernels::cpu::tally_batch, kernels::cuda::tally_batch)(
        to.data(), out.loss.array(), logits.array(), batch.labels.array(), logits.size(0),
        logits.size(1), current_stream());
}

/// 0-d f32 on the device; undefined without a scaler.
Tensor Trainer::loss_scale() const {
    return scaler_->is_enabled() ? scaler_->scale_tensor() : static_scale_;
}

void Trainer::judge() {
    if (scaler_->is_enabled()) {
        judgement_ = scaler_->judge(*optimizer_);
        return;
    }
    std::vector<kernels::ConstArray> grads;
    TensorList held;
    for (const auto& parameter : model_->parameters()) {
        if (!parameter.tensor.grad().defined()) continue;
        held.push_back(dense(parameter.tensor.grad()));
        grads.push_back(held.back().array());
    }
    if (!judgement_.defined()) judgement_ = DeviceRecord<kernels::Judgement>(device_);
    on(device_, kernels::cpu::multi_tensor_judge, kernels::cuda::multi_tensor_judge)(
        judgement_.data(), grads, current_stream());
}

void Trainer::clip_by_value() {
    const GradMode off(false);
    const Tensor scale = loss_scale();
    for (const auto& parameter : model_->parameters()) {
        const Tensor grad = parameter.tensor.grad();
        if (!grad.defined()) continue;
        const Tensor bound = scale.defined()
                                 ? to(mul(scale, config_.clip.value), grad.dtype())
                                 : Tensor::scalar(config_.clip.value, grad.dtype(), device_);
        parameter.tensor.set_grad(minimum(maximum(grad, neg(bound)), bound));
    }
}

void Trainer::clip() {
    if (config_.clip.kind == "value") {
        clip_by_value();
    } else if (config_.clip.kind == "norm") {
        const Tensor scale = loss_scale();
        optimizer_->clip = Tensor::empty({}, DType::f32, device_);
        on(device_, kernels::cpu::clip_coefficient, kernels::cuda::clip_coefficient)(
            optimizer_->clip.data_as<float>(), &judgement_.data()->sum_squares,
            scale.defined() ? scale.data_as<float>() : nullptr, config_.clip.value,
            current_stream());
    }
}

void Trainer::gather(const kernels::StepSources& sources) const {
    on(device_, kernels::cpu::gather_step, kernels::cuda::gather_step)(figures_.data(), sources,
                                                                       current_stream());
}

void Trainer::apply_update() {
    optimizer_->set_lr(schedule_of(config_, planned_));
    judge();
    const Tensor scale = loss_scale();
    kernels::StepSources before;
    before.tally = tally_.data();
    before.judgement = judgement_.data();
    before.lr = optimizer_->lr_tensor().data_as<float>();
    before.scaled_f16_max = f16_max_.data_as<float>();
    if (scale.defined()) before.loss_scale = scale.data_as<float>();
    gather(before);
    if (config_.clip.kind != "none") clip();
    kernels::StepSources after;
    if (scaler_->is_enabled()) {
        scaler_->step(*optimizer_);
        scaler_->update();
        after.growth_tracker = scaler_->tracker_tensor().data_as<std::int32_t>();
    } else {
        optimizer_->grad_scale = static_scale_;
        optimizer_->step();
    }
    after.counts = optimizer_->counts().data();
    after.updates = optimizer_->steps_tensor().data_as<std::int64_t>();
    if (scale.defined()) after.next_loss_scale = scale.data_as<float>();
    gather(after);
}

void Trainer::submit(std::span<const Batch> batches, BatchFeed& feed) {
    try {
        submit_step(batches, feed);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::memory) throw;
        throw Error(error.code(), error.message(), smaller_batch(config_, *books_, device_));
    }
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
        const Tensor scaled_loss = scaled(out.loss);
        tally(tally_, out, here);
        mark();
        run_backward(scaled_loss);
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

/// Full batches are alike; what the host must see of a step has it computed eagerly.
bool Trainer::may_replay(std::span<const Batch> batches) const {
    const auto full = [&](const Batch& batch) { return batch.size() == config_.batch_size; };
    return recording_ && device_.kind == Device::Kind::cuda && dump_path_.empty() &&
           static_cast<std::int64_t>(batches.size()) == config_.accumulate &&
           std::all_of(batches.begin(), batches.end(), full);
}

void Trainer::fill_static_inputs(std::span<const Batch> batches, BatchFeed& feed) {
    for (std::size_t i = 0; i < batches.size(); ++i) {
        const DeviceBatch from = feed.upload(batches[i]);
        const DeviceBatch& to = recorded_->inputs[i];
        copy_bytes(to.inputs.data(), from.inputs.data(), to.inputs.bytes(), device_);
        copy_bytes(to.labels.data(), from.labels.data(), to.labels.bytes(), device_);
        feed.used(from);
    }
}

/// Records the step over static inputs; nothing of it runs. False if it cannot be recorded, for
/// want of memory or because something in it must be seen by the host: then steps stay eager.
bool Trainer::record() {
    RecordedStep step{std::make_shared<MemoryPool>(device_), {}, nullptr};
    recording_ = false;  // unless it comes to its end
    try {
        for (std::int64_t i = 0; i < config_.accumulate; ++i)
            step.inputs.push_back(empty_batch(device_, sample_, config_.batch_size));
        const PoolScope pool(step.pool);
        CaptureScope capture;
        compute(step.inputs.size(),
                {[&](std::size_t i) { return step.inputs[i]; }, [](const DeviceBatch&) {}},
                nullptr);
        step.graph = capture.end();
    } catch (const Error& error) {
        if (error.code() != ErrorCode::memory) throw;
        return false;
    } catch (const kernels::DeviceError&) {
        if (kernels::cuda::device_count() == 0) throw;  // it has failed for good
        return false;
    }
    recording_ = true;
    recorded_ = std::move(step);
    return true;
}

void Trainer::replay(std::span<const Batch> batches, BatchFeed& feed) {
    fill_static_inputs(batches, feed);
    recorded_->graph->launch(current_stream());
    optimizer_->note_replay();
    ++replayed_;
}

void Trainer::submit_step(std::span<const Batch> batches, BatchFeed& feed) {
    kernels::cpu::set_threads(threads_);
    const DeviceScope scope(device_);
    const BooksScope books(books_);
    const Tf32Scope tf32(precision_.tf32);
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

StepRecord Trainer::row_of(const StepRecord& submitted, const FigureRing::Arrived& arrived) const {
    const kernels::StepFigures& figures = arrived.figures;
    StepRecord row = submitted;
    const auto samples = static_cast<double>(figures.tally.samples);
    row.loss = static_cast<float>(figures.tally.loss_sum / samples);
    row.accuracy = static_cast<float>(static_cast<double>(figures.tally.correct) / samples);
    row.lr = figures.lr;
    row.loss_scale = loss_scale().defined() ? figures.loss_scale : 1;
    row.growth_tracker = figures.growth_tracker;
    row.found_inf = scaler_->is_enabled() && figures.judgement.found_inf != 0 ? 1 : 0;
    row.updates = figures.updates;
    const bool any =
        watch_f16_ && std::isfinite(figures.scaled_f16_max) && figures.scaled_f16_max > 0;
    row.scaled_f16_max = any ? figures.scaled_f16_max : unknown;
    fill_gradient_figures(row, figures.judgement);
    row.lost_update_share = figures.counts.nonzero > 0
                                ? static_cast<float>(static_cast<double>(figures.counts.lost) /
                                                     static_cast<double>(figures.counts.nonzero))
                                : unknown;
    fill_times(row, arrived.gaps);
    return row;
}

std::optional<FinishedStep> Trainer::take(bool all) {
    if (ring_.size() == 0 || (!all && ring_.size() <= ring_.depth())) return std::nullopt;
    const DeviceScope scope(device_);
    const FigureRing::Arrived arrived = ring_.pop();
    const StepRecord row = row_of(in_flight_.front(), arrived);
    in_flight_.pop_front();
    updates_ = row.updates;
    const bool scaling = loss_scale().defined();
    return FinishedStep{row, scaling ? static_cast<double>(arrived.figures.next_loss_scale) : 1.0};
}

FinishedStep Trainer::step(std::span<const Batch> batches, BatchFeed& feed) {
    submit(batches, feed);
    return *take(true);
}

void Trainer::evaluate(const Batch& batch, BatchFeed& feed) {
    kernels::cpu::set_threads(threads_);
    const DeviceScope scope(device_);
    const BooksScope books(books_);
    const Tf32Scope tf32(precision_.tf32);
    const InferenceMode inference;
    model_->training = false;
    const DeviceBatch here = feed.upload(batch);
    const Forward out = forward(here);
    model_->training = true;
    tally(evaluation_, out, here);
    feed.used(here);
}

Tally Trainer::take_evaluation() {
    const kernels::BatchTally tally = evaluation_.host();
    evaluation_.clear();
    return {tally.loss_sum, tally.correct, tally.samples};
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
