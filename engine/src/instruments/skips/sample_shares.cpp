#include "instruments/skips/sample_shares.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>

#include "engine/base/error.h"
#include "instruments/replay/step_variant.h"
#include "tensor/layout.h"

namespace engine {
namespace {

/// Largest finite magnitude and count of non-finite values of row-major values.
void measure(std::span<const double> values, SampleShare& out) {
    for (const double value : values) {
        if (std::isfinite(value))
            out.largest = std::max(out.largest, std::abs(value));
        else
            ++out.bad;
    }
}

SampleShare share_of(const Batch& batch, std::int64_t micro_batch, std::int64_t row) {
    SampleShare out;
    out.micro_batch = micro_batch;
    out.row = row;
    out.sample = batch.indices[static_cast<std::size_t>(row)];
    return out;
}

/// Shares in a tensor whose first dimension is the batch's rows.
std::vector<SampleShare> by_rows(const Tensor& tensor, const Batch& batch,
                                 std::int64_t micro_batch) {
    const std::vector<double> values = tensor.values();
    const std::size_t width = values.size() / static_cast<std::size_t>(batch.rows());
    std::vector<SampleShare> out;
    for (std::int64_t row = 0; row < batch.rows(); ++row) {
        out.push_back(share_of(batch, micro_batch, row));
        measure(std::span(values).subspan(static_cast<std::size_t>(row) * width, width),
                out.back());
    }
    return out;
}

/// Only FP32 has the true magnitude of an overflow, if it has such a tensor.
void take_magnitudes(std::vector<SampleShare>& samples, const Tensor& in_f32, const Batch& batch) {
    if (!in_f32.defined() || in_f32.rank() == 0 || in_f32.size(0) != batch.rows()) return;
    const auto other = by_rows(in_f32, batch, 0);
    for (std::size_t i = 0; i < samples.size(); ++i) samples[i].largest = other[i].largest;
}

/// The tensor of this name in the step, computed with these settings.
Tensor tensor_of(const StepCapsule& capsule, const RunConfig& config, const std::string& key) {
    CapsuleStep step(capsule, config);
    const auto trace = std::make_shared<NonfiniteTrace>(key);
    step.trainer().attach(trace);
    step.run();
    return trace->kept();
}

/// Shares in the fields as the step reads them, planted faults included.
std::vector<SampleShare> by_field(const StepCapsule& capsule, const BadTensor& first) {
    const Batch& batch = capsule.batches.at(static_cast<std::size_t>(first.micro_batch));
    const Tensor field = tensor_of(capsule, capsule.config,
                                   NonfiniteTrace::field_key(first.name, first.micro_batch));
    if (!field.defined() || field.rank() == 0 || field.size(0) != batch.rows()) return {};
    return by_rows(field, batch, first.micro_batch);
}

/// Computes rows of a micro-batch one at a time, on one copy of the run where no streams carry
/// state.
class AloneStep {
public:
    AloneStep(const StepCapsule& capsule, std::int64_t micro_batch, double scale)
        : capsule_(capsule),
          micro_batch_(micro_batch),
          scale_(scale / static_cast<double>(batch().rows())) {}

