#include "runs/run_table_columns.h"

#include <QHeaderView>
#include <QMenu>
#include <QSettings>
#include <QTreeView>
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "models/run_table_model.h"
#include "text/run_text.h"
#include "text/setting_text.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

constexpr int nameWidth = 150;
constexpr int textWidth = 84;
constexpr int figureWidth = 78;
constexpr int dateWidth = 124;
constexpr int maxMeasured = 200;  // rows
constexpr int maxLetters = 30;
constexpr int cellMargins = 13;  // the delegate's on both sides, and a pixel for rounding

QStringList usualColumns() {
    return {u"precision.preset"_s, u"test_metric"_s, u"skipped"_s, u"state"_s,
            u"dataset.kind"_s,     u"model.kind"_s,  u"steps"_s,   u"wall_s"_s,
            u"disk_bytes"_s,       u"started"_s};
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

RunTableColumns::RunTableColumns(QTreeView* table, RunTableModel* model)
    : QObject(table), table_(table), model_(model) {
    auto* head = table_->header();
    head->setStretchLastSection(false);
    head->setSectionsMovable(false);
    head->setSectionsClickable(true);
    head->setSortIndicatorShown(true);
    head->setContextMenuPolicy(Qt::CustomContextMenu);
    head->setMinimumSectionSize(40);
    connect(head, &QHeaderView::sectionClicked, this, &RunTableColumns::sortWhere);
    connect(head, &QHeaderView::sectionResized, this,
            [this](int column, int, int width) { resized(column, width); });
    connect(head, &QWidget::customContextMenuRequested, this, &RunTableColumns::showMenu);
}

void RunTableColumns::sortWhere(int column) {
    const std::string field = model_->fieldOf(column);
    // The largest first: the best accuracy, the newest run, the longest time.
    const bool same = field == model_->sortField();
    const bool down = same ? model_->sortOrder() == Qt::AscendingOrder : true;
    model_->sortBy(field, down ? Qt::DescendingOrder : Qt::AscendingOrder);
    QSettings settings;
    settings.setValue(u"runs/sort"_s, QString::fromStdString(field));
    settings.setValue(u"runs/descending"_s, down);
}

void RunTableColumns::resized(int column, int width) {
    if (applying_ || column >= model_->columnCount()) return;
    QSettings().setValue(widthKey(model_->fieldOf(column)), width);
    if (column > 0) fillWidth();
}

void RunTableColumns::restore() {
    const QSettings settings;
    std::vector<std::string> names;
    for (const QString& name : settings.value(u"runs/columns"_s, usualColumns()).toStringList())
        names.push_back(name.toStdString());
    model_->setColumns(names);
    model_->sortBy(settings.value(u"runs/sort"_s).toString().toStdString(),
                   settings.value(u"runs/descending"_s, true).toBool() ? Qt::DescendingOrder
                                                                       : Qt::AscendingOrder);
}

void RunTableColumns::apply() {
    applying_ = true;
    const QSettings settings;
    auto* head = table_->header();
    for (int column = 0; column < model_->columnCount(); ++column) {
        const std::string name = model_->fieldOf(column);
        const auto* field = engine::find_run_field(model_->fields(), name);
        const bool isText = column > 0 && (field == nullptr || !isFigure(*field));
        const int usual = std::max({usualWidth(name, field), head->sectionSizeHint(column),
                                    isText ? widestText(column) : 0});
        head->resizeSection(column, settings.value(widthKey(name), usual).toInt());
    }
    applying_ = false;
    fillWidth();
    head->setSortIndicator(model_->columnOf(model_->sortField()), model_->sortOrder());
}

/// Width of the texts of a column, such as "diverged at step 11", within bounds.
int RunTableColumns::widestText(int column) const {
    std::set<QString> texts;
    const auto look = [&](const QModelIndex& parent) {
        const int rows = std::min(model_->rowCount(parent), maxMeasured);
        for (int row = 0; row < rows; ++row)
            texts.insert(model_->index(row, column, parent).data().toString());
        return rows;
    };
    const int tops = look({});
    for (int row = 0; row < tops; ++row) look(model_->index(row, 0));
    const QFontMetrics metrics = table_->fontMetrics();
    int widest = 0;
    for (const QString& text : texts) widest = std::max(widest, metrics.horizontalAdvance(text));
    return std::min(widest + cellMargins, metrics.averageCharWidth() * maxLetters);
}

void RunTableColumns::fillWidth() {
    const bool before = std::exchange(applying_, true);
    auto* head = table_->header();
    const int asked = QSettings().value(widthKey("run"), nameWidth).toInt();
    int others = 0;
    for (int column = 1; column < model_->columnCount(); ++column)
        others += head->sectionSize(column);
    head->resizeSection(0, std::max(asked, table_->viewport()->width() - others));
    applying_ = before;
}

void RunTableColumns::setColumn(const std::string& field, bool shown) {
    std::vector<std::string> names;
    for (const auto& column : model_->columns()) names.push_back(column.name);
    std::erase(names, field);
    if (shown) names.push_back(field);
    model_->setColumns(names);
    QStringList list;
    for (const auto& name : names) list << QString::fromStdString(name);
    QSettings().setValue(u"runs/columns"_s, list);
}

void RunTableColumns::fillMenu(QMenu* menu) {
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
        restore();
        emit restored();
    });
}

void RunTableColumns::showMenu(const QPoint& at) {
    auto* menu = new QMenu(table_);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    fillMenu(menu);
    menu->popup(table_->header()->viewport()->mapToGlobal(at));
}

}  // namespace ui
