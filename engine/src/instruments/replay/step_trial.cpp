#include "instruments/replay/step_trial.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/base/error.h"
#include "tensor/layout.h"

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
        if (i == at || carries)
            out.batches[i] = rows_of(capsule.batches[i], all_but(row, capsule.batches[i].rows()));
    }
    for (auto& [name, state] : out.before.carried)
        state = streams_of(state, all_but(row, state.size(1)));
    return out;
}

}  // namespace

RunConfig fp32_config(const RunConfig& config) {
    RunConfig out = config;
    out.precision = {};
    out.precision.preset = "fp32";
    return out;
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
    out.batches = {rows_of(capsule.batches.at(static_cast<std::size_t>(micro_batch)), rows)};
    for (auto& [name, state] : out.before.carried) state = streams_of(state, rows);
    return out;
}

StepTrial try_step(const StepCapsule& capsule, const TrialChange& change) {
    StepCapsule changed = change.without_row
                              ? without_row(capsule, change.micro_batch, *change.without_row)
                              : capsule;
    if (change.scale) changed = with_scale(changed, *change.scale);
    const RunConfig config = change.fp32 ? fp32_config(changed.config) : changed.config;
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
        TrialChange change;
        change.scale = at;
        out.push_back(try_step(capsule, change));
        if (out.back().passes || !(at > 1) || out.back().scale != at) return out;
    }
}

}  // namespace engine
