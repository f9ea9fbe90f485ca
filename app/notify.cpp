#include "notify.h"

#include <algorithm>
#include <iostream>

namespace app {

void describe_notify(Command& command, std::string& notify) {
    command
        .text("--notify", notify,
              "Command to run when this ends or fails, in a shell, with HALFTONE_KIND, "
              "HALFTONE_RUN, HALFTONE_STATE and HALFTONE_REASON as variables")
        .not_empty().takes("COMMAND");
}

engine::EndNotice make_notice(const std::string& kind,
                              const std::vector<engine::RunOutcome>& outcomes) {
    using engine::DoneReason, engine::RunOutcome;
    engine::EndNotice notice{kind, {}, "done", {}};
    const auto reason_is = [](DoneReason reason) {
        return [reason](const RunOutcome& each) {
            return each.ended && each.run.done.reason == reason;
        };
    };
    const auto diverged = [](const RunOutcome& each) {
        return each.ended && engine::end_state(each.run.done) == "diverged";
    };
    const auto failed = std::ranges::find_if(outcomes, [&](const RunOutcome& each) {
        return !diverged(each) && (!each.failure.empty() || reason_is(DoneReason::failed)(each));
    });
    const bool stopped = std::ranges::any_of(outcomes, [&](const RunOutcome& each) {
        return !each.ended || engine::end_state(each.run.done) == "stopped";
    });
    for (const RunOutcome& each : outcomes) {
        if (!each.id.empty()) notice.runs.push_back(each.id);
        if (each.ended && notice.reason.empty()) notice.reason = engine::name(each.run.done.reason);
    }
    if (failed != outcomes.end()) {
        notice.state = "failed";
        if (!failed->failure.empty()) notice.reason = failed->failure;
    } else if (stopped) {
        notice.state = notice.reason = "stopped";
    } else if (std::ranges::all_of(outcomes, diverged)) {
        notice.state = "diverged";
        if (!outcomes.front().failure.empty()) notice.reason = outcomes.front().failure;
    }
    return notice;
}

void notify(const std::string& command, const engine::EndNotice& notice) {
    if (command.empty()) return;
    std::cout << std::flush;
    const int status = engine::run_notice_command(command, notice);
    if (status != 0)
        std::cerr << "halftone: --notify: the command ended with status " << status << '\n';
}

}  // namespace app
