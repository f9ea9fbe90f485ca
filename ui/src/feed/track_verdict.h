#pragma once

#include "engine/verdict/verdict.h"
#include "feed/run_track.h"

namespace ui {

/// The engine's verdict on two runs on screen, over the rows that were read: the one of every page.
/// `from`: the first step that is judged, such as the one after a twin's resync.
engine::Verdict judgeTracks(const RunTrack& baseline, const RunTrack& other, std::int64_t from = 1);

}  // namespace ui
