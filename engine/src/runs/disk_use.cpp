#include "engine/runs/disk_use.h"

#include <sys/stat.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "engine/base/error.h"
#include "engine/record/loss_sketch.h"
#include "engine/runs/checkpoint.h"
#include "runs/checkpoint.h"
#include "runs/run_hold.h"

namespace engine {
namespace fs = std::filesystem;
namespace {

constexpr std::int64_t block_bytes = 512;  // st_blocks counts these on every file system

std::vector<CheckpointInfo> list_spare(const fs::path& run_folder) {
    auto all = list_checkpoints(run_folder);
    if (all.empty()) return all;
    const auto best = std::ranges::find(all.rbegin(), all.rend(), true, &CheckpointInfo::best);
    const std::int64_t last = all.back().step;
    const std::int64_t kept = best == all.rend() ? last : best->step;
    std::erase_if(all, [&](const auto& each) { return each.step == kept || each.step == last; });
    return all;
}

SpareCheckpoints counted(const std::vector<CheckpointInfo>& spare) {
    SpareCheckpoints out{std::ssize(spare)};
    for (const CheckpointInfo& each : spare) out.bytes += each.bytes;
    return out;
}

}  // namespace

std::int64_t disk_bytes(const fs::path& folder) {
    std::int64_t bytes = 0;
    std::error_code error;
    for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end;
         it.increment(error)) {
        struct stat file {};
        if (lstat(it->path().c_str(), &file) == 0) bytes += file.st_blocks * block_bytes;
    }
    return bytes;
}

void FolderFigures::fill(std::span<RunSummary> runs) {
    std::map<std::string, Measured> now;
    for (RunSummary& run : runs) {
        const std::string folder = run.folder.string();
        const bool goes_on = run.state == "running";
        std::error_code gone;
        const auto changed = fs::last_write_time(run.folder, gone);
        if (gone) continue;
        auto before = known_.find(folder);
        Measured measured = before != known_.end() && before->second.changed == changed && !goes_on
                                ? std::move(before->second)
                                : Measured{changed, disk_bytes(run.folder)};
        if (measured.losses.empty() && sketch_ > 0)
            measured.losses = engine::loss_sketch(run.folder, sketch_);
        run.disk_bytes = measured.bytes;
        run.loss_sketch = measured.losses;
        // A run that goes on grows without a change of its folder.
        if (!goes_on) now[folder] = std::move(measured);
    }
    known_ = std::move(now);
}

SpareCheckpoints spare_checkpoints(const fs::path& run_folder) {
    return counted(list_spare(run_folder));
}

SpareCheckpoints free_checkpoints(const fs::path& run_folder) {
    LeaseSighting seen;
    LeaseState holder;
    const auto hold = RunHold::try_take(run_folder, seen, holder);
    if (!hold)
        throw_held(run_folder, holder, msg("Stop it before you free its checkpoints."));
    const auto spare = list_spare(run_folder);
    prune_checkpoints(run_folder, 1);
    hold->release();
    for (const CheckpointInfo& each : spare) {
        std::error_code error;
        fs::remove_all(each.folder, error);
        if (error)
            throw Error(ErrorCode::io,
                        msg("{}: cannot be deleted: {}", each.folder.string(), error.message()),
                        msg("Check that you may write to this folder."));
    }
    return counted(spare);
}

}  // namespace engine
