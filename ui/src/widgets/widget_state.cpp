#include "widgets/widget_state.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QButtonGroup>
#include <QComboBox>
#include <QHeaderView>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPointer>
#include <QScrollBar>
#include <QSplitter>
#include <QTabBar>
#include <QTreeView>
#include <QWidget>
#include <memory>
#include <utility>
#include <vector>

namespace ui {

using namespace Qt::StringLiterals;

namespace {

/// Calls f(widget, path) for each widget below `root`, parents first.
template <typename Root, typename F>
void forEachWidget(Root* root, const QString& path, const F& f) {
    std::map<QString, int> seen;
    for (QObject* child : root->children()) {
        auto* widget = qobject_cast<QWidget*>(child);
        if (widget == nullptr || (widget->isWindow() && widget->windowType() != Qt::Tool)) continue;
        const QString kind = QString::fromLatin1(widget->metaObject()->className());
        const QString own = u"%1/%2%3"_s.arg(path, kind).arg(seen[kind]++);
        f(widget, own);
        forEachWidget(widget, own, f);
    }
}

/// The column of an index, then the rows on the way to it from the top.
QVariantList rowsOf(QModelIndex index) {
    QVariantList rows{index.column()};
    for (; index.isValid(); index = index.parent()) rows.insert(1, index.row());
    return rows;
}

QModelIndex indexOf(const QAbstractItemModel& model, const QVariantList& rows) {
    QModelIndex at;
    for (qsizetype i = 1; i < rows.size(); ++i) {
        at = model.index(rows[i].toInt(), 0, at);
        if (!at.isValid()) return {};
    }
    return rows.isEmpty() ? QModelIndex() : at.siblingAtColumn(rows[0].toInt());
}

void addUnfolded(const QTreeView& view, const QModelIndex& parent, QVariantList& out) {
    for (int row = 0; row < view.model()->rowCount(parent); ++row) {
        const QModelIndex index = view.model()->index(row, 0, parent);
        if (!view.isExpanded(index)) continue;
        out.append(QVariant(rowsOf(index)));
        addUnfolded(view, index, out);
    }
}

void addRows(const QAbstractItemView& view, QVariantMap& out) {
    if (view.model() == nullptr) return;
    if (const auto* tree = qobject_cast<const QTreeView*>(&view)) {
        QVariantList unfolded;
        addUnfolded(*tree, {}, unfolded);
        out[u"unfolded"_s] = unfolded;
    }
    const auto* selection = view.selectionModel();
    if (selection == nullptr) return;
    QVariantList selected;
    for (const QModelIndex& row : selection->selectedRows()) selected.append(QVariant(rowsOf(row)));
    out[u"selected"_s] = selected;
    if (view.currentIndex().isValid()) out[u"current"_s] = rowsOf(view.currentIndex());
}

void restoreRows(QAbstractItemView& view, const QVariantMap& from) {
    if (view.model() == nullptr) return;
    if (auto* tree = qobject_cast<QTreeView*>(&view)) {
        tree->collapseAll();
        for (const QVariant& each : from[u"unfolded"_s].toList())
            tree->expand(indexOf(*view.model(), each.toList()));
    }
    auto* selection = view.selectionModel();
    if (selection == nullptr) return;
    if (from.contains(u"current"_s)) {
        const QModelIndex current = indexOf(*view.model(), from[u"current"_s].toList());
        const bool follows = view.hasAutoScroll();
        view.setAutoScroll(false);  // the list was not scrolled to its current row
        if (current.isValid()) selection->setCurrentIndex(current, QItemSelectionModel::NoUpdate);
        view.setAutoScroll(follows);
    }
    QItemSelection rows;
    for (const QVariant& each : from[u"selected"_s].toList()) {
        const QModelIndex row = indexOf(*view.model(), each.toList());
        if (row.isValid()) rows.select(row, row);
    }
    const auto how = QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows;
    if (selection->selectedRows() != rows.indexes()) selection->select(rows, how);
}

/// Scrolls at once, or as soon as the area has become long enough.
void scroll(QScrollBar* bar, int value) {
    bar->setValue(value);
    if (bar->maximum() >= value) return;
    const auto growing = std::make_shared<QMetaObject::Connection>();
    *growing = QObject::connect(bar, &QScrollBar::rangeChanged, bar,
                                [bar, value, growing](int, int maximum) {
                                    bar->setValue(value);
                                    if (maximum >= value) QObject::disconnect(*growing);
                                });
    // Once the user scrolls, the old position is forgotten.
    QObject::connect(bar, &QScrollBar::actionTriggered, bar,
                     [growing] { QObject::disconnect(*growing); });
}

QVariantMap valuesOf(const QWidget& widget) {
    QVariantMap out;
    if (const QVariant kept = widget.property("kept"); kept.isValid()) out[u"kept"_s] = kept;
    if (const auto* bar = qobject_cast<const QScrollBar*>(&widget)) {
        if (bar->value() > bar->minimum()) out[u"scroll"_s] = bar->value();
    } else if (const auto* slider = qobject_cast<const QAbstractSlider*>(&widget)) {
        out[u"value"_s] = slider->value();
    } else if (const auto* tabs = qobject_cast<const QTabBar*>(&widget)) {
        out[u"tab"_s] = tabs->currentIndex();
    } else if (const auto* box = qobject_cast<const QComboBox*>(&widget)) {
        out[u"choice"_s] = box->currentIndex();
    } else if (const auto* line = qobject_cast<const QLineEdit*>(&widget)) {
        out[u"text"_s] = line->text();
    } else if (const auto* text = qobject_cast<const QPlainTextEdit*>(&widget)) {
        out[u"text"_s] = text->toPlainText();
    } else if (const auto* splitter = qobject_cast<const QSplitter*>(&widget)) {
        out[u"sizes"_s] = splitter->saveState();
    } else if (const auto* header = qobject_cast<const QHeaderView*>(&widget)) {
        out[u"columns"_s] = header->saveState();
    } else if (const auto* view = qobject_cast<const QAbstractItemView*>(&widget)) {
        addRows(*view, out);
    } else if (const auto* button = qobject_cast<const QAbstractButton*>(&widget)) {
        if (button->isCheckable()) out[u"checked"_s] = button->isChecked();
    }
    return out;
}

void putBack(QWidget& widget, const QVariantMap& from) {
    if (from.contains(u"kept"_s)) widget.setProperty("kept", from[u"kept"_s]);
    if (auto* bar = qobject_cast<QScrollBar*>(&widget)) {
        if (from.contains(u"scroll"_s)) scroll(bar, from[u"scroll"_s].toInt());
    } else if (auto* slider = qobject_cast<QAbstractSlider*>(&widget)) {
        slider->setValue(from[u"value"_s].toInt());
    } else if (auto* tabs = qobject_cast<QTabBar*>(&widget)) {
        if (tabs->isTabEnabled(from[u"tab"_s].toInt()))
            tabs->setCurrentIndex(from[u"tab"_s].toInt());
    } else if (auto* box = qobject_cast<QComboBox*>(&widget)) {
        if (from[u"choice"_s].toInt() < box->count()) box->setCurrentIndex(from[u"choice"_s].toInt());
    } else if (auto* line = qobject_cast<QLineEdit*>(&widget)) {
        if (qobject_cast<QComboBox*>(line->parentWidget()) == nullptr && !line->isReadOnly() &&
            line->text() != from[u"text"_s].toString())
            line->setText(from[u"text"_s].toString());
    } else if (auto* text = qobject_cast<QPlainTextEdit*>(&widget)) {
        if (text->toPlainText() != from[u"text"_s].toString())
            text->setPlainText(from[u"text"_s].toString());
    } else if (auto* splitter = qobject_cast<QSplitter*>(&widget)) {
        splitter->restoreState(from[u"sizes"_s].toByteArray());
    } else if (auto* header = qobject_cast<QHeaderView*>(&widget)) {
        header->restoreState(from[u"columns"_s].toByteArray());
    } else if (auto* view = qobject_cast<QAbstractItemView*>(&widget)) {
        restoreRows(*view, from);
    } else if (auto* button = qobject_cast<QAbstractButton*>(&widget)) {
        if (from.contains(u"checked"_s) && button->isEnabled() &&
            button->isChecked() != from[u"checked"_s].toBool() &&
            (button->group() == nullptr || !button->group()->exclusive() || !button->isChecked()))
            button->click();
    }
}

}  // namespace

WidgetState WidgetState::of(const QWidget* root) {
    WidgetState out;
    // Not hasFocus(): the menu that asks for another language may have taken it.
    const QWidget* const focused = root->window()->focusWidget();
    forEachWidget(root, {}, [&](const QWidget* widget, const QString& path) {
        QVariantMap values = valuesOf(*widget);
        if (!values.isEmpty()) out.values_[path] = std::move(values);
        if (widget == focused) out.focused_ = path;
    });
    return out;
}

void WidgetState::restore(QWidget* root, const QWidget* within) {
    // All widgets are listed first: putting values back may make more, which the next call finds.
    std::vector<std::pair<QPointer<QWidget>, QString>> all;
    forEachWidget(root, {}, [&](QWidget* widget, const QString& path) {
        if (within == nullptr || within->isAncestorOf(widget)) all.emplace_back(widget, path);
    });
    for (const auto& [widget, path] : all)
        if (widget) restoreChild(widget, path);
}

void WidgetState::restoreChild(QWidget* widget, const QString& path) {
    const auto found = values_.find(path);
    if (found != values_.end()) {
        const QVariantMap values = std::move(found->second);
        values_.erase(found);
        putBack(*widget, values);
    }
    if (path == focused_) {
        focused_.clear();
        widget->setFocus(Qt::OtherFocusReason);
    }
}

KeptState::KeptState(WidgetState state, QWidget* window, QObject* parent)
    : QObject(parent), state_(std::move(state)), window_(window) {
    connect(window, &QObject::destroyed, this, &QObject::deleteLater);
}

void KeptState::restoreIn(QObject* kept, const QWidget* page) {
    if (kept == nullptr) return;
    if (auto* own = kept->findChild<KeptState*>(QString(), Qt::FindDirectChildrenOnly))
        own->state_.restore(own->window_, page);
}

}  // namespace ui
