#pragma once

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAbstractScrollArea>
#include <QLabel>
#include <QScrollBar>
#include <QSplitterHandle>
#include <QStringList>
#include <QTabBar>
#include <vector>

#include "widgets/elided_label.h"
#include "window/main_window.h"
#include "window/message_bar.h"
#include "window/page_area.h"
#include "window/settings_rail.h"

namespace ui {

using namespace Qt::StringLiterals;

/// What is wrong with the layout of a window as it is on screen: text that is cut, widgets that lie
/// over one another or outside their parent, a page that must be scrolled sideways. Sees widgets,
/// not what they paint.
class ScreenCheck {
public:
    explicit ScreenCheck(const MainWindow& window) : window_(window) {}

    QStringList faults(const QSize& screen) {
        if (window_.width() > screen.width() || window_.height() > screen.height())
            add(u"the window is %1x%2"_s.arg(window_.width()).arg(window_.height()), &window_);
        for (const auto* widget : window_.findChildren<QWidget*>()) {
            if (!widget->isVisible() || widget->window() != &window_) continue;
            outside(*widget);
            overlaps(*widget);
            text(*widget);
            sideways(*widget);
        }
        for (const auto* area : window_.findChildren<PageArea*>()) {
            if (area->horizontalScrollBar()->maximum() > 0)
                add(u"the page is %1 wider than its place"_s.arg(
                        area->horizontalScrollBar()->maximum()),
                    area);
            if (area->verticalScrollBar()->maximum() > 0)
                add(u"the page is %1 higher than its place"_s.arg(
                        area->verticalScrollBar()->maximum()),
                    area);
        }
        return faults_;
    }

private:
    static constexpr int tolerance = 1;

    static bool isViewport(const QWidget* widget) {
        const auto* area = qobject_cast<const QAbstractScrollArea*>(widget->parentWidget());
        return area != nullptr && area->viewport() == widget;
    }
    static QString nameOf(const QWidget* widget) {
        QStringList path;
        for (const QWidget* at = widget; at != nullptr && path.size() < 4;
             at = at->parentWidget()) {
            QString name = QString::fromLatin1(at->metaObject()->className()).remove("ui::"_L1);
            if (!at->objectName().isEmpty()) name += u'#' + at->objectName();
            path.prepend(name);
        }
        return path.join(u'/');
    }
    void add(const QString& what, const QWidget* where) {
        faults_ << what + u" @ "_s + nameOf(where);
    }

    void outside(const QWidget& widget) {
        const QWidget* parent = widget.parentWidget();
        if (parent == nullptr || widget.isWindow() || isViewport(parent) || isViewport(&widget))
            return;
        if (qobject_cast<const QAbstractItemView*>(parent) != nullptr) return;
        const QRect room = parent->rect().adjusted(-tolerance, -tolerance, tolerance, tolerance);
        if (room.contains(widget.geometry())) return;
        const QRect at = widget.geometry();
        // Where a main window puts docks behind a tab, and their tab bars.
        if (qobject_cast<const QMainWindow*>(parent) != nullptr && at.right() < 0) return;
        add(u"%1,%2 %3x%4 is outside %5x%6"_s.arg(at.x())
                .arg(at.y())
                .arg(at.width())
                .arg(at.height())
                .arg(parent->width())
                .arg(parent->height()),
            &widget);
    }
    /// Those that lie over others on purpose.
    static bool floats(const QWidget* widget) {
        return qobject_cast<const MessageBar*>(widget) != nullptr ||
               qobject_cast<const QSplitterHandle*>(widget) != nullptr ||
               widget->testAttribute(Qt::WA_TransparentForMouseEvents);
    }
    void overlaps(const QWidget& parent) {
        if (qobject_cast<const QAbstractItemView*>(&parent) != nullptr || isViewport(&parent))
            return;
        std::vector<const QWidget*> children;
        for (const QObject* child : parent.children()) {
            const auto* widget = qobject_cast<const QWidget*>(child);
            if (widget != nullptr && widget->isVisible() && !widget->isWindow() && !floats(widget))
                children.push_back(widget);
        }
        for (std::size_t i = 0; i < children.size(); ++i) {
            for (std::size_t k = i + 1; k < children.size(); ++k) {
                const QRect both = children[i]->geometry() & children[k]->geometry();
                if (both.width() > tolerance && both.height() > tolerance)
                    add(u"overlaps %1 by %2x%3"_s.arg(nameOf(children[k]))
                            .arg(both.width())
                            .arg(both.height()),
                        children[i]);
            }
        }
    }

    /// A form that is wider than the place it scrolls in, and no bar to see the rest.
    void sideways(const QWidget& widget) {
        const auto* area = qobject_cast<const QScrollArea*>(&widget);
        if (area == nullptr || area->widget() == nullptr) return;
        const int missing = area->widget()->minimumSizeHint().width() - area->viewport()->width();
        if (missing > tolerance && !area->horizontalScrollBar()->isVisible())
            add(u"%1 of the width are out of view"_s.arg(missing), area);
    }

    void text(const QWidget& widget) {
        if (const auto* label = qobject_cast<const QLabel*>(&widget)) labelText(*label);
        if (const auto* button = qobject_cast<const QAbstractButton*>(&widget)) buttonText(*button);
        if (const auto* tabs = qobject_cast<const QTabBar*>(&widget)) tabTexts(*tabs);
    }
    void labelText(const QLabel& label) {
        if (label.text().isEmpty()) return;
        const bool elides = qobject_cast<const ElidedLabel*>(&label) != nullptr;
        const int line = label.fontMetrics().height();
        if (label.height() < line - 2)
            add(u"%1 of a line of %2 is shown: "_s.arg(label.height()).arg(line) + label.text(),
                &label);
        if (label.wordWrap()) {
            const int wanted = label.heightForWidth(label.width());
            if (wanted > label.height() + 2)
                add(u"text cut, %1 of %2 high: "_s.arg(label.height()).arg(wanted) + label.text(),
                    &label);
        } else if (!elides && label.sizeHint().width() > label.width() + tolerance) {
            add(u"text cut, %1 of %2 wide: "_s.arg(label.width()).arg(label.sizeHint().width()) +
                    label.text(),
                &label);
        }
    }
    void buttonText(const QAbstractButton& button) {
        const QString shown = QString(button.text()).remove(u'&');
        if (shown.isEmpty() || qobject_cast<const SettingsRail*>(&button) != nullptr) return;
        const int wanted = button.fontMetrics().horizontalAdvance(shown);
        if (wanted > button.width())
            add(u"text cut, %1 of %2 wide: "_s.arg(button.width()).arg(wanted) + shown, &button);
        if (button.height() < button.fontMetrics().height() - 2)
            add(u"%1 of a line of %2 is shown: "_s.arg(button.height())
                        .arg(button.fontMetrics().height()) +
                    shown,
                &button);
    }
    void tabTexts(const QTabBar& tabs) {
        for (int i = 0; i < tabs.count(); ++i) {
            const QRect at = tabs.tabRect(i);
            if (!tabs.rect().adjusted(-2, -2, 2, 2).contains(at))
                add(u"tab out of view: "_s + tabs.tabText(i), &tabs);
            if (tabs.fontMetrics().horizontalAdvance(tabs.tabText(i)) > at.width())
                add(u"tab cut: "_s + tabs.tabText(i), &tabs);
        }
    }

    const MainWindow& window_;
    QStringList faults_;
};

}  // namespace ui
