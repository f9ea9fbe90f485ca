#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/multi_tensor_update.h"
#include "kernels/step_figures.h"
#include "optim/row_updates.h"
#include "tensor/device_record.h"
#include "tensor/parameter.h"
#include "tensor/tensor.h"

namespace engine {

struct Place;  // tensor/restore.h

/// Whether saved state may be of another floating type than the optimizer's.
enum class StateTypes { exact, converted };

struct OptimizerOptions {
    /// The optimizer's kernel takes scale and found_inf from the device, so that the scaler neither
    /// unscales nor reads them (loss-scaler.md#scaling-aware-optimizers, 2.6).
    bool scaling_aware = false;
    /// f32 values behind 16-bit parameters: updated in their place, and rounded into them.
    bool master_weights = false;
    /// Writes the unscaled (and clipped) gradient back, as loss-scaler.md#scaling-aware-optimizers
    /// (2.6) says. Off saves a pass if nobody reads it.
    bool write_grads = true;
    /// Layer-wise rates (optimizers.md#larc, 4.4) around whichever optimizer: it takes the weight
    /// decay over.
    kernels::Larc larc{};
};

/// The steps of a run that its schedule covers; a number alone is that of all.
struct PlannedSteps {
    constexpr PlannedSteps(std::int64_t all_ = 0, std::int64_t per_epoch_ = 0)  // NOLINT
        : all(all_), per_epoch(per_epoch_) {}

    std::int64_t all;        ///< 0: unknown
    std::int64_t per_epoch;  ///< 0: unknown, and all of them are shared out over the epochs
};

/// Settings of one group of parameters; absent: those of the first group.
struct GroupOptions {
    std::optional<double> lr;
    std::optional<double> weight_decay;
};

/// Updates parameters from their gradients in one multi-tensor pass. A parameter without a gradient
/// is left out: neither its state nor its own count of updates changes. The parameters given at the
/// start are group 0; groups have learning rate, weight decay and number of updates of their own.
class Optimizer {
public:
    /// Throws Error(value) for a learning rate, decay or LARC setting out of range, or a parameter
    /// that is not dense in memory.
    Optimizer(std::vector<Parameter> parameters, const OptimizerOptions& options, double lr,
              double weight_decay = 0);
    virtual ~Optimizer();
    Optimizer(const Optimizer&) = delete;
    Optimizer& operator=(const Optimizer&) = delete;

    /// Adds a group, whose updates are counted from 0; returns its number. Not once steps have been
    /// recorded as a graph. Throws as the constructor.
    int add_group(std::vector<Parameter> parameters, const GroupOptions& group = {});

    /// One update. With found_inf given and not 0 nothing at all is written.
    void step();
    /// The device has run the last step() once more, as part of a graph.
    void note_replay();
    /// Drops the gradients.
    void zero_grad();

    bool scaling_aware() const { return options_.scaling_aware; }
    /// Whether sparse gradients (ops/index/sparse.h) pay off with its settings: only the rows that
    /// a gradient names are read and written.
    virtual bool takes_sparse_gradients() const { return false; }
    const std::vector<Parameter>& parameters() const { return parameters_; }
    double lr(int group = 0) const;
    /// Takes effect at the next step; the value lives on the device.
    void set_lr(double lr, int group = 0);
    /// The rate for the update after those applied so far, times the number at `multiplier` (on the
    /// device; null: 1), worked out on the device.
    void set_lr(const kernels::LearningRateSchedule& schedule, const double* multiplier = nullptr,
                int group = 0);
    /// Updates applied; reads the device.
    std::int64_t steps(int group = 0) const;
    /// State by parameter and by name ("momentum_buffer", "exp_avg", ...); empty before the first
    /// update.
    std::vector<std::pair<std::string, Tensor>> state(std::size_t parameter) const;
    /// f32 values behind 16-bit parameter i; undefined without master weights.
    Tensor master(std::size_t parameter) const { return slots_[parameter].master; }

    /// A host copy of everything that later updates depend on, apart from the weights and the
    /// constructor's arguments. Waits for the device. Throws Error(value) if two parameters have
    /// one name.
    ///
    /// - By parameter with state: "NAME.exp_avg" and so on, "NAME.step" (updates applied to it),
    ///   "NAME.master".
    /// - By group: "groups.lr", "groups.weight_decay", "groups.steps" and "groups.parameters"
    ///   (their number).
    TensorMap saved_state() const;
    /// The tensors that saved_state() copies, in place. Valid while the same parameters have state.
    std::vector<Place> places(StateTypes types = StateTypes::exact) const;
    /// Parameters that have state.
    std::size_t states() const;
    /// Continues from a saved state, before the first update or later. Existing state keeps its
    /// memory, so captured steps stay valid. The weights themselves are loaded by the model. Throws
    /// Error(value), having changed nothing, for groups other than the saved ones, and for an entry
    /// that is missing, unknown, of another shape, of another type (unless it may be converted), or
    /// out of range.
    void load_state(const TensorMap& saved, StateTypes types = StateTypes::exact);

