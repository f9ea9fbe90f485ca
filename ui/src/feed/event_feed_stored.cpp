// Stored runs on screen, and those among them that another process is still writing.
#include <algorithm>
#include <utility>

#include "engine/base/error.h"
#include "feed/event_feed.h"
#include "feed/run_track.h"

namespace ui {

using engine::RunState;

void EventFeed::showStored(const std::vector<engine::RunSummary>& runs) {
    std::vector<std::shared_ptr<RunTrack>> opened;
    for (const auto& summary : runs) {
        const bool onScreen = std::any_of(live_.begin(), live_.end(), [&](const auto& track) {
            return track->run() == summary.run;
        });
        if (onScreen) continue;
        if (summary.state == "running") {
            opened.push_back(follow(summary));
            continue;
        }
        auto track = std::make_shared<RunTrack>(summary.run, summary.config);
        track->setOrigin(summary.origin);
        for (auto& event : store_->events(summary.run)) {
            // A run of another folder may have a number there that is taken here.
            if (auto* start = std::get_if<engine::RunStarted>(&event)) start->run = summary.run;
            track->apply(event);
        }
        const bool failed = summary.state == "failed" || summary.state == "diverged";
        track->setState(failed ? RunState::failed : RunState::done);
        track->setSource(recordSource(engine::StepRecordReader::open(summary.folder)));
        opened.push_back(std::move(track));
    }
    // With nothing running, what was chosen takes the whole screen.
    if (!runs.empty() && ended(state_) && opened.size() == runs.size()) {
        sessions_.clear();
        live_.clear();
        updateState();
    }
    stored_ = std::move(opened);
    std::erase_if(followed_, [this](const Followed& f) { return !isOnScreen(f.track); });
    std::erase_if(pending_, [this](const Pending& p) { return !isOnScreen(p.track); });
    name();
    emit tracksChanged();
    timer_.start();
}

/// A new experiment takes the screen, and what other processes are writing stays on it.
void EventFeed::keepFollowed() {
    std::erase_if(stored_, [this](const auto& track) {
        return std::ranges::find(followed_, track, &Followed::track) == followed_.end();
    });
    std::erase_if(pending_, [this](const Pending& p) { return !isOnScreen(p.track); });
}

std::shared_ptr<RunTrack> EventFeed::follow(const engine::RunSummary& summary) {
    for (const auto& each : followed_) {
        if (each.track->run() == summary.run) return each.track;
    }
    Followed made{std::make_shared<RunTrack>(summary.run, summary.config),
                  std::make_unique<engine::FollowedRun>(summary.folder)};
    made.track->followed = true;
    made.track->setOrigin(summary.origin);
    made.track->setState(RunState::preparing);
    for (const auto& event : made.run->drain()) {
        const auto* failed = std::get_if<engine::RunFailed>(&event);
        if (failed != nullptr && made.run->record().size() == 0)
            throw engine::Error(failed->code, failed->message, failed->hint);
        takeFollowed(made, event);
    }
    followed_.push_back(std::move(made));
    return followed_.back().track;
}

/// Events from before the run came on screen are delivered at once, later ones with their rows.
void EventFeed::takeFollowed(const Followed& followed, engine::Event event) {
    const auto& track = followed.track;
    if (auto* start = std::get_if<engine::RunStarted>(&event)) {
        start->run = track->run();  // the history may know it by another name than its folder
        track->apply(event);
        track->setSource(recordSource(followed.run->record()));
    } else if (std::holds_alternative<engine::StateChanged>(event) || !isOnScreen(track)) {
        track->apply(event);
    } else {
        pending_.push_back({track, std::move(event)});
    }
}

bool EventFeed::drainFollowed() {
    bool changed = false, began = false;
    for (const auto& each : followed_) {
        for (auto& event : each.run->drain()) {
            changed = true;
            began = began || std::holds_alternative<engine::RunStarted>(event);
            takeFollowed(each, std::move(event));
        }
    }
    const auto over =
        std::erase_if(followed_, [](const Followed& each) { return ended(each.run->state()); });
    if (began) {
        name();
        emit tracksChanged();
    }
    if (over > 0) emit followedEnded();
    return changed;
}

}  // namespace ui
