#include "train/step/figure_ring.h"

#include <chrono>
#include <thread>

namespace engine {
namespace {

void wait_for(const StepMarks& marks) {
    constexpr int spins = 2000;  // about what a short step takes
    for (int i = 0; !marks.passed(); ++i) {
        if (i < spins)
            std::this_thread::yield();
        else
            std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
}

}  // namespace

FigureRing::FigureRing(const Device& device) : device_(device) {
    const DeviceScope scope(device);  // its context is the one that pins them
    const std::size_t count = depth() + 1;
    for (std::size_t i = 0; i < count; ++i) {
        slots_.emplace_back(device);
        slots_.back().figures =
            device.kind == Device::Kind::cpu
                ? new kernels::StepFigures
                : static_cast<kernels::StepFigures*>(
                      kernels::cuda::allocate_pinned(sizeof(kernels::StepFigures)));
    }
}

FigureRing::~FigureRing() {
    try {  // nothing may be copied into memory that is given back
        while (size_ > 0) pop();
    } catch (...) {  // the device has failed, and copies nothing
    }
    for (const Slot& slot : slots_) {
        if (device_.kind == Device::Kind::cpu)
            delete slot.figures;
        else
            kernels::cuda::release_pinned(slot.figures);
    }
}

void FigureRing::push(const DeviceRecord<kernels::StepFigures>& figures) {
    Slot& slot = slots_[next_];
    copy_to_pinned(slot.figures, figures.data(), sizeof(kernels::StepFigures), device_);
    slot.marks.mark();
    next_ = (next_ + 1) % slots_.size();
    ++size_;
}

FigureRing::Arrived FigureRing::pop() {
    const Slot& slot = slots_[(next_ + slots_.size() - size_) % slots_.size()];
    wait_for(slot.marks);
    --size_;
    return {*slot.figures, slot.marks.gaps()};
}

}  // namespace engine
