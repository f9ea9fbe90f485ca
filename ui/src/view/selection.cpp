#include "view/selection.h"

#include "feed/event_feed.h"
#include "plots/plot_link.h"
#include "view/context.h"

namespace ui {

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
