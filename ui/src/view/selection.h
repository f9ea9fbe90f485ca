#pragma once

#include <memory>

#include "feed/run_track.h"

namespace ui {

struct Context;

/// The run that counters, the step panel and the loss-scale read-out speak of: the selected one if
/// it is on screen, else focusTrack(). Null if no run is on screen.
std::shared_ptr<RunTrack> selectedTrack(const Context& context);

}  // namespace ui
