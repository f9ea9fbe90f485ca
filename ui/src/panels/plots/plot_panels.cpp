#include "panels/plots/plot_panels.h"

#include <QClipboard>
#include <QFileDialog>
#include <QGuiApplication>
#include <QSettings>
#include <cmath>

#include "commands/commands.h"
#include "engine/settings/catalog.h"
#include "feed/event_feed.h"
#include "feed/run_track.h"
#include "models/settings_model.h"
#include "panels/plots/plot_menu.h"
#include "panels/plots/what_if_curves.h"
#include "plots/line_plot.h"
#include "plots/plot_options.h"
#include "text/format.h"
#include "theme/theme.h"
#include "view/view.h"
#include "widgets/panel.h"

namespace ui {
namespace {

constexpr std::ptrdiff_t maxLines = 60;

/// The column that the spec shows of a run; nothing if the run has no such metric.
std::optional<Figure> figureOf(const PlotSpec& spec, const RunTrack& track) {
    if (spec.metric.empty()) return spec.figure;
    return track.metricFigure(spec.metric);
}

}  // namespace

PlotPanel::PlotPanel(const Context& context, std::vector<PlotSpec> specs, QWidget* parent)
    : QWidget(parent), context_(context), specs_(std::move(specs)) {
    connectAll();
}

PlotPanel::PlotPanel(const Context& context, PlotSpecsFor specsFor, QWidget* parent)
    : QWidget(parent), context_(context), specsFor_(std::move(specsFor)) {
    specs_ = suitableSpecs();
    connectAll();
    connect(context_.settings, &SettingsModel::changed, this, [this] {
        if (context_.feed->tracks().empty()) rebuild();
    });
    connect(context_.feed, &EventFeed::eventArrived, this,
            [this](const std::shared_ptr<RunTrack>&, const engine::Event& event) {
                stale_ = stale_ || std::holds_alternative<engine::RunStarted>(event);
            });
}

void PlotPanel::connectAll() {
    auto* column = makeColumn(this);
    plot_ = new LinePlot(context_.theme, context_.link, context_.scheduler, this);
    column->addWidget(plot_);
    if (specs_.front().logToggle && QSettings().value(u"linearLoss"_s).toBool()) {
        specs_.front().look.axis = AxisKind::linear;
    }
    connect(context_.feed, &EventFeed::tracksChanged, this, &PlotPanel::rebuild);
    connect(context_.feed, &EventFeed::rowsArrived, plot_, &LinePlot::dataGrew);
    connect(context_.theme, &Theme::changed, this, &PlotPanel::rebuild);
    connect(context_.feed, &EventFeed::eventArrived, this,
            [this](const std::shared_ptr<RunTrack>&, const engine::Event& event) {
                stale_ = stale_ || std::holds_alternative<engine::EpochDone>(event);
            });
    connect(context_.feed, &EventFeed::figuresDue, this, [this] {
        if (std::exchange(stale_, false) || lacksRun() || marksGaps()) rebuild();
    });
    connect(plot_, &LinePlot::smoothingChanged, this, &PlotPanel::writeNote);
    if (specs_.front().scaledOnly) {
        whatIf_ = new WhatIfCurves(context_, this);
        connect(whatIf_, &WhatIfCurves::changed, this, [this] {
            rebuild();
            writeNote(window_);
        });
    }
    choose(0);
}

void PlotPanel::attachTo(Panel* panel, const QString& tabs) {
    panel_ = panel;
    tabsName_ = tabs;
    fillTabs();
    panel->makeExpandable();
    fillMenu(panel);
    plot_->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(plot_, &QWidget::customContextMenuRequested, panel->menu(),
            [this](const QPoint& at) { panel_->menu()->popup(plot_->mapToGlobal(at)); });
    writeNote(window_);
}

/// Tabs in the head where there are several plots to choose from.
void PlotPanel::fillTabs() {
    if (panel_ == nullptr) return;
    if (tabs_ == nullptr && specs_.size() > 1) {
        tabs_ = new QTabBar(panel_);
        tabs_->setExpanding(false);
        // Narrow heads cut the words, never a tab.
        tabs_->setUsesScrollButtons(false);
        tabs_->setElideMode(Qt::ElideRight);
        tabs_->setAccessibleName(tabsName_);
        connect(tabs_, &QTabBar::currentChanged, this, [this](int index) {
            if (index >= 0) choose(static_cast<std::size_t>(index));
        });
        panel_->fillHead(tabs_);
    }
    if (tabs_ == nullptr) return;
    const QSignalBlocker quiet(tabs_);
    while (tabs_->count() > 0) tabs_->removeTab(0);
    for (const auto& each : specs_) {
        const int tab = tabs_->addTab(each.tab.isEmpty() ? each.title : each.tab);
        tabs_->setTabToolTip(tab, each.title);
    }
    tabs_->setCurrentIndex(static_cast<int>(current_));
    panel_->showHead(specs_.size() > 1 ? tabs_ : nullptr);
}

std::vector<PlotSpec> PlotPanel::suitableSpecs() const {
    const auto tracks = context_.feed->tracks();
    if (!tracks.empty()) return specsFor_(tracks.front()->metrics(), tracks.front()->unit());
    const SettingsModel& settings = *context_.settings;
    return specsFor_(settings.metrics(), engine::sample_unit(settings.config()));
}

void PlotPanel::follow() {
    auto specs = suitableSpecs();
    const auto same = [](const PlotSpec& a, const PlotSpec& b) {
        return a.metric == b.metric && a.title == b.title && a.look.axisName == b.look.axisName;
    };
    if (std::ranges::equal(specs, specs_, same)) return;
    // The chosen tab stays where it still means the same figure under another unit.
    if (current_ >= specs.size() || specs[current_].metric != specs_[current_].metric) current_ = 0;
    const bool renamed = panel_ != nullptr && panel_->windowTitle() == specs_.front().title;
    specs_ = std::move(specs);
    fillTabs();
    if (renamed) panel_->setTitle(specs_.front().title);
    plot_->setLook(spec().look);
    writeNote(window_);
}

void PlotPanel::fillMenu(Panel* panel) {
    QMenu* menu = panel->menu();
    const auto add = [&](const QString& text, auto slot) {
        auto* action = menu->addAction(text);
        connect(action, &QAction::triggered, this, slot);
        return action;
    };
    auto* back = add(tr("Zoom back"), [this] { context_.link->back(); });
    connect(menu, &QMenu::aboutToShow, back,
            [this, back] { back->setEnabled(context_.link->canGoBack()); });
    add(tr("Reset zoom"), [this] { context_.link->fit(); });
    addXAxisMenu(menu, context_.link->options());
    if (whatIf_ != nullptr) whatIf_->addMenu(menu);
    const bool smooth = std::ranges::any_of(specs_, [](const auto& s) { return s.look.smooth; });
    if (smooth) addSmoothingSlider(menu, context_.link->options());
    if (specs_.front().logToggle) {
        auto* log = add(tr("Logarithmic axis"), [this] { toggleLog(); });
        log->setCheckable(true);
        connect(menu, &QMenu::aboutToShow, log,
                [this, log] { log->setChecked(spec().look.axis == AxisKind::log); });
    }
    menu->addSeparator();
    add(tr("Copy as image"), [this] {
        Theme light(Theme::Choice::light);
        QGuiApplication::clipboard()->setPixmap(drawPicture(picture(&light)));
    });
    add(tr("Copy as data"), [this] { QGuiApplication::clipboard()->setText(visibleData(*plot_)); });
    add(tr("Export picture…"), [this] { exportPicture(); });
    menu->addSeparator();
    auto* floating = add(tr("Float"), [panel] { panel->setFloating(!panel->isFloating()); });
    floating->setCheckable(true);
    connect(menu, &QMenu::aboutToShow, floating,
            [panel, floating] { floating->setChecked(panel->isFloating()); });
    add(tr("Hide"), [panel] { panel->close(); });
}

void PlotPanel::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    // A plot paints at once; what it leaves when it shrinks would stay on the panel's lower edge.
    if (parentWidget() != nullptr) parentWidget()->update();
}

