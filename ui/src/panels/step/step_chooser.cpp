#include "panels/step/step_chooser.h"

#include <QAction>
#include <QGuiApplication>
#include <QMenu>
#include <algorithm>

#include "commands/commands.h"
#include "commands/run_actor.h"
#include "feed/event_feed.h"
#include "feed/run_track.h"
#include "panels/frame/command_bar.h"
#include "plots/plot_link.h"
#include "text/format.h"
#include "theme/icons.h"
#include "theme/theme.h"
#include "widgets/key_bindings.h"
#include "widgets/panel.h"

namespace ui {
namespace {

constexpr int minHeight = 22;
constexpr int narrowestChip = 110;
// Against the gap: first the title is shown in full, then the strip grows to its maximum.
constexpr int chipStretch = 10'000, stripStretch = 100;

QIcon dotIcon(const QColor& color) { return QIcon(iconPixmap(u"dot"_s, color, size::icon, 2)); }

/// Number of the run and its name on screen. Runs of a page have no number.
QString runTitle(const Context& context, const RunTrack& track) {
    const QString title = shownTitle(context, track);
    if (context.commands->actor() != nullptr) return title;
    return track.run().empty() ? title : u"%1 %2"_s.arg(QString::fromStdString(track.run()), title);
}

}  // namespace

/// A button with a title, which is cut if the row is too narrow: the tabs beside it need their
/// room.
class TitleChip final : public QToolButton {
public:
    explicit TitleChip(QWidget* parent) : QToolButton(parent) {
        setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    }
    void setTitle(const QString& title) {
        title_ = title;
        setText(title_ + arrow());
        whole_ = QToolButton::sizeHint().width();
        setMaximumWidth(whole_);
        updateGeometry();
        fit();
    }
    QSize sizeHint() const override {
        return {std::min(whole_, narrowestChip), QToolButton::sizeHint().height()};
    }
    QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void resizeEvent(QResizeEvent* event) override {
        QToolButton::resizeEvent(event);
        fit();
    }
    /// The style sheet, with its padding, comes after the first title.
    bool event(QEvent* event) override {
        const bool done = QToolButton::event(event);
        if (event->type() == QEvent::Polish || event->type() == QEvent::StyleChange)
            setTitle(title_);
        return done;
    }

private:
    static QString arrow() { return u" ▾"_s; }
    void fit() {
        const int missing = std::max(0, whole_ - width());
        const QString shown = missing == 0 ? title_
                                           : fontMetrics().elidedText(
                                                 title_, Qt::ElideRight,
                                                 fontMetrics().horizontalAdvance(title_) - missing);
        setText(shown + arrow());
        setToolTip(missing == 0 ? QString() : title_);
    }

