#include "panels/frame/status_line.h"

#include <sys/resource.h>
#include <unistd.h>
#include <QFile>
#include <algorithm>
#include <cmath>

#include "commands/commands.h"
#include "commands/run_actor.h"
#include "engine/runs/end_notice.h"
#include "feed/event_feed.h"
#include "feed/run_track.h"
#include "text/event_text.h"
#include "text/metric_text.h"
#include "theme/theme.h"
#include "widgets/panel.h"

namespace ui {

using engine::RunState;

namespace {

/// Seconds of CPU time that the program has used.
double cpuSeconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::int64_t residentBytes() {
    QFile file(u"/proc/self/statm"_s);
    if (!file.open(QIODevice::ReadOnly)) return 0;
    const auto parts = file.readAll().split(' ');
    return parts.size() > 1 ? parts[1].toLongLong() * sysconf(_SC_PAGESIZE) : 0;
}

std::int64_t machineBytes() {
    return std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
}

struct Progress {
    double share = 0;  ///< NaN: unknown
    double secondsLeft = 0;
};

Progress progressOf(const TrackList& tracks) {
    const double unknown = std::numeric_limits<double>::quiet_NaN();
    double planned = 0;
    double did = 0;
    double left = 0;
    for (const auto& track : tracks) {
        if (track->plannedSteps() == 0) return {unknown, unknown};
        const auto rows = static_cast<double>(track->rows());
        const bool over = track->state() == RunState::done || track->state() == RunState::failed;
        const double all = over ? rows : std::max(rows, static_cast<double>(track->plannedSteps()));
        planned += all;
        did += rows;
        if (!over) left += (all - rows) * track->figures().step_ms * 1e-3;
    }
    return {planned > 0 ? did / planned : unknown, left};
}

}  // namespace

std::shared_ptr<RunTrack> trackInState(const std::vector<std::shared_ptr<RunTrack>>& tracks,
                                       RunState state) {
    const auto at =
        std::ranges::find(tracks, state, [](const auto& each) { return each->state(); });
    return at == tracks.end() ? focusTrack(tracks) : *at;
}

StatusLine::StatusLine(const Context& context, QWidget* parent)
    : QWidget(parent), context_(context) {
    auto* row = makeRow(this, {size::inside, 2, size::inside, 4}, size::inside);
    row->setSizeConstraint(QLayout::SetNoConstraint);
    const auto add = [&](const char* role) {
        auto* label = makeLabel({}, role, this);
        row->addWidget(label);
        return label;
    };
    phase_ = add(nullptr);
    phase_->setMinimumWidth(1);
    bar_ = new QProgressBar(this);
    bar_->setTextVisible(false);
    bar_->setFixedWidth(200);
    bar_->setRange(0, 1000);
    bar_->setAccessibleName(tr("Progress"));
    row->addWidget(bar_);
    left_ = add(nullptr);
    stepTime_ = add("dim");
    speed_ = add("dim");
    stepTime_->setToolTip(tr("Mean over all steps so far. X-ray shows the fastest of three."));
    speed_->setToolTip(tr("Mean speed over all steps so far."));
    load_ = add("dim");
    memory_ = add("dim");
    row->addStretch();
    saved_ = add("dim");
    connect(context_.commands, &Commands::actorChanged, this, [this] {
        if (const RunActor* actor = context_.commands->actor()) {
            connect(actor, &RunActor::figuresDue, this, &StatusLine::refresh, Qt::UniqueConnection);
        }
        refresh();
    });
    connect(context_.feed, &EventFeed::figuresDue, this, &StatusLine::refresh);
    connect(context_.feed, &EventFeed::stateChanged, this, &StatusLine::refresh);
    connect(context_.feed, &EventFeed::tracksChanged, this, &StatusLine::refresh);
    machine_.setInterval(1000);
    connect(&machine_, &QTimer::timeout, this, &StatusLine::refreshMachine);
    machine_.start();
    wall_.start();
    cpuBefore_ = cpuSeconds();
    refresh();
    refreshMachine();
}

/// The machine that trains a run from there, and since when it has been silent.
QString StatusLine::whereText(const engine::RunProcess& writer) {
    if (writer.host.empty()) return {};
    const QString host = QString::fromStdString(writer.host).toHtmlEscaped();
    return u' ' + tr("on %1 (last heard of %2 s ago)").arg(host).arg(qRound(writer.silent_s));
}

QString StatusLine::phase() const {
    const RunState state = this->state();
    const TrackList tracks = context_.feed->statusTracks();
    QString text = u"<b>"_s + stateText(state) + u"</b>"_s;
    const auto track = focusTrack(tracks);
    if (track) text += whereText(track->writer);
    if (state == RunState::preparing) {
        const auto read = context_.feed->experiment().reading();
        const QString what =
            read.in_bytes ? tr("%1 of %2 read").arg(bytes(read.done), bytes(read.total))
                          : tr("%1 of %2 files read").arg(count(read.done), count(read.total));
        if (read.total > read.done)
            text += u' ' + reading_.behind(what, static_cast<double>(read.done) /
                                                     static_cast<double>(read.total));
    }
    // Whatever ended such a run, "Done" or "Failed" before its sentence would contradict it.
    const bool over = state == RunState::done || state == RunState::failed;
    if (over && track && track->done() && engine::end_state(*track->done()) == "diverged")
        return doneText(*track->done(), track->config());
    if (state == RunState::done && track && track->done()) {
        return text + u' ' + doneText(*track->done(), track->config());
    }
    if (track && state == RunState::evaluating) {
        const std::int64_t rows = trackInState(tracks, state)->rows();
        if (rows > 0) return text + u' ' + tr("after step %1").arg(count(rows));
    }
    const bool training = state == RunState::training || state == RunState::paused;
    if (track && training && track->rows() > 0) {
        const auto epochs = track->plannedEpochs();
        const auto epoch = track->latest().epoch + 1;
        text += u' ' + (epochs > 0 ? tr("epoch %1 of %2").arg(std::min(epoch, epochs)).arg(epochs)
                                   : tr("epoch %1").arg(epoch));
    }
    return text;
}

QSize StatusLine::minimumSizeHint() const {
    // Narrower than its contents: they give way one after the other.
    return {320, QWidget::minimumSizeHint().height()};
}

void StatusLine::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    fit();
}

