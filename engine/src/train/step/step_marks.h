#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/cuda_device.h"
#include "tensor/device.h"

namespace engine {

/// Polls: an event is nearly always passed when this is asked, and no call waits for the device.
void wait_until_passed(const kernels::cuda::Event& event);
/// How often it was not: the host had to wait.
std::int64_t waits_for_events() noexcept;

/// Points in time of a step: on the host's clock, or on a GPU in its stream, where the host runs
/// ahead.
class StepMarks {
public:
    explicit StepMarks(const Device& device) : device_(device) {}
    /// Forgets all marks.
    void restart();
    void mark();
    /// On a GPU: the event by which another records the next mark, on the compute stream.
    std::shared_ptr<kernels::cuda::Event> next_event();
    /// Milliseconds from mark i to mark i + 1. On a GPU the last mark must have been passed.
    std::vector<float> gaps() const;
    /// The last mark has been passed; never waits.
    bool passed() const;

private:
    Device device_;
    std::vector<std::chrono::steady_clock::time_point> times_;
    std::vector<std::shared_ptr<kernels::cuda::Event>> events_;  // reused from step to step
    std::size_t count_ = 0;
};

}  // namespace engine
