#include "runs/run_hold.h"

#include <cmath>
#include <utility>

#include "engine/base/error.h"
#include "runs/run_folder.h"

namespace engine {
namespace {

std::int64_t whole(double seconds) { return static_cast<std::int64_t>(std::lround(seconds)); }

}  // namespace

std::shared_ptr<RunHold> RunHold::try_take(const std::filesystem::path& folder, LeaseSighting& seen,
                                           LeaseState& holder) {
    auto lock = FileLock::try_take(folder / lock_file);
    if (!lock) {
        holder = look_at_lease(folder, seen);
        holder.held = true;
        return nullptr;
    }
    auto lease = Lease::try_take(folder, seen, holder);
    if (!lease) return nullptr;
    return std::shared_ptr<RunHold>(new RunHold(std::move(*lock), std::move(lease)));
}

void RunHold::release() {
    const std::lock_guard lock(mutex_);
    lease_->release();
    lock_ = {};
}

LeaseState holder_of(const std::filesystem::path& folder, LeaseSighting& seen) {
    LeaseState holder = look_at_lease(folder, seen);
    // Programs of earlier versions have the lock alone.
    if (!holder.held) holder.held = FileLock::is_held(folder / lock_file);
    return holder;
}

LeaseState holder_of(const std::filesystem::path& folder) {
    LeaseSighting seen;
    return holder_of(folder, seen);
}

void throw_held(const std::filesystem::path& folder, const LeaseState& holder,
                const Message& then) {
    if (holder.host.empty())
        throw Error(ErrorCode::state, msg("{}: the run is being trained", folder.string()), then);
    const LeaseRules& rules = LeaseRules::standard();
    const std::int64_t wait =
        std::max<std::int64_t>(1, whole(rules.patience.count() - holder.silent_s));
    const Message hint =
        msg("Stop it there first. If it was cut off there, its lease ends in {} s.", wait);
    if (holder.silent_s < 2 * rules.renewal.count())
        throw Error(ErrorCode::state,
                    msg("{}: the run is being trained on {}", folder.string(), holder.host), hint);
    throw Error(ErrorCode::state,
                msg("{}: the run is being trained on {}, which has been silent for {} s",
                    folder.string(), holder.host, whole(holder.silent_s)),
                hint);
}

}  // namespace engine
