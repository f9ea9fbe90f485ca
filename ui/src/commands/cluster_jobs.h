#pragma once

#include <QObject>
#include <QTimer>
#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/runs/cluster.h"
#include "feed/background_task.h"

namespace ui {

class Commands;
class EventFeed;

/// Jobs of the queue on a cluster: submits, follows and cancels them off the GUI thread, one after
/// another. GUI thread.
class ClusterJobs final : public QObject {
    Q_OBJECT
public:
    ClusterJobs(EventFeed* feed, Commands* commands, QObject* parent = nullptr);
    ~ClusterJobs() override;

    /// Slurm's manual asks not to call squeue in short loops: each call loads the controller. A
    /// test sets less.
    inline static std::chrono::milliseconds followEvery{15'000};

    /// Submits what waits for Slurm; of one batch alone if it is given.
    void submit(const std::optional<std::string>& batch = {});
    /// The job at hand is still submitted.
    void stopSubmitting() { stop_.request_stop(); }
    void cancel(std::int64_t id);
    /// Looks after the live jobs at once and then every few seconds, as long as there are any.
    void follow(bool anyLive);
    /// Submits or cancels jobs now.
    bool isBusy() const { return busy_; }

signals:
    void changed(const std::vector<engine::JobChange>& changes);
    /// Nothing could be submitted; the reason was reported.
    void failed();

private:
    using Changes = std::vector<engine::JobChange>;
    enum class Kind { submit, cancel, follow };
    struct Work {
        Kind kind;
        std::function<Changes(engine::RunStore&)> run;
    };
    void start(Work work);
    void next();
    void end(Kind kind, const Outcome<Changes>& outcome);

    EventFeed* feed_;
    Commands* commands_;
    QTimer timer_;
    std::stop_source stop_;
    std::stop_source closing_;  ///< ends a program of Slurm that the end would wait for
    std::deque<Work> waiting_;
    bool running_ = false;
    bool busy_ = false;
    bool told_ = false;  ///< that jobs cannot be followed
};

}  // namespace ui
