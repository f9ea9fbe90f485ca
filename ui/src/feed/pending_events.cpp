#include "feed/pending_events.h"

#include <set>
#include <utility>

#include "feed/run_track.h"

namespace ui {

namespace {

/// The last row that an event is about; 0: none.
std::int64_t rowOf(const engine::Event& event) {
    if (const auto* epoch = std::get_if<engine::EpochDone>(&event)) return epoch->step;
    if (const auto* scale = std::get_if<engine::ScaleChanged>(&event)) return scale->step;
    if (const auto* saved = std::get_if<engine::CheckpointSaved>(&event)) return saved->step;
    if (const auto* examined = std::get_if<engine::StepExamined>(&event)) return examined->step;
    if (const auto* resumed = std::get_if<engine::RunResumed>(&event)) return resumed->step;
    if (const auto* recipe = std::get_if<engine::RecipeStarted>(&event)) return recipe->step;
    if (const auto* alarm = std::get_if<engine::ScaleAlarm>(&event)) return alarm->step;
    if (const auto* warning = std::get_if<engine::RunWarning>(&event)) return warning->step;
    if (const auto* done = std::get_if<engine::RunDone>(&event)) return done->steps;
    return 0;
}

}  // namespace

void PendingEvents::add(std::shared_ptr<RunTrack> track, engine::Event event) {
    events_.push_back({std::move(track), std::move(event)});
}

std::vector<PendingEvents::Pending> PendingEvents::takeDue() {
    std::deque<Pending> later;
    std::set<const RunTrack*> waiting;  // those that have events in `later`
    std::vector<Pending> now;
    for (auto& each : events_) {
        const RunTrack& track = *each.track;
        const bool held = waiting.contains(&track);
        // A run that ended publishes no more rows: all that is left of it is due.
        const bool whole = ended(track.state()) && track.rows() == track.published();
        const bool due = !held && (whole || rowOf(each.event) <= track.rows());
        if (due) {
            now.push_back(std::move(each));
        } else {
            waiting.insert(&track);
            later.push_back(std::move(each));
        }
    }
    events_ = std::move(later);
    return now;
}

void PendingEvents::keepOnly(const std::function<bool(const std::shared_ptr<RunTrack>&)>& wanted) {
    std::erase_if(events_, [&](const Pending& each) { return !wanted(each.track); });
}

}  // namespace ui
