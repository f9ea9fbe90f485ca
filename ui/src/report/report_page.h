#pragma once

#include <QString>

#include "engine/verdict/verdict.h"
#include "feed/run_track.h"

namespace ui {

/// One plot of the report.
struct ReportPlot {
    QString file;  ///< beside the page
    QString title;
    QString note;
};

/// The page: verdicts over the first run, figures, plots, events of the loss scale, settings.
QString reportPage(const TrackList& tracks, const std::vector<engine::Verdict>& verdicts,
                   const std::vector<ReportPlot>& plots);

}  // namespace ui
