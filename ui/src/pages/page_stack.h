#pragma once

#include <QScrollArea>
#include <QStackedWidget>
#include <QTabBar>
#include <vector>

#include "pages/registry.h"

namespace ui {

/// The pages of a window, one of which is shown, and the row of tabs that chooses it, which the
/// window places. With one page there is no row, and no shortcut is taken. A page is made when it
/// is first shown, the first one at once. The page is remembered. GUI thread.
class PageStack final : public QStackedWidget {
    Q_OBJECT
public:
    PageStack(const Context& context, std::vector<PageEntry> entries, QWidget* parent);

    /// Null with one page.
    QTabBar* row() const { return row_; }
    /// Shows the page of the last start, unless that needs a run and none is on screen.
    void restore();
    /// Shows the page of this name if it can be used.
    void showPage(const QString& name);
    /// Names of the pages that were shown so far.
    QStringList made() const;
    /// Makes these pages ahead, without showing them.
    void make(const QStringList& names);
    /// The page that is shown.
    const PageEntry& shown() const;
    /// Hints of the visible page only: a wider hidden page must not widen the window.
    QSize minimumSizeHint() const override;
    QSize sizeHint() const override;
    /// The least that the visible page needs at this width.
    int heightForWidth(int width) const override;

signals:
    /// Another page is about to be shown; shown() is still the one before.
    void pageChanging(const ui::PageEntry& page);
    void pageChanged(const ui::PageEntry& page);

private:
    void makeTabs();
    void addTab(int index);
    void open(int index);
    void make(std::size_t index);
    /// Pages that need a run can be chosen only while one is on screen.
    void refresh();

    Context context_;
    std::vector<PageEntry> entries_;
    std::vector<QWidget*> pages_;  ///< null: not made yet
    QTabBar* row_ = nullptr;
    bool refreshing_ = false;  ///< this class changes pages, not the user
};

/// Shows the pages, and scrolls a page that needs more room than there is, so that no page makes
/// the window larger than the screen. The widget with the focus is scrolled into view.
class PageArea final : public QScrollArea {
    Q_OBJECT
public:
    /// Takes ownership of `pages`.
    PageArea(QWidget* pages, QWidget* parent);
    QSize minimumSizeHint() const override;
    QSize sizeHint() const override;
};

}  // namespace ui
