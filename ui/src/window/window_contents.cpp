#include "window/window_contents.h"

#include <QMenu>
#include <QMenuBar>
#include <QStatusBar>
#include <QToolBar>
#include <utility>

#include "pages/page_stack.h"
#include "pages/training_page.h"
#include "panels/frame/command_bar.h"
#include "panels/frame/status_line.h"
#include "panels/frame/work_strip.h"
#include "panels/step/step_chooser.h"
#include "panels/verdict/verdict_bar.h"
#include "theme/theme.h"
#include "widgets/panel.h"
#include "window/focus.h"
#include "window/main_menu.h"
#include "window/message_bar.h"
#include "window/settings_rail.h"

namespace ui {

WindowContents::WindowContents(const Context& context, const std::vector<PanelEntry>& panels,
                               const std::vector<PageEntry>& pages, QMainWindow* window)
    : context_(context),
      window_(window),
      panels_(makePanels(panels, context, window)),
      menu_(new MainMenu(context, panels_, window)) {
    buildCentre(pages);
    buildBars();
    showParts();
    docks_ = std::make_unique<DockLayout>(window, training_->plots(), panels_);
    columns_ = std::make_unique<PageColumns>(context, panels_, pages_, rail_, docks_.get(), window);
    QObject::connect(menu_, &MainMenu::resetLayout, columns_.get(), [this] {
        docks_->reset();
        columns_->reset();
    });
    if (chooser_ != nullptr)
        QObject::connect(chooser_, &StepChooser::skipOpened, pages_,
                         [this] { pages_->showPage(u"skips"_s); });
}

WindowContents::~WindowContents() = default;

void WindowContents::restore() {
    docks_->restore();
    columns_->show();
    pages_->restore();
    ring_ = new FocusRing(window_);  // above all that has been made
}

/// Parts that are made in a visible window are shown later by themselves. Docks would take the room
/// of what is not shown yet, and keep it.
void WindowContents::showParts() {
    if (!window_->isVisible()) return;
    for (QWidget* part : {static_cast<QWidget*>(window_->menuBar()), window_->centralWidget(),
                          static_cast<QWidget*>(window_->statusBar())})
        part->show();
    for (auto* bar : window_->findChildren<QToolBar*>(QString(), Qt::FindDirectChildrenOnly))
        bar->show();
    window_->layout()->activate();
}

void WindowContents::fit() {
    docks_->fold(columns_->narrow());
    training_->setLow(window_->height() < Theme::tableHeight());
}

QMap<QString, QSize> WindowContents::sideSizes() const {
    QMap<QString, QSize> out;
    for (const auto& column : {panels_.left, panels_.right})
        for (const auto* panel : column)
            if (panel->isVisible() && !panel->isFloating())
                out[panel->objectName()] = panel->size();
    return out;
}

void WindowContents::resizeSides(const QMap<QString, QSize>& sizes) {
    window_->layout()->activate();
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
    window_->resizeDocks(docks, widths, Qt::Horizontal);
    window_->resizeDocks(docks, heights, Qt::Vertical);
}

void WindowContents::empty() {
    delete ring_.data();
    delete menu_;
    columns_.reset();
    docks_.reset();
    for (auto* panel : panels_.all()) delete panel;
    for (auto* bar : window_->findChildren<QToolBar*>(QString(), Qt::FindDirectChildrenOnly)) {
        window_->removeToolBarBreak(bar);
        delete bar;
    }
    delete window_->centralWidget();
    for (auto* menu : window_->findChildren<QMenu*>(QString(), Qt::FindDirectChildrenOnly))
        delete menu;
    window_->setMenuBar(nullptr);
    window_->setStatusBar(nullptr);
}

void WindowContents::buildCentre(const std::vector<PageEntry>& pages) {
    auto* centre = new QWidget(window_);
    auto* row = makeRow(centre, {}, size::gap);
    rail_ = new SettingsRail(context_.theme, centre);
    rail_->hide();
    pages_ = new PageStack(context_, pages, centre);
    training_ = pages_->findChild<TrainingPage*>();
    row->addWidget(rail_);
    row->addWidget(new PageArea(pages_, centre), 1);
    window_->setCentralWidget(centre);
    message_ = new MessageBar(context_.theme, pages_->findChild<VerdictBar*>(), centre);
}

void WindowContents::buildBars() {
    auto* tools = window_->addToolBar(tr("Commands"));
    tools->setObjectName(u"commands"_s);
    tools->setMovable(false);
    tools->setContextMenuPolicy(Qt::PreventContextMenu);
    bar_ = new CommandBar(context_, window_);
    bar_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    tools->addWidget(pages_->row() == nullptr ? bar_ : withPageRow(bar_));
    tools->toggleViewAction()->setVisible(false);
    window_->addToolBarBreak(Qt::TopToolBarArea);
    for (const auto area :
         {Qt::TopToolBarArea, Qt::LeftToolBarArea, Qt::RightToolBarArea, Qt::BottomToolBarArea}) {
        addMargin(area);
    }
    window_->statusBar()->setSizeGripEnabled(false);
    window_->statusBar()->addWidget(new StatusLine(context_, window_), 1);
    works_ = new WorkStrip(context_, window_);
    window_->statusBar()->addPermanentWidget(works_);
}

/// The command bar with the row of pages under it. In one tool bar: an older layout knows no other.
QWidget* WindowContents::withPageRow(QWidget* bar) {
    auto* both = new QWidget(window_);
    auto* column = makeColumn(both, {}, 0);
    column->addWidget(bar);
    auto* row = makeRow(nullptr, {size::inside, 0, size::inside, 0});
    row->addWidget(pages_->row());
    chooser_ = new StepChooser(context_, both);
    row->addWidget(chooser_, 1);
    row->addStretch();  // for the tabs' sake while the chooser is hidden
    column->addLayout(row);
    return both;
}

void WindowContents::addMargin(Qt::ToolBarArea area) {
    // Docks reach to the window's edge; an empty bar is the one thing that keeps them off it.
    auto* margin = new QToolBar(window_);
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
    window_->addToolBar(area, margin);
}

QList<QWidget*> WindowContents::inReadingOrder() const {
    QList<QWidget*> groups{bar_};
    if (pages_->row() != nullptr) groups << pages_->row() << chooser_;
    groups << rail_;
    for (auto* panel : panels_.left) groups << panel;
    groups << message_;
    if (pages_->currentWidget() != training_) groups << pages_->currentWidget();
    groups << training_->head();
    for (auto* panel : panels_.plots) groups << panel;
    for (auto* panel : panels_.right) groups << panel;
    return groups << works_;
}

}  // namespace ui
