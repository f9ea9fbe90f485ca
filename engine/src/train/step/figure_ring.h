#pragma once

#include <memory>
#include <vector>

#include "kernels/step_figures.h"
#include "tensor/device_record.h"
#include "train/step/step_marks.h"

namespace engine {

/// Figures of the last steps on their way from the device to the host, oldest first. On the CPU
/// they are available at once. On a GPU they are copied behind the step's work; the host reads them
/// after it has submitted the next step, so that the device is never idle.
class FigureRing {
public:
    explicit FigureRing(const Device& device);
    ~FigureRing();
    FigureRing(const FigureRing&) = delete;
    FigureRing& operator=(const FigureRing&) = delete;

    /// Marks of the step that begins; the last mark is made by push().
    StepMarks& marks() { return slots_[next_].marks; }
    /// Starts the copy of the figures of the step that ends. Needs !full().
    void push(const DeviceRecord<kernels::StepFigures>& figures);
    /// Steps pushed and not popped.
    std::size_t size() const { return size_; }
    bool full() const { return size_ == slots_.size(); }
    /// How many may stay in flight while the next step is given: 0 on the CPU.
    std::size_t depth() const { return device_.kind == Device::Kind::cpu ? 0 : 1; }

    struct Arrived {
        kernels::StepFigures figures;
        std::vector<float> gaps;  // of the step's marks
    };
    /// The oldest; waits until it is there, without a call that waits for the device. Needs
    /// size() > 0.
    Arrived pop();

private:
    struct Slot {
        explicit Slot(const Device& device) : marks(device) {}
        StepMarks marks;
        kernels::StepFigures* figures = nullptr;  // pinned for a GPU
    };

    Device device_;
    std::vector<Slot> slots_;
    std::size_t next_ = 0;
    std::size_t size_ = 0;
};

}  // namespace engine
