#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "engine/record/histogram_record.h"
#include "instruments/histograms/sample_plan.h"
#include "tensor/module_scope.h"
#include "tensor/observer.h"
#include "tensor/tensor.h"
#include "train/step/step_observer.h"

namespace engine {

/// "layer1.0.conv1" and "weight" of a parameter "layer1.0.conv1.weight".
struct SplitName {
    ModuleName module;
    std::string word;
};

/// Splits each name once: looking a module up takes a lock.
class SplitNames {
public:
    /// Valid as long as this object.
    const SplitName& of(const std::string& parameter) {
        const auto found = known_.find(parameter);
        return found != known_.end() ? found->second : known_[parameter] = split(parameter);
    }

private:
    static SplitName split(const std::string& parameter) {
        const std::size_t dot = parameter.rfind('.');
        if (dot == std::string::npos) return {ModuleName(), parameter};
        return {ModuleName(parameter.substr(0, dot)), parameter.substr(dot + 1)};
    }

    std::unordered_map<std::string, SplitName> known_;
};

/// Copies of the tensors that a step's histograms were counted from, by kind and name. A name is
/// its layer's name, a dot and one more word: "conv1.weight", and "conv1.output" of activations.
/// Where a layer counts several tensors of one name, the second is "conv1.output_2".
class CountedTensors {
public:
    /// Copies the values to the host in their own type; a sparse tensor as the dense one that it
    /// represents. Waits for the device.
    void add(HistogramKind kind, const std::string& name, const Tensor& values);

    const TensorMap& of(HistogramKind kind) const {
        return tensors_[static_cast<std::size_t>(kind)];
    }
    /// Writes KIND.safetensors of each kind, which replace earlier ones. Makes the folder. Throws
    /// Error(io).
    void write(const std::filesystem::path& folder) const;

private:
    std::array<TensorMap, histogram_kind_count> tensors_;
};

/// Counts the exponents of a step's gradients, activations, weights and updates by layer. A layer
/// is a module under its name in PyTorch; what belongs to no module is left out.
///
/// - Gradients: of all parameters of the module, when their phase is complete: multiplied by the
///   loss scale, neither checked nor clipped. Sparse ones count as the dense ones that they stand
///   for. Frozen parameters have none.
/// - Activations: ops of the forward pass that follow each other within one module, without
///   another module's between, form a group; the first output of the group's last op counts. So a
///   convolution counts its result and not the cast of its input; a batch norm fused with a
///   residual sum and a ReLU counts what the ReLU gives; a block that computes between its
///   children counts each of these results. Views and whole numbers do not count, nor do ops that
///   run again in the backward pass (recomputation).
/// - Weights: of all parameters, before the first update of the step; the f32 masters behind
///   16-bit weights.
/// - Updates: weight after minus before in f32 (f64 for f64), of masters where there are any. A
///   skipped step counts zeros.
///
/// Micro-batches and phases add up. A layer's gradients are `flushed` where f16 gradients flowed
/// through its ops and more than 0.1 % of their non-zero values lay in [2^-24, 2^-23), the last
/// binade above 0: then others became 0 unseen.
///
/// A step that is not wanted costs nothing. One that is holds a copy of the weights in f32
/// until its update and each activation until the next module has begun, runs eagerly, and on a
/// GPU waits for the device at its end.
class HistogramSampler final : public StepObserver {
public:
    /// Samples the steps of the plan, and requested ones.
    explicit HistogramSampler(SamplePlan plan);
    ~HistogramSampler() override;

    /// Wants the next step too.
    void request() { requested_ = true; }
    /// From now on keeps copies of all tensors that are counted. Each copy waits for the device.
    void keep_tensors(std::shared_ptr<CountedTensors> kept) { kept_ = std::move(kept); }
    /// The histograms of the last step, if it was wanted and ran to its end; once.
    std::optional<HistogramSample> take();

    bool observes(std::int64_t step) const override {
        return requested_ || plan_.wants(step);
    }
    void begin(const StepView& step) override;
    void after_forward(const StepView& step, const TensorList& losses) override;
    void before_update(const StepView& step) override;
    void after_update(const StepView& step) override;
    void end(const StepView& step) override;
    /// Returns the scale floor of the step's sample if the sampler still holds that sample.
    std::optional<float> scale_floor(std::int64_t step) const override;

private:
    class Pass;

    SamplePlan plan_;
    bool requested_ = false;
    std::shared_ptr<CountedTensors> kept_;  // null: the tensors are not wanted
    SplitNames names_;
    std::unique_ptr<Pass> pass_;  // the step in progress
    std::optional<HistogramSample> sample_;
};

/// The smallest loss scale that keeps 99.9 % of the non-zero gradients of all layers from becoming
/// 0 in FP16. NaN if gradients were flushed before they could be counted, if one was not finite, or
/// without gradients.
double scale_floor(const HistogramSample& sample);

}  // namespace engine
