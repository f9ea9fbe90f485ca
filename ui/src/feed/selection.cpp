#include "feed/selection.h"

#include "context.h"
#include "plots/plot_link.h"
#include "ui/event_feed.h"

namespace ui {

std::shared_ptr<RunTrack> selectedTrack(const Context& context) {
    const TrackList tracks = context.feed->tracks();
    const auto chosen = context.link->run();
    for (const auto& track : tracks) {
        if (track == chosen) return track;
    }
    return focusTrack(tracks);
}

}  // namespace ui
