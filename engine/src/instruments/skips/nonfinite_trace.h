#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/instruments/skip_report.h"
#include "instruments/replay/tensor_scan.h"
#include "tensor/observer.h"
#include "train/step/step_observer.h"

namespace engine {

/// Checks every tensor of a step: the state and the batch before it, outputs of operations,
/// gradients, and the weights after the update. For one step; attach another object for the next.
///
/// A non-finite tensor does not always break the step: the softmax behind a mask of -inf absorbs
/// it. What counts is whether it reaches the loss, a parameter's gradient or an updated weight. The
/// trace records which non-finite tensors each one was computed from, and walks back from there. If
/// an operation of the backward pass reads both a non-finite gradient and a saved tensor whose
/// infinities the forward pass had absorbed, the gradient is the cause.
class NonfiniteTrace final : public StepObserver, public OpObserver {
public:
    /// `keep_first`: the name (key()) of a tensor that is kept as it is when it comes by.
    explicit NonfiniteTrace(std::string keep_first = {}) : kept_key_(std::move(keep_first)) {}
    ~NonfiniteTrace() override;

    /// Calls this with the number of operations checked, after each; it may throw.
    void report_to(std::function<void(std::int64_t)> operation) {
        operation_ = std::move(operation);
    }

    void begin(const StepView& step) override;
    void before_forward(const StepView& step, DeviceBatch& batch, TensorList& state) override;
    void after_forward(const StepView& step, const TensorList& losses) override;
    void before_update(const StepView& step) override;
    void after_update(const StepView& step) override;
    void end(const StepView& step) override;
    void on_op(const OpEvent& event) override;
    void on_gradient(const Op& to, const Tensor& gradient) override;
    void on_same(const Tensor& shown, const Tensor& own) override;

    /// The first non-finite tensor, in execution order, that a non-finite loss, gradient or weight
    /// depends on. Nothing if all of these are finite.
    std::optional<BadTensor> first() const;
    /// Its name among the step's tensors, the same in every precision and with every batch; "" if
    /// there is none, or it is no output of an operation.
    std::string first_key() const;
    /// Largest magnitude of the tensor of this name; NaN if the step has none.
    double largest(const std::string& key) const;
    /// Whether the step has a 16-bit tensor of this name.
    bool is_low(const std::string& key) const;
    /// Name of a field of a batch, to keep it.
    static std::string field_key(const std::string& field, std::int64_t micro_batch);
    /// Over the tensors that are f16 in the backward pass of this step: their largest magnitude in
    /// the other computation of the step. Leaves out casts. 0: there are none.
    double largest_f16_gradient_in(const NonfiniteTrace& other) const;
    /// The tensor that was to be kept, on the host; undefined if it did not come by.
    const Tensor& kept() const { return kept_; }

    bool loss_is_finite() const { return loss_finite_; }
    bool gradients_are_finite() const { return gradients_finite_; }
    bool weights_are_finite() const { return weights_finite_; }
    /// Non-finite tensors of the state, whether they reach anything or not.
    std::vector<BadTensor> bad_state() const { return of_stage(SkipStage::state); }
    std::vector<BadTensor> bad_batch() const { return of_stage(SkipStage::batch); }
    /// Layers of all micro-batches, in execution order.
    const std::vector<ChainLink>& forward_chain() const { return forward_.links; }
    const std::vector<ChainLink>& backward_chain() const { return backward_.links; }
    std::int64_t operations() const { return operations_; }
    /// Largest magnitude of the outputs of the forward pass, finite ones.
    double largest_activation() const { return largest_activation_; }
    /// Largest magnitude of the fields of the batch.
    double largest_input() const { return largest_input_; }

private:
    struct Found {
        BadTensor what;
        std::string key;
        std::vector<std::size_t> from;  // what it was computed from
    };
    struct Chain {
        std::vector<ChainLink> links;
        std::map<std::string, std::size_t> by_module;
        ChainLink& at(const std::string& module);
    };
    using Owner = std::weak_ptr<Storage>;

    std::string next_key(std::string_view op);
    std::vector<BadTensor> of_stage(SkipStage stage) const;
    std::size_t add(BadTensor what, const Tensor& tensor, std::vector<std::size_t> from);
    void check_before(const StepView& step, const TensorList& carried);
    void check_state(const std::string& name, const Tensor& tensor);
    void check_low_copy(const Parameter& parameter);
    void check_optimizers(const StepView& step);
    void see_output(const OpEvent& event, std::size_t output, const std::string& key);
    void keep(const std::string& key, const Tensor& tensor);
    std::optional<std::size_t> source_of(const Tensor& tensor) const;
    BadTensor here(const Op& op) const;
    void see_gradient(const Op& to, const Tensor& gradient, double largest);
    void check_gradient(const Parameter& parameter);
    void name_gradient(BadTensor& what, std::size_t index) const;
    void walk_back(std::size_t from, bool through_swallowed, std::vector<bool>& reached) const;
    std::vector<bool> ancestors() const;
    std::optional<std::size_t> first_index() const;

    std::vector<Found> found_;
    std::map<Owner, std::size_t, std::owner_less<>> of_storage_;
    struct Seen {
        double largest = 0;
        DType dtype = DType::f32;
    };
    std::map<std::string, Seen> seen_;  // by key
    std::map<std::string, std::int64_t> occurrences_;
    std::vector<std::size_t> loss_sinks_, weight_sinks_;
    std::map<std::size_t, std::string> gradient_sinks_;  // names of the parameters
    Chain forward_, backward_;
    SkipStage stage_ = SkipStage::forward;
    std::int64_t phase_ = 0, micro_batch_ = 0, operations_ = 0;
    bool loss_finite_ = true, gradients_finite_ = true, weights_finite_ = true;
    double largest_activation_ = 0, largest_input_ = 0;
    std::function<void(std::int64_t)> operation_ = [](std::int64_t) {};
    std::string kept_key_;
    Tensor kept_;
    std::unique_ptr<ObserverScope> scope_;
};

}  // namespace engine
