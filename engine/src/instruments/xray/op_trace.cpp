#include "instruments/xray/op_trace.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "amp/type_rules.h"
#include "instruments/xray/op_cost.h"
#include "io/file/work_progress.h"
#include "tensor/cast.h"

namespace engine {
namespace {

XrayTensor shown(const Tensor& tensor) {
    XrayTensor out{name(tensor.dtype()), {}};
    for (int i = 0; i < tensor.rank(); ++i) out.shape.push_back(tensor.size(i));
    return out;
}

std::vector<XrayTensor> shown(std::span<const Tensor> tensors) {
    std::vector<XrayTensor> out;
    for (const Tensor& each : tensors) {
        if (each.defined()) out.push_back(shown(each));
    }
    return out;
}

/// The type of the first floating tensor.
std::string floating_type(std::span<const Tensor> tensors) {
    const auto found = std::ranges::find_if(tensors, [](const Tensor& each) {
        return each.defined() && is_floating(each.dtype()) && !each.impl()->is_number;
    });
    return found == tensors.end() ? "" : name(found->dtype());
}

bool is_cast(const Op& info) { return &info == &cast_op; }

/// The cast was answered by the copy that the optimizer keeps.
bool is_kept_copy(const Tensor& source, const Tensor& cast) {
    const auto& copy = source.impl()->low_copy;
    return copy && copy->tensor.impl()->storage == cast.impl()->storage;
}

/// Each once, in order.
std::string joined(const std::vector<std::string>& names) {
    std::string out;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto here = names.begin() + static_cast<std::ptrdiff_t>(i);
        if (std::find(names.begin(), here, *here) != here) continue;
        out += (out.empty() ? "" : " + ") + *here;
    }
    return out;
}

constexpr const char* gradient_why = "A gradient runs in the types that the forward pass ran in.";

/// Rows of each operation of a module's forward pass.
using ModuleRows = std::map<std::string, std::vector<std::size_t>>;

bool is_outside(const XrayOp& row, const std::string& module) {
    return row.pass == XrayPass::forward && row.module != module &&
           !row.module.starts_with(module + '.');
}

/// Whether each operation comes `calls` times, and between two calls another module runs that is no
/// part of this one.
bool is_called(const std::vector<XrayOp>& rows, const std::string& module, const ModuleRows& ops,
               std::size_t calls) {
    for (const auto& [op, at] : ops)
        if (at.size() != calls) return false;
    for (std::size_t i = 1; i < calls; ++i) {
        std::size_t last = 0, first = rows.size();
        for (const auto& [op, at] : ops) {
            last = std::max(last, at[i - 1]);
            first = std::min(first, at[i]);
        }
        if (last >= first) return false;
        const auto between = std::span(rows).subspan(last, first - last);
        if (std::ranges::none_of(between, [&](const XrayOp& row) { return is_outside(row, module); }))
            return false;
    }
    return true;
}

/// Sets XrayOp::call. An operation that one call runs several times has no number, as the sums of a
/// pyramid.
void number_calls(std::vector<XrayOp>& rows) {
    std::map<std::string, ModuleRows> modules;
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (rows[i].pass == XrayPass::forward && !rows[i].module.empty())
            modules[rows[i].module][rows[i].op].push_back(i);
    for (const auto& [module, ops] : modules) {
        const std::size_t calls = ops.begin()->second.size();
        if (calls < 2 || !is_called(rows, module, ops, calls)) continue;
        for (const auto& [op, at] : ops)
            for (std::size_t i = 0; i < calls; ++i)
                rows[at[i]].call = static_cast<std::int64_t>(i) + 1;
    }
}

}  // namespace

void TraceClock::restart() {
    host_.clear();
    events_.clear();
    asides_.clear();
    mark();
}

std::size_t TraceClock::mark() {
    if (device_.kind == Device::Kind::cpu) {
        host_.push_back(std::chrono::steady_clock::now());
        return host_.size() - 1;
    }
    events_.push_back(std::make_unique<kernels::cuda::Event>());
    events_.back()->record(current_stream());
    return events_.size() - 1;
}

void TraceClock::open_aside(std::size_t since) {
    const std::size_t now = mark();
    asides_.push_back({since, now, now, now});
}

std::vector<double> TraceClock::measured() const {
    std::vector<double> out;
    for (const auto& time : host_)
        out.push_back(std::chrono::duration<double, std::micro>(time - host_.front()).count());
    if (!events_.empty()) events_.back()->synchronize();
    for (const auto& event : events_)
        out.push_back(1000.0 * static_cast<double>(event->ms_since(*events_.front())));
    return out;
}

