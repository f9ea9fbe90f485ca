#include "plots/plot_options.h"

#include <QSettings>
#include <algorithm>
#include <array>
#include <cmath>

#include "plots/plot_link.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

constexpr std::array strengths{0, 5, 10, 20, 50, 100, 200, 500, 1000};

/// Up to two significant digits: 12.3 becomes 13.
double roundUp(double value) {
    if (!(value > 0)) return 1;
    const double unit = std::pow(10.0, std::floor(std::log10(value)) - 1);
    return std::ceil(value / unit) * unit;
}

}  // namespace

PlotOptions::PlotOptions(PlotLink* link) : QObject(link), link_(link) {}

std::span<const int> PlotOptions::smoothings() { return strengths; }

void PlotOptions::remember() {
    const QSettings settings;
    const int kind = settings.value(u"plots/x"_s, 0).toInt();
    if (kind >= 0 && kind <= static_cast<int>(XKind::clock)) x_ = static_cast<XKind>(kind);
    logX_ = settings.value(u"plots/logX"_s, false).toBool();
    const int strength = settings.value(u"plots/smoothing"_s, smoothing_).toInt();
    if (std::ranges::find(strengths, strength) != strengths.end()) smoothing_ = strength;
    remembers_ = true;
    emit changed();
}

bool PlotOptions::hasClock() const {
    return std::ranges::all_of(runs_, &RowAxis::hasClock);
}

XKind PlotOptions::x() const { return x_ == XKind::clock && !hasClock() ? XKind::time : x_; }

void PlotOptions::setX(XKind kind) {
    if (kind == x_) return;
    x_ = kind;
    if (remembers_) QSettings().setValue(u"plots/x"_s, static_cast<int>(kind));
    emit changed();
}

bool PlotOptions::takesLog() const {
    return x() == XKind::step || x() == XKind::update || x() == XKind::sample;
}

void PlotOptions::setLogX(bool on) {
    if (on == logX_) return;
    logX_ = on;
    if (remembers_) QSettings().setValue(u"plots/logX"_s, on);
    emit changed();
}

void PlotOptions::setSmoothing(int strength) {
    if (strength == smoothing_) return;
    smoothing_ = strength;
    if (remembers_) QSettings().setValue(u"plots/smoothing"_s, strength);
    emit changed();
}

void PlotOptions::setRuns(std::vector<std::shared_ptr<const RowAxis>> runs) {
    if (runs == runs_) return;
    runs_ = std::move(runs);
    timeEnd_ = 0;
}

const RowAxis* PlotOptions::reference() const {
    const RowAxis* furthest = nullptr;
    double most = -1;
    for (const auto& run : runs_) {
        const double end = run->at(x(), link_->end());
        if (run->rows() == 0 || end <= most) continue;
        most = end;
        furthest = run.get();
    }
    return furthest;
}

double PlotOptions::xOf(double step) const {
    const RowAxis* run = x() == XKind::step ? nullptr : reference();
    return run != nullptr ? run->at(x(), step) : step;
}

double PlotOptions::stepOf(double at) const {
    const RowAxis* run = x() == XKind::step ? nullptr : reference();
    return run != nullptr ? run->stepAt(x(), at) : at;
}

std::pair<double, double> PlotOptions::visible() {
    // The first step of all, where x is logarithmic.
    double low = logX() ? std::max(1.0, link_->low()) : link_->low();
    double high = std::max(link_->high(), low + 1);
    const RowAxis* run = x() == XKind::step ? nullptr : reference();
    if (run == nullptr) return {low, high};
    low = run->at(x(), low);
    high = run->at(x(), high);
    if (logX()) low = std::max(1.0, low);  // of updates, where the first step was skipped
    const bool estimated = x() == XKind::time || x() == XKind::clock;
    if (estimated && link_->fitted()) {
        // The estimate moves with each step; the axis must not.
        if (high > timeEnd_ || high < 0.6 * timeEnd_) {
            timeEnd_ = roundUp(high * 1.02);
            emit changed();
        }
        high = timeEnd_;
    }
    return {low, high > low ? high : low + 1};
}

void PlotOptions::need(const void* plot, Margins margins) {
    needs_[plot] = margins;
    updateMargins();
}

void PlotOptions::drop(const void* plot) {
    if (needs_.erase(plot) > 0) updateMargins();
}

void PlotOptions::updateMargins() {
    Margins common;
    for (const auto& [plot, margins] : needs_) {
        common.left = std::max(common.left, margins.left);
        common.right = std::max(common.right, margins.right);
    }
    if (common.left == common_.left && common.right == common_.right) return;
    common_ = common;
    emit changed();
}

}  // namespace ui
