#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <thread>

#include "engine/record/event.h"
#include "runs/outside_request.h"
#include "runs/run_hold.h"

namespace engine {

/// Looks for requests of other programs to a run that this process trains, on a thread of its own,
/// since the compute thread does not look while a run is paused. Answers each one, and shows in the
/// run's lease what the run does.
class RequestWatch {
public:
    /// `obey` is called on the thread of this object and must return soon.
    RequestWatch(std::shared_ptr<RunHold> hold, const std::filesystem::path& folder,
                 std::function<void(OutsideRequest)> obey);
    /// Any thread but this object's. An evaluation counts as training. Ends the watch with the run.
    void show(RunState state);

private:
    void run(const std::stop_token& stop, const std::function<void(OutsideRequest)>& obey);

    const std::shared_ptr<RunHold> hold_;
    RequestReader reader_;
    std::jthread thread_;
};

}  // namespace engine
