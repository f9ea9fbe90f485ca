#include "train/step/forward_backward.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "autograd/accumulate.h"
#include "autograd/backward.h"
#include "kernels/elementwise.h"
#include "ops/linalg/norm.h"
#include "ops/norm/batch_counts.h"
#include "ops/norm/batch_norm.h"
#include "ops/norm/synced_norm.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "ops/shape/slice.h"
#include "ops/shape/view.h"
#include "parallel/communicator.h"
#include "tensor/cast.h"
#include "tensor/f16_range.h"
#include "tensor/layout.h"
#include "tensor/observer.h"
#include "tensor/profiler_range.h"
#include "tensor/restore.h"

namespace engine {
namespace {

TensorList detached(const TensorList& tensors) {
    TensorList out;
    for (const Tensor& tensor : tensors) out.push_back(tensor.detach());
    return out;
}

/// Weight of a batch in the mean over all terms of the step, whatever the number and the sizes of
/// its batches: their own means count by their terms.
double weight_in_mean(std::size_t batch, std::size_t batches, std::span<const std::int64_t> terms) {
    const auto differs = [&](std::int64_t each) { return each != terms.front(); };
    if (std::ranges::none_of(terms, differs)) return 1.0 / static_cast<double>(batches);
    const std::int64_t all = std::accumulate(terms.begin(), terms.end(), std::int64_t{0});
    return static_cast<double>(terms[batch]) / static_cast<double>(all);
}

void add_gradient(const Tensor& parameter, const Tensor& gradient) {
    const GradMode off(false);
    const Tensor before = parameter.grad();
    parameter.set_grad(before.defined() ? sum_of_gradients(before, gradient, parameter.dtype())
                                        : gradient);
}

/// Shows observers the product of loss and scale, and its gradient, where neither is computed.
void show_scaled(const LossScaler& scaler, const Tensor& loss) {
    if (!operations_are_observed()) return;
    const AudienceScope aside(Audience::aside);
    const Tensor seen = loss.detach().set_requires_grad(true);
    const Tensor product = scaler.scaled(seen);
    grad({&product, 1}, {&seen, 1});
}

/// In host memory a bucket costs few microseconds by itself. Short ones are exchanged while they
/// are in the cache, and little is left to exchange after the backward pass.
constexpr std::int64_t host_message_size = 250'000;

ExchangeOptions exchange_options(const Device& device) {
    ExchangeOptions options{.in_f32 = true, .average = false};
    if (device.kind == Device::Kind::cpu) options.message_size = host_message_size;
    return options;
}

}  // namespace

TensorList StepDecisions::at(std::size_t micro_batch) const {
    const std::lock_guard lock(mutex_);
    return micro_batch < batches_.size() ? batches_[micro_batch] : TensorList();
}

void StepDecisions::keep(std::size_t micro_batch, const TensorList& decisions) {
    const std::lock_guard lock(mutex_);
    if (batches_.size() <= micro_batch) batches_.resize(micro_batch + 1);
    if (!batches_[micro_batch].empty()) return;
    for (const Tensor& each : decisions)
        batches_[micro_batch].push_back(snapshot(each.detach()));
}

bool StepDecisions::empty() const {
    const std::lock_guard lock(mutex_);
    return batches_.empty();
}

std::shared_ptr<StepDecisions> StepDecisions::with_rows(
    std::size_t micro_batch, const std::vector<std::int64_t>& rows) const {
    auto out = std::make_shared<StepDecisions>();
    const std::lock_guard lock(mutex_);
    out->batches_ = batches_;
    if (micro_batch >= out->batches_.size()) return out;
    for (Tensor& each : out->batches_[micro_batch]) {
        TensorList parts;
        for (const std::int64_t row : rows) parts.push_back(slice(each, 0, row, row + 1));
        each = cat(parts, 0);
    }
    return out;
}

ForwardBackward::ForwardBackward(const RunConfig& config, Task& task, Model& model,
                                 MixedPrecision& precision, const GradientUpdate& update,
                                 StepState& state, StepObservers& observers, Communicator* ranks)
    : gradient_penalty_(config.gradient_penalty),
      task_(task),
      model_(model),
      precision_(precision),
      update_(update),
      state_(state),
      observers_(observers),
      ranks_(ranks),
      device_(state.device()),
      phases_(task.phases()),
      random_(config.seed, state.number()) {
    const UseScope use(MemoryUse::workspace);
    sums_ = DeviceRecord<MetricSums>(device_);
    f16_max_ = Tensor::zeros({}, DType::f32, device_);
    if (!ranks_) return;
    unseen_sums_ = DeviceRecord<MetricSums>(device_);
    unseen_sums_.clear();
    // Losses are weighted by rows, so the sum of the ranks' gradients is already their average.
    // 16-bit gradients are summed in f32, since a partial sum may overflow f16 although the sum
    // does not.
    for (const Phase& phase : phases_) {
        exchanges_.push_back(std::make_unique<GradientExchange>(*ranks_, update_.parameters(phase),
                                                                exchange_options(device_)));
    }
}

void ForwardBackward::begin(kernels::StepBeginning& first, std::size_t batches,
                            std::span<const std::int64_t> terms) {
    static_assert(sizeof(MetricSums) % 4 == 0);
    first.zeros[0] = {sums_.data(), sizeof(MetricSums) / 4};
    first.zeros[1] = {state_.carried().resets(), 2};
    if (precision_.watches_f16()) first.zeros[2] = {f16_max_.data(), 1};
    micro_batches_.assign(batches, {});
    for (std::size_t i = 0; i < batches; ++i)
        micro_batches_[i].weight = weight_in_mean(i, batches, terms);
    model_.random = &random_;
}

void ForwardBackward::run(std::size_t phase, const BatchSupply& supply, StepMarks* marks) {
    update_.zero_grad(phases_[phase]);
    const bool last = phase + 1 == phases_.size();
    for (std::size_t i = 0; i < micro_batches_.size(); ++i) {
        if (phase == 0) micro_batches_[i].batch = supply.get(i);
        run_micro_batch(phase, i, marks);
        if (!last) continue;
        supply.used(micro_batches_[i].batch);
        micro_batches_[i] = {};
    }
    if (ranks_) exchanges_[phase]->finish();
}

void ForwardBackward::run_micro_batch(std::size_t phase, std::size_t index, StepMarks* marks) {
    MicroBatch& here = micro_batches_[index];
    if (phase == 0 && index == 0) here.state = state_.carried().in(here.batch.rows);
    // A later phase must not draw the numbers of the one before.
    const BatchShare& share = here.batch.share;
    random_.begin(phase * micro_batches_.size() + index, share);
    if (QuantizedLayers* const layers = precision_.quantized()) {
        const Tensor& scale = precision_.loss_scale();  // recipes are computed on the host
        layers->begin(share, scale.defined() ? *scale.data_as<float>() : 1.0f);
    }
    observers_.notify(phase, index, [&here](StepObserver& each, const StepView& seen) {
        each.before_forward(seen, here.batch, here.state);
    });
    const UncountedRows uncounted(share.idle());
    TaskStep step(model_, here.batch, precision_.casts(),
                  share.idle() ? unseen_sums_.data() : sums_.data());
    step.phase = phase;
    step.passed = std::move(here.passed);
    step.state = here.state;
    if (decisions_)
        for (const Tensor& each : decisions_->at(index))
            step.decisions.push_back(each.copy_to(device_));
    BatchCounts batches;
    const TensorList losses = precision_.run([&] {
        const ProfilerRange range("forward");
        return task_.losses(step);
    });
    batches.count();
    if (decisions_ && !step.decisions.empty()) decisions_->keep(index, step.decisions);
    here.passed = std::move(step.passed);
    if (marks) marks->mark();
    observers_.notify(phase, index, [&losses](StepObserver& each, const StepView& seen) {
        each.after_forward(seen, losses);
    });
    differentiate(phase, index, losses);
    observers_.notify(phase, index,
                      [](StepObserver& each, const StepView& seen) { each.after_backward(seen); });
    if (phase == 0) {
        TensorList out = detached(step.next_state);
        if (index + 1 < micro_batches_.size())
            micro_batches_[index + 1].state = std::move(out);
        else
            state_.carried().carry(out);
    }
    if (marks) marks->mark();
    if (index + 1 < micro_batches_.size())
        precision_.scaler().after_micro_batch([&] { return update_.check(phases_[phase]); });
}

/// loss + weight * norm of its gradient by the parameters, to be differentiated again (recipe
/// training-loops.md#gradient-penalty, 3.4): the gradient is taken of the scaled loss, so that it
/// survives fp16, and unscaled on the tape.
Tensor ForwardBackward::penalised(const Phase& phase, const Tensor& loss) {
    if (gradient_penalty_ == 0) return loss;
    const Tensor scaled_loss = precision_.scaler().scaled(loss);
    const TensorList grads = grad({&scaled_loss, 1}, update_.parameters(phase), {},
                                  {.create_graph = true}, /*allow_unused=*/true);
    return precision_.run([&] {
        const Tensor scale = precision_.loss_scale();
        TensorList norms;
        for (const auto& g : grads) {
            if (!g.defined()) continue;
            const Tensor wide = widened(g);
            norms.push_back(
                reshape(norm(scale.defined() ? mul(wide, reciprocal(scale)) : wide), {1}));
        }
        return add(loss, mul(norm(cat(norms, 0)), gradient_penalty_));
    });
}

void ForwardBackward::differentiate(std::size_t phase, std::size_t micro_batch,
                                    const TensorList& losses) {
    const ProfilerRange time_line("backward");
    std::optional<F16Range> range;
    if (precision_.watches_f16())
        range.emplace(f16_max_, std::vector<const Op*>{&batch_norm_op, &batch_norm_relu_op});
    const double weight = loss_weight(micro_batches_[micro_batch]);
    const bool last = micro_batch + 1 == micro_batches_.size();
    for (std::size_t i = 0; i < losses.size(); ++i) {
        const Tensor whole = penalised(phases_[phase], losses[i]);
        const bool more = i + 1 < losses.size();
        if (ranks_ && last && !more) exchanges_[phase]->begin();
        backward_of(phases_[phase], weight == 1 ? whole : mul(whole, weight),
                    more || phases_[phase].keep_graph);
    }
}

/// Only the parameters of the phase's optimizers take part.
void ForwardBackward::backward_of(const Phase& phase, const Tensor& loss, bool retain_graph) {
    // On a GPU the pass begins with the scale as the loss's gradient, the 1 * scale that the
    // product of both would give it: three small kernels less.
    const Tensor scale = precision_.loss_scale();
    const bool begins_scaled = scale.defined() && device_.kind == Device::Kind::cuda &&
                               loss.dtype() == scale.dtype() && loss.shape() == scale.shape();
    if (begins_scaled) show_scaled(precision_.scaler(), loss);
    const Tensor root = begins_scaled ? loss : precision_.scaler().scaled(loss);
    const Tensor first = begins_scaled ? scale : Tensor();  // undefined: 1
    if (phase.optimizers.size() == update_.optimizers().size())
        return backward({&root, 1}, {&first, 1}, {.retain_graph = retain_graph});
    const TensorList parameters = update_.parameters(phase);
    const TensorList grads = grad({&root, 1}, parameters, {&first, 1},
                                  {.retain_graph = retain_graph}, /*allow_unused=*/true);
    for (std::size_t i = 0; i < grads.size(); ++i) {
        if (grads[i].defined()) add_gradient(parameters[i], grads[i]);
    }
}

/// The weight of a micro-batch in the step's mean. A rank's loss is weighted by its share of the
/// rows and the exchange adds the gradients up. So a rank's backward pass has gradients of the same
/// size as in one process, and the loss scale fits any number of ranks. It is known on the host, so
/// it reaches a GPU as a kernel's argument, and nothing waits; a captured step has full batches
/// alone, whose weights never change.
double ForwardBackward::loss_weight(const MicroBatch& micro_batch) const {
    const BatchShare& share = micro_batch.batch.share;
    const double part = ranks_ && !share.whole()
                            ? static_cast<double>(share.rows) / static_cast<double>(share.all)
                            : 1;
    return part * micro_batch.weight;
}

void ForwardBackward::end(kernels::StepEnding& last) {
    last.before.sums = sums_.data();
    last.before.scaled_f16_max = f16_max_.data_as<float>();
    last.before.state_resets = state_.carried().resets();
    if (random_.used()) last.number = state_.number().data_as<std::int64_t>();
}

void ForwardBackward::release() {
    micro_batches_.clear();
    model_.random = nullptr;
}

ExchangeTimer ForwardBackward::exchange_timer() const {
    std::vector<ExchangeTimer> timers;
    for (const auto& exchange : exchanges_) timers.push_back(exchange->timer());
    return sum_of(std::move(timers));
}

void ForwardBackward::share_figures() {
    if (device_.kind == Device::Kind::cuda) return share_figures_on_device();
    struct Figures {
        MetricSums sums;
        std::int64_t resets;
        float f16_max;
    };
    Figures own{sums_.host(), state_.carried().resets() ? *state_.carried().resets() : 0,
                *f16_max_.data_as<float>()};
    const auto size = static_cast<std::size_t>(ranks_->size());
    std::vector<Figures> all(size);
    constexpr std::int64_t bytes = sizeof(Figures);
    const std::vector<std::int64_t> counts(size, bytes);
    ranks_->gather({all.data(), DType::u8, bytes * ranks_->size()}, {&own, DType::u8, bytes},
                   counts);
    own = all.front();
    for (std::size_t rank = 1; rank < size; ++rank) {
        const Figures& other = all[rank];
        own.sums.loss += other.sums.loss;
        own.sums.weight += other.sums.weight;
        for (int i = 0; i < MetricSums::value_count; ++i)
            own.sums.values[i] += other.sums.values[i];
        own.resets += other.resets;
        if (std::isnan(other.f16_max) || other.f16_max > own.f16_max) own.f16_max = other.f16_max;
    }
    sums_.set(own.sums);
    if (state_.carried().resets()) state_.carried().set_resets(own.resets);
    *f16_max_.data_as<float>() = own.f16_max;
}

/// Shares the figures without waiting for the device.
void ForwardBackward::share_figures_on_device() {
    static_assert(sizeof(MetricSums) == sizeof(double) * (2 + MetricSums::value_count));
    constexpr auto numbers = static_cast<std::int64_t>(sizeof(MetricSums) / sizeof(double));
    sum_over(*ranks_, {sums_.data(), DType::f64, numbers}, device_);
    if (state_.carried().resets()) sum_over(*ranks_, state_.carried().resets_array(), device_);
    const std::vector<std::int64_t> counts(static_cast<std::size_t>(ranks_->size()), 1);
    const Tensor all = Tensor::empty({ranks_->size()}, DType::f32, device_);
    gather_over(*ranks_, all.array(), f16_max_.array(), counts, device_);
    // Not NCCL's maximum, which does not say what it does with NaN.
    kernels::cuda::abs_max(f16_max_.data_as<float>(), all.array(), current_stream());
}

}  // namespace engine
