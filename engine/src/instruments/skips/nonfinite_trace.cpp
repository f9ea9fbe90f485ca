#include "instruments/skips/nonfinite_trace.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <ranges>

#include "tensor/cast.h"
#include "tensor/layout.h"

namespace engine {
namespace {

bool is_checked(const Tensor& x) { return x.defined() && is_floating(x.dtype()); }

bool is_bad(const BadTensor& what) { return what.infinite + what.nan > 0; }

/// NaN if one of them is.
double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }

/// Keeps the largest value of a module with the type that it has: the module's other tensors may
/// have another.
void note_largest(ChainLink& link, const Tensor& tensor, double largest) {
    const bool is_first = link.dtype.empty();
    if (!is_first && (std::isnan(link.largest) || largest <= link.largest)) return;
    link.dtype = name(tensor.dtype());
    link.largest = largest;
}

/// A snapshot on the host; later writes do not change it.
Tensor host_copy(const Tensor& x) {
    const Tensor values = stored_values(x).detach();
    const Tensor out = Tensor::empty(values.shape(), values.dtype(), values.device());
    copy_into(out, values);
    return out.copy_to(Device{});
}

}  // namespace

NonfiniteTrace::~NonfiniteTrace() = default;

std::string NonfiniteTrace::field_key(const std::string& field, std::int64_t micro_batch) {
    return "batch|" + std::to_string(micro_batch) + '|' + field;
}

bool NonfiniteTrace::is_low(const std::string& key) const {
    const auto found = seen_.find(key);
    return found != seen_.end() && engine::is_low(found->second.dtype);
}

ChainLink& NonfiniteTrace::Chain::at(const std::string& module) {
    const auto [found, is_new] = by_module.try_emplace(module, links.size());
    if (is_new) links.emplace_back().module = module;
    return links[found->second];
}

std::string NonfiniteTrace::next_key(std::string_view op) {
    const std::string place = std::string(name(stage_)) + '|' + std::to_string(phase_) + '|' +
                              std::to_string(micro_batch_) + '|' + current_module() + '|' + std::string(op);
    return place + '|' + std::to_string(occurrences_[place]++);
}

BadTensor NonfiniteTrace::here(const Op& op) const {
    BadTensor out;
    out.stage = stage_;
    out.op = op.name;
    out.module = current_module();
    out.order = operations_;
    out.phase = phase_;
    out.micro_batch = micro_batch_;
    return out;
}

std::size_t NonfiniteTrace::add(BadTensor what, const Tensor& tensor,
                                std::vector<std::size_t> from) {
    const std::size_t index = found_.size();
    found_.push_back({std::move(what), {}, std::move(from)});
    of_storage_[stored_values(tensor).impl()->storage] = index;
    return index;
}

/// The recorded non-finite tensor that this one is. Copies that operations make internally are not
/// recorded; such a copy is taken for the newest non-finite tensor of its shape.
std::optional<std::size_t> NonfiniteTrace::source_of(const Tensor& tensor) const {
    const auto known = of_storage_.find(stored_values(tensor).impl()->storage);
    if (known != of_storage_.end()) return known->second;
    const TensorGlance seen{{}, {tensor.shape().begin(), tensor.shape().end()}, 0};
    for (std::size_t i = found_.size(); i-- > 0;) {
        if (found_[i].what.tensor.shape == seen.shape) return i;
    }
    return std::nullopt;
}

void NonfiniteTrace::check_state(const std::string& name, const Tensor& tensor) {
    if (!is_checked(tensor)) return;
    BadTensor what;
    what.tensor = glance(tensor);
    if (std::isfinite(what.tensor.largest)) return;
    find_bad(tensor, what);
    if (!is_bad(what)) return;
    what.stage = stage_;
    what.name = name;
    what.phase = phase_;
    what.micro_batch = micro_batch_;
    add(std::move(what), tensor, {});
}

