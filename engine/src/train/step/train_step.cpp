#include "train/step/train_step.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "autograd/accumulate.h"
#include "autograd/backward.h"
#include "kernels/elementwise.h"
#include "kernels/step_ends.h"
#include "models/weight_layout.h"
#include "ops/linalg/norm.h"
#include "ops/norm/batch_counts.h"
#include "ops/norm/batch_norm.h"
#include "ops/norm/synced_norm.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/f16_range.h"
#include "tensor/gradient_shortcuts.h"
#include "tensor/layout.h"
#include "tensor/profiler_range.h"
#include "train/step/make_optimizer.h"

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

}  // namespace

TrainStep::TrainStep(const RunConfig& config, Task& task, Model& model, const Device& device,
                     std::int64_t planned, Communicator* ranks)
    : config_(config),
      task_(task),
      model_(model),
      device_(device),
      schedule_(make_schedule(config, planned)),
      precision_(resolve(config.precision), config.scaler, model, device),
      phases_(task.phases()),
      ranks_(ranks),
      number_(Tensor::zeros({}, DType::i64, device)),
      random_(config.seed, number_),
      state_(model, device, ranks) {
    lay_out_weights(model);
    make_parts();
    choose_gradients();
    if (ranks_) make_exchanges();
    precision_.attach_low_copies(model);
    for (const Part& part : parts_) lay_out_recurrent_weights(part.optimizer->parameters());
    const UseScope use(MemoryUse::workspace);
    sums_ = DeviceRecord<MetricSums>(device_);
    figures_ = DeviceRecord<kernels::StepFigures>(device_);
    figures_.clear();
    if (parts_.size() > 1) merged_ = DeviceRecord<kernels::GradientStatistics>(device_);
    f16_max_ = Tensor::zeros({}, DType::f32, device_);
    rate_multiplier_ = Tensor::full({}, 1, DType::f64, device_);
}

void TrainStep::set_rate_multiplier(double multiplier) {
    on(device_, kernels::cpu::fill, kernels::cuda::fill)(rate_multiplier_.array(), multiplier,
                                                         current_stream());
}

void TrainStep::make_parts() {
    const OptimizerOptions options{.scaling_aware = true,
                                   .master_weights = resolve(config_.precision).master_weights,
                                   .write_grads = false};
    for (std::vector<Parameter>& parameters : task_.optimized(model_)) {
        std::erase_if(parameters,
                      [](const Parameter& each) { return !each.tensor.requires_grad(); });
        TensorList tensors;
        for (const Parameter& parameter : parameters) tensors.push_back(parameter.tensor);
        parts_.push_back({std::move(tensors),
                          make_optimizer(config_.optimizer, std::move(parameters), options),
                          {}});
    }
    for (const Part& part : parts_) optimizers_.push_back(part.optimizer.get());
}

/// Uses sparse gradients of tables if every optimizer benefits from them. Not with a gradient
/// penalty, which differentiates gradients; sparse ones do not support that.
void TrainStep::choose_gradients() {
    const bool taken = std::ranges::all_of(
        parts_, [](const Part& part) { return part.optimizer->takes_sparse_gradients(); });
    model_.sparse_gradients = taken && config_.gradient_penalty == 0;
}

void TrainStep::zero_grad() {
    for (const Part& part : parts_) part.optimizer->zero_grad();
}

void TrainStep::note_replay() {
    for (const Part& part : parts_) part.optimizer->note_replay();
}

void TrainStep::forget_captured() {
    precision_.scaler().forget();
    zero_grad();
    micro_batches_.clear();
    // One live block keeps the capture's whole memory pool alive, so release these references.
    for (Part& part : parts_) {
        part.gradient_statistics = {};
        part.optimizer->clip = {};
    }
}

void TrainStep::begin(std::size_t batches, std::span<const std::int64_t> terms) {
    kernels::StepBeginning first;
    static_assert(sizeof(MetricSums) % 4 == 0 && sizeof(kernels::GradientStatistics) % 4 == 0);
    first.zeros[0] = {sums_.data(), sizeof(MetricSums) / 4};
    first.zeros[1] = {state_.resets(), 2};
    if (precision_.watches_f16()) first.zeros[2] = {f16_max_.data(), 1};
    if (merged_.defined())
        first.zeros[3] = {merged_.data(), sizeof(kernels::GradientStatistics) / 4};
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        first.lr[i] = parts_[i].optimizer->lr_tensor().data_as<float>();
        first.updates[i] = parts_[i].optimizer->steps_tensor().data_as<std::int64_t>();
    }
    first.multiplier = rate_multiplier_.data_as<double>();
    first.schedule = schedule_;
    on(device_, kernels::cpu::begin_step, kernels::cuda::begin_step)(first, current_stream());
    micro_batches_.assign(batches, {});
    for (std::size_t i = 0; i < batches; ++i)
        micro_batches_[i].weight = weight_in_mean(i, batches, terms);
    model_.random = &random_;
}

