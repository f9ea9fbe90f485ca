#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "amp/dispatch.h"
#include "engine/instruments/xray.h"
#include "kernels/cuda_device.h"
#include "kernels/thread_context.h"
#include "tensor/device.h"
#include "tensor/memory/memory.h"
#include "tensor/observer.h"
#include "train/step/step_observer.h"

namespace engine {

/// Points in time of the work on a device: by the host's clock, or on a GPU by events in its
/// stream, so that marking does not wait.
class TraceClock {
public:
    explicit TraceClock(const Device& device) : device_(device) {}
    /// Forgets all marks and makes the first, number 0.
    void restart();
    /// Number of the new mark.
    std::size_t mark();
    /// The work since mark `since` is divided among the marks until close_aside(), in proportion to
    /// the times that the same work takes once more until then, which are not counted.
    void open_aside(std::size_t since);
    /// The work so far was no part of it.
    void begin_aside() { asides_.back().begin = mark(); }
    void close_aside() { asides_.back().end = mark(); }
    /// Microseconds from the first mark to each. Waits for the device.
    std::vector<double> times() const;
    /// Microseconds that times() does not count.
    double aside() const;

private:
    struct Aside {
        std::size_t since, open, begin, end;  // marks
    };
    /// Microseconds of all marks by the clock.
    std::vector<double> measured() const;

    Device device_;
    std::vector<std::chrono::steady_clock::time_point> host_;
    std::vector<std::unique_ptr<kernels::cuda::Event>> events_;
    std::vector<Aside> asides_;
};

/// Lists every operation of the steps that it observes (engine/instruments/xray.h). The time of an
/// operation runs from the end of the one before it to its own, so times add up to the step's.
/// Operations that are computed together divide the time of all, as they take it one by one. FLOP/s
/// are not compared with the device's.
class OpTrace final : public StepObserver, public OpObserver {
public:
    /// `accounting`: the run's, for memory in use.
    OpTrace(const Device& device, std::shared_ptr<MemoryAccounting> accounting);

    void begin(const StepView& step) override;
    void before_update(const StepView& step) override;
    void after_update(const StepView& step) override;
    void end(const StepView& step) override;

    /// Takes the operations of the last step; waits for the device.
    std::vector<XrayOp> take();
    /// Milliseconds of the step that it took itself, to run operations aside.
    double aside_ms() const { return clock_.aside() / 1000; }

private:
    using Marks = std::vector<std::size_t>;  // of the clock

    /// A call that has not returned.
    struct Frame {
        XrayOp row;
        const Op* info;
        const ForceRule* forced;  // null: its policy decides
        TensorList inputs;        // before casts
        TensorList used;          // after them, where the op has recorded itself
        Marks cast_marks;         // at the ends of its casts
        std::size_t first_row;    // rows of the calls inside it begin here
        bool hidden;              // it runs inside a listed op
        bool own_record = false;
        bool opaque = false;  // a listed op that is made of others
    };

    void on_call(const OpCall& call) override;
    void on_return(std::span<const Tensor> outputs) override;
    void on_cached_cast(const Tensor& source, const Tensor& cast) override;
    void on_op(const OpEvent& event) override;
    void on_aside(bool begins) override;
    bool reads_inputs() const override { return false; }

    XrayOp described(const Op& info, const ForceRule* forced) const;
    void note_cast(const OpEvent& event);
    bool is_argument(const Tensor& tensor) const;
    void add_row(XrayOp row, std::span<const Tensor> used, std::span<const Tensor> outputs,
                 Marks cast_marks = {});
    void give_up_rows(std::size_t from);
    void finish_row(XrayOp row, Marks cast_marks = {});

    Device device_;
    std::shared_ptr<MemoryAccounting> accounting_;
    TraceClock clock_;
    std::vector<Frame> frames_;
    std::vector<XrayOp> rows_;
    Marks row_marks_;                   // at the ends of rows
    std::vector<Marks> cast_marks_;     // at the ends of the casts of each row
    std::vector<std::string> engines_;  // that have computed since the last row
    std::optional<kernels::PlanUseScope> uses_;
    std::optional<ObserverScope> scope_;
    std::optional<std::int64_t> memory_;  // in use when what runs aside began
};

}  // namespace engine
