#include "runs/open_runs.h"

#include "engine/base/error.h"

namespace engine {

const std::string& run_of(const Event& event) {
    return std::visit([](const auto& e) -> const std::string& { return e.run; }, event);
}

void throw_unknown_run(const std::string& run) {
    throw Error(ErrorCode::value, msg("{}: there is no such run in the history", run));
}

/// With the mutex held.
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