/// Ends the step for its observers, also if it fails.
class TrainStep::Observation {
public:
    explicit Observation(TrainStep& step) : step_(step) {
        step_.notify(0, 0, [](StepObserver& each, const StepView& view) { each.begin(view); });
    }
    ~Observation() {
        step_.notify(0, 0, [](StepObserver& each, const StepView& view) { each.end(view); });
        step_.observing_.clear();
    }
    Observation(const Observation&) = delete;
    Observation& operator=(const Observation&) = delete;

private:
    TrainStep& step_;
};

void TrainStep::compute(std::size_t batches, const BatchSupply& supply, StepMarks* marks) {
    begin(batches, supply.terms);
    // Gradients of weights that have a 16-bit copy stay in its type: gradient check and update read
    // any type, and the values are the same, so this saves a cast of each. Not where the gradient
    // is an operand of further arithmetic in its own type (clipping by value, the exchange between
    // ranks, a gradient penalty), nor where an optimizer's check covers one of several phases alone
    // (the range of f16 gradients needs all), and not in an observed step, whose observers see f32
    // gradients of f32 weights (autocast.md#casts-and-gradients, 1.6).
    const LowGradients low(!ranks_ && !is_observed() && config_.clip.kind != ClipKind::value &&
                           config_.gradient_penalty == 0 && phases_.size() <= parts_.size());
    const Observation observation(*this);
    for (std::size_t phase = 0; phase < phases_.size(); ++phase) {
        run_phase(phase, supply, marks);
        if (ranks_) exchanges_[phase]->finish();
        coalesce_gradients(phases_[phase]);
        account_gradients();
        notify(phase, 0,
               [](StepObserver& each, const StepView& seen) { each.before_update(seen); });
        update(phases_[phase], phase + 1 == phases_.size());
    }
    micro_batches_.clear();
    model_.random = nullptr;
}

void TrainStep::run_phase(std::size_t phase, const BatchSupply& supply, StepMarks* marks) {
    for (const std::size_t part : phases_[phase].optimizers) parts_[part].optimizer->zero_grad();
    const bool last = phase + 1 == phases_.size();
    for (std::size_t i = 0; i < micro_batches_.size(); ++i) {
        if (phase == 0) micro_batches_[i].batch = supply.get(i);
        run_micro_batch(phase, i, marks);
        if (!last) continue;
        supply.used(micro_batches_[i].batch);
        micro_batches_[i] = {};
    }
}

void TrainStep::run_micro_batch(std::size_t phase, std::size_t index, StepMarks* marks) {
    MicroBatch& here = micro_batches_[index];
    if (phase == 0 && index == 0) here.state = state_.in(here.batch.rows);
    // A later phase must not draw the numbers of the one before.
    const BatchShare& share = here.batch.share;
    random_.begin(phase * micro_batches_.size() + index, share);
    notify(phase, index, [&here](StepObserver& each, const StepView& seen) {
        each.before_forward(seen, here.batch, here.state);
    });
    const UncountedRows uncounted(share.idle());
    TaskStep step(model_, here.batch, precision_.casts(),
                  share.idle() ? unseen_sums_.data() : sums_.data());
    step.phase = phase;
    step.passed = std::move(here.passed);
    step.state = here.state;
    BatchCounts batches;
    const TensorList losses = precision_.run([&] {
        const ProfilerRange range("forward");
        return task_.losses(step);
    });
    batches.count();
    here.passed = std::move(step.passed);
    if (marks) marks->mark();
    notify(phase, index, [&losses](StepObserver& each, const StepView& seen) {
        each.after_forward(seen, losses);
    });
    differentiate(phase, index, losses);
    notify(phase, index,
           [](StepObserver& each, const StepView& seen) { each.after_backward(seen); });
    if (phase == 0) {
        TensorList out = detached(step.next_state);
        if (index + 1 < micro_batches_.size())
            micro_batches_[index + 1].state = std::move(out);
        else
            state_.carry(out);
    }
    if (marks) marks->mark();
    if (config_.teach.update_each_micro_batch && index + 1 < micro_batches_.size())
        move_scale_too_soon(phases_[phase]);
}

