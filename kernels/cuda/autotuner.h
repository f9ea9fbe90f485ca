#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/array.h"

/// Choice of a library's algorithm by measurement, for convolutions, products and recurrent
/// networks: a race between those that it offers, whose winner is stored (kernels/plan_store.h).
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
double max_race_ms() noexcept;
/// Limit on making their plans, whose kernels may have to be compiled.
constexpr int max_build_ms = 500;
/// So many algorithms take part, and those that cannot do not count.
constexpr std::size_t max_candidates = 8;

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

/// An operation, and the algorithms that the library offers for it.
struct Candidates {
    std::string operation;  ///< its shapes, strides, types and rules: the same text in every run
    std::string library;    ///< as LibraryInfo::name
    std::vector<std::string> names;  ///< of the algorithms, the library's first choice first
    /// Computes it by one of them. What it writes may be written again, by each of them.
    RaceRun run;
};

/// The algorithm that a run on this machine has found the fastest; nothing if none has.
std::optional<std::string> stored_winner(const std::string& operation, const std::string& library);

/// Chooses the algorithm: the stored winner, else the winner of a race, which is then stored.
/// Nothing during a capture if no winner is stored, because a race would break the capture: the
/// caller uses the library's first choice. That is also chosen where algorithms must be bit-stable
/// but no winner can be stored, since winners of races differ from run to run.
std::optional<std::size_t> select_algorithm(const Candidates& candidates, Stream stream);

/// Calls f, which gives work to the device: false if it throws DeviceError, as an algorithm does
/// that the library cannot run after all. Throws it on if the device was lost by it.
bool runs(const std::function<bool()>& f);

/// "1x2x3"
template <class Numbers>
std::string text_of(const Numbers& numbers) {
    std::string out;
    for (const auto number : numbers) out += (out.empty() ? "" : "x") + std::to_string(number);
    return out;
}

}  // namespace kernels::cuda
