#include "train/run/machine_meter.h"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <utility>

#include "kernels/cuda_device.h"
#include "kernels/device_error.h"

namespace engine {
namespace {

constexpr MachineMeter::Seconds usual_pause{1};

std::unique_ptr<kernels::CardMeter> find_card(const Device& device) {
    if (device.kind != Device::Kind::cuda) return nullptr;
    try {
        auto meter = std::make_unique<kernels::CardMeter>(
            kernels::cuda::device_info(device.index).pci_bus_id);
        return meter->found() ? std::move(meter) : nullptr;
    } catch (const kernels::DeviceError&) {
        return nullptr;
    }
}

std::unique_ptr<kernels::CpuEnergyMeter> find_cpu() {
    auto meter = std::make_unique<kernels::CpuEnergyMeter>();
    return meter->found() ? std::move(meter) : nullptr;
}

double or_zero(double value) { return std::isnan(value) ? 0 : value; }

}  // namespace

MachineMeter::MachineMeter(const Device& device)
    : MachineMeter(find_card(device), find_cpu(), usual_pause) {}

MachineMeter::MachineMeter(std::unique_ptr<kernels::CardMeter> card,
                           std::unique_ptr<kernels::CpuEnergyMeter> cpu, Seconds every)
    : card_(std::move(card)), cpu_(std::move(cpu)) {
    for (auto& figure : now_) figure = std::numeric_limits<double>::quiet_NaN();
    if (!card_ && !cpu_) return;
    if (card_) last_card_joules_ = card_->read().joules;
    if (card_ && !std::isnan(last_card_joules_)) now_[card_joules] = 0;
    if (cpu_) now_[cpu_joules] = 0;
    sample(0);
    thread_ = std::jthread([this, every](const std::stop_token& stop) { watch(stop, every); });
}

void MachineMeter::go_on_from(const StepRecord& row) {
    card_before_ = or_zero(row.card_joules);
    cpu_before_ = or_zero(row.cpu_joules);
    elapsed_s_ = row.elapsed_s;
}

MachineFigures MachineMeter::figures(double elapsed_s) {
    elapsed_s_.store(elapsed_s, std::memory_order_relaxed);
    const auto figure = [this](Figure which) { return now_[which].load(std::memory_order_relaxed); };
    return {.card_load = static_cast<float>(figure(load)),
            .card_celsius = static_cast<float>(figure(celsius)),
            .card_watts = static_cast<float>(figure(watts)),
            .card_memory_bytes = figure(memory_bytes),
            .card_joules = card_before_ + figure(card_joules),
            .cpu_joules = cpu_before_ + figure(cpu_joules)};
}

/// `share`: of the time since the last sample that was the run's own.
void MachineMeter::sample(double share) {
    if (card_) {
        const kernels::CardReading reading = card_->read();
        now_[load] = reading.load;
        now_[memory_bytes] = reading.memory_bytes;
        now_[celsius] = reading.celsius;
        now_[watts] = reading.watts;
        const double more = std::max(0.0, reading.joules - last_card_joules_) * share;
        if (!std::isnan(more)) now_[card_joules] = now_[card_joules] + more;
        last_card_joules_ = reading.joules;
    }
    if (cpu_) {
        const double all = cpu_->joules();
        now_[cpu_joules] = now_[cpu_joules] + (all - std::exchange(last_cpu_joules_, all)) * share;
    }
}

void MachineMeter::watch(const std::stop_token& stop, Seconds every) {
    std::mutex mutex;
    std::condition_variable_any waiting;
    std::unique_lock lock(mutex);
    auto before = std::chrono::steady_clock::now();
    double elapsed = elapsed_s_;
    while (!waiting.wait_for(lock, stop, every, [&stop] { return stop.stop_requested(); })) {
        const auto now = std::chrono::steady_clock::now();
        const double own = elapsed_s_ - std::exchange(elapsed, elapsed_s_);
        const double all = Seconds(now - std::exchange(before, now)).count();
        sample(std::clamp(own / all, 0.0, 1.0));
    }
}

}  // namespace engine
