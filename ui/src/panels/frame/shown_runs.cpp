#include "panels/frame/shown_runs.h"

#include "commands/commands.h"
#include "commands/run_actor.h"
#include "feed/event_feed.h"
#include "view/context.h"
#include "view/selection.h"

namespace ui {

ShownRuns shownRuns(const Context& context) {
    const RunActor* actor = context.commands->actor();
    if (actor == nullptr) return {context.feed->tracks(), context.link, selectedTrack(context)};
    TrackList tracks = actor->tracks();
    PlotLink* link = actor->link();
    auto selected = selectedTrack(tracks, *link);
    return {std::move(tracks), link, std::move(selected)};
}

QString shownTitle(const Context& context, const RunTrack& track) {
    const RunActor* actor = context.commands->actor();
    return actor != nullptr ? actor->title(track) : trackTitle(track);
}

}  // namespace ui