/// A weight may be finite and its 16-bit copy not.
void NonfiniteTrace::check_low_copy(const Parameter& parameter) {
    const auto& copy = parameter.tensor.impl()->low_copy;
    if (!copy || std::isfinite(largest_magnitude(copy->tensor))) return;
    if (const auto known = of_storage_.find(parameter.tensor.impl()->storage);
        known != of_storage_.end()) {
        of_storage_[copy->tensor.impl()->storage] = known->second;
        return;
    }
    BadTensor what;
    what.op = cast_op.name;
    what.name = parameter.name;
    what.tensor = glance(copy->tensor);
    what.inputs = {glance(parameter.tensor)};
    find_bad(copy->tensor, what);
    add(std::move(what), copy->tensor, {});
}

void NonfiniteTrace::check_optimizers(const StepView& step) {
    for (Optimizer* const optimizer : step.optimizers) {
        for (std::size_t i = 0; i < optimizer->parameters().size(); ++i) {
            const std::string& of = optimizer->parameters()[i].name;
            if (const Tensor master = optimizer->master(i); master.defined())
                check_state(of + ".master", master);
            for (const auto& [state, tensor] : optimizer->state(i))
                check_state(of + "." + state, tensor);
        }
    }
}

/// Once the step has begun, since a planted fault may damage the state on the way.
void NonfiniteTrace::check_before(const StepView& step, const TensorList& carried) {
    stage_ = SkipStage::state;
    for (const Parameter& each : step.model.parameters()) check_state(each.name, each.tensor);
    for (const Parameter& each : step.model.buffers()) check_state(each.name, each.tensor);
    check_optimizers(step);
    for (std::size_t i = 0; i < carried.size(); ++i)
        check_state("carried." + std::to_string(i), carried[i]);
    stage_ = SkipStage::forward;
    for (const Parameter& each : step.model.parameters()) check_low_copy(each);
}

void NonfiniteTrace::begin(const StepView&) { scope_ = std::make_unique<ObserverScope>(*this); }

void NonfiniteTrace::end(const StepView&) { scope_.reset(); }

void NonfiniteTrace::before_forward(const StepView& step, DeviceBatch& batch, TensorList& state) {
    phase_ = static_cast<std::int64_t>(step.phase);
    micro_batch_ = static_cast<std::int64_t>(step.micro_batch);
    if (phase_ == 0 && micro_batch_ == 0) check_before(step, state);
    if (phase_ == 0) {
        stage_ = SkipStage::batch;
        const auto& fields = step.task.schema(true).fields;
        for (std::size_t i = 0; i < batch.fields.size(); ++i) {
            if (!is_checked(batch.fields[i])) continue;
            check_state(fields[i].name, batch.fields[i]);
            keep(field_key(fields[i].name, micro_batch_), batch.fields[i]);
            largest_input_ = larger(largest_magnitude(batch.fields[i]), largest_input_);
        }
    }
    stage_ = SkipStage::forward;
}

void NonfiniteTrace::after_forward(const StepView&, const TensorList& losses) {
    for (const Tensor& loss : losses) {
        if (std::isfinite(largest_magnitude(loss))) continue;
        loss_finite_ = false;
        if (const auto source = source_of(loss)) loss_sinks_.push_back(*source);
    }
    stage_ = SkipStage::backward;
}

void NonfiniteTrace::keep(const std::string& key, const Tensor& tensor) {
    if (key == kept_key_ && !kept_.defined()) kept_ = host_copy(tensor);
}

void NonfiniteTrace::see_output(const OpEvent& event, std::size_t output, const std::string& key) {
    const Tensor& tensor = event.outputs[output];
    const double largest = largest_magnitude(tensor);
    seen_[key] = {largest, tensor.dtype()};
    keep(key, tensor);
    if (stage_ == SkipStage::forward) {
        note_largest(forward_.at(current_module()), tensor, largest);
        if (std::isfinite(largest)) largest_activation_ = std::max(largest_activation_, largest);
    }
    if (std::isfinite(largest)) return;
    BadTensor what = here(*event.info);
    find_bad(tensor, what);
    if (!is_bad(what)) return;
    what.output = static_cast<std::int64_t>(output);
    what.tensor = {name(tensor.dtype()), {tensor.shape().begin(), tensor.shape().end()}, largest};
    std::vector<std::size_t> from;
    for (const Tensor& input : event.inputs) {
        if (!is_checked(input)) continue;
        what.inputs.push_back(glance(input));
        if (std::isfinite(what.inputs.back().largest)) continue;
        if (const auto source = source_of(input)) from.push_back(*source);
    }
    found_[add(std::move(what), tensor, std::move(from))].key = key;
}

