#pragma once

#include <functional>

namespace engine {

/// Receives how much of a long piece of work is done, from 0 to 1. Called often, by the thread that
/// works; must return at once. It gives the work up by throwing.
using WorkWatcher = std::function<void(double share)>;

/// While it lives, exports, imports, reports and traces of a step that this thread makes report to
/// the watcher. What the watcher throws ends the work, which then leaves no file behind.
class WorkScope {
public:
    explicit WorkScope(WorkWatcher watcher);
    ~WorkScope();
    WorkScope(const WorkScope&) = delete;
    WorkScope& operator=(const WorkScope&) = delete;

private:
    friend void report_work(double share);
    friend void poll_work();
    friend double reported_work();

    WorkWatcher watcher_;
    WorkScope* before_;
    double share_ = 0;
};

}  // namespace engine
