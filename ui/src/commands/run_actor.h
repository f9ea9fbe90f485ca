#pragma once

#include <QObject>
#include <QString>

#include "commands/button_states.h"
#include "feed/run_track.h"

namespace ui {

class PlotLink;

/// Runs that belong to the visible page instead of the experiment, such as those of a lesson. While
/// such a page is shown, the command bar, the Run menu, the counters and the step chooser act on
/// its runs (Commands::setActor). GUI thread.
class RunActor : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;

    /// `compare` is its start button; `start` is not shown.
    virtual ButtonStates buttons() const = 0;
    /// Text of the start button: "Run lesson".
    virtual QString startText() const = 0;
    virtual void start() = 0;
    virtual void togglePause() = 0;
    virtual void step() = 0;
    virtual void stop() = 0;
    /// The tracks in the order of their names on screen; empty before they have started.
    virtual TrackList tracks() const = 0;
    /// Selected step and run of its pages.
    virtual PlotLink* link() const = 0;
    /// A run's name on screen.
    virtual QString title(const RunTrack& track) const = 0;
    /// The status line's text for it; empty: none.
    virtual QString status() const { return {}; }

signals:
    void buttonsChanged();
    /// Other runs, or new figures of them; at most four times a second.
    void tracksChanged();
    void figuresDue();
};

}  // namespace ui