    // Device values for the next step only (loss-scaler.md#scaling-aware-optimizers, 2.6), set by
    // the scaler or the user; undefined: none.
    Tensor grad_scale;  ///< 0-d f32: gradients are divided by it
    Tensor found_inf;   ///< 0-d f32
    Tensor clip;        ///< 0-d f32: unscaled gradients are multiplied by it

    /// The number, on the device, of the last step's non-zero updates to 16-bit weights (to their
    /// masters, if any) that rounded to no change.
    const DeviceRecord<kernels::UpdateCounts>& counts() const { return counts_; }
    /// Where its parameters and its state lie.
    const Device& device() const { return lr_.device(); }
    /// The learning rate (f32) and the updates applied (i64) by group, on the device.
    const Tensor& lr_tensor() const { return lr_; }
    const Tensor& steps_tensor() const { return step_; }

protected:
    struct Slot {
        Tensor master;  // undefined: the parameter itself is updated
        Tensor state1;
        Tensor state2;
        Tensor state3;
        int group = 0;
    };
    /// Adds what of parameter i is updated in this step: all of it, and its gradient must be dense.
    virtual void collect(std::size_t parameter, std::vector<kernels::UpdateTensor>& tensors);
    /// Adds the rows that the sparse gradient of a row-major parameter names, and coalesces the
    /// gradient.
    void collect_rows(std::size_t parameter, std::vector<kernels::UpdateTensor>& tensors);
    /// collect_rows() for a sparse gradient if `rows_alone` change by it, but under LARC and for a
    /// weight that is not row-major; else collect(), for which it makes the gradient dense. Throws
    /// Error(value) for a sparse gradient with weight decay, which changes every weight.
    void collect_rows_or_all(const char* optimizer, std::size_t parameter, bool rows_alone,
                             std::vector<kernels::UpdateTensor>& tensors);
    /// Whether collect_rows() was called for the parameter in this step.
    bool updates_rows(int parameter) const { return rows_.hold(parameter); }
    /// The places of its weight, gradient (dense), state and 16-bit copy.
    kernels::UpdateTensor whole(std::size_t parameter, const Tensor& grad) const;
    /// Names of a parameter's state, in the order of Slot.
    virtual std::vector<std::string> state_names() const { return {}; }
    /// Makes the state of parameter i; by default f32 zeros for each name.
    virtual void make_state(std::size_t parameter);
    virtual void run(std::span<const kernels::UpdateTensor> tensors,
                     const kernels::UpdateScalars& scalars, kernels::UpdateCounts* counts) = 0;
    /// Does not wait for the device.
    double weight_decay(int group) const { return decays_[static_cast<std::size_t>(group)]; }
    /// Zeroed, in the layout of the parameter.
    Tensor new_state(std::size_t parameter, bool may_be_low) const;
    const Tensor& stored(std::size_t parameter) const {
        return slots_[parameter].master.defined() ? slots_[parameter].master
                                                  : parameters_[parameter].tensor;
    }

    std::vector<Parameter> parameters_;
    OptimizerOptions options_;
    std::vector<Slot> slots_;
    // By group.
    Tensor lr_;     // f32
    Tensor step_;   // i64: applied updates
    Tensor decay_;  // f64

private:
    /// The 16-bit values that are updated with parameter i: the weight behind a master, or the copy
    /// kept for autocast. Undefined if there are none.
    Tensor low_values(std::size_t parameter) const;

    bool has_state(std::size_t parameter) const { return slots_[parameter].state1.defined(); }
    void add_parameters(std::vector<Parameter> parameters, int group);
    void make_master(std::size_t parameter);
    void written(std::size_t parameter);
    /// One more update of each group and of each parameter in updated_, unless it is skipped.
    void advance(const float* skip);
    Tensor own_step(std::size_t parameter) const;
    std::string entry(std::size_t parameter, const std::string& state) const;
    std::vector<double> group_sizes() const;
    bool has_saved_state(std::size_t parameter, const TensorMap& saved) const;
    /// Zeroes the state like make_state, in place.
    void reset_state(std::size_t parameter);

    double first_lr_, first_decay_;
    std::vector<double> decays_;  // decay_ on the host
    Tensor own_step_;             // by parameter, i64: updates applied to its state, if it has any
    DeviceRecord<kernels::UpdateCounts> counts_;
    std::vector<kernels::UpdateTensor> tensors_;  // reused from step to step
    RowUpdates rows_;                             // of the step in progress
    std::vector<std::size_t> updated_;
    std::vector<std::int64_t*> advanced_;
};

}  // namespace engine
