#include "cuda/autotuner.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "kernels/cuda_device.h"
#include "kernels/cuda_graph.h"
#include "kernels/cuda_libraries.h"
#include "kernels/device_error.h"
#include "kernels/plan_choice.h"
#include "kernels/plan_store.h"

namespace kernels::cuda {
namespace {

constexpr int max_times = 3;
constexpr double far_behind = 1.5;
constexpr double clearly_faster = 0.97;

/// 4 fills of this size take an H100 some 100 us.
#ifdef HALFTONE_SIMT
constexpr std::size_t busy_bytes = 1 << 10;
#else
constexpr std::size_t busy_bytes = std::size_t{64} << 20;
#endif
constexpr int busy_fills = 4;

/// Nothing if it cannot.
std::optional<double> best_time(std::size_t i, const RaceRun& run, RaceClock& clock,
                                double time_to_beat) {
    if (!run(i)) return std::nullopt;
    double best = std::numeric_limits<double>::infinity();
    for (int time = 0; time < max_times; ++time) {
        bool ran = false;
        const double ms = clock.time([&] { ran = run(i); });
        if (!ran) return std::nullopt;
        best = std::min(best, ms);
        if (best > far_behind * time_to_beat) break;
    }
    return best;
}

/// Key of what decides an algorithm's speed beside the operation. A card of the same name takes the
/// same.
std::string key_of(const std::string& operation, const std::string& library) {
    const DeviceInfo card = device_info(current_device());
    std::string key = operation + " | " + card.name + " " + std::to_string(card.major) + "." +
                      std::to_string(card.minor) + " | " + library;
    for (const LibraryInfo& info : libraries())
        if (info.name == library) key += " " + info.version;
    return key;
}

std::optional<std::size_t> place_of(const std::string& name, const Candidates& candidates) {
    const auto found = std::find(candidates.names.begin(), candidates.names.end(), name);
    if (found == candidates.names.end()) return std::nullopt;
    return static_cast<std::size_t>(found - candidates.names.begin());
}

}  // namespace

double max_race_ms() noexcept {
#ifdef HALFTONE_SIMT
    return 60'000;  // work takes the simulated device a thousand times as long
#else
    return 300;
#endif
}

std::optional<RaceResult> race(std::size_t count, const RaceRun& run, RaceClock& clock) {
    std::optional<RaceResult> best;
    std::size_t racers = 0;
    for (std::size_t i = 0; i < count && racers < max_candidates; ++i) {
        if (best && clock.elapsed() > max_race_ms()) break;
        const double to_beat = best ? best->ms : std::numeric_limits<double>::infinity();
        const auto ms = best_time(i, run, clock, to_beat);
        if (!ms) continue;
        ++racers;
        if (!best || *ms < clearly_faster * to_beat) best = {i, *ms};
    }
    return best;
}

RaceMemory::RaceMemory(std::size_t bytes) : data_(allocate(std::max<std::size_t>(bytes, 1))) {}
RaceMemory::~RaceMemory() { release(data_); }

struct StreamClock::Parts {
    explicit Parts(Stream on) : stream(on) {}
    Stream stream;
    Event start, end;
    std::optional<RaceMemory> busy;
    std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();
};

StreamClock::StreamClock(Stream stream) : parts_(std::make_unique<Parts>(stream)) {
    try {
        parts_->busy.emplace(busy_bytes);
    } catch (const OutOfMemory&) {  // then short work looks longer, of each algorithm alike
    }
    // Earlier work, or a rank that an exchange waits for, must not use up the race's time.
    synchronize(stream);
    parts_->began = std::chrono::steady_clock::now();
}

StreamClock::~StreamClock() = default;

double StreamClock::time(const std::function<void()>& work) {
    Parts& p = *parts_;
    for (int i = 0; p.busy && i < busy_fills; ++i) set_zero(p.busy->data(), busy_bytes, p.stream);
    p.start.record(p.stream);
    work();
    p.end.record(p.stream);
    p.end.synchronize();
    return static_cast<double>(p.end.ms_since(p.start));
}

double StreamClock::elapsed() {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() -
                                                     parts_->began)
        .count();
}

bool runs(const std::function<bool()>& f) {
    try {
        return f();
    } catch (const DeviceError&) {
        if (!lost_to().empty()) throw;
        return false;
    }
}

std::optional<std::string> stored_winner(const std::string& operation, const std::string& library) {
    return plan_store().find(key_of(operation, library));
}

std::optional<std::size_t> select_algorithm(const Candidates& candidates, Stream stream) {
    if (candidates.names.size() < 2) return 0;
    const std::string key = key_of(candidates.operation, candidates.library);
    const auto stored = plan_store().find(key);
    if (stored)
        if (const auto place = place_of(*stored, candidates)) return place;
    if (recording(current_device())) return std::nullopt;
    if (plan_choice().bit_stable && !plan_store().lasts()) return 0;
    count_plan_race();
    StreamClock clock(stream);
    const auto won = race(candidates.names.size(), candidates.run, clock);
    if (!won) return 0;
    const std::string kept = plan_store().keep(key, candidates.names[won->winner], won->ms, stored);
    return place_of(kept, candidates).value_or(won->winner);
}

}  // namespace kernels::cuda
