#pragma once

#include <QString>
#include <vector>

#include "feed/run_track.h"
#include "plots/plot_content.h"

namespace ui {

/// What one plot shows of the runs on screen.
struct PlotSpec {
    QString title;
    QString tab;  ///< shorter, for a tab; empty: the title
    QString note;
    Figure figure = &engine::StepRecord::loss;
    PlotLook look;
    bool scaledOnly = false;   ///< only runs with a loss scaler, with their band and skips
    bool evaluations = false;  ///< the test set's results as dots
    bool logToggle = false;    ///< L switches between log and linear
};
PlotSpec lossSpec();
PlotSpec accuracySpec();
PlotSpec lossScaleSpec();
/// Those between which tabs choose.
std::vector<PlotSpec> fourthPlaceSpecs();

}  // namespace ui
