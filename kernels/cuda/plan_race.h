#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

#include "kernels/array.h"

/// Races between algorithms for one operation.
namespace kernels::cuda {

/// Computes the operation once by algorithm number `i`. False: it cannot, and is out of the race.
using RaceRun = std::function<bool(std::size_t i)>;

/// Memory of the current device for a race: the driver's own, so that no run's accounts and no
/// stream's scratch grow by what a race takes for a moment. Throws OutOfMemory. Its end waits for
/// the work of the device.
class RaceMemory {
public:
    explicit RaceMemory(std::size_t bytes);
    ~RaceMemory();
    RaceMemory(const RaceMemory&) = delete;
    RaceMemory& operator=(const RaceMemory&) = delete;
    void* data() const { return data_; }

private:
    void* data_;
};

class RaceClock {
public:
    virtual ~RaceClock() = default;
    /// Milliseconds that the device takes for the work that `work` gives it.
    virtual double time(const std::function<void()>& work) = 0;
    /// Milliseconds since the race began, by the host's clock.
    virtual double elapsed() = 0;
};

/// A race takes no longer than this, but for the algorithm that is at its turn by then.
double most_race_ms() noexcept;
/// Limit on making their plans, whose kernels may have to be compiled.
constexpr int most_build_ms = 500;
/// So many algorithms take part, and those that cannot do not count.
constexpr std::size_t most_racers = 8;

struct RaceResult {
    std::size_t winner;
    double ms;
};

/// The fastest of `count` algorithms, the likeliest first; nothing if none can. Each runs once to
/// load its kernels, then up to three times, of which the best counts: others' work on the device
/// makes it slower and never faster. One that is far behind has no second chance, and one that is
/// hardly faster than an earlier one does not beat it.
std::optional<RaceResult> race(std::size_t count, const RaceRun& run, RaceClock& clock);

/// Measures between two events on the stream. Spins the device before each measurement so that
/// launch overhead is not timed; this also evicts the caches.
class StreamClock final : public RaceClock {
public:
    explicit StreamClock(Stream stream);
    ~StreamClock() override;
    double time(const std::function<void()>& work) override;
    double elapsed() override;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace kernels::cuda
