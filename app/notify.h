#pragma once

#include <string>
#include <vector>

#include "command_line.h"
#include "engine/runs/end_notice.h"
#include "follow.h"

namespace app {

/// Adds --notify, which exists on the command line alone (engine/runs/end_notice.h).
void describe_notify(Command& command, std::string& notify);

/// Builds the notice for runs that have been followed to their end.
engine::EndNotice make_notice(const std::string& kind,
                              const std::vector<engine::RunOutcome>& outcomes);

/// Runs the command unless it is empty; says so if that fails.
void notify(const std::string& command, const engine::EndNotice& notice);

/// Runs the command when the scope ends: after what the command line prints at the end.
class Notice {
public:
    Notice(std::string command, engine::EndNotice notice)
        : command_(std::move(command)), notice_(std::move(notice)) {}
    ~Notice() { notify(command_, notice_); }
    Notice(const Notice&) = delete;
    Notice& operator=(const Notice&) = delete;

private:
    std::string command_;
    engine::EndNotice notice_;
};

/// Returns work(). If that throws, reports the failure first.
template <typename Work>
int notifying_failure(const std::string& command, const std::string& kind, Work&& work) {
    try {
        return work();
    } catch (const std::exception& error) {
        notify(command, {kind, {}, "failed", error.what()});
        throw;
    }
}

}  // namespace app
