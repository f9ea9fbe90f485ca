#include "models/type_pass.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "amp/type_rules.h"
#include "ops/attention/attention.h"
#include "ops/conv/conv_transpose.h"
#include "ops/conv/convolution.h"
#include "ops/linalg/linear.h"
#include "ops/norm/layer_norm.h"
#include "ops/pool/pool.h"
#include "ops/shape/slice.h"
#include "ops/shape/view.h"
#include "ops/vision/upsample.h"
#include "tensor/cast.h"

namespace engine::network {
namespace {

/// The operands that autocast casts.
std::vector<OperandType> floating(std::span<const OperandType> operands) {
    std::vector<OperandType> out;
    std::ranges::copy_if(operands, std::back_inserter(out), [](const OperandType& each) { return is_floating(each.type); });
    return out;
}

/// The first of them that is no plain number, as the X-ray shows it; none: whole numbers alone.
std::optional<DType> shown_type(std::span<const OperandType> operands) {
    const auto found = std::ranges::find_if(operands, [](const OperandType& each) { return is_floating(each.type) && !each.is_number; });
    return found == operands.end() ? std::nullopt : std::optional(found->type);
}

double count_bytes(const ValueType& value) { return value.elements * static_cast<double>(size_of(value.type)); }

bool is_view(const Op& op) {
    return &op == &reshape_op || &op == &permute_op || &op == &narrow_op || &op == &slice_op || &op == &expand_op;
}

ElementOrder order_after(const Op& op, ElementOrder order) {
    static constexpr std::array images = {&conv2d_op, &conv_transpose2d_op, &max_pool2d_op, &avg_pool2d_op, &adaptive_avg_pool2d_op, &adaptive_max_pool2d_op,
                                          &upsample_nearest2d_op, &upsample_bilinear2d_op, &upsample_bicubic2d_op};
    if (std::ranges::find(images, &op) != images.end()) return ElementOrder::channels_last;
    if (&op == &permute_op) return order == ElementOrder::permuted ? ElementOrder::rows : ElementOrder::permuted;
    if (&op == &scaled_dot_product_attention_op) return ElementOrder::permuted;
    if (&op == &linear_op || &op == &layer_norm_op || &op == &rms_norm_op) return ElementOrder::rows;
    return order;
}

OperandType promoted(std::span<const OperandType> operands) {
    OperandType widest = operands.front();
    for (const OperandType& each : operands.subspan(1)) {
        widest.type = result_type(widest, each);
        widest.has_dims = widest.has_dims || each.has_dims;
        widest.is_number = widest.is_number && each.is_number;
    }
    return widest;
}

}  // namespace

const ForceRule* TypePass::rule_for(const Op& op, bool has_floating) const {
    const bool banned = low_ && op.policy == CastPolicy::banned;
    return rules_ && op.forceable && has_floating && !banned ? rules_->find(module, op.name) : nullptr;
}

void TypePass::cast(const Op& op, const ForceRule* rule, std::vector<OperandType>& operands) const {
    std::optional<DType> target;
    const bool forced = rule != nullptr && !op.casts_result;
    if (forced) {
        target = rule->type;
    } else if (low_ && detail::casts_arguments(op.policy)) {
        const auto consulted = std::min(operands.size(), static_cast<std::size_t>(op.consulted));
        target = cast_target(op, *low_, floating(std::span(operands).first(consulted)));
    }
    if (!target) return;
    // A forced type leaves a plain number its digits.
    for (OperandType& each : operands)
        if (is_floating(each.type) && !(forced && each.is_number)) each.type = *target;
}

ValueType TypePass::call(const Op& op, std::span<const ValueType> operands, Gives gives) {
    const bool has_floating = std::ranges::any_of(operands, [](const ValueType& each) { return is_floating(each.type); });
    return called(op, rule_for(op, has_floating), operands, gives);
}

ValueType TypePass::call_made_of(const Op& op, const ValueType& x, std::initializer_list<const Op*> parts) {
    const bool is_whole = is_forced(op);
    ValueType y = call(op, {&x, 1});
    std::optional<DType> type;
    for (const Op* part : parts)
        if (const ForceRule* rule = rule_for(*part, is_floating(x.type))) type = rule->type;
    if (is_whole || !low_ || !type || *type == y.type) return y;
    y.type = *type;
    operations_.back().rule = "inside";
    operations_.back().type = operations_.back().result = name(*type);
    set_elements(y, y.elements);
    calls_.back().result = y;
    return y;
}

ValueType TypePass::show(const Op& op, const ValueType& x) { return called(op, nullptr, {&x, 1}, Gives::widest); }

ValueType TypePass::called(const Op& op, const ForceRule* rule, std::span<const ValueType> operands, Gives gives) {
    const std::vector<OperandType> given(operands.begin(), operands.end());
    std::vector<OperandType> used = given;
    cast(op, rule, used);

    ValueType result;
    static_cast<OperandType&>(result) = promoted(used);
    result.learns = op.derivatives > 0 && std::ranges::any_of(operands, &ValueType::learns);
    if (gives != Gives::widest) result.type = used.front().type;
    // A forced operation runs with autocast off.
    const bool in_region = low_ && (rule == nullptr || op.casts_result);
    const bool widens = writes_f32(op.policy) || gives == Gives::f32_in_region;
    if (in_region && widens && is_floating(result.type)) result.type = DType::f32;
    std::optional<DType> computes = shown_type(used);
    if (gives == Gives::from_f32 && rule == nullptr && computes) computes = DType::f32;

    if (is_floating(result.type)) {
        if (rule != nullptr && op.casts_result) result.type = rule->type;
        if (rule != nullptr && !low_) result.type = unforced_type(op, floating(given)).value_or(result.type);
    }
    const TypeReason reason = type_reason(op, rule, low_.has_value());
    PredictedType shown{.row = row, .module = module, .op = std::string(op.name), .type = {}, .rule = std::string(reason.rule), .key = rule != nullptr ? rule->key : std::string(), .why = std::string(reason.why)};
    const bool keeps_type = !is_floating(result.type) || shown_type(given) == result.type;
    if (!keeps_type && reason.rule == name(CastPolicy::none)) {
        shown.rule = "inside";
        computes = result.type;
    }
    if (computes) shown.type = name(*computes);
    const bool gives_numbers = op.derivatives > 0;  // else truth values or whole numbers
    if (computes && gives_numbers && is_floating(result.type)) shown.result = name(result.type);
    operations_.push_back(std::move(shown));
    note_call(op, operands, used, result);
    return result;
}

int TypePass::new_block(const ValueType& value) {
    blocks_.push_back(count_bytes(value));
    return static_cast<int>(blocks_.size()) - 1;
}

void TypePass::note_call(const Op& op, std::span<const ValueType> operands, const std::vector<OperandType>& used, ValueType& result) {
    TypedCall call{&op, row, {operands.begin(), operands.end()}, {}, {}};
    const auto is_parameter = [](const ValueType& each) { return each.learns && each.made_by < 0; };
    const bool only_parameters = std::ranges::all_of(operands, is_parameter);
    result.elements = 0;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        ValueType each = operands[i];
        const bool is_cast = used[i].type != each.type;
        each.type = used[i].type;
        // Casts of weights are kept beside them.
        if (is_cast && !is_parameter(each) && !each.is_number) each.block = new_block(each);
        if (only_parameters || !is_parameter(each)) result.elements = std::max(result.elements, each.elements);
        call.used.push_back(each);
    }
    const ValueType& first = call.used.front();
    result.order = order_after(op, first.order);
    result.made_by = static_cast<int>(calls_.size());
    result.block = is_view(op) ? first.block : new_block(result);
    call.result = result;
    calls_.push_back(std::move(call));
}

