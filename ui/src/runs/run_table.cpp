#include "runs/run_table.h"

#include <QHeaderView>
#include <QKeyEvent>
#include <QLineEdit>
#include <QMenu>
#include <QMouseEvent>
#include <QPainter>
#include <QSettings>
#include <algorithm>
#include <utility>

#include "commands/run_history.h"
#include "models/run_table_model.h"
#include "runs/run_table_columns.h"
#include "runs/run_table_delegate.h"
#include "text/run_text.h"
#include "text/setting_text.h"
#include "theme/theme.h"
#include "widgets/panel.h"

namespace ui {
namespace {

constexpr int spannedIndent = 18;

}  // namespace

RunTable::RunTable(const Context& context, QWidget* parent)
    : QTreeView(parent), context_(context), model_(new RunTableModel(this)) {
    setObjectName(u"runTable"_s);
    setModel(model_);
    columns_ = new RunTableColumns(this, model_);
    setItemDelegate(new RunTableDelegate(context_.theme, this));
    setUniformRowHeights(true);
    setRootIsDecorated(false);
    setIndentation(spannedIndent);
    setSelectionMode(ExtendedSelection);
    setEditTriggers(EditKeyPressed);
    setVerticalScrollMode(ScrollPerPixel);
    setHorizontalScrollMode(ScrollPerPixel);
    setExpandsOnDoubleClick(false);
    setContextMenuPolicy(Qt::CustomContextMenu);
    setAccessibleName(tr("Runs"));
    columns_->restore();
    restore();
    connect(model_, &QAbstractItemModel::modelAboutToBeReset, this, [this] {
        if (restoring_) return;
        kept_.clear();
        for (const auto& run : chosen()) kept_.insert(run.run);
        const auto* run = model_->run(currentIndex());
        current_ = run == nullptr ? std::string() : run->run;
    });
    connect(model_, &QAbstractItemModel::modelReset, this, &RunTable::restore);
    connect(columns_, &RunTableColumns::restored, this, &RunTable::restore);
    connect(model_, &RunTableModel::renameWanted, this,
            [this](const QStringList& runs, const QString& title) {
                std::vector<std::string> ids;
                for (const QString& run : runs) ids.push_back(run.toStdString());
                context_.history->setTitle(ids, title);
            });
    connect(selectionModel(), &QItemSelectionModel::selectionChanged, this, [this] {
        if (!restoring_) emit chosenChanged();
    });
    connect(selectionModel(), &QItemSelectionModel::currentChanged, viewport(),
            qOverload<>(&QWidget::update));
    connect(this, &QWidget::customContextMenuRequested, this,
            [this](const QPoint& at) { emit menuWanted(viewport()->mapToGlobal(at)); });
    connect(this, &QTreeView::collapsed, this, [this](const QModelIndex& index) {
        const auto runs = model_->runsAt(index);
        if (!restoring_ && !runs.empty()) closed_.insert(runs.front()->group);
    });
    connect(this, &QTreeView::expanded, this, [this](const QModelIndex& index) {
        const auto runs = model_->runsAt(index);
        if (!restoring_ && !runs.empty()) closed_.erase(runs.front()->group);
    });
    connect(context_.theme, &Theme::changed, viewport(), qOverload<>(&QWidget::update));
}

void RunTable::resizeEvent(QResizeEvent* event) {
    QTreeView::resizeEvent(event);
    columns_->fillWidth();
}

void RunTable::restore() {
    restoring_ = true;
    columns_->apply();
    setRootIsDecorated(model_->isGrouped());
    if (model_->isGrouped()) restoreGroups();
    select(kept_);
    if (const QModelIndex current = model_->indexOf(current_); current.isValid())
        selectionModel()->setCurrentIndex(current, QItemSelectionModel::NoUpdate);
    restoring_ = false;
    emit chosenChanged();
}

/// Expands all, then folds the folded ones: each fold lays the rows out again.
void RunTable::restoreGroups() {
    expandAll();
    for (int row = 0; row < model_->rowCount(); ++row) {
        const QModelIndex index = model_->index(row, 0);
        if (model_->run(index) != nullptr) continue;
        if (!closed_.empty() && closed_.contains(model_->runsAt(index).front()->group))
            collapse(index);
    }
}

void RunTable::select(const std::set<std::string>& runs) {
    QItemSelection rows;
    const auto look = [&](const QModelIndex& parent) {
        for (int row = 0; row < model_->rowCount(parent); ++row) {
            const QModelIndex index = model_->index(row, 0, parent);
            const auto* run = model_->run(index);
            if (run != nullptr && runs.contains(run->run)) rows.select(index, index);
        }
    };
    if (!runs.empty()) {
        look({});
        for (int row = 0; model_->isGrouped() && row < model_->rowCount(); ++row)
            look(model_->index(row, 0));
    }
    selectionModel()->select(rows, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
}

std::vector<engine::RunSummary> RunTable::chosen() const {
    QModelIndexList rows = selectionModel()->selectedRows();
    const auto place = [](const QModelIndex& index) {
        const QModelIndex above = index.parent();
        return above.isValid() ? std::pair(above.row(), index.row()) : std::pair(index.row(), -1);
    };
    std::ranges::sort(rows, {}, place);
    std::vector<engine::RunSummary> runs;
    std::set<std::string> seen;
    for (const QModelIndex& row : rows) {
        for (const auto* run : model_->runsAt(row)) {
            if (seen.insert(run->run).second) runs.push_back(*run);
        }
    }
    return runs;
}

void RunTable::setGrouped(bool grouped) {
    model_->setGrouped(grouped);
    QSettings().setValue(u"runs/grouped"_s, grouped);
}

void RunTable::setEmptyText(const QString& text) {
    emptyText_ = text;
    viewport()->update();
}

void RunTable::renameCurrent() {
    if (canRename()) edit(selectionModel()->selectedRows().front());
}

bool RunTable::canRename() const { return selectionModel()->selectedRows().size() == 1; }

/// If all have one they lose it, else all get one.
void RunTable::toggleStars() {
    const auto runs = chosen();
    const bool all = std::ranges::all_of(runs, &engine::RunSummary::starred);
    std::vector<std::string> ids;
    for (const auto& run : runs) {
        if (run.starred == all) ids.push_back(run.run);
    }
    if (!ids.empty()) context_.history->setStarred(ids, !all);
}

bool RunTable::isOnStar(const QPoint& at) const {
    const QModelIndex index = indexAt(at);
    return index.isValid() && index.column() == 0 && model_->run(index) != nullptr &&
           RunTableDelegate::star(visualRect(index)).contains(at);
}

/// S makes a step elsewhere in the window.
bool RunTable::event(QEvent* event) {
    if (event->type() == QEvent::ShortcutOverride) {
        const auto* key = static_cast<QKeyEvent*>(event);
        const bool plain = key->modifiers() == Qt::NoModifier;
        if (plain && key->key() == Qt::Key_S) {
            event->accept();
            return true;
        }
    }
    return QTreeView::event(event);
}

void RunTable::paintEvent(QPaintEvent* event) {
    QTreeView::paintEvent(event);
    if (model_->rowCount() == 0) paintEmpty(viewport(), *context_.theme, emptyText_);
}

/// Paints the text of a group over all columns. Spans of the base class would search through all
/// spans for each row.
void RunTable::drawRow(QPainter* painter, const QStyleOptionViewItem& option,
                       const QModelIndex& index) const {
    QTreeView::drawRow(painter, option, index);
    const QModelIndex first = index.siblingAtColumn(0);
    if (model_->run(first) != nullptr) return;
    QRect line = visualRect(first);
    line.setRight(viewport()->width() - size::gap);
    painter->save();
    painter->setFont(Theme::bold());
    painter->setPen(context_.theme->tokens().text);
    painter->drawText(line.adjusted(size::grid, 0, 0, 0), Qt::AlignVCenter,
                      QFontMetrics(Theme::bold())
                          .elidedText(first.data().toString(), Qt::ElideRight, line.width()));
    painter->restore();
}

void RunTable::mousePressEvent(QMouseEvent* event) {
    const bool star = event->button() == Qt::LeftButton && isOnStar(event->pos());
    if (!star) return QTreeView::mousePressEvent(event);
    const auto* run = model_->run(indexAt(event->pos()));
    context_.history->setStarred({run->run}, !run->starred);
}

void RunTable::mouseDoubleClickEvent(QMouseEvent* event) {
    const QModelIndex index = indexAt(event->pos());
    if (isOnStar(event->pos())) return mousePressEvent(event);
    QTreeView::mouseDoubleClickEvent(event);
    if (!index.isValid() || event->button() != Qt::LeftButton) return;
    if (model_->run(index) == nullptr)
        setExpanded(index.siblingAtColumn(0), !isExpanded(index.siblingAtColumn(0)));
    else
        emit openWanted();
}

void RunTable::keyPressEvent(QKeyEvent* event) {
    if (state() == EditingState) return QTreeView::keyPressEvent(event);
    const bool plain = event->modifiers() == Qt::NoModifier;
    switch (event->key()) {
        case Qt::Key_S:
            if (plain) return toggleStars();
            break;
        case Qt::Key_F2:
            return renameCurrent();
        case Qt::Key_Return:
        case Qt::Key_Enter:
            emit openWanted();
            return;
        case Qt::Key_Delete:
            emit deleteWanted();
            return;
        default:
            break;
    }
    QTreeView::keyPressEvent(event);
}

}  // namespace ui
