#include "feed/stored_runs.h"

#include <algorithm>
#include <utility>

#include "engine/base/error.h"
#include "feed/pending_events.h"

namespace ui {

using engine::RunState;

namespace {

std::shared_ptr<RunTrack> endedTrack(const engine::RunSummary& summary,
                                     const engine::RunStore& store) {
    auto track = std::make_shared<RunTrack>(summary.run, summary.config);
    track->setOrigin(summary.origin);
    for (auto& event : store.events(summary.run)) {
        // A run of another folder may have a number there that is taken here.
        if (auto* start = std::get_if<engine::RunStarted>(&event)) start->run = summary.run;
        track->apply(event);
    }
    const bool failed = summary.state == "failed" || summary.state == "diverged";
    track->setState(failed ? RunState::failed : RunState::done);
    track->setSource(recordSource(engine::StepRecordReader::open(summary.folder)));
    return track;
}

/// An event of a run that is followed takes effect at once.
void applyFollowed(RunTrack& track, const engine::FollowedRun& run, engine::Event event) {
    if (auto* start = std::get_if<engine::RunStarted>(&event)) {
        start->run = track.run();  // the history may know it by another name than its folder
        track.apply(event);
        track.setSource(recordSource(run.record()));
    } else {
        track.apply(event);
    }
}

}  // namespace

void StoredRuns::show(const std::vector<engine::RunSummary>& runs, const engine::RunStore& store) {
    TrackList tracks;
    std::vector<Followed> followed;
    for (const auto& summary : runs) {
        if (summary.state == "running") {
            followed.push_back(follow(summary));
            tracks.push_back(followed.back().track);
        } else {
            tracks.push_back(endedTrack(summary, store));
        }
    }
    tracks_ = std::move(tracks);
    followed_ = std::move(followed);
}

void StoredRuns::keepFollowed() {
    std::erase_if(tracks_, [this](const auto& track) {
        return std::ranges::find(followed_, track, &Followed::track) == followed_.end();
    });
}

StoredRuns::Followed StoredRuns::follow(const engine::RunSummary& summary) const {
    for (const auto& each : followed_) {
        if (each.track->run() == summary.run) return each;
    }
    Followed made{std::make_shared<RunTrack>(summary.run, summary.config),
                  std::make_shared<engine::FollowedRun>(summary.folder)};
    made.track->followed = true;
    made.track->setOrigin(summary.origin);
    made.track->setState(RunState::preparing);
    for (auto& event : made.run->drain()) {
        const auto* failed = std::get_if<engine::RunFailed>(&event);
        if (failed != nullptr && made.run->record().size() == 0)
            throw engine::Error(failed->code, failed->message, failed->hint);
        applyFollowed(*made.track, *made.run, std::move(event));
    }
    return made;
}

StoredRuns::News StoredRuns::drain(PendingEvents& pending) {
    News news;
    for (const auto& each : followed_) {
        for (auto& event : each.run->drain()) {
            const bool starts = std::holds_alternative<engine::RunStarted>(event);
            news.any = true;
            news.began = news.began || starts;
            if (starts || std::holds_alternative<engine::StateChanged>(event)) {
                applyFollowed(*each.track, *each.run, std::move(event));
            } else {
                pending.add(each.track, std::move(event));
            }
        }
        each.track->writer = each.run->writer();
    }
    news.ended =
        std::erase_if(followed_, [](const Followed& each) { return ended(each.run->state()); }) > 0;
    return news;
}

}  // namespace ui
