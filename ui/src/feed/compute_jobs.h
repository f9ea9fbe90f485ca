#pragma once

#include <QObject>
#include <functional>
#include <memory>
#include <vector>

#include "engine/session/compute_thread.h"

namespace ui {

/// Jobs that run on the compute thread between the steps of the experiment. Owns that thread, which
/// starts when it is first needed. GUI thread.
class ComputeJobs final : public QObject {
public:
    /// Runs work() on the compute thread between the steps of the experiment, which waits for it,
    /// and then done() here, unless `context` is gone by then. work() must not throw.
    void run(QObject* context, std::function<void()> work, std::function<void()> done);
    const std::shared_ptr<engine::ComputeThread>& thread();

private:
    class Job;

    std::shared_ptr<engine::ComputeThread> thread_;
    std::vector<std::shared_ptr<Job>> jobs_;  ///< those that have not ended
};

}  // namespace ui
