#include "amp/dispatch.h"

#include <utility>

#include "amp/type_rules.h"
#include "tensor/cast.h"
#include "tensor/tape.h"

namespace engine {
namespace {

/// Whether `module` is `outer` or lies inside it: "layer1" holds "layer1.0" and not "layer10".
bool holds(std::string_view outer, std::string_view module) {
    if (outer.empty()) return true;
    if (!module.starts_with(outer)) return false;
    return module.size() == outer.size() || module[outer.size()] == '.';
}

bool more_specific(const ForceRule& a, const ForceRule& b) {
    if (a.module.size() != b.module.size()) return a.module.size() > b.module.size();
    return !a.op.empty() && b.op.empty();
}

}  // namespace

ForceRules::ForceRules(std::vector<ForceRule> rules) : rules_(std::move(rules)) {
    std::stable_sort(rules_.begin(), rules_.end(), more_specific);
}

const ForceRule* ForceRules::find(std::string_view module, std::string_view op) const {
    const auto found = std::ranges::find_if(rules_, [&](const ForceRule& rule) {
        return holds(rule.module, module) && (rule.op.empty() || rule.op == op);
    });
    return found == rules_.end() || found->lifts ? nullptr : &*found;
}

ForceScope::ForceScope(std::shared_ptr<const ForceRules> rules) noexcept
    : rules_(std::move(rules)), scope_([this] {
          AutocastState state = autocast_state();
          state.force = rules_.get();
          return state;
      }()) {}

namespace {

/// A backward pass runs in the types of its forward pass, so nothing is forced there. Recomputation
/// counts as forward.
bool force_holds() noexcept { return types_are_forced() && (!in_backward() || recomputing()); }

std::optional<DType> type_without_force(const Op& info, const TensorList& inputs,
                                        Device::Kind kind) {
    std::vector<OperandType> operands;
    for (const Tensor& each : inputs)
        if (eligible(each, kind)) operands.push_back(operand_type(each));
    return unforced_type(info, operands);
}

}  // namespace

namespace detail {

bool intercepts() noexcept { return observed || force_holds(); }

void note_cached_cast(const Tensor& source, const Tensor& cast) {
    for (OpObserver* const each : op_observers()) each->on_cached_cast(source, cast);
}

Call::Call(const Op& info, const TensorList& inputs, bool typed,
           std::span<const CallArgument> arguments)
    : info_(info), observed_(observed) {
    const auto first = std::ranges::find_if(
        inputs, [](const Tensor& each) { return eligible(each, each.device().kind); });
    if (info.forceable && first != inputs.end() && force_holds()) {
        kind_ = first->device().kind;
        const bool on = autocast_enabled(kind_);
        const bool banned = on && info.policy == CastPolicy::banned;
        if (!banned) rule_ = autocast_state().force->find(current_module(), info.name);
        if (rule_ != nullptr && !on && !typed)
            result_type_ = type_without_force(info, inputs, kind_);
    }
    if (!observed_) return;
    for (OpObserver* const each : op_observers()) each->on_call({&info_, inputs, rule_, arguments});
}

Call::~Call() { returned({}); }

Tensor Call::cast(const Tensor& tensor) const {
    // A plain number is never cast, so it keeps its digits.
    const bool taken = eligible(tensor, kind_) && !tensor.impl()->is_number;
    return taken ? autocast_to(tensor, rule_->type) : tensor;
}

TensorList Call::cast(const TensorList& tensors) const {
    TensorList out;
    for (const auto& each : tensors) out.push_back(cast(each));
    return out;
}

void Call::restore(Tensor& result) const {
    if (result_type_ && eligible(result, kind_)) result = to(result, *result_type_);
}

void Call::returned(std::span<const Tensor> outputs) {
    if (!std::exchange(observed_, false)) return;
    for (OpObserver* const each : op_observers()) each->on_return(outputs);
}

void Call::finish(Tensor& result) {
    restore(result);
    returned({&result, 1});
}

void Call::finish(TensorList& results) {
    for (auto& each : results) restore(each);
    returned(results);
}

}  // namespace detail

}  // namespace engine
