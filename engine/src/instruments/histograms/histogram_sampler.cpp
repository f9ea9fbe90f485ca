#include "instruments/histograms/histogram_sampler.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <span>
#include <system_error>
#include <utility>

#include "instruments/histograms/exponent_counters.h"
#include "instruments/histograms/weight_changes.h"
#include "instruments/replay/phase_gradients.h"
#include "io/file/atomic_file.h"
#include "io/safetensors/tensor_file.h"
#include "ops/index/sparse.h"
#include "tensor/layout.h"
#include "tensor/tape.h"

namespace engine {
namespace {

/// The tensor that an optimizer updates: the parameter, or its master.
Tensor updated(const Optimizer& optimizer, std::size_t parameter) {
    const Tensor master = optimizer.master(parameter);
    return master.defined() ? master : optimizer.parameters()[parameter].tensor;
}

/// The tensors that the optimizers update, by parameter.
class Masters {
public:
    explicit Masters(std::span<Optimizer* const> optimizers) {
        for (const Optimizer* optimizer : optimizers) {
            places_.reserve(places_.size() + optimizer->parameters().size());
            for (std::size_t i = 0; i < optimizer->parameters().size(); ++i)
                places_.push_back({optimizer->parameters()[i].tensor.impl().get(), optimizer, i});
        }
        std::ranges::stable_sort(places_, {}, &Place::parameter);
    }
    /// Returns the master of a parameter, or the parameter itself if no optimizer updates it. The
    /// last of several optimizers counts.
    Tensor of(const Tensor& parameter) const {
        const auto after =
            std::ranges::upper_bound(places_, parameter.impl().get(), {}, &Place::parameter);
        if (after == places_.begin() || std::prev(after)->parameter != parameter.impl().get())
            return parameter;
        return updated(*std::prev(after)->optimizer, std::prev(after)->index);
    }

private:
    struct Place {
        const TensorImpl* parameter;
        const Optimizer* optimizer;
        std::size_t index;
    };
    std::vector<Place> places_;
};

std::string unused_name(const TensorMap& taken, const std::string& name) {
    std::string out = name;
    for (int number = 2; taken.contains(out); ++number) out = name + '_' + std::to_string(number);
    return out;
}

}  // namespace

/// The counts of one step.
class HistogramSampler::Pass final : public OpObserver {
public:
    /// `kept`: takes copies of the tensors; may be null.
    Pass(const Device& device, SplitNames& names, CountedTensors* kept)
        : slots_(device), names_(names), kept_(kept), scope_(*this) {}

    bool reads_inputs() const override { return false; }
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
        pending_ = output;
        pending_version_ = pending_.version();
    }
    void on_gradient(const Op&, const Tensor& gradient) override {
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
        const Masters masters(step.optimizers);
        for (const Parameter& parameter : step.model.parameters())
            add(HistogramKind::weights, names_.of(parameter.name), masters.of(parameter.tensor));
    }
    void count_gradients(const StepView& step) {
        for_each_gradient(step, [&](const PhaseGradient& gradient) {
            const SplitName& name = names_.of(gradient.name);
            add(HistogramKind::gradients, name, gradient.values);
            const Tensor weight = updated(gradient.optimizer, gradient.index);
            updated_.push_back({&name, weight.dtype()});
            changes_.add(weight);
        });
        changes_.copy();
    }
    void count_updates() {
        changes_.subtract();
        for (std::size_t i = 0; i < changes_.size(); ++i) {
            const auto [name, type] = updated_[i];
            if (name->module == ModuleName()) continue;
            slots_.add(name->module, HistogramKind::updates, changes_.change(i), value_type(type));
            if (kept_ != nullptr) keep(HistogramKind::updates, *name, changes_.change_tensor(i));
        }
        changes_.clear();
        updated_.clear();
    }
    std::vector<LayerHistogram> finish() {
        count_pending();
        return slots_.read();
    }

private:
    /// A weight of changes_.
    struct Updated {
        const SplitName* name;
        DType type;
    };

    void add(HistogramKind kind, const SplitName& name, const Tensor& x) {
        if (name.module == ModuleName()) return;
        slots_.add(name.module, kind, x);
        if (kept_ != nullptr) keep(kind, name, x);
    }
    void keep(HistogramKind kind, const SplitName& name, const Tensor& x) {
        kept_->add(kind, name.module.text() + '.' + name.word, x);
    }

    LayerSlots slots_;
    SplitNames& names_;
    CountedTensors* kept_;
    ModuleName pending_module_;
    Tensor pending_;
    std::uint32_t pending_version_ = 0;
    WeightChanges changes_;
    std::vector<Updated> updated_;
    bool weights_counted_ = false;
    ObserverScope scope_;
};

HistogramSampler::HistogramSampler(SamplePlan plan) : plan_(std::move(plan)) {}
HistogramSampler::~HistogramSampler() = default;

std::optional<HistogramSample> HistogramSampler::take() {
    return std::exchange(sample_, std::nullopt);
}

void HistogramSampler::begin(const StepView& step) {
    requested_ = false;
    plan_.sampled(step.step);
    sample_.reset();
    pass_ = std::make_unique<Pass>(step.optimizers.front()->device(), names_, kept_.get());
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

std::optional<float> HistogramSampler::scale_floor(std::int64_t step) const {
    if (!sample_ || sample_->step != step) return std::nullopt;
    return static_cast<float>(engine::scale_floor(*sample_));
}

double scale_floor(const HistogramSample& sample) {
    if (sample.flushed(HistogramKind::gradients)) return std::numeric_limits<double>::quiet_NaN();
    return smallest_scale(sample.total(HistogramKind::gradients), fp16_format) * sample.loss_scale;
}

void CountedTensors::add(HistogramKind kind, const std::string& name, const Tensor& values) {
    const GradMode off(false);
    const UseScope use(MemoryUse::workspace);
    const Tensor all = dense(values.is_sparse() ? to_dense(values) : values.detach());
    const Tensor copy = empty_like(all);  // the step goes on and may overwrite the original
    copy_into(copy, all);
    TensorMap& own = tensors_[static_cast<std::size_t>(kind)];
    own[unused_name(own, name)] = copy.copy_to(Device{});
}

void CountedTensors::write(const std::filesystem::path& folder) const {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) throw_write_error(folder, error.value());
    for (std::size_t kind = 0; kind < tensors_.size(); ++kind) {
        const std::string kind_name = name(static_cast<HistogramKind>(kind));
        save_tensors(folder / (kind_name + ".safetensors"), tensors_[kind]);
    }
}

}  // namespace engine