std::vector<double> TraceClock::times() const {
    std::vector<double> out = measured();
    for (const auto& [since, open, begin, end] : asides_) {
        const double work = out[open] - out[since], pause = out[end] - out[open];
        const double from = out[begin], whole = std::max(out[end] - from, 1e-9);
        for (std::size_t i = begin; i < end; ++i)
            out[i] = out[since] + work * (out[i] - from) / whole;
        for (std::size_t i = end; i < out.size(); ++i) out[i] -= pause;
    }
    return out;
}

double TraceClock::aside() const {
    const std::vector<double> at = measured();
    double out = 0;
    for (const Aside& each : asides_) out += at[each.end] - at[each.open];
    return out;
}

OpTrace::OpTrace(const Device& device, std::shared_ptr<MemoryAccounting> accounting)
    : device_(device), accounting_(std::move(accounting)), clock_(device) {}

void OpTrace::begin(const StepView&) {
    frames_.clear();
    rows_.clear();
    row_marks_.clear();
    cast_marks_.clear();
    clock_.restart();
    scope_.emplace(*this);
    engines_.clear();
    uses_.emplace(&engines_);
}

void OpTrace::before_update(const StepView&) { scope_.reset(); }

void OpTrace::after_update(const StepView& step) {
    XrayOp row;
    row.op = "optimizer";
    row.pass = XrayPass::update;
    row.rule = "none";
    row.why = "Checks the gradients, and updates the weights in the type of the masters.";
    for (Optimizer* const optimizer : step.optimizers) {
        const auto& parameters = optimizer->parameters();
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            const Tensor& own = parameters[i].tensor;
            const Tensor master = optimizer->master(i);
            const Tensor& weight = master.defined() ? master : own;
            if (row.compute_dtype.empty()) row.compute_dtype = name(weight.dtype());
            row.bytes_read += static_cast<std::int64_t>(weight.bytes() + own.bytes());
            row.bytes_written += static_cast<std::int64_t>(weight.bytes());
            row.flops += static_cast<double>(weight.numel());
        }
    }
    finish_row(std::move(row));
    if (step.phase + 1 < step.task.phases().size()) scope_.emplace(*this);
}

void OpTrace::end(const StepView&) {
    scope_.reset();
    uses_.reset();
    frames_.clear();
}

void OpTrace::on_aside(bool begins) {
    if (!begins) {
        clock_.close_aside();
        memory_.reset();
        return;
    }
    if (!memory_) {
        clock_.open_aside(row_marks_.empty() ? 0 : row_marks_.back());
        memory_ = accounting_->total();
    }
    clock_.begin_aside();
    engines_.clear();
}

XrayOp OpTrace::described(const Op& info, const ForceRule* forced) const {
    XrayOp row;
    row.op = info.name;
    row.module = current_module();
    const bool backward = in_backward() && !recomputing();
    row.pass = in_backward() ? XrayPass::backward : XrayPass::forward;
    const TypeReason reason = type_reason(info, forced, autocast_enabled(device_.kind));
    row.rule = reason.rule;
    row.why = reason.why;
    if (forced != nullptr) {
        row.key = forced->key;
    } else if (backward) {
        row.rule = "gradient";
        row.why = gradient_why;
    }
    return row;
}

void OpTrace::on_call(const OpCall& call) {
    const bool hidden = autocast_state().inside > 0;
    if (hidden && !frames_.empty()) frames_.back().opaque = true;
    Frame frame{.row = {},
                .info = call.info,
                .forced = call.forced,
                .inputs = {call.inputs.begin(), call.inputs.end()},
                .used = {},
                .cast_marks = {},
                .first_row = rows_.size(),
                .hidden = hidden};
    if (!hidden) {
        frame.row = described(*call.info, call.forced);
        frame.row.inputs = shown(call.inputs);
    }
    frames_.push_back(std::move(frame));
}

bool OpTrace::is_argument(const Tensor& tensor) const {
    return std::ranges::any_of(frames_.back().inputs,
                               [&](const Tensor& each) { return each.impl() == tensor.impl(); });
}

void OpTrace::on_cached_cast(const Tensor& source, const Tensor&) {
    if (!frames_.empty() && !frames_.back().hidden && is_argument(source))
        ++frames_.back().row.cached_casts;
}

