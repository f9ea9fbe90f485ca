#include "window/page_columns.h"

#include <QAction>
#include <QSettings>
#include <QToolButton>
#include <algorithm>

#include "pages/page_stack.h"
#include "panels/settings/settings_panel.h"
#include "theme/icons.h"
#include "theme/theme.h"
#include "window/dock_layout.h"
#include "window/settings_rail.h"

namespace ui {
namespace {

const QString railGroup = u"window/rail"_s;

QString railKey(const PageEntry& page) { return railGroup + u'/' + page.name; }

DockLayout::Columns columnsOf(const PageEntry& page) {
    using enum DockLayout::Columns;
    return page.name == u"training"_s ? both : page.takesWholeWidth ? none : left;
}

}  // namespace

PageColumns::PageColumns(const Context& context, const PanelSet& panels, PageStack* pages,
                         SettingsRail* rail, DockLayout* docks, QMainWindow* window)
    : context_(context),
      panels_(panels),
      pages_(pages),
      rail_(rail),
      docks_(docks),
      window_(window) {
    connect(pages_, &PageStack::pageChanging, this, &PageColumns::hideFor);
    connect(pages_, &PageStack::pageChanged, this,
            [this](const PageEntry& page) { showFor(page, isRailed(page)); });
    if (panels_.left.empty()) return;
    QToolButton* close = makeClose();
    connect(rail_, &SettingsRail::clicked, this, [this, close] {
        setRailed(false);
        close->setFocus();
    });
    connect(close, &QToolButton::clicked, this, [this] {
        setRailed(true);
        rail_->setFocus();
    });
    for (const auto* panel : panels_.left) {
        connect(panel->toggleViewAction(), &QAction::triggered, this,
                [this](bool shown) { setRailed(!shown); });
    }
}

/// In the head of the settings.
QToolButton* PageColumns::makeClose() {
    auto* close = new QToolButton(window_);
    close->setObjectName(u"railClose"_s);
    close->setToolTip(tr("Collapse the settings"));
    close->setAccessibleName(close->toolTip());
    close->setIconSize({13, 13});
    const auto applyStyle = [this, close] {
        close->setIcon(themedIcon(*context_.theme, u"rail-close"_s));
    };
    connect(context_.theme, &Theme::changed, close, applyStyle);
    applyStyle();
    panels_.left.front()->addToHead(close);
    return close;
}

bool PageColumns::narrow() const { return window_->width() < Theme::foldWidth(); }

/// Whether the settings are a rail on this page: as the user left it there, else on pages that do
/// not use them, and in a narrow window on all but the first.
bool PageColumns::isRailed(const PageEntry& page) const {
    const bool folds = narrow() && columnsOf(page) != DockLayout::Columns::both;
    return QSettings().value(railKey(page), page.startsRailed || folds).toBool();
}

/// Called before another page is shown. A page is never visible together with columns that do not
/// belong to it, since a window too narrow for both would grow.
void PageColumns::hideFor(const PageEntry& page) {
    docks_->showColumns(std::max(docks_->columns(), columnsOf(page)),
                        docks_->railed() || isRailed(page));
    if (!docks_->showsRail()) rail_->hide();
}

void PageColumns::showFor(const PageEntry& page, bool railed) {
    // A rail beside the settings would widen a window that is as narrow as it can be.
    if (!railed || page.takesWholeWidth) rail_->hide();
    docks_->showColumns(columnsOf(page), railed);
    rail_->setVisible(docks_->showsRail());
}

void PageColumns::show() { showFor(pages_->shown(), isRailed(pages_->shown())); }

void PageColumns::reset() {
    QSettings().remove(railGroup);
    show();
}

void PageColumns::setRailed(bool railed) {
    QSettings().setValue(railKey(pages_->shown()), railed);
    showFor(pages_->shown(), railed);
}

void PageColumns::focusSettings() {
    if (pages_->shown().takesWholeWidth) pages_->showPage(u"training"_s);
    showFor(pages_->shown(), false);
    for (auto* panel : panels_.left) {
        if (panel->findChild<SettingsPanel*>() == nullptr) continue;
        panel->show();
        panel->raise();
    }
    panels_.bodies<SettingsPanel>().front()->focusField(u"optimizer.lr"_s);
}

}  // namespace ui
