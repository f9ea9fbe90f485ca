#include "cuda/measured_plans.h"

#include <algorithm>

#include "kernels/cuda_device.h"
#include "kernels/cuda_graph.h"
#include "kernels/cuda_libraries.h"
#include "kernels/device_error.h"
#include "kernels/lost_device.h"
#include "kernels/plan_choice.h"
#include "kernels/plan_store.h"

namespace kernels::cuda {
namespace {

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

std::optional<std::size_t> place_of(const std::string& name, const Contest& contest) {
    const auto found = std::find(contest.names.begin(), contest.names.end(), name);
    if (found == contest.names.end()) return std::nullopt;
    return static_cast<std::size_t>(found - contest.names.begin());
}

}  // namespace

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

std::optional<std::size_t> settle(const Contest& contest, Stream stream) {
    if (contest.names.size() < 2) return 0;
    const std::string key = key_of(contest.operation, contest.library);
    const auto stored = plan_store().find(key);
    if (stored)
        if (const auto place = place_of(*stored, contest)) return place;
    if (recording(current_device())) return std::nullopt;
    if (plan_choice().bit_stable && !plan_store().lasts()) return 0;
    count_plan_race();
    StreamClock clock(stream);
    const auto won = race(contest.names.size(), contest.run, clock);
    if (!won) return 0;
    const std::string kept = plan_store().keep(key, contest.names[won->winner], won->ms, stored);
    return place_of(kept, contest).value_or(won->winner);
}

}  // namespace kernels::cuda
