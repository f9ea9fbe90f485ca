#include "amp/call_trace.h"

#include <algorithm>
#include <utility>

#include "tensor/cast.h"

namespace engine {

TensorPlace tensor_place(const Tensor& tensor) {
    const TensorImpl& impl = *tensor.impl();
    return {impl.storage.get(),
            impl.offset,
            {impl.shape.begin(), impl.shape.end()},
            {impl.strides.begin(), impl.strides.end()}};
}

int TracedCall::changed_dim() const {
    const Shape &from = inputs[0].shape(), &out = outputs[0].shape();
    const auto [a, b] = std::mismatch(from.begin(), from.end(), out.begin(), out.end());
    return a == from.end() || b == out.end() ? -1 : static_cast<int>(a - from.begin());
}

std::vector<std::int64_t> TracedCall::order() const {
    const Tensor &x = inputs[0], &y = outputs[0];
    std::vector<std::int64_t> out;
    for (int i = 0; i < y.rank(); ++i) {
        int from = 0;
        while (std::ranges::count(out, from) > 0 || x.size(from) != y.size(i) ||
               x.strides()[from] != y.strides()[i])
            ++from;
        out.push_back(from);
    }
    return out;
}

std::string_view CallTrace::unknown_maker(const Tensor& tensor) const {
    const auto found = unknown_.find(tensor_place(tensor));
    return found == unknown_.end() ? std::string_view() : found->second;
}

void CallTrace::pass_on(const TracedCall& call) {
    passes_on_ = true;
    on_traced(call);
    passes_on_ = false;
}

void CallTrace::on_call(const OpCall& call) {
    if (passes_on_) return;
    open_.push_back({call.info, {call.inputs.begin(), call.inputs.end()}, call.arguments});
    if (inside_ > 0 || has(*call.info)) ++inside_;
}

void CallTrace::on_return(std::span<const Tensor> outputs) {
    if (passes_on_) return;
    const Open call = std::move(open_.back());
    open_.pop_back();
    if (inside_ == 0 || --inside_ > 0 || outputs.empty()) return;
    // A view may give back its argument.
    const bool nothing = !call.info->forceable && outputs[0].impl() == call.inputs[0].impl();
    if (!nothing) pass_on({*call.info, call.inputs, outputs, call.arguments});
}

void CallTrace::on_op(const OpEvent& event) {
    if (passes_on_) return;
    if (inside_ > 0) {
        if (event.info->name != cast_op.name || !is_floating(event.outputs[0].dtype())) return;
        TensorList& inputs = open_[open_.size() - inside_].inputs;
        const auto found = std::ranges::find(inputs, event.inputs[0].impl(), &Tensor::impl);
        if (found == inputs.end()) return;
        pass_on({*event.info, event.inputs, event.outputs, {}});
        *found = event.outputs[0];
        return;
    }
    if (!has(*event.info)) {
        for (const Tensor& each : event.outputs) {
            unknown_.emplace(tensor_place(each), event.info->name);
            keep(each);
        }
        return;
    }
    pass_on({*event.info, event.inputs, event.outputs, {}});
}

void CallTrace::on_same(const Tensor& shown, const Tensor& own) {
    keep(own);
    if (const std::string_view maker = unknown_maker(shown); !maker.empty())
        unknown_.emplace(tensor_place(own), maker);
    else
        on_same_value(shown, own);
}

}  // namespace engine