void TypePass::set_elements(ValueType& value, double elements) {
    value.elements = elements;
    if (value.made_by < 0) return;
    TypedCall& call = calls_[static_cast<std::size_t>(value.made_by)];
    call.result.elements = elements;
    // A view lies in its operand's memory, which does not grow.
    if (!is_view(*call.op) || call.result.block != call.used.front().block) blocks_[static_cast<std::size_t>(value.block)] = count_bytes(value);
}

void TypePass::set_copied(ValueType& value) {
    if (value.made_by < 0) return;
    value.block = new_block(value);
    value.order = ElementOrder::rows;
    calls_[static_cast<std::size_t>(value.made_by)].result = value;
}

void TypePass::set_made_of(ValueType& value, std::span<const ValueType> parameters) {
    if (value.made_by < 0 || std::ranges::none_of(parameters, &ValueType::learns)) return;
    value.learns = true;
    calls_[static_cast<std::size_t>(value.made_by)].result = value;
}

ValueType TypePass::cast_inside(const ValueType& x, DType type) {
    if (x.type == type) return x;
    ValueType result;
    static_cast<OperandType&>(result) = x;
    result.type = type;
    result.learns = x.learns;
    note_call(cast_op, {&x, 1}, {x}, result);
    return result;
}

int GraphLayer::dimension(std::string_view argument, int rank) const {
    const auto given = static_cast<int>(arguments().whole(argument));
    return given < 0 ? given + rank : given;
}

std::vector<std::int64_t> GraphLayer::dimensions(std::string_view argument) const {
    std::vector<std::int64_t> dims = arguments().list(argument);
    for (std::int64_t& dim : dims)
        if (dim < 0) dim += input().rank();
    return dims;
}

ValueType LayerTypes::call_with_weights(const Op& op, TypePass::Gives gives) const {
    ValueTypes operands{in.front()};
    operands.insert(operands.end(), weights.begin(), weights.end());
    return pass.call(op, operands, gives);
}

ValueType LayerTypes::chain(ValueType x, std::initializer_list<const Op*> ops) const {
    for (const Op* op : ops) x = call(*op, {x});
    return x;
}

LayerTypeFunction calls(const Op& op, TypePass::Gives gives) {
    return [&op, gives](const LayerTypes& layer) { return ValueTypes{layer.pass.call(op, layer.in, gives)}; };
}

LayerTypeFunction calls_with_weights(const Op& op, TypePass::Gives gives) {
    return [&op, gives](const LayerTypes& layer) { return ValueTypes{layer.call_with_weights(op, gives)}; };
}

}  // namespace engine::network
