#include "panels/settings/next_run_note.h"

#include "engine/settings/catalog.h"
#include "feed/event_feed.h"
#include "feed/run_track.h"
#include "models/settings_json.h"
#include "models/settings_model.h"
#include "plots/plot_link.h"
#include "text/language.h"
#include "theme/theme.h"
#include "view/view.h"
#include "widgets/panel.h"

namespace ui {
namespace {

constexpr qsizetype maxNamed = 3;

}  // namespace

QStringList differingFields(const Context& context, const RunTrack& track) {
    const QJsonObject next = settingsObject(context.settings->config());
    const QJsonObject shown = settingsObject(track.config());
    QStringList out;
    for (const auto& info : engine::fields(context.settings->config())) {
        const QString path = QString::fromStdString(info.path);
        if (path.startsWith(u"precision."_s) || path == u"device"_s) continue;
        if (info.in_files && path != u"model.network"_s) continue;
        const QJsonValue mine = valueAt(next, path), its = valueAt(shown, path);
        // An option that just one of two kinds has goes with the kind, which is named.
        if (mine.isUndefined() || its.isUndefined()) continue;
        if (mine != its) out << context.settings->label(path);
    }
    return out;
}

NextRunNote::NextRunNote(const Context& context, QWidget* parent)
    : QFrame(parent),
      context_(context),
      text_(makeSmall({}, "dim", this)),
      link_(makeLink({}, this)) {
    setObjectName(u"nextRun"_s);
    auto* column = makeColumn(this, {0, size::gap, 0, size::grid}, 0);
    text_->setWordWrap(true);
    text_->setTextFormat(Qt::PlainText);
    column->addWidget(text_);
    column->addWidget(link_, 0, Qt::AlignLeft);
    connect(link_, &QToolButton::clicked, this, &NextRunNote::act);
    connect(context_.feed, &EventFeed::stateChanged, this, &NextRunNote::follow);
    connect(context_.feed, &EventFeed::tracksChanged, this, &NextRunNote::refresh);
    connect(context_.link, &PlotLink::selectedChanged, this, &NextRunNote::refresh);
    connect(context_.settings, &SettingsModel::changed, this, &NextRunNote::refresh);
    follow();
    refresh();
}

void NextRunNote::follow() {
    const bool running = context_.feed->experiment().isRunning();
    if (running == running_) return;
    running_ = running;
    unlocked_ = false;
    refresh();
    emit lockedChanged();
}

void NextRunNote::refresh() {
    const auto track = selectedTrack(context_);
    // The settings of another program's run are none of ours.
    const bool comparable = track && !track->origin();
    const QStringList fields = comparable ? differingFields(context_, *track) : QStringList();
    setVisible(running_ || !fields.isEmpty());
    QStringList sentences;
    if (fields.size() > maxNamed)
        sentences
            << tr("Settings of the next run. They differ from the run on screen in %1 and %2 more.")
                   .arg(fields.mid(0, maxNamed).join(u", "_s))
                   .arg(fields.size() - maxNamed);
    else if (!fields.isEmpty())
        sentences << tr("Settings of the next run. They differ from the run on screen in %1.")
                         .arg(fields.join(u", "_s));
    else if (!locked())
        sentences << (comparable
                          ? tr("Settings of the next run. The run on screen has the same ones.")
                          : tr("Settings of the next run."));
    if (locked()) sentences << tr("Locked while the run trains.");
    text_->setText(joined(sentences));
    text_->setToolTip(fields.size() > maxNamed ? fields.join(u'\n') : QString());
    link_->setText(locked() ? tr("change for the next run") : tr("use the run's settings"));
    link_->setToolTip(locked() ? tr("The run on screen keeps its settings.")
                               : tr("Puts the settings of the run on screen here."));
    link_->setVisible(locked() || !fields.isEmpty());
}

void NextRunNote::act() {
    if (locked()) {
        unlocked_ = true;
        refresh();
        emit lockedChanged();
    } else if (const auto track = selectedTrack(context_)) {
        context_.settings->load(track->config());
    }
}

}  // namespace ui
