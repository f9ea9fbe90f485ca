#pragma once

#include <QColor>
#include <cstddef>
#include <string>
#include <vector>

#include "feed/run_track.h"

class QWidget;

namespace ui {

class Theme;

/// How a run of a lesson is drawn.
struct RunStyle {
    QColor color;
    bool dashed = false;
};

/// The style that the training page would give (feed/run_track.h): colours of their own, then
/// dashes, for three and more runs of one precision, so that up to ten are distinguishable.
RunStyle runStyle(const Theme& theme, const std::vector<std::string>& precisions, std::size_t run);
RunStyle runStyle(const Theme& theme, const TrackList& tracks, std::size_t run);

/// A short line in the style of a run, to stand before its name. Follows the theme.
QWidget* makeRunSwatch(const Theme* theme, std::vector<std::string> precisions, std::size_t run,
                       QWidget* parent);

}  // namespace ui