void NonfiniteTrace::on_op(const OpEvent& event) {
    const std::string key = next_key(event.info->name);
    for (std::size_t i = 0; i < event.outputs.size(); ++i) {
        if (is_checked(event.outputs[i])) see_output(event, i, key + '|' + std::to_string(i));
    }
    operation_(++operations_);
}

void NonfiniteTrace::see_gradient(const Op& to, const Tensor& gradient, double largest) {
    ChainLink& link = backward_.at(current_module());
    if (std::string_view(to.name) == "accumulate_grad") {
        link.weights = larger(largest, link.weights);
    } else if (&to != &cast_op) {  // which a weight's gradient passes through
        note_largest(link, gradient, largest);
    }
}

void NonfiniteTrace::on_gradient(const Op& to, const Tensor& gradient) {
    if (!is_checked(gradient)) return;
    const std::string key = next_key("gradient of " + std::string(to.name));
    const double largest = largest_magnitude(gradient);
    seen_[key] = {largest, gradient.dtype()};
    keep(key, gradient);
    see_gradient(to, gradient, largest);
    if (std::isfinite(largest)) return;
    if (of_storage_.contains(stored_values(gradient).impl()->storage)) return;
    BadTensor what = here(to);
    find_bad(gradient, what);
    if (!is_bad(what)) return;
    what.tensor = glance(gradient);
    std::vector<std::size_t> from;
    if (const auto source = source_of(gradient)) from.push_back(*source);
    found_[add(std::move(what), gradient, std::move(from))].key = key;
}

void NonfiniteTrace::on_same(const Tensor& shown, const Tensor& own) {
    const auto found = of_storage_.find(stored_values(shown).impl()->storage);
    if (found != of_storage_.end()) of_storage_[stored_values(own).impl()->storage] = found->second;
}

void NonfiniteTrace::check_gradient(const Parameter& parameter) {
    const Tensor gradient = parameter.tensor.grad();
    if (!gradient.defined()) return;
    const double largest = largest_magnitude(gradient);
    if (std::isfinite(largest)) return;
    gradients_finite_ = false;
    auto source = source_of(gradient);
    if (!source) {  // the sum of several, which no operation made
        BadTensor what;
        what.stage = SkipStage::backward;
        what.op = "accumulate_grad";
        what.name = parameter.name + ".grad";
        what.order = operations_;
        what.tensor = glance(gradient);
        find_bad(gradient, what);
        if (!is_bad(what)) return;
        source = add(std::move(what), gradient, {});
    }
    gradient_sinks_[*source] = parameter.name;
}

void NonfiniteTrace::before_update(const StepView& step) {
    for (Optimizer* const optimizer : step.optimizers) {
        for (const Parameter& parameter : optimizer->parameters()) check_gradient(parameter);
    }
    stage_ = SkipStage::update;
}

void NonfiniteTrace::after_update(const StepView& step) {
    for (const Parameter& parameter : step.model.parameters()) {
        if (!is_checked(parameter.tensor)) continue;
        if (std::isfinite(largest_magnitude(parameter.tensor))) continue;
        BadTensor what;
        find_bad(parameter.tensor, what);
        if (!is_bad(what)) continue;
        weights_finite_ = false;
        const auto before = of_storage_.find(parameter.tensor.impl()->storage);
        if (before != of_storage_.end()) continue;  // it was not finite before the step
        what.stage = SkipStage::update;
        what.op = "optimizer";
        what.name = parameter.name;
        what.order = operations_;
        what.tensor = glance(parameter.tensor);
        std::vector<std::size_t> from;
        const Tensor gradient = parameter.tensor.grad();
        if (gradient.defined()) {
            what.inputs.push_back(glance(gradient));
            if (!std::isfinite(what.inputs.back().largest)) {
                if (const auto source = source_of(gradient)) from.push_back(*source);
            }
        }
        weight_sinks_.push_back(add(std::move(what), parameter.tensor, std::move(from)));
    }
    stage_ = SkipStage::forward;
}