void OpTrace::note_cast(const OpEvent& event) {
    const Tensor &from = event.inputs.front(), &to = event.outputs.front();
    Frame& frame = frames_.back();
    if (frame.own_record || !is_argument(from)) return;  // of its inside, or of its result
    if (is_kept_copy(from, to)) {
        ++frame.row.kept_copies;
        return;
    }
    frame.row.casts.push_back({name(from.dtype()), name(to.dtype()), from.numel(),
                               static_cast<std::int64_t>(from.bytes() + to.bytes()), 0});
    frame.cast_marks.push_back(clock_.mark());
}

void OpTrace::on_op(const OpEvent& event) {
    poll_work();  // a trace of a long step can be given up
    if (frames_.empty()) {
        if (autocast_state().inside > 0) return;
        XrayOp row = described(*event.info, nullptr);
        row.inputs = shown(event.inputs);
        if (is_cast(*event.info) && row.rule != "gradient") row.why = event.info->why;
        return add_row(std::move(row), event.inputs, event.outputs);
    }
    Frame& frame = frames_.back();
    if (frame.hidden) return;
    if (is_cast(*event.info)) return note_cast(event);
    if (event.info == frame.info) {
        frame.own_record = true;
        frame.used.assign(event.inputs.begin(), event.inputs.end());
    } else if (autocast_state().inside > 0) {
        frame.opaque = true;
    } else {
        XrayOp row = described(*event.info, nullptr);
        row.inputs = shown(event.inputs);
        add_row(std::move(row), event.inputs, event.outputs);
    }
}

void OpTrace::on_return(std::span<const Tensor> outputs) {
    if (frames_.empty()) return;
    Frame frame = std::move(frames_.back());
    frames_.pop_back();
    if (frame.hidden) return;
    const bool whole = frame.own_record || frame.opaque;
    const bool composed = !whole && rows_.size() > frame.first_row;
    if (composed) return;  // what it is made of stands for it
    if (!whole && !frame.info->forceable) return;  // a view that gave its argument back
    give_up_rows(frame.first_row);
    const TensorList& used = frame.own_record ? frame.used : frame.inputs;
    // Ops inside a listed op run in the type to which the op casts, and so does the result, but for
    // that of a forced op, which may go back to another type.
    if (frame.opaque)
        frame.row.compute_dtype = frame.forced ? name(frame.forced->type) : floating_type(outputs);
    const std::string result = floating_type(outputs);
    const bool kept_type = result.empty() || result == floating_type(frame.inputs);
    if (!kept_type && !is_cast(*frame.info) && frame.row.rule == name(CastPolicy::none)) {
        frame.row.rule = "inside";
        frame.row.compute_dtype = result;
    }
    add_row(std::move(frame.row), used, outputs, std::move(frame.cast_marks));
}

void OpTrace::add_row(XrayOp row, std::span<const Tensor> used, std::span<const Tensor> outputs,
                      Marks cast_marks) {
    row.outputs = shown(outputs);
    if (row.compute_dtype.empty()) row.compute_dtype = floating_type(used);
    row.flops = flops_of(row.op, used, outputs);
    const Traffic traffic = count_traffic(used, outputs);
    row.bytes_read = traffic.read;
    row.bytes_written = traffic.written;
    finish_row(std::move(row), std::move(cast_marks));
}

/// The row of the op that they are part of takes their place.
void OpTrace::give_up_rows(std::size_t from) {
    for (std::size_t i = from; i < rows_.size(); ++i)
        if (!rows_[i].engine.empty()) engines_.push_back(rows_[i].engine);
    rows_.resize(from);
    row_marks_.resize(from);
    cast_marks_.resize(from);
}

void OpTrace::finish_row(XrayOp row, Marks cast_marks) {
    row.engine = joined(engines_);
    engines_.clear();
    row.memory_bytes = memory_.value_or(accounting_->total());
    rows_.push_back(std::move(row));
    cast_marks_.push_back(std::move(cast_marks));
    row_marks_.push_back(clock_.mark());
}

std::vector<XrayOp> OpTrace::take() {
    const std::vector<double> times = clock_.times();
    std::size_t before = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        XrayOp& row = rows_[i];
        row.start_us = times[before];
        row.us = times[row_marks_[i]] - times[before];
        std::size_t from = before;
        for (std::size_t c = 0; c < row.casts.size(); ++c) {
            row.casts[c].us = times[cast_marks_[i][c]] - times[from];
            from = cast_marks_[i][c];
        }
        before = row_marks_[i];
    }
    number_calls(rows_);
    return std::move(rows_);
}

}  // namespace engine
