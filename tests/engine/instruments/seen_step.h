#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "histogram_support.h"
#include "ops/index/sparse.h"
#include "tensor/observer.h"
#include "tensor/tape.h"
#include "train/step/step_observer.h"

namespace engine::test {

using Values = std::map<std::string, std::vector<double>>;

/// The module of a parameter: "conv1" for "conv1.weight".
inline std::string module_of(const std::string& parameter) {
    return parameter.substr(0, parameter.rfind('.'));
}

/// Copies the values of a step: gradients and weights by parameter, outputs by module.
class SeenStep final : public StepObserver, public OpObserver {
public:
    Values gradients, before, after;
    /// By module: the first result of the last op of each of its calls, concatenated.
    Values activations;

    void begin(const StepView&) override { scope_.emplace(*this); }
    void after_forward(const StepView&, const TensorList&) override { leave(); }
    void before_update(const StepView& step) override {
        if (before.empty()) each_weight(step, before);
        const Phase phase = step.task.phases()[step.phase];
        for (const std::size_t part : phase.optimizers)
            for (const Parameter& parameter : step.optimizers[part]->parameters())
                if (const Tensor grad = parameter.tensor.grad(); grad.defined())
                    gradients[parameter.name] = to_dense(grad).values();
    }
    void after_update(const StepView& step) override { each_weight(step, after); }
    void end(const StepView&) override { scope_.reset(); }

    void on_op(const OpEvent& event) override {
        if (event.in_backward || recomputing()) return;
        if (current_module() != module_) leave();
        module_ = current_module();
        const Tensor& output = event.outputs.front();
        if (is_floating(output.dtype()) && !output.is_view()) last_ = output.values();
    }

private:
    void leave() {
        if (!module_.empty() && !last_.empty()) {
            auto& values = activations[module_];
            values.insert(values.end(), last_.begin(), last_.end());
        }
        last_.clear();
        module_.clear();
    }
    static void each_weight(const StepView& step, Values& values) {
        for (const Parameter& parameter : step.model.parameters())
            values[parameter.name] = parameter.tensor.values();
        for (const Optimizer* optimizer : step.optimizers)
            for (std::size_t i = 0; i < optimizer->parameters().size(); ++i)
                if (const Tensor master = optimizer->master(i); master.defined())
                    values[optimizer->parameters()[i].name] = master.values();
    }

    std::optional<ObserverScope> scope_;
    std::string module_;
    std::vector<double> last_;
};

/// Histograms by module, of values by parameter.
inline std::map<std::string, ExponentHistogram> by_module(const Values& values) {
    std::map<std::string, ExponentHistogram> out;
    for (const auto& [name, numbers] : values) out[module_of(name)] += histogram_of(numbers);
    return out;
}

/// after - before in f32, for the parameters that have a gradient.
inline Values changes(const SeenStep& seen) {
    Values out;
    for (const auto& entry : seen.gradients) {
        const auto& before = seen.before.at(entry.first);
        const auto& after = seen.after.at(entry.first);
        for (std::size_t i = 0; i < before.size(); ++i)
            out[entry.first].push_back(
                static_cast<double>(static_cast<float>(after[i]) - static_cast<float>(before[i])));
    }
    return out;
}

}  // namespace engine::test
