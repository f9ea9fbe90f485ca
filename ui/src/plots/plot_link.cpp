#include "plots/plot_link.h"

#include <algorithm>

#include "plots/plot_options.h"

namespace ui {

namespace {

constexpr double narrowest = 8;  // steps

}  // namespace

PlotLink::PlotLink(QObject* parent) : QObject(parent), options_(new PlotOptions(this)) {}

void PlotLink::setEnd(double end) {
    if (end == end_) return;
    end_ = end;
    if (fitted_) emit rangeChanged();
}

void PlotLink::zoom(double low, double high) {
    low = std::max(0.0, low);
    high = std::min(high, end_);
    if (high - low < narrowest) high = low + narrowest;
    if (low <= 0 && high >= end_) {
        fit();
        return;
    }
    low_ = low;
    high_ = high;
    fitted_ = false;
    emit rangeChanged();
}

void PlotLink::zoomAround(double x, double factor) {
    zoom(x - (x - low()) * factor, x + (high() - x) * factor);
}

void PlotLink::fit() {
    if (fitted_) return;
    fitted_ = true;
    emit rangeChanged();
}

void PlotLink::hover(std::int64_t step) {
    if (step == hovered_) return;
    hovered_ = step;
    emit crosshairChanged();
}

void PlotLink::select(std::int64_t step) { select(step, run()); }

void PlotLink::selectRun(const std::shared_ptr<const void>& run) { select(selected_, run); }

void PlotLink::select(std::int64_t step, const std::shared_ptr<const void>& run) {
    const bool moved = step != selected_;
    if (!moved && run == run_.lock()) return;
    selected_ = step;
    run_ = run;
    // One crosshair: it goes where the selection went, until the mouse moves again.
    if (moved) hovered_ = 0;
    emit crosshairChanged();
    emit selectedChanged();
}

void PlotLink::selectLayer(const QString& layer) {
    if (layer == layer_) return;
    layer_ = layer;
    emit layerChanged();
}

}  // namespace ui
