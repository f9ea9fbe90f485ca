#include "session/request_watch.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace engine {
namespace {

constexpr std::chrono::milliseconds interval{300};

}  // namespace

RequestWatch::RequestWatch(std::shared_ptr<RunHold> hold, const std::filesystem::path& folder,
                           std::function<void(OutsideRequest)> obey)
    : hold_(std::move(hold)),
      reader_(folder, hold_->lease().id()),
      thread_([this, obey = std::move(obey)](const std::stop_token& stop) { run(stop, obey); }) {}

void RequestWatch::run(const std::stop_token& stop,
                       const std::function<void(OutsideRequest)>& obey) {
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    while (!stopped.wait_for(lock, stop, interval, [&stop] { return stop.stop_requested(); })) {
        if (hold_->is_lost()) return;
        const auto request = reader_.next();
        if (!request) continue;
        obey(request->request);
        hold_->lease().answer(request->id);
    }
}

void RequestWatch::show(RunState state) {
    switch (state) {
        case RunState::done:
        case RunState::failed:
            thread_.request_stop();
            return;
        case RunState::evaluating:
            hold_->lease().show(name(RunState::training));
            return;
        default:
            hold_->lease().show(name(state));
    }
}

}  // namespace engine