void PlotPanel::toggleLog() {
    if (!spec().logToggle) return;
    auto& look = specs_[current_].look;
    look.axis = look.axis == AxisKind::log ? AxisKind::linear : AxisKind::log;
    QSettings().setValue(u"linearLoss"_s, look.axis == AxisKind::linear);
    plot_->setLook(look);
    context_.scheduler->touch();
    writeNote(window_);
}

void PlotPanel::choose(std::size_t index) {
    current_ = index;
    plot_->setLook(spec().look);
    if (spec().scaledOnly) {
        plot_->setReadout([this](double x) { return scaleReadout(x); });
    }
    rebuild();
    context_.scheduler->touch();
}

void PlotPanel::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (hidden_) rebuild();
}

void PlotPanel::rebuild() {
    if (specsFor_) follow();
    hidden_ = panel_ == nullptr || panel_->isHidden();
    if (hidden_) return plot_->setContent({});
    std::vector<std::shared_ptr<const RowAxis>> axes;
    for (const auto& track : context_.feed->tracks()) {
        axes.emplace_back(track, &track->axis());
        // A figure behind a tab as well: its rows are then there when the tab is chosen.
        for (const PlotSpec& each : specs_) {
            if (const auto figure = figureOf(each, *track))
                static_cast<void>(track->series(*figure));
        }
    }
    context_.link->options()->setRuns(std::move(axes));
    plot_->setContent(makeContent(*context_.theme));
}

