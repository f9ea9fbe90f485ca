#include "view/view.h"

#include <algorithm>
#include <cmath>

#include "feed/event_feed.h"
#include "plots/paint_scheduler.h"
#include "plots/plot_link.h"
#include "view/context.h"

namespace ui {

View::View(EventFeed* feed, PlotLink* link, PaintScheduler* scheduler, QObject* parent)
    : QObject(parent), feed_(feed), link_(link) {
    feed_->setPainter([scheduler] { return scheduler->isReady(); });
    connect(scheduler, &PaintScheduler::presented, feed_, &EventFeed::finishFrame);
    connect(feed_, &EventFeed::rowsArrived, this, &View::updateEnd);
    // If no plot is visible, nothing will be painted: the figures change at once.
    connect(
        feed_, &EventFeed::rowsArrived, this,
        [feed, scheduler] {
            if (scheduler->isPainting()) return;
            scheduler->endFrame();
            feed->finishFrame();
        },
        Qt::QueuedConnection);
    connect(feed_, &EventFeed::tracksChanged, this, &View::keepSelection);
}

View::~View() { feed_->setPainter({}); }

void View::keepSelection() {
    const auto tracks = feed_->tracks();
    const auto stays = [&](const auto& track) {
        return std::find(tracks.begin(), tracks.end(), track) != tracks.end();
    };
    const bool sameView = std::any_of(shown_.begin(), shown_.end(),
                                      [&](const auto& before) { return stays(before.lock()); });
    if (!sameView) {
        link_->select(0, nullptr);
        link_->forgetZooms();
    } else if (!stays(link_->run())) {
        link_->selectRun(nullptr);
    }
    shown_.assign(tracks.begin(), tracks.end());
    updateEnd();
}

void View::updateEnd() {
    double end = 0;
    for (const auto& track : feed_->tracks()) {
        end = std::max(end, static_cast<double>(track->lastStep()));
        // A run of unknown length: the axis grows in strides, not with every step.
        const bool open = track->plannedSteps() == 0 && !ended(track->state());
        if (open && end > link_->end()) end = std::ceil(end * 1.25);
    }
    link_->setEnd(end);
}

std::shared_ptr<RunTrack> selectedTrack(const Context& context) {
    return selectedTrack(context.feed->tracks(), *context.link);
}

std::shared_ptr<RunTrack> selectedTrack(const TrackList& tracks, const PlotLink& link) {
    const auto chosen = link.run();
    for (const auto& track : tracks) {
        if (track == chosen) return track;
    }
    return focusTrack(tracks);
}

}  // namespace ui
