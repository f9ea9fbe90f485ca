#include "train/step/evaluator.h"

#include <algorithm>

#include "engine/base/error.h"
#include "ops/shape/slice.h"
#include "tensor/cast.h"
#include "tensor/restore.h"

namespace engine {
namespace {

/// The model is in evaluation mode while it lives.
class EvaluationMode {
public:
    explicit EvaluationMode(Model& model) : model_(model) { model_.training = false; }
    ~EvaluationMode() { model_.training = true; }
    EvaluationMode(const EvaluationMode&) = delete;
    EvaluationMode& operator=(const EvaluationMode&) = delete;

private:
    Model& model_;
};

}  // namespace

Evaluator::Evaluator(Task& task, Model& model, const MixedPrecision& precision,
                     const Device& device)
    : task_(task), model_(model), precision_(precision), device_(device), state_(model, device) {
    const UseScope use(MemoryUse::workspace);
    sums_ = DeviceRecord<Sums>(device_);
    if (task_.pass_counts() > 0)
        pass_counts_ = Tensor::empty({task_.pass_counts()}, DType::i64, device_);
    clear_sums();
}

void Evaluator::clear_sums() {
    sums_.clear();
    if (pass_counts_.defined()) set_zero(pass_counts_.data(), pass_counts_.bytes(), device_);
}

void Evaluator::begin() {
    state_.reset();
    first_ = true;
}

TaskStep Evaluator::step_on(const DeviceBatch& batch) {
    return {model_, batch, precision_.casts(), &sums_.data()->sums};
}

Tensor Evaluator::compute(const DeviceBatch& batch) {
    const InferenceMode inference;
    TaskStep step = step_on(batch);
    step.state = state_.in(batch.rows);
    step.pass_counts = pass_counts_;
    {
        const EvaluationMode mode(model_);
        precision_.run([&] { task_.evaluate(step); });
    }
    state_.carry(step.next_state);
    if (kernels::DeferredError* note = deferred_error_word_of(device_))
        kernels::cuda::take_deferred_error(&sums_.data()->deferred_error, note, current_stream());
    return step.predicted;
}

void Evaluator::note(const DeviceBatch& batch, const Tensor& predicted) {
    if (!std::exchange(first_, false)) return;
    const InferenceMode inference;
    TaskStep step = step_on(batch);
    step.predicted = predicted;
    pictures_ = task_.pictures(step);
    for (Tensor& band : pictures_.bands)
        band = snapshot(to(slice(band, 0, 0, std::min(band.size(0), max_pictures)), DType::f32));
}

Tensor Evaluator::add(const Batch& batch, BatchFeed& feed) {
    const DeviceBatch here = feed.upload(batch);
    Tensor predicted = compute(here);
    note(here, predicted);
    feed.used(here);
    return predicted;
}

MetricSums Evaluator::take(Communicator* ranks) {
    if (ranks && pass_counts_.defined()) sum_over(*ranks, pass_counts_.array(), device_);
    if (pass_counts_.defined() && (!ranks || ranks->rank() == 0))
        task_.end_pass(pass_counts_, &sums_.data()->sums);
    auto [sums, deferred_error] = sums_.host();
    clear_sums();
    if (const auto refused = deferred_error_in(deferred_error)) throw *refused;
    // Plain doubles throughout.
    constexpr auto numbers = static_cast<std::int64_t>(sizeof(MetricSums) / sizeof(double));
    if (ranks) ranks->sum({&sums, DType::f64, numbers});
    return sums;
}

}  // namespace engine