/// A record without the meter's column has NaN in all rows.
bool PlotPanel::isMeasured(const RunTrack& track) const {
    return track.series(spec().figure).total(0, track.rows()).finite > 0;
}

/// Training steps have no value of the metric, as a detector's have no AP: evaluations alone have.
bool PlotPanel::isOfEvaluations(const RunTrack& track, Figure figure) const {
    if (spec().metric.empty() || track.series(figure).total(0, track.rows()).finite > 0)
        return false;
    return track.series(&engine::StepRecord::loss).total(0, track.rows()).finite > 0;
}

/// A run's first rows have shown since the curves were made that its steps have no value.
bool PlotPanel::marksGaps() const {
    if (spec().metric.empty() || hidden_) return false;
    const auto tracks = context_.feed->tracks();
    return std::ranges::any_of(tracks, [this](const auto& track) {
        const auto& curves = plot_->content().curves;
        const auto curve = std::ranges::find(curves, track, &Curve::owner);
        const auto figure = figureOf(spec(), *track);
        return figure && curve != curves.end() && !curve->gaps && isOfEvaluations(*track, *figure);
    });
}

/// A run whose first rows have come since the curves were made.
bool PlotPanel::lacksRun() const {
    if (!spec().meters || hidden_) return false;
    const auto tracks = context_.feed->tracks();
    const auto measured =
        std::ranges::count_if(tracks, [this](const auto& track) { return isMeasured(*track); });
    return std::ssize(plot_->content().curves) != measured;
}

PlotContent PlotPanel::makeContent(const Theme& theme) const {
    PlotContent content;
    for (const auto& track : context_.feed->tracks()) {
        if (spec().scaledOnly && !track->hasScaler()) continue;
        if (spec().meters && !isMeasured(*track)) continue;
        const auto figure = figureOf(spec(), *track);
        if (!figure) continue;
        const QColor color = theme.run(*track);
        const Curve curve{trackTitle(*track),      color,          track->hue.dashed,
                          &track->series(*figure), &track->axis(), track};
        content.curves.push_back(curve);
        content.curves.back().gaps = spec().meters || isOfEvaluations(*track, *figure);
        if (spec().scaledOnly) {
            content.ceilings.push_back(curve);
            content.ceilings.back().data = &track->series(&engine::StepRecord::scale_ceiling);
            content.ceilings.back().every = track->origin() ? track->origin()->shares_every : 1;
            content.skips.push_back(curve);
            content.skips.back().data = &track->series(&engine::StepRecord::found_inf);
        }
    }
    if (whatIf_ != nullptr) whatIf_->addTo(content, theme.tokens());
    addEvaluations(content, theme);
    return content;
}