double NonfiniteTrace::largest(const std::string& key) const {
    const auto found = seen_.find(key);
    return found == seen_.end() ? std::numeric_limits<double>::quiet_NaN() : found->second.largest;
}

double NonfiniteTrace::largest_f16_gradient_in(const NonfiniteTrace& other) const {
    double out = 0;
    for (const auto& [key, seen] : seen_) {
        if (seen.dtype != DType::f16 || !key.starts_with(name(SkipStage::backward))) continue;
        if (key.find("|to|") != std::string::npos) continue;
        const double there = other.largest(key);
        if (std::isfinite(there)) out = std::max(out, there);
    }
    return out;
}

std::vector<BadTensor> NonfiniteTrace::of_stage(SkipStage stage) const {
    std::vector<BadTensor> out;
    for (const Found& each : found_) {
        if (each.what.stage == stage) out.push_back(each.what);
    }
    return out;
}

/// Marks in `reached` all tensors that `from` was computed from. Earlier walks may have marked
/// some. Without `through_swallowed`, skips tensors of the forward pass that the forward pass
/// itself had absorbed, if the operation also read another non-finite one.
void NonfiniteTrace::walk_back(std::size_t from, bool through_swallowed,
                               std::vector<bool>& reached) const {
    const std::vector<bool> forward = reached;
    std::vector<std::size_t> open{from};
    while (!open.empty()) {
        const std::size_t index = open.back();
        open.pop_back();
        if (reached[index] && index != from) continue;
        reached[index] = true;
        const auto is_swallowed = [&](std::size_t each) {
            return found_[each].what.stage == SkipStage::forward && !forward[each] &&
                   found_[index].what.stage != SkipStage::forward;
        };
        const auto& sources = found_[index].from;
        const bool has_other = !std::ranges::all_of(sources, is_swallowed);
        for (const std::size_t each : sources) {
            if (each != index && (through_swallowed || !has_other || !is_swallowed(each)))
                open.push_back(each);
        }
    }
}

std::vector<bool> NonfiniteTrace::ancestors() const {
    std::vector<bool> reached(found_.size());
    for (const std::size_t each : loss_sinks_) walk_back(each, true, reached);
    for (const auto& [each, name] : gradient_sinks_) walk_back(each, false, reached);
    for (const std::size_t each : weight_sinks_) walk_back(each, false, reached);
    return reached;
}

std::optional<std::size_t> NonfiniteTrace::first_index() const {
    const std::vector<bool> reached = ancestors();
    const auto found = std::ranges::find(reached, true);
    if (found == reached.end()) return std::nullopt;
    return static_cast<std::size_t>(found - reached.begin());
}

/// The parameter whose gradient this is, if only casts lie between them.
void NonfiniteTrace::name_gradient(BadTensor& what, std::size_t index) const {
    for (const auto& [sink, parameter] : gradient_sinks_) {
        std::size_t at = sink;
        while (at != index && found_[at].from.size() == 1 && found_[at].what.op == cast_op.name)
            at = found_[at].from.front();
        if (at == index && what.name.empty()) what.name = parameter + ".grad";
    }
}

std::optional<BadTensor> NonfiniteTrace::first() const {
    const auto index = first_index();
    if (!index) return std::nullopt;
    BadTensor out = found_[*index].what;
    if (out.stage == SkipStage::backward) name_gradient(out, *index);
    return out;
}

std::string NonfiniteTrace::first_key() const {
    const auto index = first_index();
    return index ? found_[*index].key : "";
}

}  // namespace engine
