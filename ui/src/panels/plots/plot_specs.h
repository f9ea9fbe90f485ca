#pragma once

#include <QString>
#include <string>
#include <vector>

#include "feed/run_track.h"
#include "plots/plot_content.h"

namespace ui {

/// The contents of one plot of the runs on screen.
struct PlotSpec {
    QString title;
    QString tab;  ///< shorter, for a tab; empty: the title
    QString note;
    Figure figure = &engine::StepRecord::loss;
    PlotLook look;
    bool scaledOnly = false;   ///< only runs with a loss scaler, with their band and skips
    bool evaluations = false;  ///< the test part's results as dots
    std::string metric{};      ///< key of a metric, in place of `figure`; empty: none
    bool logToggle = false;    ///< L switches between log and linear
    bool meters = false;       ///< only runs on whose machine a meter could be read
};
PlotSpec lossSpec();
/// A plot for each metric; the loss of the test part has none of its own.
std::vector<PlotSpec> metricSpecs(const std::vector<engine::Metric>& metrics);
PlotSpec lossScaleSpec();
/// The plots that the tabs choose from; `unit`: the name of one sample.
std::vector<PlotSpec> diagnosticSpecs(const std::string& unit);
/// The card's figures and the energy of the processor.
std::vector<PlotSpec> hardwareSpecs();

}  // namespace ui