void PlotPanel::addEvaluations(PlotContent& content, const Theme& theme) const {
    for (const auto& track : context_.feed->tracks()) {
        const auto& epochs = track->epochs();
        const auto lines = std::ranges::count(epochs, true, &engine::EpochDone::epoch_ended);
        for (const auto& epoch : epochs) {
            const RunStep at{static_cast<double>(epoch.step), &track->axis()};
            // Many lines would be a grey wall and tell nothing.
            if (epoch.epoch_ended && lines <= maxLines) content.epochs.push_back(at);
            const double value = epoch.test.of(spec().metric);
            if (!spec().evaluations || std::isnan(value)) continue;
            content.dots.push_back({at, value, theme.run(*track)});
        }
    }
}

QString PlotPanel::note() const {
    if (whatIf_ != nullptr && !whatIf_->sentence().isEmpty()) return whatIf_->sentence();
    if (!spec().logToggle) return spec().note;
    const QString axis = spec().look.axis == AxisKind::log ? tr("log") : tr("linear");
    if (window_ <= 0) return axis;
    return tr("%1 · raw behind, mean of the last %2 in front").arg(axis, count(window_));
}

void PlotPanel::writeNote(qint64 window) {
    window_ = window;
    if (panel_ != nullptr) panel_->setNote(note());
}

QList<QPair<QString, QColor>> PlotPanel::scaleReadout(double x) const {
    const auto track = selectedTrack(context_);
    if (!track) return {};
    const std::int64_t step = plot_->axes().stepOf(&track->axis(), x);
    if (step < 1 || step > track->rows()) return {};
    const Tokens& t = context_.theme->tokens();
    const auto row = track->at(step);
    QList<QPair<QString, QColor>> lines;
    if (row.found_inf != 0) lines << qMakePair(tr("skipped"), t.bad);
    const double used = static_cast<double>(row.loss_scale), after = track->scaleAfter(step);
    if (after != used)
        lines << qMakePair(tr("scale %1 → %2").arg(powerOfTwo(used), powerOfTwo(after)), t.text);
    const QString most =
        std::isnan(row.scale_ceiling)
            ? tr("max safe scale unknown")
            : tr("max safe scale %1").arg(scaleLimit(static_cast<double>(row.scale_ceiling)));
    lines << qMakePair(most, t.dim);
    return lines;
}

PlotPicture PlotPanel::picture(Theme* theme) const {
    PlotPicture picture;
    picture.theme = theme;
    picture.view = context_.link;
    picture.look = spec().look;
    picture.content = makeContent(*theme);
    picture.note = note();
    return picture;
}

void PlotPanel::exportPicture() {
    // On paper a dark plot would be a waste of ink, so pictures are light.
    Theme light(Theme::Choice::light);
    const QString file = askForPicture(this, spec().title);
    if (file.isEmpty()) return;
    try {
        context_.commands->works()->write(file, pictureWriter(picture(&light), file));
    } catch (const engine::Error& error) {
        context_.commands->report(error);
    }
}

Panel* makePlotPanel(const Context& context, const QString& name, std::vector<PlotSpec> specs,
                     QWidget* parent, const PlotPanelNames& names) {
    const QString title = names.title.isEmpty() ? specs.front().title : names.title;
    auto* body = new PlotPanel(context, std::move(specs));
    auto* panel = new Panel(context.theme, name, title, body, parent);
    body->attachTo(panel, names.tabs);
    return panel;
}

Panel* makePlotPanel(const Context& context, const QString& name, PlotSpecsFor specsFor,
                     const PlotPanelNames& names, QWidget* parent) {
    auto* body = new PlotPanel(context, std::move(specsFor));
    const QString title =
        names.title.isEmpty() ? body->picture(context.theme).look.title : names.title;
    auto* panel = new Panel(context.theme, name, title, body, parent);
    body->attachTo(panel, names.tabs);
    return panel;
}

}  // namespace ui
