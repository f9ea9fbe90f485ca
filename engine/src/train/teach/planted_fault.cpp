#include "train/teach/planted_fault.h"

#include <algorithm>
#include <limits>

#include "amp/autocast.h"
#include "engine/base/error.h"
#include "engine/base/plain_text.h"
#include "engine/settings/setting_words.h"
#include "ops/detection/balanced_sample.h"
#include "ops/linalg/norm.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/layout.h"
#include "tensor/module_scope.h"
#include "tensor/restore.h"
#include "tensor/tape.h"
#include "tensor/transfer.h"

namespace engine {
namespace {

constexpr std::int64_t ones = 100'000;

/// exp on the tape of 0 y + 12, all of it in fp16.
Tensor exp_in_f16(const Tensor& y) {
    const NoAutocast by_hand(y.device().kind);
    return exp(add(to(mul(y, 0.0), DType::f16), 12.0));
}

Tensor sum_in_f16(const Tensor& y) {
    const NoAutocast by_hand(y.device().kind);
    const Tensor zero = to(mul(mean(y), 0.0), DType::f16);
    return sum(add(Tensor::full({ones}, 1, DType::f16, y.device()), zero));
}

/// Whether planted_op() knows the kind: the fault is an operation of the network itself.
bool is_planted_op(PlantKind kind) {
    return kind == PlantKind::log_of_zero || kind == PlantKind::zero_norm ||
           kind == PlantKind::sqrt_at_zero || kind == PlantKind::exp_12 ||
           kind == PlantKind::sum_of_ones;
}

/// y, the output of a model, with the operation of this kind in front of it, in the module
/// "teach.plant". Every value that it adds to y is 0 where nothing breaks:
///   log-of-zero    y + log(0 y): -inf, in every precision
///   zero-norm      y + v / norm(v) of a zero vector v, epsilon 0: 0 / 0
///   sqrt-at-zero   y + sqrt(0 y): 0, with an infinite slope
///   exp-12         y + 0 exp(12 + 0 y) in fp16, where exp(12) = 162,755 is inf
///   sum-of-ones    y + 0 sum of 100,000 ones in fp16, which is inf
Tensor planted_op(PlantKind kind, const Tensor& y) {
    static const ModuleName module("teach.plant");
    const ModuleScope opened(module);
    switch (kind) {
        case PlantKind::log_of_zero:
            return add(y, log(mul(y, 0.0)));
        case PlantKind::zero_norm: {
            const Tensor zero = mul(y, 0.0);
            return add(y, div(zero, norm(zero, {-1}, /*keepdim=*/true)));
        }
        case PlantKind::sqrt_at_zero:
            return add(y, sqrt(mul(y, 0.0)));
        case PlantKind::exp_12:
            return add(y, mul(exp_in_f16(y), 0.0));
        case PlantKind::sum_of_ones:
            return add(y, mul(sum_in_f16(y), 0.0));
        default:
            return y;
    }
}

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

std::optional<std::int64_t> whole_number(const std::string& text) {
    const auto value = to_number<std::int64_t>(text);
    return value.value_or(-1) < 0 ? std::nullopt : value;
}

/// A separate copy, since the batch's memory may be read again. Waits, because the feed is not
/// notified when the original is no longer needed.
Tensor copy_of(const Tensor& x) {
    const Tensor out = empty_like(x);
    copy_bytes(out.data(), x.data(), x.bytes(), x.device());
    float first = 0;
    if (out.numel() > 0) copy_to_host(&first, out.data(), sizeof(first), out.device());
    return out;
}

/// Writes one f32 value at an element, counted as it lies in memory.
void put(const Tensor& x, std::int64_t element, double value) {
    const auto narrow = static_cast<float>(value);
    copy_from_host(x.data_as<float>() + element, &narrow, sizeof(narrow), x.device());
    x.bump_version();
}

}  // namespace

PlantedFault::PlantedFault(const PlantConfig& plant, const Schema& schema, Model& model)
    : plant_(plant) {
    if (is(PlantKind::nan_pixel) || is(PlantKind::inf_target) || is(PlantKind::empty_box))
        find_field(schema);
    if (is(PlantKind::nan_weight) || is(PlantKind::nan_embedding_row) ||
        is(PlantKind::adam_epsilon_zero))
        find_parameter(schema, model);
    if (is(PlantKind::nan_carried_state) && model.state_shapes(1).empty())
        refuse(msg("the model carries no state from step to step"));
    if (!is_planted_op(plant_.kind)) return;
    if (!plant_.where.empty())
        refuse(msg("leave it empty: the operation is inserted before the model's output"));
    on_outputs_ = [this](TensorList& outputs) {
        if (!outputs.empty()) outputs.front() = planted_op(plant_.kind, outputs.front());
    };
}

/// Adam's gradient must have been 0 from the first step on, so that its moments are too.
bool PlantedFault::observes(std::int64_t step) const {
    return is(PlantKind::adam_epsilon_zero) ? step <= plant_.step : step == plant_.step;
}

void PlantedFault::begin(const StepView& step) {
    if (is(PlantKind::scale_attention)) scores_.emplace(plant_.where);
    if (on_outputs_) step.precision.set_planted(&on_outputs_);
    if (is(PlantKind::nan_weight) || (is(PlantKind::nan_embedding_row) && row_))
        damage_parameter(step);
}

void PlantedFault::before_forward(const StepView& step, DeviceBatch& batch, TensorList& state) {
    if (step.phase != 0 || step.micro_batch != 0) return;
    if (is(PlantKind::nan_pixel) || is(PlantKind::inf_target)) damage_batch(batch);
    if (is(PlantKind::empty_box)) {
        batch.fields[field_] = copy_of(batch[field_]);
        boxes_.emplace(batch[field_], sample_in(batch));
    }
    if (is(PlantKind::nan_embedding_row) && !row_) damage_row(step, batch);
    if (is(PlantKind::nan_carried_state)) put(state.front(), 0, nan);
}

void PlantedFault::before_update(const StepView& step) {
    if (is(PlantKind::adam_epsilon_zero)) zero_adam_denominator(step);
}

void PlantedFault::after_update(const StepView&) {
    if (scores_ && !scores_->met())
        refuse(plant_.where.empty() ? msg("the model has no attention")
                                    : msg("no attention is computed in this module"));
}

void PlantedFault::end(const StepView& step) {
    scores_.reset();
    boxes_.reset();
    step.precision.set_planted(nullptr);
    if (adam_ != nullptr) adam_->set_eps(epsilon_);
    adam_ = nullptr;
}

void PlantedFault::TurnedBoxes::on_op(const OpEvent& event) {
    if (done_ || event.info->name != balanced_sample_op.name) return;
    done_ = true;
    std::vector<double> corners = boxes_.values();
    const auto each = static_cast<std::size_t>(boxes_.size(1) * 4);
    const std::size_t first = static_cast<std::size_t>(sample_) * each;
    for (std::size_t i = first; i < first + each; i += 4)
        corners[i + 2] = 2 * corners[i] - corners[i + 2];
    engine::fill({{"boxes", boxes_}}, {{"boxes", Tensor::of(corners, boxes_.shape())}});
}

void PlantedFault::refuse(const Message& why) const {
    const std::string field = plant_.where.empty() ? "teach.plant.kind" : "teach.plant.where";
    const std::string value = plant_.where.empty() ? word_of(plant_.kind) : plant_.where;
    throw Error(ErrorCode::settings, msg("{}: {}: {}", field, value, why.str()));
}

void PlantedFault::find_field(const Schema& schema) {
    const auto fits = [this](const FieldSpec& field) {
        if (is(PlantKind::inf_target)) return field.kind == FieldKind::value;
        if (is(PlantKind::empty_box)) return field.kind == FieldKind::boxes;
        return field.kind == FieldKind::image || field.kind == FieldKind::features;
    };
    const auto found = std::ranges::find_if(schema.fields, fits);
    if (found == schema.fields.end())
        refuse(is(PlantKind::inf_target)  ? msg("only numbers to predict can be infinite")
               : is(PlantKind::empty_box) ? msg("the data set has no boxes")
                                          : msg("the data set has no pixels and no numbers"));
    if (!plant_.where.empty() && !whole_number(plant_.where))
        refuse(msg("use the position of a sample in the batch, from 0"));
    field_ = static_cast<std::size_t>(found - schema.fields.begin());
}

/// The named one; else the first, of embeddings the first with as many rows as there are ids.
void PlantedFault::find_parameter(const Schema& schema, const Model& model) {
    std::string name = plant_.where;
    if (const auto colon = name.rfind(':'); colon != std::string::npos) {
        row_ = whole_number(name.substr(colon + 1));
        if (!row_) refuse(msg("use name or name:row, the row a whole number"));
        name.resize(colon);
    }
    const bool table = is(PlantKind::nan_embedding_row);
    const auto ids = std::ranges::find_if(schema.fields, [](const FieldSpec& field) {
        return field.kind == FieldKind::tokens || field.kind == FieldKind::indices;
    });
    if (table && ids == schema.fields.end()) refuse(msg("the data set has no tokens and no ids"));
    field_ = static_cast<std::size_t>(ids - schema.fields.begin());
    const auto fits = [&](const Parameter& each) {
        if (!name.empty()) return each.name == name;
        return !table || (each.tensor.rank() == 2 && each.tensor.size(0) >= ids->cardinality);
    };
    const auto found = std::ranges::find_if(model.parameters(), fits);
    if (found == model.parameters().end())
        refuse(name.empty() ? msg("name the embedding in teach.plant.where")
                            : msg("the model has no such parameter"));
    parameter_ = *found;
    if (row_ && (parameter_.tensor.rank() == 0 || *row_ >= parameter_.tensor.size(0)))
        refuse(msg("the parameter has {} rows",
                   parameter_.tensor.rank() == 0 ? 0 : parameter_.tensor.size(0)));
}

std::int64_t PlantedFault::sample_in(const DeviceBatch& batch) const {
    const std::int64_t sample = whole_number(plant_.where).value_or(0);
    if (sample >= batch.rows) refuse(msg("the batch has {} samples", batch.rows));
    return sample;
}

void PlantedFault::damage_batch(DeviceBatch& batch) const {
    Tensor& field = batch.fields[field_] = copy_of(batch[field_]);
    const std::int64_t each = field.numel() / std::max<std::int64_t>(field.size(0), 1);
    put(field, sample_in(batch) * each, is(PlantKind::nan_pixel) ? nan : infinity);
}

/// Where no row is named: one that the batch reads.
void PlantedFault::damage_row(const StepView& step, const DeviceBatch& batch) {
    row_ = static_cast<std::int64_t>(batch[field_].values().front());
    damage_parameter(step);
}

/// The weight, and its master where the optimizer has one.
void PlantedFault::damage_parameter(const StepView& step) const {
    for (const Optimizer* optimizer : step.optimizers) {
        const auto& all = optimizer->parameters();
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (all[i].name == parameter_.name && optimizer->master(i).defined())
                put_nan(optimizer->master(i));
        }
    }
    put_nan(parameter_.tensor);
}

