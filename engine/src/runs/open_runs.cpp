#include "runs/open_runs.h"

#include <unistd.h>

#include <cerrno>

#include "engine/base/error.h"
#include "io/file/atomic_file.h"

namespace engine {

void OpenRun::append(const Event& event) {
    apply(summary_, event);
    waiting_.push_back({++events_, event});
    unentered_ = true;
    over_ = over_ || std::holds_alternative<RunDone>(event);
    if (gone_ || hold_->is_lost()) return;
    check_folder();
    append_lines(summary_.folder / events_file, to_json_line(event) + "\n");
}

void OpenRun::check_folder() {
    const auto settings = summary_.folder / config_file;
    if (::access(settings.c_str(), F_OK) == 0 || errno != ENOENT) return hold_->check();
    gone_ = true;
    throw Error(ErrorCode::data,
                msg("{}: the folder of the run was deleted or moved while the run was training",
                    summary_.folder.string()),
                msg("Its steps are lost. Start the run again, and leave its folder alone while it "
                    "trains."));
}

void OpenRun::flush(RunIndex& index) {
    index.write(summary_, made_, waiting_);
    waiting_.clear();
    unentered_ = false;
}

const std::string& run_of(const Event& event) {
    return std::visit([](const auto& e) -> const std::string& { return e.run; }, event);
}

void throw_unknown_run(const std::string& run) {
    throw Error(ErrorCode::value, msg("{}: there is no such run in the history", run));
}

/// Requires the mutex.
OpenRun& OpenRuns::find(const std::string& run) {
    const auto found = runs_.find(run);
    if (found == runs_.end()) throw_unknown_run(run);
    return found->second;
}

void OpenRuns::add(const std::string& run, OpenRun open) {
    const std::lock_guard lock(mutex_);
    runs_.insert_or_assign(run, std::move(open));
}

void OpenRuns::append(const Event& event) {
    const std::lock_guard lock(mutex_);
    find(run_of(event)).append(event);
}

void OpenRuns::check_folder(const std::string& run) {
    const std::lock_guard lock(mutex_);
    find(run).check_folder();
}

void OpenRuns::unlock(const std::string& run) {
    const std::lock_guard lock(mutex_);
    const auto found = runs_.find(run);
    if (found != runs_.end()) found->second.unlock();
}

void OpenRuns::remove(const std::string& run) {
    const std::lock_guard lock(mutex_);
    runs_.erase(run);
}

void OpenRuns::flush(KeptIndex& index) {
    const std::lock_guard lock(mutex_);
    for (auto it = runs_.begin(); it != runs_.end();) {
        OpenRun& run = it->second;
        if (!run.is_flushed()) index.use([&run](RunIndex& opened) { run.flush(opened); });
        it = run.is_over() ? runs_.erase(it) : std::next(it);
    }
}

}  // namespace engine
