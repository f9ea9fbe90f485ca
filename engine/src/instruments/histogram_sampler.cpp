#include "instruments/histogram_sampler.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/layout.h"
#include "core/tape.h"
#include "instruments/layer_slots.h"
#include "instruments/phase_gradients.h"
#include "kernels/multi_tensor.h"

namespace engine {
namespace {

ValueType value_type(DType dtype) {
    if (dtype == DType::f16) return ValueType::f16;
    return dtype == DType::bf16 ? ValueType::bf16 : ValueType::f32;
}

/// "layer1.0.conv1" and "weight" of "layer1.0.conv1.weight".
struct CountedName {
    ModuleName module;
    std::string word;
};
CountedName split_name(const std::string& parameter) {
    const std::size_t dot = parameter.rfind('.');
    if (dot == std::string::npos) return {ModuleName(), parameter};
    return {ModuleName(parameter.substr(0, dot)), parameter.substr(dot + 1)};
}

/// The tensor that an optimizer updates: the parameter, or its master.
Tensor updated(const Optimizer& optimizer, std::size_t parameter) {
    const Tensor master = optimizer.master(parameter);
    return master.defined() ? master : optimizer.parameters()[parameter].tensor;
}

Tensor copied(const Tensor& x) {
    const UseScope use(MemoryUse::workspace);
    const Tensor flat = dense(x.detach());
    const Tensor copy = empty_like(flat);
    copy_into(copy, flat);
    return copy;
}

}  // namespace

/// What is counted of one step.
class HistogramSampler::Pass final : public OpObserver {
public:
    /// `kept`: takes copies of the tensors; may be null.
    Pass(const Device& device, CountedTensors* kept) : slots_(device), kept_(kept), scope_(*this) {}

    void on_op(const OpEvent& event) override {
        if (event.in_backward || recomputing()) return;
        const ModuleName module = current_module_name();
        if (module != pending_module_) count_pending();
        if (module == ModuleName() || event.outputs.empty()) return;
        const Tensor& output = event.outputs.front();
        if (!output.defined() || output.is_sparse() || !is_floating(output.dtype()) ||
            output.is_view())
            return;
        pending_module_ = module;
        pending_ = output.detach();
        pending_version_ = pending_.version();
    }
    void on_gradient(const OpInfo&, const Tensor& gradient) override {
        if (!is_floating(gradient.dtype())) return;
        slots_.note_type(current_module_name(), HistogramKind::gradients,
                         value_type(gradient.dtype()));
        if (gradient.dtype() == DType::f16) slots_.add_flow(current_module_name(), gradient);
    }

    /// A tensor that was written to since is no longer the module's output.
    void count_pending() {
        if (pending_.defined() && pending_.version() == pending_version_)
            add(HistogramKind::activations, {pending_module_, "output"}, pending_);
        pending_ = {};
        pending_module_ = {};
    }
    void count_weights(const StepView& step) {
        if (std::exchange(weights_counted_, true)) return;
        std::map<const TensorImpl*, Tensor> masters;
        for (const Optimizer* optimizer : step.optimizers) {
            for (std::size_t i = 0; i < optimizer->parameters().size(); ++i)
                masters[optimizer->parameters()[i].tensor.impl().get()] = updated(*optimizer, i);
        }
        for (const Parameter& parameter : step.model.parameters()) {
            const auto found = masters.find(parameter.tensor.impl().get());
            add(HistogramKind::weights, split_name(parameter.name),
                found == masters.end() ? parameter.tensor : found->second);
        }
    }
    void count_gradients(const StepView& step) {
        for_each_gradient(step, [&](const PhaseGradient& gradient) {
            const CountedName name = split_name(gradient.name);
            add(HistogramKind::gradients, name, gradient.values);
            const Tensor weight = updated(gradient.optimizer, gradient.index);
            before_.push_back({name, weight, copied(weight)});
        });
    }
    void count_updates() {
        const GradMode off(false);
        for (const Before& each : before_) {
            const Tensor now = dense(each.weight.detach());
            const UseScope use(MemoryUse::workspace);
            const Tensor change =
                empty_like(now, now.dtype() == DType::f64 ? DType::f64 : DType::f32);
            const Tensor ignored = Tensor::zeros({}, DType::f32, now.device());
            const kernels::Array out = change.array();
            const kernels::ConstArray after = now.array(), before = each.copy.array();
            on(now.device(), kernels::cpu::multi_tensor_axpby, kernels::cuda::multi_tensor_axpby)(
                {&out, 1}, 1, {&after, 1}, -1, {&before, 1}, ignored.data_as<float>(),
                current_stream());
            add(HistogramKind::updates, each.name, change, now.dtype());
        }
        before_.clear();
    }
    std::vector<LayerHistogram> finish() {
        count_pending();
        return slots_.read();
    }

private:
    /// A weight before its update.
    struct Before {
        CountedName name;
        Tensor weight;
        Tensor copy;
    };

    void add(HistogramKind kind, const CountedName& name, const Tensor& x) {
        add(kind, name, x, x.dtype());
    }
    /// `type`: of what the values came from.
    void add(HistogramKind kind, const CountedName& name, const Tensor& x, DType type) {
        if (name.module == ModuleName()) return;
        slots_.add(name.module, kind, x);
        slots_.note_type(name.module, kind, value_type(type));
        if (kept_ != nullptr) kept_->add(kind, name.module.text() + '.' + name.word, x);
    }

    LayerSlots slots_;
    CountedTensors* kept_;
    ModuleName pending_module_;
    Tensor pending_;
    std::uint32_t pending_version_ = 0;
    std::vector<Before> before_;
    bool weights_counted_ = false;
    ObserverScope scope_;
};

HistogramSampler::HistogramSampler(std::int64_t every) : every_(every) {}
HistogramSampler::~HistogramSampler() = default;

std::optional<HistogramSample> HistogramSampler::take() {
    return std::exchange(sample_, std::nullopt);
}

void HistogramSampler::begin(const StepView& step) {
    requested_ = false;
    sample_.reset();
    pass_ = std::make_unique<Pass>(step.optimizers.front()->device(), kept_.get());
}

void HistogramSampler::after_forward(const StepView&, const TensorList&) { pass_->count_pending(); }

void HistogramSampler::before_update(const StepView& step) {
    pass_->count_weights(step);
    pass_->count_gradients(step);
}

void HistogramSampler::after_update(const StepView& step) {
    pass_->count_updates();
    if (step.phase + 1 < step.task.phases().size()) return;
    sample_ = {step.step, false, loss_scale_of(step), pass_->finish()};
}

void HistogramSampler::end(const StepView&) { pass_.reset(); }

void HistogramSampler::fill(StepRecord& row) const {
    if (sample_ && sample_->step == row.step)
        row.scale_floor = static_cast<float>(scale_floor(*sample_));
}

double scale_floor(const HistogramSample& sample) {
    if (sample.flushed(HistogramKind::gradients)) return std::numeric_limits<double>::quiet_NaN();
    return smallest_scale(sample.total(HistogramKind::gradients), fp16_format) * sample.loss_scale;
}

}  // namespace engine
