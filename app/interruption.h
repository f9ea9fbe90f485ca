#pragma once

#include <string>
#include <utility>

#include "engine/io/work_scope.h"
#include "terminal.h"

namespace app {

// The end of the program on request: by Ctrl-C, SIGTERM, or SIGHUP unless that is
// ignored, as under nohup.

/// From now on such a request ends the program at once, and files that were being written leave no
/// part behind.
void remove_parts_when_ended();

/// While it lives, such a request is only noted (was_interrupted()); so is SIGUSR1, which mpirun and
/// schedulers send before they end a program. A second one ends the program.
class InterruptScope {
public:
    InterruptScope();
    ~InterruptScope();
    InterruptScope(const InterruptScope&) = delete;
    InterruptScope& operator=(const InterruptScope&) = delete;

private:
    using Handler = void (*)(int);
    Handler interrupt_, end_, hang_up_, user_;
};

/// Whether a request came during the last InterruptScope: what was to come after it is left.
bool was_interrupted();
/// As such a request does.
void note_interruption();

/// Thrown by work that a request ended; main() says so.
struct Interrupted {};

/// Runs work() of this thread that reports its progress (engine/io/work_scope.h), which is shown. A
/// request to end gives it up, so that it leaves nothing behind.
template <typename F>
auto with_progress(std::string what, F&& work) {
    const InterruptScope obeyed;
    WorkProgress progress(std::move(what));
    const engine::WorkScope scope([&progress](double share) {
        if (was_interrupted()) throw Interrupted{};
        progress.show(share);
    });
    return work();
}

}  // namespace app
