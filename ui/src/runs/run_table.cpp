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
#include "runs/run_table_delegate.h"
#include "text/run_text.h"
#include "text/setting_title.h"
#include "theme/theme.h"
#include "widgets/panel.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

constexpr int nameWidth = 150;
constexpr int textWidth = 84;
constexpr int figureWidth = 78;
constexpr int dateWidth = 124;
constexpr int spannedIndent = 18;
constexpr int mostMeasured = 200;  // rows
constexpr int mostLetters = 30;
constexpr int cellMargins = 13;  // the delegate's on both sides, and a pixel for rounding

QStringList usualColumns() {
    return {u"precision.preset"_s, u"test_metric"_s, u"skipped"_s, u"state"_s, u"dataset.kind"_s,
            u"model.kind"_s,       u"steps"_s,       u"wall_s"_s,  u"started"_s};
}

QString widthKey(const std::string& field) {
    return u"runs/width/"_s + QString::fromStdString(field);
}

int usualWidth(const std::string& name, const engine::RunField* field) {
    if (name == "run") return nameWidth;
    if (field != nullptr && field->kind == engine::RunField::Kind::date) return dateWidth;
    return field != nullptr && isFigure(*field) ? figureWidth : textWidth;
}

}  // namespace

RunTable::RunTable(const Context& context, QWidget* parent)
    : QTreeView(parent), context_(context), model_(new RunTableModel(this)) {
    setObjectName(u"runTable"_s);
    setModel(model_);
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
    makeHead();
    restoreColumns();
    connect(model_, &QAbstractItemModel::modelAboutToBeReset, this, [this] {
        if (restoring_) return;
        kept_.clear();
        for (const auto& run : chosen()) kept_.insert(run.run);
        const auto* run = model_->run(currentIndex());
        current_ = run == nullptr ? std::string() : run->run;
    });
    connect(model_, &QAbstractItemModel::modelReset, this, &RunTable::restore);
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

void RunTable::makeHead() {
    auto* head = header();
    head->setStretchLastSection(false);
    head->setSectionsMovable(false);
    head->setSectionsClickable(true);
    head->setSortIndicatorShown(true);
    head->setContextMenuPolicy(Qt::CustomContextMenu);
    head->setMinimumSectionSize(40);
    connect(head, &QHeaderView::sectionClicked, this, [this](int column) {
        const std::string field = model_->fieldOf(column);
        // The largest first: the best accuracy, the newest run, the longest time.
        const bool same = field == model_->sortField();
        const bool down = same ? model_->sortOrder() == Qt::AscendingOrder : true;
        sortWhere(column, down ? Qt::DescendingOrder : Qt::AscendingOrder);
    });
    connect(head, &QHeaderView::sectionResized, this, [this](int column, int, int width) {
        if (restoring_ || column >= model_->columnCount()) return;
        QSettings().setValue(widthKey(model_->fieldOf(column)), width);
        if (column > 0) fillWidth();
    });
    connect(head, &QWidget::customContextMenuRequested, this, &RunTable::showHeadMenu);
}

void RunTable::sortWhere(int column, Qt::SortOrder order) {
    const std::string field = model_->fieldOf(column);
    model_->sortBy(field, order);
    QSettings settings;
    settings.setValue(u"runs/sort"_s, QString::fromStdString(field));
    settings.setValue(u"runs/descending"_s, order == Qt::DescendingOrder);
}

void RunTable::restoreColumns() {
    const QSettings settings;
    std::vector<std::string> names;
    for (const QString& name : settings.value(u"runs/columns"_s, usualColumns()).toStringList())
        names.push_back(name.toStdString());
    model_->setColumns(names);
    model_->sortBy(settings.value(u"runs/sort"_s).toString().toStdString(),
                   settings.value(u"runs/descending"_s, true).toBool() ? Qt::DescendingOrder
                                                                       : Qt::AscendingOrder);
    restore();
}

void RunTable::applyWidths() {
    const QSettings settings;
    for (int column = 0; column < model_->columnCount(); ++column) {
        const std::string name = model_->fieldOf(column);
        const auto* field = engine::find_run_field(model_->fields(), name);
        const bool isText = column > 0 && (field == nullptr || !isFigure(*field));
        const int usual = std::max({usualWidth(name, field), header()->sectionSizeHint(column),
                                    isText ? widestText(column) : 0});
        header()->resizeSection(column, settings.value(widthKey(name), usual).toInt());
    }
    fillWidth();
}

/// What its texts take, such as "diverged at step 11", within bounds.
int RunTable::widestText(int column) const {
    std::set<QString> texts;
    const auto look = [&](const QModelIndex& parent) {
        const int rows = std::min(model_->rowCount(parent), mostMeasured);
        for (int row = 0; row < rows; ++row)
            texts.insert(model_->index(row, column, parent).data().toString());
        return rows;
    };
    const int tops = look({});
    for (int row = 0; row < tops; ++row) look(model_->index(row, 0));
    int widest = 0;
    for (const QString& text : texts)
        widest = std::max(widest, fontMetrics().horizontalAdvance(text));
    return std::min(widest + cellMargins, fontMetrics().averageCharWidth() * mostLetters);
}

/// The run's column takes the width that the others leave.
void RunTable::fillWidth() {
    const bool before = std::exchange(restoring_, true);
    const int asked = QSettings().value(widthKey("run"), nameWidth).toInt();
    int others = 0;
    for (int column = 1; column < model_->columnCount(); ++column)
        others += header()->sectionSize(column);
    header()->resizeSection(0, std::max(asked, viewport()->width() - others));
    restoring_ = before;
}

void RunTable::resizeEvent(QResizeEvent* event) {
    QTreeView::resizeEvent(event);
    fillWidth();
}

void RunTable::restore() {
    restoring_ = true;
    applyWidths();
    header()->setSortIndicator(model_->columnOf(model_->sortField()), model_->sortOrder());
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

void RunTable::setColumn(const std::string& field, bool shown) {
    std::vector<std::string> names;
    for (const auto& column : model_->columns()) names.push_back(column.name);
    std::erase(names, field);
    if (shown) names.push_back(field);
    model_->setColumns(names);
    QStringList list;
    for (const auto& name : names) list << QString::fromStdString(name);
    QSettings().setValue(u"runs/columns"_s, list);
}

void RunTable::fillColumnMenu(QMenu* menu) {
    std::map<QString, QMenu*> sections;
    const auto below = [&](const QString& section) {
        QMenu*& found = sections[section];
        if (found == nullptr) found = menu->addMenu(section);
        return found;
    };
    for (const auto& field : model_->fields()) {
        if (field.name == "run" || field.name == "title" || field.name == "starred") continue;
        const QString path = QString::fromStdString(field.name);
        const bool metric = field.name.starts_with("test_") && field.name != "test_metric" &&
                            field.name != "test_loss";
        QMenu* place = menu;
        if (metric) place = below(tr("Test metrics"));
        if (field.is_setting)
            place = below(path.contains(u'.') ? sectionTitle(field.name) : tr("Training settings"));
        auto* action = place->addAction(fieldLabel(field));
        action->setData(path);
        action->setCheckable(true);
        action->setChecked(model_->columnOf(field.name) >= 0);
        connect(action, &QAction::toggled, this,
                [this, name = field.name](bool on) { setColumn(name, on); });
    }
    menu->addSeparator();
    connect(menu->addAction(tr("Usual columns")), &QAction::triggered, this, [this] {
        QSettings().remove(u"runs/columns"_s);
        QSettings().remove(u"runs/width"_s);
        restoreColumns();
    });
}

void RunTable::showHeadMenu(const QPoint& at) {
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    fillColumnMenu(menu);
    menu->popup(header()->viewport()->mapToGlobal(at));
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
