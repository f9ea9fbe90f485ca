#pragma once

#include <memory>

#include "feed/run_track.h"

namespace ui {

class PlotLink;
struct Context;

/// The run that counters, the step panel and the loss-scale read-out describe: the selected one if
/// it is on screen, else focusTrack(). Null if no run is on screen.
std::shared_ptr<RunTrack> selectedTrack(const Context& context);
/// selectedTrack() among other runs than those on screen.
std::shared_ptr<RunTrack> selectedTrack(const TrackList& tracks, const PlotLink& link);

}  // namespace ui
