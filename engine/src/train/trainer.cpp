#include "train/trainer.h"

#include <cmath>
#include <limits>

#include "core/observer.h"
#include "engine/error.h"
#include "kernels/elementwise.h"
#include "kernels/parallel.h"
#include "kernels/reduce.h"
#include "kernels/scaler.h"
#include "ops/binary.h"
#include "ops/cast.h"
#include "ops/layout.h"
#include "ops/loss.h"
#include "optim/adamw.h"
#include "optim/sgd.h"
#include "store/safetensors.h"
#include "train/run_needs.h"
#include "train/schedule.h"

namespace engine {
namespace {

using Clock = std::chrono::steady_clock;
constexpr float unknown = std::numeric_limits<float>::quiet_NaN();

float ms_since(Clock::time_point start) {
    return std::chrono::duration<float, std::milli>(Clock::now() - start).count();
}

/// Largest magnitude of the f16 gradients of one backward pass: the upper edge of the loss-scale
/// band.
class F16Range final : public OpObserver {
public:
    void on_op(const OpEvent&) override {}
    void on_gradient(const OpInfo&, const Tensor& gradient) override {
        if (gradient.dtype() != DType::f16) return;
        float largest = 0;
        const Tensor flat = dense(gradient);
        on(flat.device(), kernels::cpu::abs_max, kernels::cuda::abs_max)(&largest, flat.array(),
                                                                         current_stream());
        lost_ = lost_ || !std::isfinite(largest);
        largest_ = std::max(largest_, largest);
        any_ = true;
    }
    /// NaN if there was none, or if it was lost to overflow.
    float largest() const { return any_ && !lost_ ? largest_ : unknown; }

private:
    float largest_ = 0;
    bool any_ = false;
    bool lost_ = false;
};

std::int64_t count_correct(const Tensor& logits, const std::vector<std::int64_t>& labels) {
    const Tensor flat = in_layout(logits.detach(), Layout::contiguous);
    std::vector<std::int64_t> best(labels.size());
    const kernels::Array out{best.data(), DType::i64, static_cast<std::int64_t>(best.size())};
    on(flat.device(), kernels::cpu::arg_max, kernels::cuda::arg_max)(
        out, flat.array(), flat.size(0), flat.size(1), 1, current_stream());
    std::int64_t correct = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) correct += best[i] == labels[i] ? 1 : 0;
    return correct;
}

DType dtype_of(const std::string& precision) {
    if (precision == "fp16") return DType::f16;
    return precision == "bf16" ? DType::bf16 : DType::f32;
}

}  // namespace

