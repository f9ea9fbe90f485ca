#include "feed/track_verdict.h"

#include "engine/base/error.h"

namespace ui {

namespace {

engine::RunFigures judgedFigures(const RunTrack& track, const engine::Speed& speed,
                                 std::int64_t from) {
    engine::RunFigures figures;
    if (track.started()) figures = engine::figures_of(*track.started());
    figures.precision = track.precision();
    figures.record = track.reader();
    for (const auto& epoch : track.epochs())
        if (epoch.step >= from) figures.tests.push_back(epoch.test);
    figures.speed = speed;
    figures.title = trackTitle(track).toStdString();
    figures.metric = track.metrics().empty() ? engine::Metric{} : track.metrics().front();
    figures.unit = track.unit();
    figures.ended = track.done().has_value();
    figures.first_step = from;
    return figures;
}

}  // namespace

engine::Verdict judgeTracks(const RunTrack& baseline, const RunTrack& other, std::int64_t from) {
    try {
        // The speeds are of the two alone: a third run on screen changes nothing between them.
        const auto speeds = engine::speeds({baseline.reader(), other.reader()});
        return engine::judge(judgedFigures(baseline, speeds[0], from),
                             judgedFigures(other, speeds[1], from));
    } catch (const engine::Error& error) {  // another program cut a record short
        return {engine::VerdictTone::neutral, error.message(), {}, {error.hint()}};
    }
}

}  // namespace ui
