#pragma once

#include <QObject>
#include <memory>
#include <vector>

#include "feed/run_track.h"

namespace ui {

class EventFeed;
class PaintScheduler;
class PlotLink;
struct Context;

/// Keeps the shared state of all plots in step with the feed: frames that are painted whole, the
/// length of the step axis, and the selection while its run stays on screen. GUI thread.
class View final : public QObject {
    Q_OBJECT
public:
    View(EventFeed* feed, PlotLink* link, PaintScheduler* scheduler, QObject* parent = nullptr);
    ~View() override;

private:
    void keepSelection();
    void updateEnd();

    EventFeed* feed_;
    PlotLink* link_;
    std::vector<std::weak_ptr<RunTrack>> shown_;  ///< runs that were on screen
};

/// The run that counters, the step panel and the loss-scale read-out describe: the selected one if
/// it is on screen, else focusTrack(). Null if no run is on screen.
std::shared_ptr<RunTrack> selectedTrack(const Context& context);
/// selectedTrack() among other runs than those on screen.
std::shared_ptr<RunTrack> selectedTrack(const TrackList& tracks, const PlotLink& link);

}  // namespace ui
