#include "instruments/xray/trace_clock.h"

namespace engine {

void TraceClock::restart() {
    host_.clear();
    events_.clear();
    mark();
}

std::size_t TraceClock::mark() {
    if (device_.kind == Device::Kind::cpu) {
        host_.push_back(std::chrono::steady_clock::now());
        return host_.size() - 1;
    }
    events_.push_back(std::make_unique<kernels::cuda::Event>());
    events_.back()->record(current_stream());
    return events_.size() - 1;
}

std::vector<double> TraceClock::times() const {
    std::vector<double> out;
    for (const auto& time : host_)
        out.push_back(std::chrono::duration<double, std::micro>(time - host_.front()).count());
    if (!events_.empty()) events_.back()->synchronize();
    for (const auto& event : events_)
        out.push_back(1000.0 * static_cast<double>(event->ms_since(*events_.front())));
    return out;
}

}  // namespace engine