/// Hides what matters least until the rest fits side by side.
void StatusLine::fit() {
    QLabel* const optional[] = {memory_, load_, speed_, stepTime_, saved_};
    for (QLabel* label : optional) label->setVisible(!label->text().isEmpty());
    for (QLabel* label : optional) {
        layout()->invalidate();
        if (layout()->sizeHint().width() <= width()) return;
        label->hide();
    }
}

RunState StatusLine::state() const {
    if (context_.feed->live()) return context_.feed->state();
    std::vector<RunState> states;
    for (const auto& track : context_.feed->statusTracks()) states.push_back(track->state());
    return combined(states);
}

bool StatusLine::running() const {
    const RunState state = this->state();
    return state != RunState::idle && state != RunState::done && state != RunState::failed;
}

void StatusLine::refresh() {
    if (const RunActor* actor = context_.commands->actor(); actor && !actor->status().isEmpty()) {
        phase_->setText(actor->status());
        for (QWidget* each : {static_cast<QWidget*>(bar_), static_cast<QWidget*>(left_)})
            each->hide();
        for (auto* label : {stepTime_, speed_}) label->clear();
        return fit();
    }
    phase_->setText(phase());
    // Only of running runs: an overlaid old run is not part of the status.
    const TrackList tracks = context_.feed->statusTracks();
    bar_->setVisible(running());
    left_->setVisible(running());
    const auto track = focusTrack(tracks);
    const engine::KeyFigures figures = track ? track->figures() : engine::KeyFigures{};
    stepTime_->setText(
        std::isnan(figures.step_ms) ? QString() : tr("mean %1/step").arg(milliseconds(figures.step_ms)));
    speed_->setText(std::isnan(figures.samples_per_s)
                        ? QString()
                        : significant(figures.samples_per_s) + u' ' + speedUnit(track->unit()));
    if (!running()) return fit();
    const Progress progress = progressOf(tracks);
    const bool planned = !std::isnan(progress.share);
    bar_->setRange(0, planned ? 1000 : 0);
    if (planned) bar_->setValue(static_cast<int>(progress.share * 1000));
    const QString time = std::isfinite(progress.secondsLeft) && planned
                             ? tr("%1 left").arg(duration(progress.secondsLeft))
                             : tr("time left unknown");
    left_->setText(planned ? percent(progress.share) + u" · "_s + time : time);
    fit();
}

void StatusLine::refreshMachine() {
    if (!isVisible() || window()->isMinimized()) return;
    if (state() == RunState::preparing) phase_->setText(phase());
    const double cpu = cpuSeconds();
    const double seconds = static_cast<double>(wall_.restart()) * 1e-3;
    if (seconds > 0) load_->setText(tr("CPU %1 %").arg(qRound((cpu - cpuBefore_) / seconds * 100)));
    cpuBefore_ = cpu;
    memory_->setText(tr("memory %1 of %2").arg(bytes(residentBytes()), bytes(machineBytes())));
    const TrackList tracks = context_.feed->statusTracks();
    const bool written = !tracks.empty() && tracks.front()->rows() > 0;
    const double since = context_.feed->sinceLastRow();
    saved_->setText(!written                  ? QString()
                    : since < 60 && running() ? tr("saved %1 s ago").arg(since, 0, 'f', 1)
                                              : tr("all steps saved"));
    saved_->setToolTip(tr("Every step is written to the run's folder as it ends."));
    fit();
}

}  // namespace ui
