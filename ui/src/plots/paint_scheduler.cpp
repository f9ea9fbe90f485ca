#include "plots/paint_scheduler.h"

#include <QThread>
#include <algorithm>
#include <cmath>
#include <utility>

namespace ui {

namespace {

constexpr double budget = 0.024;  // of 3 %: reading records and events takes the rest
constexpr qint64 frame = 16;
constexpr qint64 touchLasts = 300;
constexpr qint64 longest = 2000;  // ms between frames, however much painting costs

}  // namespace

double pauseAfter(double cost, double share, int cores) { return cost / (share * cores) - cost; }

PaintScheduler::PaintScheduler(QObject* parent)
    : QObject(parent), cores_(std::max(1, QThread::idealThreadCount())) {
    clock_.start();
    timer_.setSingleShot(true);
    connect(&timer_, &QTimer::timeout, this, &PaintScheduler::paintOne);
}

void PaintScheduler::add(Paintable* plot) { plots_.push_back({plot}); }

void PaintScheduler::remove(Paintable* plot) {
    std::erase_if(plots_, [plot](const Due& due) { return due.plot == plot; });
}

void PaintScheduler::request(Paintable* plot) {
    for (auto& entry : plots_) {
        if (entry.plot == plot) entry.due = true;
    }
    arm();
}

void PaintScheduler::touch() {
    touchedUntil_ = clock_.elapsed() + touchLasts;
    arm();
}

bool PaintScheduler::touched() const { return clock_.elapsed() < touchedUntil_; }

void PaintScheduler::charge(double ms) {
    arm();  // a plot that was hidden may have come into view
    if (!saving_) return;
    const qint64 now = clock_.elapsed();
    const auto pause = static_cast<qint64>(std::ceil(pauseAfter(ms, budget, cores_)));
    allowed_ = std::min(std::max(allowed_, now) + pause, lastFrame_ + longest);
}

bool PaintScheduler::anyDue() const {
    return std::any_of(plots_.begin(), plots_.end(),
                       [](const Due& d) { return d.due && d.plot->visible(); });
}

/// Something in view shows nothing yet: a new window, or a page that is shown for the first time.
bool PaintScheduler::anyBlank() const {
    return std::any_of(plots_.begin(), plots_.end(),
                       [](const Due& d) { return d.due && d.painted == 0 && d.plot->visible(); });
}

bool PaintScheduler::isReady() const {
    return !anyDue() && !painting_ && (touched() || clock_.elapsed() >= allowed_);
}

void PaintScheduler::arm() {
    if (!anyDue()) return;
    const qint64 now = clock_.elapsed();
    const bool atOnce = painting_ || touched() || anyBlank();
    const qint64 wait = atOnce ? 0 : std::clamp<qint64>(allowed_ - now, 0, longest);
    if (!timer_.isActive() || timer_.remainingTime() > wait) timer_.start(static_cast<int>(wait));
}

void PaintScheduler::paintOne() {
    Due* next = nullptr;
    for (auto& entry : plots_) {
        if (!entry.due || !entry.plot->visible()) continue;
        if (next == nullptr || entry.painted < next->painted) next = &entry;
    }
    if (next != nullptr) {
        painting_ = true;
        next->due = false;
        next->drawn = true;
        const qint64 start = clock_.nsecsElapsed();
        next->painted = start;
        next->plot->paintNow();
        frameCost_ += static_cast<double>(clock_.nsecsElapsed() - start) * 1e-6;
    }
    if (anyDue()) {
        arm();
    } else {
        presentAll();
    }
}

void PaintScheduler::presentAll() {
    const qint64 start = clock_.nsecsElapsed();
    for (auto& entry : plots_) {
        if (std::exchange(entry.drawn, false)) entry.plot->present();
    }
    painting_ = false;
    emit presented();  // figures change now, which counts as painting too
    const double figures = static_cast<double>(clock_.nsecsElapsed() - start) * 1e-6;
    const double cost = std::exchange(frameCost_, 0) + figures;
    const qint64 now = clock_.elapsed();
    const double pause = saving_ ? pauseAfter(cost, budget, cores_) : frame;
    allowed_ = (saving_ ? std::max(allowed_, now) : now) + static_cast<qint64>(std::ceil(pause));
    lastFrame_ = now;
    allowed_ = std::min(allowed_, lastFrame_ + longest);
}

}  // namespace ui
