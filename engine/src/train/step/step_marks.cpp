#include "train/step/step_marks.h"

#include <atomic>
#include <thread>

namespace engine {

namespace {
std::atomic<std::int64_t> waits{0};
}

void wait_until_passed(const kernels::cuda::Event& event) {
    if (event.passed()) return;
    ++waits;
    while (!event.passed()) std::this_thread::yield();
}

std::int64_t waits_for_events() noexcept { return waits; }

void StepMarks::restart() {
    times_.clear();
    count_ = 0;
}

void StepMarks::mark() {
    if (device_.kind == Device::Kind::cuda) return next_event()->record(current_stream());
    ++count_;
    times_.push_back(std::chrono::steady_clock::now());
}

std::shared_ptr<kernels::cuda::Event> StepMarks::next_event() {
    if (events_.size() < ++count_) events_.push_back(std::make_shared<kernels::cuda::Event>());
    return events_[count_ - 1];
}

std::vector<float> StepMarks::gaps() const {
    std::vector<float> out;
    for (std::size_t i = 1; i < count_; ++i) {
        out.push_back(
            device_.kind == Device::Kind::cpu
                ? std::chrono::duration<float, std::milli>(times_[i] - times_[i - 1]).count()
                : events_[i]->ms_since(*events_[i - 1]));
    }
    return out;
}

bool StepMarks::passed() const {
    return device_.kind == Device::Kind::cpu || count_ == 0 || events_[count_ - 1]->passed();
}

}  // namespace engine