/// In a row of the values that stand for the parameter, or in the first element of one.
void PlantedFault::put_nan(const Tensor& values) const {
    std::vector<double> numbers = values.values();
    const std::int64_t rows = values.rank() == 0 ? 1 : std::max<std::int64_t>(values.size(0), 1);
    const std::int64_t width = values.numel() / rows;
    const auto first = numbers.begin() + row_.value_or(0) * width;
    std::fill_n(first, is(PlantKind::nan_embedding_row) ? width : 1, nan);
    engine::fill({{parameter_.name, values}},
                 {{parameter_.name, Tensor::of(numbers, values.shape())}});
}

/// Makes the gradients of a parameter 0, and in the planted step sets Adam's eps to 0, so that Adam
/// divides 0 by 0.
void PlantedFault::zero_adam_denominator(const StepView& step) {
    for (Optimizer* optimizer : step.optimizers) {
        auto* const adam = dynamic_cast<Adam*>(optimizer);
        if (adam == nullptr) continue;
        for (const Parameter& each : optimizer->parameters()) {
            if (each.name != parameter_.name) continue;
            each.tensor.set_grad(
                Tensor::zeros(each.tensor.shape(), each.tensor.dtype(), each.tensor.device()));
            if (step.step != plant_.step) continue;
            adam_ = adam;
            epsilon_ = adam->eps();
            adam->set_eps(0);
        }
    }
}

}  // namespace engine
