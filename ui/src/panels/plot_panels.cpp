#include "panels/plot_panels.h"

#include <QFileDialog>
#include <QSettings>
#include <QVBoxLayout>
#include <cmath>

#include "commands.h"
#include "feed/selection.h"
#include "panels/run_cards.h"
#include "text/format.h"
#include "theme/theme.h"
#include "ui/event_feed.h"
#include "widgets/panel.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

constexpr std::size_t mostLines = 60;

struct PlotSpecs {
    Q_DECLARE_TR_FUNCTIONS(PlotSpecs)
public:
    static PlotSpec make(const QString& title, Figure figure, AxisKind axis, const QString& empty) {
        PlotSpec spec;
        spec.title = title;
        spec.figure = figure;
        spec.look.title = title;
        spec.look.axis = axis;
        spec.look.emptyText = empty;
        return spec;
    }
    static PlotSpec loss();
    static PlotSpec accuracy();
    static PlotSpec scale();
    static std::vector<PlotSpec> fourth();
};

PlotSpec PlotSpecs::loss() {
    PlotSpec spec = make(tr("Loss"), Figure::loss, AxisKind::log,
                         tr("The loss of every step will appear here, one curve a run."));
    spec.look.smooth = true;
    spec.logToggle = true;
    return spec;
}

PlotSpec PlotSpecs::accuracy() {
    PlotSpec spec =
        make(tr("Accuracy"), Figure::accuracy, AxisKind::share,
             tr("Training accuracy will appear here as a line, test accuracy as dots."));
    spec.look.smooth = true;
    spec.look.figure = [](double value) { return measured(value, percent); };
    spec.note = tr("train line · test dots");
    spec.evaluations = true;
    return spec;
}

PlotSpec PlotSpecs::scale() {
    PlotSpec spec =
        make(tr("Loss scale"), Figure::lossScale, AxisKind::log2,
             tr("The loss scale will climb here in steps; a skipped step is a red tick below."));
    spec.look.stairs = true;
    spec.look.figure = [](double value) { return powerOfTwo(value); };
    spec.note = tr("the band is where it may be");
    spec.scaledOnly = true;
    return spec;
}

std::vector<PlotSpec> PlotSpecs::fourth() {
    PlotSpec norm = make(tr("Gradient norm"), Figure::gradNorm, AxisKind::log,
                         tr("The unscaled norm of all gradients will appear here."));
    norm.look.smooth = true;
    PlotSpec speed =
        make(tr("Samples/s"), Figure::samplesPerS, AxisKind::linear,
             tr("Each run's own speed will appear here, without its neighbour's turns."));
    speed.look.smooth = true;
    PlotSpec memory = make(tr("Memory"), Figure::memory, AxisKind::bytes,
                           tr("Memory in use after each step will appear here."));
    memory.look.figure = [](double value) { return bytes(std::llround(value)); };
    return {norm, speed, memory};
}

}  // namespace

PlotSpec lossSpec() { return PlotSpecs::loss(); }
PlotSpec accuracySpec() { return PlotSpecs::accuracy(); }
PlotSpec lossScaleSpec() { return PlotSpecs::scale(); }
std::vector<PlotSpec> fourthPlaceSpecs() { return PlotSpecs::fourth(); }

PlotPanel::PlotPanel(const Context& context, std::vector<PlotSpec> specs, QWidget* parent)
    : QWidget(parent), context_(context), specs_(std::move(specs)) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
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
        if (std::exchange(stale_, false)) rebuild();
    });
    connect(plot_, &LinePlot::smoothingChanged, this, &PlotPanel::writeNote);
    choose(0);
}

