#include "engine/runs/run_follower.h"

#include <algorithm>
#include <array>

namespace engine {

void RunFollower::look() {
    const RunState state = source_.state();
    const std::int64_t count = source_.record().size();  // the start event comes before its rows
    take_events();
    pass_rows_up_to(count);
    over_ = state == RunState::done || state == RunState::failed;
    if (!over_) return;
    take_events();
    outcome_.id = source_.run();
    take_record();
}

void RunFollower::take_events() {
    for (const Event& event : source_.drain()) {
        std::visit([this](const auto& each) { note(each); }, event);
        listener_.event(event);
    }
}

void RunFollower::pass_rows_up_to(std::int64_t count) {
    if (!listener_.wants_rows()) {
        passed_ = count;
        return;
    }
    const StepRecordReader record = source_.record();
    constexpr std::int64_t at_once = 256;
    std::vector<StepRecord> rows;
    while (passed_ < count) {
        rows.resize(static_cast<std::size_t>(std::min(count - passed_, at_once)));
        if (!read(record, passed_, rows)) return;
        listener_.rows(rows);
        passed_ += std::ssize(rows);
    }
}

/// False if another program cut the record short; other runs go on.
bool RunFollower::read(const StepRecordReader& record, std::int64_t first,
                       std::span<StepRecord> rows) {
    try {
        record.rows(first, rows);
        return true;
    } catch (const Error& error) {
        unreadable_ = error;
        return false;
    }
}

void RunFollower::take_record() {
    const StepRecordReader record = source_.record();
    std::array<StepRecord, 1> last;
    const bool has_rows = record.size() > 0;
    if (has_rows && !read(record, record.size() - 1, last) && outcome_.exit_code == 0)
        outcome_.exit_code = exit_code_of_run(unreadable_->code());
    if (!unreadable_) outcome_.run.record = record;
}

void RunFollower::note(const RunStarted& event) {
    outcome_.run.device = event.device;
    if (!event.metrics.empty()) outcome_.metric = event.metrics.front();
}

void RunFollower::note(const RunResumed& event) {
    if (event.parent.empty() && source_.shown_before()) passed_ = event.step;
}

void RunFollower::note(const EpochDone& event) {
    pass_rows_up_to(event.step);
    if (event.evaluated) outcome_.run.tests.push_back({event.step, event.test});
}

void RunFollower::note(const ScaleChanged& event) {
    pass_rows_up_to(event.step);
    if (event.kind == ScaleChanged::Kind::grown) ++outcome_.run.growths;
}

void RunFollower::note(const RunFailed& event) {
    pass_rows_up_to(source_.record().size());
    outcome_.exit_code = exit_code_of_run(event.code);
    outcome_.failure = event.message.str();
}

void RunFollower::note(const RunDone& event) {
    pass_rows_up_to(source_.record().size());
    outcome_.run.done = event;
    outcome_.ended = true;
    if (event.unsaved != 0) outcome_.exit_code = exit_code(ErrorCode::training);
}

}  // namespace engine
