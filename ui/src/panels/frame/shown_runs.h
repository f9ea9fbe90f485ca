#pragma once

#include <QString>
#include <memory>

#include "feed/run_track.h"

namespace ui {

class PlotLink;
struct Context;

/// The runs that the command bar, the counters and the step chooser describe: those of the visible
/// page if it has its own (commands/run_actor.h), else those on screen.
struct ShownRuns {
    TrackList tracks;
    PlotLink* link;                      ///< in which their step and run are selected
    std::shared_ptr<RunTrack> selected;  ///< null: there are none
};
ShownRuns shownRuns(const Context& context);

/// A run's name on screen.
QString shownTitle(const Context& context, const RunTrack& track);

}  // namespace ui
