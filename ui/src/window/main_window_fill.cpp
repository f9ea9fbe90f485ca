// The widgets of the window: made at its start, and again for another language.
#include <QMenuBar>
#include <QScopedValueRollback>
#include <QSettings>
#include <QStatusBar>
#include <QToolBar>
#include <QVBoxLayout>

#include "help/help_window.h"
#include "pages/page_stack.h"
#include "pages/training_page.h"
#include "panels/frame/command_bar.h"
#include "panels/frame/status_line.h"
#include "panels/frame/work_strip.h"
#include "panels/step/step_chooser.h"
#include "panels/verdict/verdict_bar.h"
#include "theme/theme.h"
#include "widgets/panel.h"
#include "widgets/widget_state.h"
#include "window/dock_layout.h"
#include "window/focus.h"
#include "window/main_menu.h"
#include "window/main_window.h"
#include "window/message_bar.h"
#include "window/quit_dialog.h"
#include "window/settings_rail.h"

namespace ui {

using namespace Qt::StringLiterals;

void MainWindow::fill() {
    panels_ = makePanels(parts_.panels, context_, this);
    menu_ = new MainMenu(context_, panels_, this);
    buildCentre(parts_.pages());
    buildBars();
    showParts();
    docks_ = std::make_unique<DockLayout>(this, training_->plots(), panels_);
    joinColumns();
    connect(menu_, &MainMenu::resetLayout, this, &MainWindow::resetLayout);
    if (chooser_ != nullptr)
        connect(chooser_, &StepChooser::skipOpened, this, [this] { pages_->showPage(u"skips"_s); });
    docks_->restore();
    showColumns();
    pages_->restore();
    ring_ = new FocusRing(this);
}

/// Parts that are made in a visible window are shown later by themselves. Docks would take the room
/// of what is not shown yet, and keep it.
void MainWindow::showParts() {
    if (!isVisible()) return;
    for (QWidget* part : {static_cast<QWidget*>(menuBar()), centralWidget(),
                          static_cast<QWidget*>(statusBar())})
        part->show();
    for (auto* bar : findChildren<QToolBar*>(QString(), Qt::FindDirectChildrenOnly)) bar->show();
    layout()->activate();
}

/// In another language. The window itself stays where it is, with its pages and what is set in
/// them; all widgets in it are made again, since each reads its words as it is made.
void MainWindow::fillAnew() {
    const QStringList made = pages_->made();
    const QString page = pages_->shown().name;
    const auto sayAgain = message_->isVisible() ? sayAgain_ : nullptr;
    QString alone;
    for (const auto* plot : panels_.plots)
        if (docks_->isExpanded() && !plot->isHidden() && !plot->isFloating())
            alone = plot->objectName();
    const HelpWindow* help = menu_->help();
    const QString topic = help != nullptr ? help->topic() : QString();
    const QRect helpPlace = help != nullptr ? help->geometry() : QRect();
    WidgetState state = WidgetState::of(this);
    const auto sizes = sideSizes();
    docks_->save();
    setUpdatesEnabled(false);
    empty();
    fill();
    pages_->make(made);
    pages_->showPage(page);
    fit();
    resizeSides(sizes);
    for (auto* plot : panels_.plots)
        if (plot->objectName() == alone) docks_->expand(plot);
    state.restore(this);
    if (context_.kept != nullptr) {
        delete context_.kept->findChild<KeptState*>(QString(), Qt::FindDirectChildrenOnly);
        new KeptState(std::move(state), this, context_.kept);
    }
    if (sayAgain) sayAgain();
    setUpdatesEnabled(true);
    if (!topic.isEmpty()) {
        menu_->showHelpWindow(topic);
        menu_->help()->setGeometry(helpPlace);
    }
    QMetaObject::invokeMethod(docks_.get(), &DockLayout::rememberFirst, Qt::QueuedConnection);
}

QMap<QString, QSize> MainWindow::sideSizes() const {
    QMap<QString, QSize> out;
    for (const auto& column : {panels_.left, panels_.right})
        for (const auto* panel : column)
            if (panel->isVisible() && !panel->isFloating()) out[panel->objectName()] = panel->size();
    return out;
}

void MainWindow::resizeSides(const QMap<QString, QSize>& sizes) {
    layout()->activate();
    QList<QDockWidget*> docks;
    QList<int> widths, heights;
    for (const auto& column : {panels_.left, panels_.right}) {
        for (auto* panel : column) {
            if (!sizes.contains(panel->objectName()) || panel->isHidden()) continue;
            docks << panel;
            widths << sizes[panel->objectName()].width();
            heights << sizes[panel->objectName()].height();
        }
    }
    resizeDocks(docks, widths, Qt::Horizontal);
    resizeDocks(docks, heights, Qt::Vertical);
}

/// Deleted at once, not taken out: a page that is only hidden gives up what it computes.
void MainWindow::empty() {
    const QScopedValueRollback empties(empties_, true);
    if (quit_) quit_->close();
    delete ring_.data();
    delete menu_;
    docks_.reset();
    for (auto* panel : panels_.all()) delete panel;
    chooser_ = nullptr;
    for (auto* bar : findChildren<QToolBar*>(QString(), Qt::FindDirectChildrenOnly)) {
        removeToolBarBreak(bar);
        delete bar;
    }
    delete centralWidget();
    for (auto* menu : findChildren<QMenu*>(QString(), Qt::FindDirectChildrenOnly)) delete menu;
    setMenuBar(nullptr);
    setStatusBar(nullptr);
}

void MainWindow::buildCentre(const std::vector<PageEntry>& pages) {
    auto* centre = new QWidget(this);
    auto* row = new QHBoxLayout(centre);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(size::gap);
    rail_ = new SettingsRail(context_.theme, centre);
    rail_->hide();
    pages_ = new PageStack(context_, pages, centre);
    training_ = pages_->findChild<TrainingPage*>();
    row->addWidget(rail_);
    row->addWidget(new PageArea(pages_, centre), 1);
    setCentralWidget(centre);
    message_ = new MessageBar(context_.theme, pages_->findChild<VerdictBar*>(), centre);
}

void MainWindow::buildBars() {
    auto* tools = addToolBar(tr("Commands"));
    tools->setObjectName(u"commands"_s);
    tools->setMovable(false);
    tools->setContextMenuPolicy(Qt::PreventContextMenu);
    bar_ = new CommandBar(context_, this);
    bar_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    tools->addWidget(pages_->row() == nullptr ? bar_ : withPageRow(bar_));
    tools->toggleViewAction()->setVisible(false);
    addToolBarBreak(Qt::TopToolBarArea);
    for (const auto area :
         {Qt::TopToolBarArea, Qt::LeftToolBarArea, Qt::RightToolBarArea, Qt::BottomToolBarArea}) {
        addMargin(area);
    }
    statusBar()->setSizeGripEnabled(false);
    statusBar()->addWidget(new StatusLine(context_, this), 1);
    works_ = new WorkStrip(context_, this);
    statusBar()->addPermanentWidget(works_);
}

/// The command bar with the row of pages under it. In one tool bar: an older layout knows no other.
QWidget* MainWindow::withPageRow(QWidget* bar) {
    auto* both = new QWidget(this);
    auto* column = new QVBoxLayout(both);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(bar);
    auto* row = new QHBoxLayout;
    row->setContentsMargins(size::inside, 0, size::inside, 0);
    row->addWidget(pages_->row());
    chooser_ = new StepChooser(context_, both);
    row->addWidget(chooser_, 1);
    row->addStretch();  // for the tabs' sake while the chooser is hidden
    column->addLayout(row);
    return both;
}

void MainWindow::addMargin(Qt::ToolBarArea area) {
    // Docks reach to the window's edge; an empty bar is the one thing that keeps them off it.
    auto* margin = new QToolBar(this);
    margin->setObjectName(u"margin%1"_s.arg(static_cast<int>(area)));
    margin->setProperty("role", u"margin"_s);
    margin->setMovable(false);
    margin->setContextMenuPolicy(Qt::PreventContextMenu);
    margin->toggleViewAction()->setVisible(false);
    const bool wide = area == Qt::TopToolBarArea || area == Qt::BottomToolBarArea;
    if (wide) {
        margin->setFixedHeight(size::gap);
    } else {
        margin->setFixedWidth(size::gap);
    }
    addToolBar(area, margin);
}

}  // namespace ui
