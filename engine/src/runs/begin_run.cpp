#include "runs/begin_run.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "engine/base/error.h"
#include "engine/io/work_scope.h"
#include "engine/runs/run_group.h"
#include "io/file/atomic_file.h"
#include "io/file/file_modes.h"
#include "runs/event_file.h"
#include "runs/foreign_log.h"
#include "runs/outside_folders.h"
#include "runs/run_archive.h"
#include "runs/run_folder.h"
#include "runs/run_hold.h"
#include "runs/stored_run.h"

namespace engine {
namespace fs = std::filesystem;
namespace {

using NewRun = RunStore::NewRun;

NewRun make_numbered(SharedIndex& index, const FileLock& root_lock) {
    const fs::path folder =
        make_numbered_folder(index.root(), root_lock, [&](const std::string& number) {
            return index.try_use(false, [&](RunIndex& opened) { return opened.has(number); });
        });
    return {folder.filename().string(), folder, nullptr};
}

NewRun make_given(SharedIndex& index, const fs::path& given, const FileLock& root_lock) {
    make_given_folder(given);
    const fs::path folder = fs::canonical(given);
    const std::int64_t number = number_of(folder);
    const bool was_given = number > 0 && number <= last_number(root_lock);
    const std::string id = index.try_use(folder.filename().string(), [&](RunIndex& opened) {
        return opened.new_id(folder, was_given);
    });
    return {id, folder, nullptr};
}

/// Writes the settings of a run that was made, and opens it.
void enter(SharedIndex& index, NewRun& made, const RunConfig& config, const std::string& group) {
    LeaseSighting seen;
    LeaseState holder;
    auto hold = RunHold::try_take(made.folder, seen, holder);
    if (!hold) throw_held(made.folder, holder, msg("Give a new folder, or an empty one."));
    const Moment now = Moment::now();
    // Without the index for now, the group gets its number when the history is read.
    const std::int64_t group_number =
        group.empty() ? 0 : index.try_use(std::int64_t{0}, [&](RunIndex& opened) {
            return opened.number_of_group(group);
        });
    write_new_run(made.folder, made.run, config, now, group, group_number);
    RunSummary run;
    run.run = made.run;
    run.folder = made.folder;
    run.started = now.local;
    run.state = running_state;
    run.config = config;
    run.group = group;
    run.group_number = group_number;
    index.open_runs().add(made.run, OpenRun(hold, std::move(run), now));
    made.hold = std::move(hold);
}

/// Moves an unpacked run to its numbered place, with a `group` into that one.
NewRun take_in(SharedIndex& index, const fs::path& unpacked, const std::string& group) {
    return index.exclusively([&](const FileLock& root_lock) {
        const NewRun made = make_numbered(index, root_lock);
        std::error_code error;
        try {
            rename_run(unpacked, made.run, made.folder, group);
        } catch (...) {
            fs::remove(made.folder, error);
            throw;
        }
        fs::rename(unpacked, made.folder, error);  // which is empty
        if (error) {
            const int reason = error.value();
            fs::remove(made.folder, error);
            throw_write_error(made.folder, reason);
        }
        // If the index is busy, the run is entered at the next start, as any folder is.
        index.try_use(0, [&](RunIndex& opened) {
            opened.adopt({made.folder});
            return 0;
        });
        return made;
    });
}

}  // namespace

NewRun create_run(SharedIndex& index, const RunConfig& config, const fs::path& folder,
                  const std::string& group) {
    const auto make = [&](const FileLock& root_lock) {
        NewRun made =
            folder.empty() ? make_numbered(index, root_lock) : make_given(index, folder, root_lock);
        try {
            enter(index, made, config, group);
            OutsideFolders(index.root()).add({made.folder});
        } catch (...) {
            remove_new_run(made.folder);
            throw;
        }
        index.try_flush();
        return made;
    };
    return index.exclusively(make);
}

namespace {

/// The runs of a file of export_run_file(), or of another program's log, in folders of their own.
std::vector<fs::path> unpack(const fs::path& file, const fs::path& folder) {
    if (!is_foreign_log(file)) return unpack_runs(file, folder);
    return write_foreign_runs(read_foreign_logs(file), folder);
}

}  // namespace

/// Unpacks into a subfolder, where it is not mistaken for a run.
std::vector<NewRun> import_runs(SharedIndex& index, const fs::path& file) {
    std::string beside = (index.root() / (std::string(import_prefix) + "XXXXXX")).string();
    if (::mkdtemp(beside.data()) == nullptr) throw_write_error(beside, errno);
    LeaseSighting seen;
    LeaseState holder;
    auto hold = RunHold::try_take(beside, seen, holder);  // else the next start would sweep it
    const auto clean_up = [&] {
        hold.reset();
        std::error_code ignored;
        fs::remove_all(beside, ignored);
    };
    try {
        const fs::path folder = fs::path(beside) / "run";
        if (const int failure = make_private_folder(folder); failure != 0)
            throw_write_error(folder, failure);
        const std::vector<fs::path> unpacked = unpack(file, folder);
        // An archive that is imported twice makes two groups.
        const std::string before = EventFile(unpacked.front()).group();
        const bool one_group = std::ranges::all_of(unpacked, [&](const fs::path& run) {
            return !before.empty() && EventFile(run).group() == before;
        });
        std::string group;
        if (unpacked.size() > 1 && one_group)
            group = is_sweep_group(before) ? "sweep-" + new_run_group() : new_run_group();
        const WorkScope unwatched({});  // giving up now would leave a part of a group
        std::vector<NewRun> made;
        for (const fs::path& run : unpacked) made.push_back(take_in(index, run, group));
        clean_up();
        return made;
    } catch (...) {
        clean_up();
        throw;
    }
}

NewRun reopen_run(SharedIndex& index, const fs::path& given, std::int64_t step) {
    std::error_code error;
    const fs::path folder = fs::canonical(given, error);
    if (error) throw_write_error(given, error.value());
    LeaseState holder;
    auto hold = index.ask([&](RunIndex& opened) {
        LeaseSighting seen = opened.sighting(folder);
        auto taken = RunHold::try_take(folder, seen, holder);
        opened.see(folder, seen);
        return taken;
    });
    if (!hold) throw_held(folder, holder, msg("Stop it before you resume it."));
    StoredRun stored = read_stored_run(folder, keep_no_event);
    RunSummary& run = stored.summary;
    run.state = running_state;
    const std::int64_t events =
        index.ask([&](RunIndex& opened) { return opened.replace(run, stored.made, step); });
    OutsideFolders(index.root()).add({folder});
    const NewRun made{run.run, folder, hold};
    index.open_runs().add(made.run,
                          OpenRun(std::move(hold), std::move(run), std::move(stored.made), events));
    return made;
}

}  // namespace engine