    /// The tensor of this name; undefined if it does not come up.
    Tensor tensor(std::int64_t row, const std::string& key) {
        StepCapsule alone = with_scale(with_rows(capsule_, micro_batch_, {row}), scale_);
        if (!step_ || !capsule_.before.carried.empty()) {
            step_.reset();
            alone_ = std::move(alone);
            step_.emplace(alone_);
        } else {
            alone_.batches = std::move(alone.batches);
            step_->rewind();
        }
        const auto trace = std::make_shared<NonfiniteTrace>(key);
        step_->trainer().attach(trace);
        step_->run();
        step_->trainer().detach(*trace);
        return trace->kept();
    }
    const Batch& batch() const {
        return capsule_.batches.at(static_cast<std::size_t>(micro_batch_));
    }

private:
    const StepCapsule& capsule_;
    std::int64_t micro_batch_;
    double scale_;
    StepCapsule alone_;
    std::optional<CapsuleStep> step_;
};

/// The name of the tensor in a step whose only micro-batch is number 0; empty: it has none.
std::string key_alone(std::string key, std::int64_t micro_batch) {
    if (micro_batch == 0) return key;
    const std::string from = "|" + std::to_string(micro_batch) + "|";
    const std::size_t at = key.find(from, key.find('|') + 1);
    return at == std::string::npos ? std::string() : key.replace(at, from.size(), "|0|");
}

/// It would take too long.
struct TooLong {
    double seconds;
};

std::vector<SampleShare> one_by_one(AloneStep& step, const BadTensor& first, const std::string& key,
                                    std::int64_t count, const SampleShareOptions& options) {
    using Clock = std::chrono::steady_clock;
    std::vector<SampleShare> out;
    const std::string own = key_alone(key, first.micro_batch);
    for (std::int64_t row = 0; row < count && !own.empty(); ++row) {
        const auto start = Clock::now();
        const Tensor tensor = step.tensor(row, own);
        if (!tensor.defined()) return {};
        out.push_back(share_of(step.batch(), first.micro_batch, row));
        measure(tensor.values(), out.back());
        options.progress();
        const double each = std::chrono::duration<double>(Clock::now() - start).count();
        if (row == 0 && each * static_cast<double>(count) > options.patience_s)
            throw TooLong{each * static_cast<double>(count)};
    }
    return out;
}

void finish(SampleShares& shares) {
    double sum = 0;
    for (const SampleShare& each : shares.samples) sum += each.largest;
    for (SampleShare& each : shares.samples) each.share = sum > 0 ? each.largest / sum : 0;
    std::ranges::stable_sort(shares.samples, [](const SampleShare& a, const SampleShare& b) {
        return std::pair(a.bad, a.share) > std::pair(b.bad, b.share);
    });
}

SampleShares unknown_shares() {
    return {
        {},
        msg("The samples' shares are not known: the tensor is not computed for a single sample.")};
}

SampleShares computed_alone(const StepCapsule& capsule, const BadTensor& first,
                            const std::string& key, double scale,
                            const SampleShareOptions& options) {
    const Batch& batch = capsule.batches.at(static_cast<std::size_t>(first.micro_batch));
    if (!capsule.before.carried.empty() && first.micro_batch != 0) return unknown_shares();
    const std::int64_t count = std::min(batch.rows(), options.most);
    SampleShares out;
    try {
        AloneStep step(capsule, first.micro_batch, scale);
        out.samples = one_by_one(step, first, key, count, options);
    } catch (const TooLong& found) {
        return {{},
                msg("The samples were left out while the run trains: they would take about {} s. "
                    "Examine the step again to see them.",
                    std::lround(found.seconds))};
    } catch (const Error& error) {
        return {{}, error.message()};
    }
    if (out.samples.empty()) return unknown_shares();
    finish(out);
    out.note = msg("Each sample computed alone, weighted as in the batch: {} of {} samples.", count,
                   batch.rows());
    return out;
}

}  // namespace

SampleShares sample_shares(const StepCapsule& capsule, const NonfiniteTrace& trace, double scale,
                           const SampleShareOptions& options) {
    const auto first = trace.first();
    if (!first || first->stage == SkipStage::state || first->stage == SkipStage::update)
        return {{}, msg("The fault does not come from the batch.")};
    SampleShares out;
    if (first->stage == SkipStage::batch) {
        out.samples = by_field(capsule, *first);
        out.note = msg("Non-finite values of the field by sample.");
        finish(out);
        return out;
    }
    const std::string key = trace.first_key();
    if (key.empty()) return unknown_shares();
    const Batch& batch = capsule.batches.at(static_cast<std::size_t>(first->micro_batch));
    const auto& shape = first->tensor.shape;
    // A weight's gradient may by chance have as many rows as the batch.
    const bool is_like_a_weight = std::ranges::any_of(
        capsule.before.weights,
        [&](const auto& weight) { return std::ranges::equal(weight.second.shape(), shape); });
    if (shape.empty() || shape.front() != batch.rows() || is_like_a_weight)
        return computed_alone(capsule, *first, key, scale, options);
    const Tensor tensor = tensor_of(capsule, capsule.config, key);
    if (!tensor.defined()) return unknown_shares();
    out.samples = by_rows(tensor, batch, first->micro_batch);
    take_magnitudes(out.samples, tensor_of(capsule, fp32_settings(capsule.config), key), batch);
    out.note = msg("Each row of the tensor belongs to one sample.");
    finish(out);
    return out;
}

}  // namespace engine
