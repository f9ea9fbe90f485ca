#include "panels/plots/plot_menu.h"

#include <QActionGroup>
#include <QCoreApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QSlider>
#include <QWidgetAction>
#include <algorithm>

#include "plots/plot_options.h"
#include "text/format.h"
#include "theme/tokens.h"
#include "widgets/key_bindings.h"
#include "widgets/save_dialog.h"

namespace ui {
namespace {

struct PlotMenu {
    Q_DECLARE_TR_FUNCTIONS(PlotMenu)
public:
    static QList<QPair<XKind, QString>> axes() {
        return {{XKind::step, tr("Step")},
                {XKind::update, tr("Update (applied steps)")},
                {XKind::epoch, tr("Epoch")},
                {XKind::sample, tr("Sample")},
                {XKind::time, tr("Training time")},
                {XKind::clock, tr("Clock, with pauses")}};
    }
    static QString xAxis() { return tr("X axis"); }
    static QString logX() { return tr("Logarithmic"); }
    static QString noLogX() { return tr("For steps, updates and samples."); }
    static QString noClock() {
        return tr("A run on screen has no clock: an earlier version recorded it.");
    }
    static QString smoothing() { return tr("Smoothing"); }
    static QString smoother() { return tr("More smoothing"); }
    static QString rougher() { return tr("Less smoothing"); }
    static QString strength(int value) { return value == 0 ? tr("raw") : count(value); }
    static QString exportPicture() { return tr("Export picture"); }
    static std::vector<FileForm> forms() {
        return {{tr("PNG picture (*.png)"), u"png"_s},
                {tr("SVG drawing (*.svg)"), u"svg"_s},
                {tr("PDF document (*.pdf)"), u"pdf"_s}};
    }
};

int positionOf(int strength) {
    const auto all = PlotOptions::smoothings();
    return static_cast<int>(std::ranges::find(all, strength) - all.begin());
}

/// Moves the smoothing by `by` positions of its slider.
void moveSmoothing(PlotOptions* options, int by) {
    const auto all = PlotOptions::smoothings();
    const int last = static_cast<int>(all.size()) - 1;
    const int to = std::clamp(positionOf(options->smoothing()) + by, 0, last);
    options->setSmoothing(all[static_cast<std::size_t>(to)]);
}

}  // namespace

void addXAxisMenu(QMenu* menu, PlotOptions* options) {
    auto* sub = menu->addMenu(PlotMenu::xAxis());
    sub->setToolTipsVisible(true);
    auto* group = new QActionGroup(sub);
    for (const auto& [kind, name] : PlotMenu::axes()) {
        auto* action = group->addAction(name);
        action->setCheckable(true);
        QObject::connect(action, &QAction::triggered, options,
                         [options, kind = kind] { options->setX(kind); });
        const auto check = [action, options, kind = kind] {
            action->setChecked(options->x() == kind);
            if (kind != XKind::clock) return;
            action->setEnabled(options->hasClock());
            action->setToolTip(options->hasClock() ? QString() : PlotMenu::noClock());
            action->setStatusTip(action->toolTip());
        };
        QObject::connect(sub, &QMenu::aboutToShow, action, check);
        check();
        sub->addAction(action);
    }
    sub->addSeparator();
    auto* log = sub->addAction(PlotMenu::logX());
    log->setCheckable(true);
    QObject::connect(log, &QAction::triggered, options,
                     [options](bool on) { options->setLogX(on); });
    const auto check = [log, options] {
        log->setChecked(options->logX());
        log->setEnabled(options->takesLog());
        log->setToolTip(options->takesLog() ? QString() : PlotMenu::noLogX());
        log->setStatusTip(log->toolTip());
    };
    QObject::connect(sub, &QMenu::aboutToShow, log, check);
    check();
}

void addSmoothingSlider(QMenu* menu, PlotOptions* options) {
    auto* row = new QWidget(menu);
    auto* line = new QHBoxLayout(row);
    // In line with the texts of the menu, which leave room for check marks.
    line->setContentsMargins(2 * size::inside + size::gap, size::grid, size::inside, size::grid);
    auto* slider = new QSlider(Qt::Horizontal, row);
    slider->setAccessibleName(PlotMenu::smoothing());
    slider->setRange(0, static_cast<int>(PlotOptions::smoothings().size()) - 1);
    slider->setPageStep(1);
    auto* value = new QLabel(row);
    value->setMinimumWidth(value->fontMetrics().horizontalAdvance(u"00,000"_s));
    line->addWidget(new QLabel(PlotMenu::smoothing(), row));
    line->addWidget(slider, 1);
    line->addWidget(value);
    const auto show = [=] {
        slider->setValue(positionOf(options->smoothing()));
        value->setText(PlotMenu::strength(options->smoothing()));
    };
    QObject::connect(slider, &QSlider::valueChanged, options, [options](int position) {
        options->setSmoothing(PlotOptions::smoothings()[static_cast<std::size_t>(position)]);
    });
    QObject::connect(options, &PlotOptions::changed, slider, show);
    show();
    auto* action = new QWidgetAction(menu);
    action->setDefaultWidget(row);
    menu->addAction(action);
}

void addSmoothingSteps(QMenu* menu, PlotOptions* options) {
    auto* more = menu->addAction(PlotMenu::smoother());
    KeyBindings::instance()->bind(more, u"view/smoother"_s, {QKeySequence(Qt::Key_BracketRight)});
    QObject::connect(more, &QAction::triggered, options, [options] { moveSmoothing(options, 1); });
    auto* less = menu->addAction(PlotMenu::rougher());
    KeyBindings::instance()->bind(less, u"view/rougher"_s, {QKeySequence(Qt::Key_BracketLeft)});
    QObject::connect(less, &QAction::triggered, options, [options] { moveSmoothing(options, -1); });
}

QString askForPicture(QWidget* parent, const QString& title) {
    const auto named = askForFile(parent, PlotMenu::exportPicture(), title, PlotMenu::forms());
    return named ? named->file : QString();
}

}  // namespace ui