/// teach.update_each_micro_batch: imitates a loop that calls scaler.update() in each micro-batch.
/// The gradients so far have the old scale, the later ones the new one.
void TrainStep::move_scale_too_soon(const Phase& phase) {
    GradScaler& scaler = precision_.scaler();
    if (!scaler.is_enabled()) return;
    for (const std::size_t part : phase.optimizers) scaler.check_gradients(*parts_[part].optimizer);
    scaler.update();
}

/// Parameters of the optimizers that the phase steps.
TensorList TrainStep::parameters_of(const Phase& phase) const {
    TensorList parameters;
    for (const std::size_t part : phase.optimizers) {
        const TensorList& own = parts_[part].tensors;
        parameters.insert(parameters.end(), own.begin(), own.end());
    }
    return parameters;
}

/// loss + weight * norm of its gradient by the parameters, to be differentiated again (recipe
/// training-loops.md#gradient-penalty, 3.4): the gradient is taken of the scaled loss, so that it
/// survives fp16, and unscaled on the tape.
Tensor TrainStep::penalised(const Phase& phase, const Tensor& loss) {
    if (config_.gradient_penalty == 0) return loss;
    const Tensor scaled_loss = precision_.scaled(loss);
    const TensorList grads = grad({&scaled_loss, 1}, parameters_of(phase), {},
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
        return add(loss, mul(norm(cat(norms, 0)), config_.gradient_penalty));
    });
}

void TrainStep::differentiate(std::size_t phase, std::size_t micro_batch,
                              const TensorList& losses) {
    const ProfilerRange time_line("backward");
    std::optional<F16Range> range;
    if (precision_.watches_f16())
        range.emplace(f16_max_, std::vector{&batch_norm_info, &batch_norm_relu_info});
    const double weight = loss_weight(micro_batch);
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
void TrainStep::backward_of(const Phase& phase, const Tensor& loss, bool retain_graph) {
    // On a GPU the pass begins with the scale as the loss's gradient, the 1 * scale that the
    // product of both would give it: three small kernels less. Observers see the product.
    const Tensor scale = precision_.loss_scale();
    const bool begins_scaled = scale.defined() && device_.kind == Device::Kind::cuda &&
                               !is_observed() && loss.dtype() == scale.dtype() &&
                               loss.shape() == scale.shape();
    const Tensor root = begins_scaled ? loss : precision_.scaled(loss);
    const Tensor first = begins_scaled ? scale : Tensor();  // undefined: 1
    if (phase.optimizers.size() == parts_.size())
        return backward({&root, 1}, {&first, 1}, {.retain_graph = retain_graph});
    const TensorList parameters = parameters_of(phase);
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
double TrainStep::loss_weight(std::size_t micro_batch) const {
    const MicroBatch& here = micro_batches_[micro_batch];
    const BatchShare& share = here.batch.share;
    const double part = ranks_ && !share.whole()
                            ? static_cast<double>(share.rows) / static_cast<double>(share.all)
                            : 1;
    return part * here.weight;
}

void TrainStep::account_gradients() {
    for (const Part& part : parts_) {
        for (const Tensor& parameter : part.tensors) {
            if (const Tensor grad = parameter.grad(); grad.defined())
                grad.impl()->storage->block.account_as(MemoryUse::gradients);
        }
    }
}

void TrainStep::attach(std::shared_ptr<StepObserver> observer) {
    observers_.push_back(std::move(observer));
}

void TrainStep::detach(const StepObserver& observer) {
    const auto is_it = [&](const auto& each) { return each.get() == &observer; };
    std::erase_if(observers_, is_it);
    std::erase_if(observing_, is_it);
}

void TrainStep::announce(std::int64_t step) {
    announced_ = step;
    observing_.clear();
    for (const auto& observer : observers_) {
        if (observer->observes(step)) observing_.push_back(observer);
    }
}

float TrainStep::scale_floor(std::int64_t step) const {
    float out = std::numeric_limits<float>::quiet_NaN();
    for (const auto& observer : observers_) {
        if (const auto floor = observer->scale_floor(step)) out = *floor;
    }
    return out;
}

StepView TrainStep::view(std::size_t phase, std::size_t micro_batch) {
    return {announced_, task_, model_, precision_, optimizers_, phase, micro_batch};
}

}  // namespace engine
