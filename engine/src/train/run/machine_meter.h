#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <stop_token>
#include <thread>

#include "engine/record/step_record.h"
#include "kernels/power_meters.h"
#include "tensor/device.h"
#include "train/step/row_builder.h"

namespace engine {

/// Figures of the machine for the rows of a run: load, memory, temperature and power of its card as
/// they are, and the energy that card and processor took in the run's own training time. A thread
/// of its own reads the meters once a second; without a meter there is no thread. Energy counts in
/// proportion: where a run has half of a second's time, it gets half of that second's energy.
class MachineMeter {
public:
    using Seconds = std::chrono::duration<double>;

    /// The meters of this machine for a run on that device.
    explicit MachineMeter(const Device& device);
    /// These meters, either of which may be null.
    MachineMeter(std::unique_ptr<kernels::CardMeter> card,
                 std::unique_ptr<kernels::CpuEnergyMeter> cpu, Seconds every);

    bool has_card() const { return card_ != nullptr; }
    bool has_cpu() const { return cpu_ != nullptr; }
    /// Energy goes on from that of a row of the run; a figure that the row lacks goes on from 0.
    void go_on_from(const StepRecord& row);
    /// The figures as of the last reading, for a step that ended at this training time of the run.
    /// Neither waits nor allocates.
    MachineFigures figures(double elapsed_s);

private:
    enum Figure { load, memory_bytes, celsius, watts, card_joules, cpu_joules, count };
    void sample(double share);
    void watch(const std::stop_token& stop, Seconds every);

    std::unique_ptr<kernels::CardMeter> card_;
    std::unique_ptr<kernels::CpuEnergyMeter> cpu_;
    std::array<std::atomic<double>, count> now_;
    std::atomic<double> elapsed_s_ = 0;  ///< of the run, by its last row
    double card_before_ = 0, cpu_before_ = 0;            ///< joules of the run's earlier parts
    double last_card_joules_ = 0, last_cpu_joules_ = 0;  ///< of the meters, when they were last read
    std::jthread thread_;                                ///< last: it uses all others
};

}  // namespace engine
