#include "amp/call_trace.h"

#include <utility>

namespace engine {

void CallTrace::on_call(const OpCall& call) {
    open_.push_back({call.info, {call.inputs.begin(), call.inputs.end()}, call.arguments});
    if (inside_ > 0 || has(*call.info)) ++inside_;
}

void CallTrace::on_return(std::span<const Tensor> outputs) {
    const Open call = std::move(open_.back());
    open_.pop_back();
    if (inside_ > 0 && --inside_ == 0 && !outputs.empty())
        on_traced({*call.info, call.inputs, outputs, call.arguments});
}

void CallTrace::on_op(const OpEvent& event) {
    if (inside_ > 0) return;
    if (!has(*event.info)) return on_unknown(*event.info, event.outputs);
    on_traced({*event.info, event.inputs, event.outputs, {}});
}

}  // namespace engine