Trainer::Trainer(const RunConfig& config, const SampleShape& sample, std::int64_t classes,
                 std::int64_t planned)
    : config_(config),
      sample_(sample),
      precision_(resolve(config.precision)),
      planned_(planned),
      threads_(config.threads > 0 ? static_cast<int>(config.threads)
                                  : kernels::cpu::hardware_threads()),
      books_(std::make_shared<MemoryBooks>()) {
    kernels::cpu::set_threads(threads_);
    check_model_fits(config_, sample_, classes, device_);
    const BooksScope books(books_);
    model_ = make_model(config_.model, sample, classes, config_.seed, device_);
    if (!config_.model.init_from.empty()) load_weights(*model_, config_.model.init_from);
    make_precision();
    make_optimizer();
    keep_low_copies();
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

Tensor Trainer::inputs_of(const Batch& batch) const {
    const auto n = batch.size();
    const auto pixels = static_cast<std::int64_t>(batch.pixels.size()) / n;
    const Tensor x = sample_.is_image()
                         ? Tensor::empty({n, sample_.channels, sample_.height, sample_.width},
                                         DType::f32, device_, Layout::channels_last)
                         : Tensor::empty({n, pixels}, DType::f32, device_);
    x.copy_from_host(batch.pixels.data());
    return precision_.weights == "fp16" ? to(x, DType::f16) : x;
}

Tensor Trainer::labels_of(const Batch& batch) const {
    const Tensor labels = Tensor::empty({batch.size()}, DType::i64, device_);
    labels.copy_from_host(batch.labels.data());
    return labels;
}

Trainer::Forward Trainer::forward(const Batch& batch) {
    const auto run = [&] {
        const Tensor logits = model_->forward(inputs_of(batch));
        return Forward{cross_entropy(logits, labels_of(batch)), logits};
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

void Trainer::run_backward(const Tensor& scaled_loss, StepRecord& row) {
    const bool watch = precision_.scaler != "off" &&
                       (precision_.autocast == "fp16" || precision_.weights == "fp16");
    if (!watch) {
        backward(scaled_loss);
        return;
    }
    F16Range range;
    const ObserverScope attached(range);
    backward(scaled_loss);
    const float before = row.scaled_f16_max;
    row.scaled_f16_max = config_.accumulate > 1 && !std::isnan(before)
                             ? std::max(before, range.largest())
                             : range.largest();
}

kernels::Judgement Trainer::judge() {
    if (scaler_->is_enabled()) return scaler_->judge(*optimizer_);
    kernels::Judgement judgement{};
    std::vector<kernels::ConstArray> grads;
    TensorList held;
    for (const auto& parameter : model_->parameters()) {
        if (!parameter.tensor.grad().defined()) continue;
        held.push_back(dense(parameter.tensor.grad()));
        grads.push_back(held.back().array());
    }
    on(device_, kernels::cpu::multi_tensor_judge, kernels::cuda::multi_tensor_judge)(
        &judgement, grads, current_stream());
    return judgement;
}

void Trainer::clip(const kernels::Judgement& judgement) {
    const Tensor scale = scaler_->is_enabled() ? scaler_->scale_tensor() : static_scale_;
    if (config_.clip.kind == "norm") {
        optimizer_->clip = Tensor::full({}, 1, DType::f32, device_);
        on(device_, kernels::cpu::clip_coefficient, kernels::cuda::clip_coefficient)(
            optimizer_->clip.data_as<float>(), &judgement.sum_squares,
            scale.defined() ? scale.data_as<float>() : nullptr, config_.clip.value,
            current_stream());
    } else if (config_.clip.kind == "value") {
        const double bound = config_.clip.value * (scale.defined() ? scale.item() : 1.0);
        for (const auto& parameter : model_->parameters()) {
            const Tensor grad = parameter.tensor.grad();
            if (!grad.defined()) continue;
            const GradMode off(false);
            const Tensor low = Tensor::scalar(-bound, grad.dtype(), device_),
                         high = Tensor::scalar(bound, grad.dtype(), device_);
            parameter.tensor.set_grad(minimum(maximum(grad, low), high));
        }
    }
}

void Trainer::fill_gradient_figures(StepRecord& row, const kernels::Judgement& judgement) const {
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

void Trainer::apply_update(StepRecord& row) {
    optimizer_->set_lr(learning_rate(config_, updates_, planned_));
    row.lr = static_cast<float>(optimizer_->lr());
    row.loss_scale = static_cast<float>(next_loss_scale());
    const kernels::Judgement judgement = judge();
    fill_gradient_figures(row, judgement);
    if (config_.clip.kind != "none") clip(judgement);
    if (scaler_->is_enabled()) {
        scaler_->step(*optimizer_);
        row.found_inf = judgement.found_inf != 0 ? 1 : 0;
        scaler_->update();
    } else {
        optimizer_->grad_scale = static_scale_;
        optimizer_->step();
    }
    row.growth_tracker = static_cast<std::int32_t>(scaler_->growth_tracker());
    const auto& counts = optimizer_->counts();
    row.lost_update_share = counts.nonzero > 0
                                ? static_cast<float>(static_cast<double>(counts.lost) /
                                                     static_cast<double>(counts.nonzero))
                                : unknown;
    if (row.found_inf == 0) ++updates_;
}

StepRecord Trainer::step(std::span<const Batch> batches) {
    try {
        return compute_step(batches);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::memory) throw;
        throw Error(error.code(), error.message(), smaller_batch(config_, *books_));
    }
}

StepRecord Trainer::compute_step(std::span<const Batch> batches) {
    kernels::cpu::set_threads(threads_);
    const BooksScope books(books_);
    const auto start = Clock::now();
    StepRecord row{};
    row.scaled_f16_max = row.scale_ceiling = row.lost_update_share = unknown;
    optimizer_->zero_grad();
    double loss_sum = 0;
    std::int64_t correct = 0, samples = 0;
    for (const Batch& batch : batches) {
        const auto begin = Clock::now();
        const Forward out = forward(batch);
        const Tensor scaled_loss = scaled(out.loss);
        row.forward_ms += ms_since(begin);
        const auto turned = Clock::now();
        run_backward(scaled_loss, row);
        row.backward_ms += ms_since(turned);
        loss_sum += out.loss.item() * static_cast<double>(batch.size());
        correct += count_correct(out.logits, batch.labels);
        samples += batch.size();
    }
    for (const auto& parameter : model_->parameters()) {
        if (const Tensor grad = parameter.tensor.grad(); grad.defined())
            grad.impl()->storage->block.rebook(MemoryUse::gradients);
    }
    row.loss = static_cast<float>(loss_sum / static_cast<double>(samples));
    row.accuracy = static_cast<float>(static_cast<double>(correct) / static_cast<double>(samples));
    if (!dump_path_.empty()) dump_gradients(loss_sum / static_cast<double>(samples));
    const auto update_start = Clock::now();
    apply_update(row);
    row.optimizer_ms = ms_since(update_start);
    row.step = ++steps_;
    row.updates = updates_;
    row.samples = samples_ += samples;
    row.memory_bytes = books_->total();
    row.peak_bytes = books_->peak();
    row.step_ms = ms_since(start);
    return row;
}

double Trainer::next_loss_scale() const {
    return static_scale_.defined() ? static_scale_.item() : scaler_->loss_scale();
}

Tally Trainer::evaluate(const Batch& batch) {
    kernels::cpu::set_threads(threads_);
    const BooksScope books(books_);
    const InferenceMode inference;
    model_->training = false;
    const Forward out = forward(batch);
    model_->training = true;
    const auto n = batch.size();
    return {out.loss.item() * static_cast<double>(n), count_correct(out.logits, batch.labels), n};
}

void Trainer::dump_gradients(double loss) {
    const GradMode off(false);
    const double scale = next_loss_scale();
    TensorList held;
    std::vector<TensorEntry> entries;
    const auto add_entry = [&](const std::string& name, const Tensor& value) {
        held.push_back(in_layout(to(value.detach(), DType::f32), Layout::contiguous));
        const Tensor& kept = held.back();
        entries.push_back({name,
                           "F32",
                           {kept.shape().begin(), kept.shape().end()},
                           {kept.data_as<const std::byte>(), kept.bytes()}});
    };
    add_entry("loss", Tensor::full({}, loss, DType::f32));
    for (const auto& parameter : model_->parameters()) {
        const Tensor grad = parameter.tensor.grad();
        if (grad.defined())
            add_entry("grad." + parameter.name, mul(to(grad, DType::f32), 1.0 / scale));
    }
    write_safetensors(dump_path_, entries, {});
    dump_path_.clear();
}

}  // namespace engine
