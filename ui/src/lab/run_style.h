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

/// The hue is that of the run's precision. Of several runs of one precision the second is dashed,
/// and the following pairs are darker or lighter, so up to eight are distinguishable.
RunStyle runStyle(const Theme& theme, const std::vector<std::string>& precisions, std::size_t run);
RunStyle runStyle(const Theme& theme, const TrackList& tracks, std::size_t run);

/// A short line in the style of a run, to stand before its name. Follows the theme.
QWidget* makeRunSwatch(const Theme* theme, std::vector<std::string> precisions, std::size_t run,
                       QWidget* parent);

}  // namespace ui