    QString title_;
    int whole_ = 0;  ///< width with the whole title
};

StepChooser::StepChooser(const Context& context, QWidget* parent)
    : QWidget(parent),
      context_(context),
      run_(new TitleChip(this)),
      strip_(new ScaleStrip(context.theme, this)),
      box_(new QWidget(this)),
      live_(new KeyButton(context.theme, tr("Live"), QKeySequence(Qt::Key_L), this)) {
    auto* row = makeRow(this, {0, 0, 0, 2}, size::gap);
    run_->setObjectName(u"chip"_s);
    run_->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    run_->setPopupMode(QToolButton::InstantPopup);
    run_->setMenu(new QMenu(run_));
    run_->setAccessibleName(tr("Run"));
    connect(run_->menu(), &QMenu::aboutToShow, this, &StepChooser::fillRuns);
    makeStepBox();
    live_->setCheckable(true);
    live_->setToolTip(tr("Follow the newest step (L)"));
    row->addStretch(1);
    row->addWidget(run_, chipStretch);
    row->addWidget(strip_, stripStretch);
    addWidgets(row, {box_, live_});
    // No higher than the tabs beside it.
    for (QWidget* each : {static_cast<QWidget*>(run_), static_cast<QWidget*>(strip_), box_,
                          static_cast<QWidget*>(live_)})
        each->setFixedHeight(std::max(minHeight, QFontMetrics(Theme::figures()).height()));
    auto* live = new QAction(live_->text(), this);
    KeyBindings::instance()->bind(live, u"view/live"_s, {QKeySequence(Qt::Key_L)});
    live_->follow(u"view/live"_s, QKeySequence(Qt::Key_L));
    addAction(live);
    connect(live, &QAction::triggered, this, &StepChooser::goLive);
    connect(live_, &QPushButton::clicked, this, &StepChooser::goLive);
    connect(strip_, &ScaleStrip::picked, this, [this](std::int64_t step) {
        const ShownRuns shown = shownRuns(context_);
        shown.link->select(step, shown.selected);
    });
    connect(strip_, &ScaleStrip::opened, this, [this](std::int64_t step) {
        if (context_.commands->actor() == nullptr) emit skipOpened(step);
    });
    connect(context_.commands, &Commands::actorChanged, this, &StepChooser::followActor);
    connect(context_.feed, &EventFeed::tracksChanged, this, &StepChooser::refresh);
    connect(context_.feed, &EventFeed::figuresDue, this, &StepChooser::refreshStep);
    connect(context_.link, &PlotLink::selectedChanged, this, &StepChooser::refresh);
    connect(context_.theme, &Theme::changed, this, &StepChooser::refresh);
    refresh();
}

void StepChooser::followActor() {
    if (const RunActor* actor = context_.commands->actor()) {
        connect(actor, &RunActor::tracksChanged, this, &StepChooser::refresh, Qt::UniqueConnection);
        connect(actor, &RunActor::figuresDue, this, &StepChooser::refreshStep,
                Qt::UniqueConnection);
        connect(actor->link(), &PlotLink::selectedChanged, this, &StepChooser::refresh,
                Qt::UniqueConnection);
    }
    refresh();
}

void StepChooser::makeStepBox() {
    auto* row = makeRow(box_, {}, 2);
    const auto button = [this](const QString& name, int direction) {
        auto* made = new QToolButton(box_);
        made->setIconSize({12, 12});
        made->setToolTip(name);
        made->setAccessibleName(name);
        connect(made, &QToolButton::clicked, this, [this, direction] {
            walk(direction, QGuiApplication::keyboardModifiers().testFlag(Qt::ControlModifier));
        });
        return made;
    };
    back_ = button(tr("Previous step; with Ctrl the previous skip"), -1);
    step_ = new QLabel(box_);
    step_->setFont(Theme::figures());
    step_->setAlignment(Qt::AlignCenter);
    step_->setMinimumWidth(
        step_->fontMetrics().horizontalAdvance(tr("step %1").arg(count(10'000))));
    forth_ = button(tr("Next step; with Ctrl the next skip"), 1);
    addWidgets(row, {back_, step_, forth_});
}

void StepChooser::refresh() {
    const auto [tracks, link, track] = shownRuns(context_);
    setVisible(track != nullptr);
    strip_->setTrack(track);
    strip_->setSelected(link->selected());
    for (const auto& [button, icon] : {std::pair{back_, u"previous"_s}, {forth_, u"next"_s}})
        button->setIcon(themedIcon(*context_.theme, icon));
    if (track) {
        run_->setIcon(dotIcon(context_.theme->run(*track)));
        run_->setTitle(runTitle(context_, *track));
    }
    refreshStep();
}

void StepChooser::refreshStep() {
    const auto [tracks, link, track] = shownRuns(context_);
    if (!track) return;
    const std::int64_t rows = track->rows();
    const std::int64_t selected = link->selected();
    const std::int64_t step = selected > 0 ? selected : rows;
    step_->setText(tr("step %1").arg(count(step)));
    back_->setEnabled(step > 1);
    forth_->setEnabled(selected > 0 && selected < rows);
    live_->setChecked(selected == 0);
    live_->setIcon(
        dotIcon(selected == 0 ? context_.theme->tokens().good : context_.theme->tokens().dim));
    strip_->update();
}

void StepChooser::fillRuns() {
    QMenu* menu = run_->menu();
    menu->clear();
    const ShownRuns shown = shownRuns(context_);
    for (const auto& track : shown.tracks) {
        auto* action =
            menu->addAction(dotIcon(context_.theme->run(*track)), runTitle(context_, *track));
        action->setCheckable(true);
        action->setChecked(track == shown.selected);
        connect(action, &QAction::triggered, this,
                [link = shown.link, track] { link->selectRun(track); });
    }
}

void StepChooser::walk(int direction, bool skips) {
    const auto [tracks, link, track] = shownRuns(context_);
    if (!track || track->rows() == 0) return;
    const std::int64_t rows = track->rows(), selected = link->selected();
    const std::int64_t at = selected > 0 ? selected : rows;
    const auto& series = track->series(&engine::StepRecord::found_inf);
    std::int64_t to = at + direction;
    if (skips && direction < 0)
        to = series.previousAbove0(selected > 0 ? at - 2 : at - 1) + 1;
    else if (skips)
        to = series.nextAbove0(at) + 1;
    if (to >= 1 && to <= rows) link->select(to, track);
}

void StepChooser::goLive() {
    live_->setChecked(true);
    const ShownRuns shown = shownRuns(context_);
    shown.link->select(0, shown.selected);
}

}  // namespace ui
