#pragma once

#include <QObject>
#include <memory>
#include <vector>

namespace ui {

class EventFeed;
class PaintScheduler;
class PlotLink;
class RunTrack;

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

}  // namespace ui