void PlotPanel::furnish(Panel* panel) {
    panel_ = panel;
    if (specs_.size() > 1) {
        tabs_ = new QTabBar(panel);
        tabs_->setExpanding(false);
        tabs_->setAccessibleName(tr("What the fourth plot shows"));
        for (const auto& each : specs_) tabs_->addTab(each.title);
        connect(tabs_, &QTabBar::currentChanged, this,
                [this](int index) { choose(static_cast<std::size_t>(index)); });
        panel->fillHead(tabs_);
    }
    panel->makeExpandable();
    connect(panel->menu()->addAction(tr("Export picture…")), &QAction::triggered, this,
            &PlotPanel::exportPlot);
    if (specs_.front().logToggle) {
        auto* log = panel->menu()->addAction(tr("Logarithmic axis"));
        log->setCheckable(true);
        log->setChecked(spec().look.axis == AxisKind::log);
        connect(log, &QAction::triggered, this, &PlotPanel::toggleLog);
        connect(panel->menu(), &QMenu::aboutToShow, log,
                [this, log] { log->setChecked(spec().look.axis == AxisKind::log); });
    }
    connect(panel->menu()->addAction(tr("Show all steps")), &QAction::triggered, context_.link,
            &PlotLink::fit);
    writeNote(window_);
}

void PlotPanel::toggleLog() {
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
        plot_->setReadout([this](std::int64_t step) { return scaleReadout(step); });
    }
    rebuild();
    context_.scheduler->touch();
}

void PlotPanel::rebuild() {
    PlotContent content;
    for (const auto& track : context_.feed->tracks()) {
        if (spec().scaledOnly && !track->hasScaler()) continue;
        const QColor color = context_.theme->precision(track->precision());
        Curve curve{trackTitle(*track), color, track->dashed, &track->series(spec().figure), track};
        if (spec().scaledOnly) {
            content.ceilings.push_back(curve);
            content.ceilings.back().data = &track->series(Figure::ceiling);
            content.rug.push_back(&track->series(Figure::skipped));
        }
        content.curves.push_back(std::move(curve));
    }
    addEvaluations(content);
    plot_->setContent(std::move(content));
}

void PlotPanel::addEvaluations(PlotContent& content) const {
    for (const auto& track : context_.feed->tracks()) {
        for (const auto& epoch : track->epochs()) {
            const auto step = static_cast<double>(epoch.step);
            // Many lines would be a grey wall and tell nothing.
            if (track->epochs().size() <= mostLines) content.epochs.push_back(step);
            if (!spec().evaluations || std::isnan(epoch.test_accuracy)) continue;
            content.dots.push_back(
                {step, epoch.test_accuracy, context_.theme->precision(track->precision())});
        }
    }
}

void PlotPanel::writeNote(qint64 window) {
    window_ = window;
    if (panel_ == nullptr) return;
    QString note = spec().note;
    if (spec().logToggle) {
        const QString axis = spec().look.axis == AxisKind::log ? tr("log") : tr("linear");
        note =
            window > 0 ? tr("%1 · raw behind, mean of %2 in front").arg(axis, count(window)) : axis;
    }
    panel_->setNote(note);
}

QList<QPair<QString, QColor>> PlotPanel::scaleReadout(std::int64_t step) const {
    const auto track = selectedTrack(context_);
    if (!track || step > track->rows()) return {};
    const Tokens& t = context_.theme->tokens();
    const auto row = track->at(step);
    QList<QPair<QString, QColor>> lines;
    if (row.found_inf != 0) lines << qMakePair(tr("skipped"), t.bad);
    if (step < track->rows()) {
        const auto after = track->at(step + 1).loss_scale;
        if (after != row.loss_scale) {
            lines << qMakePair(tr("scale %1 → %2")
                                   .arg(powerOfTwo(static_cast<double>(row.loss_scale)),
                                        powerOfTwo(static_cast<double>(after))),
                               t.text);
        }
    }
    const QString bear =
        std::isnan(row.scale_ceiling)
            ? tr("could bear: unknown")
            : tr("could bear %1").arg(significant(static_cast<double>(row.scale_ceiling), 4));
    lines << qMakePair(bear, t.dim);
    return lines;
}

void PlotPanel::exportPlot() {
    const QString file = QFileDialog::getSaveFileName(
        this, tr("Export picture"), spec().title + u".png"_s, tr("Pictures (*.png *.svg *.pdf)"));
    if (file.isEmpty() || plot_->exportTo(file)) return;
    context_.commands->report(
        {tr("%1 cannot be written.").arg(file),
         tr("Choose a folder that you may write to, and a name ending in .png, .svg or .pdf."),
         engine::ErrorCode::io, false});
}

}  // namespace ui
