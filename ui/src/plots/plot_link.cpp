#include "plots/plot_link.h"

#include <algorithm>

#include "plots/plot_options.h"

namespace ui {

namespace {

constexpr double narrowest = 8;     // steps
constexpr qint64 oneGesture = 600;  // ms from one notch of the wheel to the next
constexpr std::size_t maxZooms = 50;

}  // namespace

PlotLink::PlotLink(QObject* parent) : QObject(parent), options_(new PlotOptions(this)) {}

void PlotLink::setEnd(double end) {
    if (end == end_) return;
    end_ = end;
    if (fitted_) emit rangeChanged();
}

void PlotLink::keep() {
    if (!before_.empty() && before_.back() == now()) return;
    before_.push_back(now());
    if (before_.size() > maxZooms) before_.erase(before_.begin());
}

void PlotLink::keepOnce() {
    if (!sinceStep_.isValid() || sinceStep_.elapsed() > oneGesture) keep();
    sinceStep_.start();
}

void PlotLink::place(double low, double high) {
    low = std::max(0.0, low);
    high = std::min(high, end_);
    if (high - low < narrowest) high = low + narrowest;
    fitted_ = low <= 0 && high >= end_;
    low_ = fitted_ ? 0 : low;
    high_ = fitted_ ? 0 : high;
    emit rangeChanged();
}

void PlotLink::zoom(double low, double high) {
    keep();
    sinceStep_.invalidate();
    place(low, high);
}

void PlotLink::zoomAround(double x, double factor) {
    keepOnce();
    place(x - (x - low()) * factor, x + (high() - x) * factor);
}

void PlotLink::pan(double steps) {
    if (fitted_) return;
    keepOnce();
    steps = std::clamp(steps, -low_, std::max(0.0, end_ - high_));
    place(low_ + steps, high_ + steps);
}

void PlotLink::fit() {
    if (fitted_ && values_.empty()) return;
    keep();
    sinceStep_.invalidate();
    values_.clear();
    place(0, end_);
}

std::optional<PlotLink::Values> PlotLink::values(const void* plot) const {
    const auto found = values_.find(plot);
    return found == values_.end() ? std::nullopt : std::optional(found->second);
}

void PlotLink::zoomValues(const void* plot, Values values) {
    if (!(values.second > values.first)) return;
    keepOnce();
    values_[plot] = values;
    emit rangeChanged();
}

void PlotLink::dropValues(const void* plot) {
    for (Zoom& zoom : before_) zoom.values.erase(plot);
    if (values_.erase(plot) > 0) emit rangeChanged();
}

void PlotLink::back() {
    // A zoom that was dropped since may look as what is shown.
    while (!before_.empty() && before_.back() == now()) before_.pop_back();
    if (before_.empty()) return;
    const Zoom zoom = std::move(before_.back());
    before_.pop_back();
    sinceStep_.invalidate();
    values_ = zoom.values;
    fitted_ = zoom.fitted;
    low_ = zoom.low;
    high_ = zoom.high;
    emit rangeChanged();
}

void PlotLink::forgetZooms() {
    before_.clear();
    values_.clear();
    sinceStep_.invalidate();
    place(0, end_);
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
