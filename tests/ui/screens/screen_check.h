#pragma once

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAbstractScrollArea>
#include <QApplication>
#include <QDockWidget>
#include <QHeaderView>
#include <QHelpEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMainWindow>
#include <QMenuBar>
#include <QScrollBar>
#include <QSplitterHandle>
#include <QStringList>
#include <QTabBar>
#include <QToolTip>
#include <cstdlib>
#include <vector>

#include "pages/page_stack.h"
#include "screens/painted_text.h"
#include "widgets/elided_label.h"
#include "window/message_bar.h"
#include "window/settings_rail.h"

namespace ui {

using namespace Qt::StringLiterals;

/// Finds faults in the layout of a window as it is on screen: widgets that lie over one another or
/// outside their parent, text that is cut, covered or painted over other text, by widgets or by
/// what they paint themselves, a page that must be scrolled sideways, plots that are not a grid.
class ScreenCheck {
public:
    explicit ScreenCheck(const QWidget& window) : window_(window) {}

    QStringList faults(const QSize& screen) {
        if (window_.width() > screen.width() || window_.height() > screen.height())
            add(u"the window is %1x%2"_s.arg(window_.width()).arg(window_.height()), &window_);
        for (auto* widget : window_.findChildren<QWidget*>()) {
            if (!widget->isVisible() || widget->window() != &window_) continue;
            outside(*widget);
            overlaps(*widget);
            text(*widget);
            sideways(*widget);
            painted(*widget);
        }
        grid();
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
    /// Whether a widget lies over others on purpose.
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

    /// Text that the widget paints itself.
    void painted(QWidget& widget) {
        if (widget.size().isEmpty() || widget.visibleRegion().isEmpty()) return;
        const std::vector<PaintedText> texts = paintedTexts(widget);
        for (std::size_t i = 0; i < texts.size(); ++i) {
            cut(widget, texts[i]);
            covered(widget, texts[i]);
            elided(widget, texts[i]);
            for (std::size_t k = i + 1; k < texts.size(); ++k) over(widget, texts[i], texts[k]);
        }
    }
    /// Whether these rectangles share more than what antialiasing and slanted letters touch.
    static bool meet(const QRectF& a, const QRectF& b) {
        const QRectF both = a & b;
        return both.width() > 2 * tolerance && both.height() > 2 * tolerance;
    }
    /// Whether what does not fit can be scrolled into view.
    static bool scrolls(const QWidget& widget) {
        return isViewport(&widget) || qobject_cast<const QLineEdit*>(&widget) != nullptr;
    }
    static bool isHead(const QWidget& widget) {
        return qobject_cast<const QHeaderView*>(widget.parentWidget()) != nullptr;
    }
    void cut(const QWidget& widget, const PaintedText& text) {
        // The head of a column has its section, wherever the table is scrolled to.
        if (scrolls(widget) && !(isHead(widget) && !text.clip.isNull())) return;
        QRectF room = isHead(widget) ? text.clip : QRectF(widget.rect());
        if (!text.clip.isNull()) room &= text.clip;
        const QRectF seen = text.ink & room;
        const double missing = std::max(text.ink.width() - std::max(seen.width(), 0.0),
                                        text.ink.height() - std::max(seen.height(), 0.0));
        if (missing > 2 * tolerance)
            add(u"%1 pixels of painted text are out of view: "_s.arg(missing) + text.text, &widget);
    }
    /// Text of a widget below one of its children.
    void covered(const QWidget& widget, const PaintedText& text) {
        for (const QObject* child : widget.children()) {
            const auto* above = qobject_cast<const QWidget*>(child);
            if (above == nullptr || !above->isVisible() || above->isWindow() || floats(above) ||
                isViewport(above))
                continue;
            if (meet(text.ink, above->geometry()))
                add(u"painted text below %1: "_s.arg(nameOf(above)) + text.text, &widget);
        }
    }
    void over(const QWidget& widget, const PaintedText& a, const PaintedText& b) {
        const bool twice =
            a.text == b.text && (a.ink.center() - b.ink.center()).manhattanLength() < 4;
        if (!twice && meet(a.ink, b.ink))
            add(u"painted texts over one another: %1 | %2"_s.arg(a.text, b.text), &widget);
    }
    /// Text that ends in "…", and no tooltip that has the whole.
    void elided(QWidget& widget, const PaintedText& text) {
        if (!text.text.contains(u'…') || ownText(widget).contains(text.text)) return;
        const QPoint at = (text.ink & widget.rect()).center().toPoint();
        if (at.isNull()) return;  // out of view
        QHelpEvent ask(QEvent::ToolTip, at, widget.mapToGlobal(at));
        QApplication::sendEvent(&widget, &ask);
        if (!ask.isAccepted()) add(u"cut, and no tooltip: "_s + text.text, &widget);
        QToolTip::hideText();
    }
    /// The text that a widget of Qt is to show, with the "…" of a command that asks for more.
    static QString ownText(const QWidget& widget) {
        QString text = widget.property("text").toString() + u'\n' +
                       widget.property("placeholderText").toString();
        if (const auto* tabs = qobject_cast<const QTabBar*>(&widget)) {
            for (int i = 0; i < tabs->count(); ++i) text += tabs->tabText(i) + u'\n';
        }
        if (const auto* bar = qobject_cast<const QMenuBar*>(&widget)) {
            for (const QAction* action : bar->actions()) text += action->text() + u'\n';
        }
        return text.remove(u'&');
    }

    /// The plots that stand beside and below one another share the room equally.
    void grid() {
        const auto dock = [this](const char* name) -> const QWidget* {
            const auto* found =
                window_.findChild<QDockWidget*>(QString::fromLatin1(name));
            return found != nullptr && !found->visibleRegion().isEmpty() && !found->isFloating()
                       ? found
                       : nullptr;
        };
        const QWidget *loss = dock("loss"), *accuracy = dock("accuracy"), *scale = dock("scale"),
                      *fourth = dock("fourth");
        const auto equal = [this](const QWidget* a, const QWidget* b, bool width) {
            if (a == nullptr || b == nullptr) return;
            const int first = width ? a->width() : a->height();
            const int second = width ? b->width() : b->height();
            if (std::abs(first - second) > tolerance)
                add(u"no grid: %1 and %2 %3"_s.arg(first).arg(second).arg(width ? u"wide"_s
                                                                               : u"high"_s),
                    a);
        };
        equal(loss, accuracy, true);
        equal(scale, fourth, true);
        equal(loss, scale, true);
        equal(loss, scale, false);
        equal(loss, accuracy, false);
        equal(scale, fourth, false);
    }

    const QWidget& window_;
    QStringList faults_;
};

}  // namespace ui
