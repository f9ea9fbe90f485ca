#include "instruments/replay/step_variant.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/base/error.h"
#include "engine/settings/catalog.h"
#include "instruments/replay/phase_gradients.h"
#include "io/file/work_progress.h"
#include "ops/index/sparse.h"
#include "tensor/layout.h"
#include "tensor/tape.h"
#include "tensor/tensor.h"

namespace engine {
namespace {

[[noreturn]] void refuse_row(std::int64_t row, std::int64_t rows) {
    throw Error(ErrorCode::value, msg("The batch has no row {}: it has {} rows.", row, rows));
}

Batch rows_of(const Batch& batch, const std::vector<std::int64_t>& rows) {
    Batch out = batch;
    out.full = false;
    out.indices.clear();
    for (const std::int64_t row : rows) {
        if (row < 0 || row >= batch.rows()) refuse_row(row, batch.rows());
        out.indices.push_back(batch.indices[static_cast<std::size_t>(row)]);
    }
    out.samples = batch.samples / batch.rows() * out.rows();
    for (BatchField& field : out.fields) {
        if (field.shape.rank() == 0 || field.shape[0] != batch.rows()) {
            throw Error(
                ErrorCode::value,
                msg("The rows of this batch cannot be taken apart: it has a packed field."));
        }
        const auto whole = field.bytes;
        const std::size_t bytes = whole.size() / static_cast<std::size_t>(batch.rows());
        field.shape[0] = out.rows();
        field.bytes.resize(bytes * rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            std::copy_n(whole.begin() +
                            static_cast<std::ptrdiff_t>(bytes * static_cast<std::size_t>(rows[i])),
                        bytes, field.bytes.begin() + static_cast<std::ptrdiff_t>(bytes * i));
        }
    }
    return out;
}

/// (layers, streams, width) -> the same of some streams.
Tensor streams_of(const Tensor& state, const std::vector<std::int64_t>& rows) {
    const std::int64_t layers = state.size(0), streams = state.size(1), width = state.size(2);
    const auto count = static_cast<std::int64_t>(rows.size());
    const Tensor out = Tensor::empty({layers, count, width}, state.dtype(), state.device());
    for (std::int64_t i = 0; i < count; ++i) {
        const Shape shape{layers, 1, width};
        copy_into(view_of(out, shape, {count * width, width, 1}, i * width),
                  view_of(state, shape, {streams * width, width, 1},
                          rows[static_cast<std::size_t>(i)] * width));
    }
    return out;
}

std::vector<std::int64_t> all_but(std::int64_t row, std::int64_t rows) {
    if (row < 0 || row >= rows) refuse_row(row, rows);
    if (rows == 1) throw Error(ErrorCode::value, msg("The batch has no other row."));
    std::vector<std::int64_t> out(static_cast<std::size_t>(rows));
    std::iota(out.begin(), out.end(), 0);
    out.erase(out.begin() + row);
    return out;
}

StepCapsule without_row(const StepCapsule& capsule, std::int64_t micro_batch, std::int64_t row) {
    StepCapsule out = capsule;
    const auto at = static_cast<std::size_t>(micro_batch);
    const bool carries = !capsule.before.carried.empty();
    for (std::size_t i = 0; i < out.batches.size(); ++i) {
        if (i != at && !carries) continue;
        const std::vector<std::int64_t> rows = all_but(row, capsule.batches[i].rows());
        out.batches[i] = rows_of(capsule.batches[i], rows);
        out.decisions = out.decisions->with_rows(i, rows);
    }
    for (auto& [name, state] : out.before.carried)
        state = streams_of(state, all_but(row, state.size(1)));
    return out;
}

/// An f16 gradient is scaled by up to 2^24: the quotient is taken in f64.
std::vector<double> unscaled(const Tensor& gradient, double scale) {
    std::vector<double> out = (gradient.is_sparse() ? to_dense(gradient) : gradient).values();
    for (double& each : out) each /= scale;
    return out;
}

std::shared_ptr<StepGradients> gradients_under(CapsuleStep& step, double* loss = nullptr) {
    auto gradients = std::make_shared<StepGradients>();
    step.trainer().attach(gradients);
    const CompletedStep finished = step.run();
    step.trainer().detach(*gradients);
    if (loss != nullptr) *loss = finished.row.loss;
    return gradients;
}

}  // namespace

RunConfig fp32_settings(RunConfig config) {
    config.precision = {.preset = baseline_precision()};
    return config;
}

StepCapsule with_scale(const StepCapsule& capsule, double scale) {
    StepCapsule out = capsule;
    out.config.scaler.init_scale = scale;
    if (const auto saved = out.before.scaler.find("scale"); saved != out.before.scaler.end())
        saved->second = scale;
    return out;
}

StepCapsule with_rows(const StepCapsule& capsule, std::int64_t micro_batch,
                      const std::vector<std::int64_t>& rows) {
    if (rows.empty()) throw Error(ErrorCode::value, msg("The batch has no other row."));
    StepCapsule out = capsule;
    const auto at = static_cast<std::size_t>(micro_batch);
    out.batches = {rows_of(capsule.batches.at(at), rows)};
    out.decisions = std::make_shared<StepDecisions>();
    if (const TensorList known = capsule.decisions->with_rows(at, rows)->at(at); !known.empty())
        out.decisions->keep(0, known);
    for (auto& [name, state] : out.before.carried) state = streams_of(state, rows);
    return out;
}

StepTrial try_step(const StepCapsule& capsule, const StepVariant& variant) {
    StepCapsule changed = variant.without_row
                              ? without_row(capsule, variant.micro_batch, *variant.without_row)
                              : capsule;
    if (variant.scale) changed = with_scale(changed, *variant.scale);
    const RunConfig config = variant.fp32 ? fp32_settings(changed.config) : changed.config;
    const StepRecord row = CapsuleStep(changed, config).run().row;
    const auto loss = static_cast<double>(row.loss), norm = static_cast<double>(row.grad_norm);
    return {.scale = static_cast<double>(row.loss_scale),
            .passes = std::isfinite(loss) && std::isfinite(norm),
            .loss = loss,
            .grad_norm = norm};
}

std::vector<StepTrial> scale_ladder(const StepCapsule& capsule, double scale) {
    std::vector<StepTrial> out;
    for (double at = scale;; at = std::max(at / 2, 1.0)) {
        StepVariant variant;
        variant.scale = at;
        out.push_back(try_step(capsule, variant));
        if (out.back().passes || !(at > 1) || out.back().scale != at) return out;
    }
}

void StepGradients::before_update(const StepView& step) {
    const GradMode off(false);
    const double scale = loss_scale_of(step);
    for_each_gradient(step, [&](const PhaseGradient& gradient) {
        gradients_[gradient.name] = unscaled(gradient.values, scale);
    });
}

double relative_error(const StepGradients& found, const StepGradients& exact) {
    double difference = 0, size = 0;
    for (const auto& [name, wanted] : exact.values()) {
        const auto own = found.values().find(name);
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            const double value = own == found.values().end() ? 0 : own->second[i];
            if (!std::isfinite(value)) return std::numeric_limits<double>::infinity();
            difference += (value - wanted[i]) * (value - wanted[i]);
            size += wanted[i] * wanted[i];
        }
    }
    if (difference == 0) return 0;
    return size > 0 ? std::sqrt(difference / size) : std::numeric_limits<double>::infinity();
}

StepComparison::StepComparison(const StepCapsule& capsule) : capsule_(capsule) {
    CapsuleStep step(capsule, fp32_settings(capsule.config));
    exact_ = gradients_under(step);
}

XrayOutcome StepComparison::outcome(const RunConfig& config) const {
    using Clock = std::chrono::steady_clock;
    CapsuleStep step(capsule_, config);
    XrayOutcome out;
    out.gradient_error = relative_error(*gradients_under(step, &out.loss), *exact_);
    out.found_inf = std::isinf(out.gradient_error);
    out.step_ms = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 3; ++i) {  // the best: whatever else the machine does only takes time
        poll_work();
        step.rewind();
        const auto start = Clock::now();
        step.run();
        const std::chrono::duration<double, std::milli> taken = Clock::now() - start;
        out.step_ms = std::min(out.step_ms, taken.count());
        out.slowest_ms = std::max(out.slowest_ms, taken.count());
    }
    out.peak_bytes = step.trainer().accounting()->peak();
    return out;
}

double StepComparison::gradient_error(const RunConfig& config) const {
    CapsuleStep step(capsule_, config);
    return relative_error(*gradients_under(step), *exact_);
}

}  // namespace engine
