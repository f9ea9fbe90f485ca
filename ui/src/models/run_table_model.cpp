#include "models/run_table_model.h"

#include <algorithm>

#include "engine/runs/run_group.h"
#include "text/format.h"
#include "text/language.h"
#include "text/metric_text.h"
#include "text/precision_title.h"
#include "text/run_text.h"
#include "text/setting_text.h"

namespace ui {
namespace {

constexpr quintptr topLevel = 0;  ///< internal id of a row without a parent; else the parent + 1
constexpr int maxNamed = 3;      ///< settings in the text of a group
constexpr std::size_t maxCompared = 32;  ///< runs looked at for that

}  // namespace

RunTableModel::RunTableModel(QObject* parent) : QAbstractItemModel(parent) {}

void RunTableModel::setRuns(Runs runs) {
    beginResetModel();
    runs_ = std::move(runs);
    fields_ = engine::run_fields(*runs_);
    groupTexts_.clear();
    chooseColumns();
    arrange();
    endResetModel();
}

void RunTableModel::setFigures(Runs runs) {
    runs_ = std::move(runs);
    groupTexts_.clear();
    const auto announce = [this](const QModelIndex& parent) {
        const int rows = rowCount(parent);
        if (rows == 0) return;
        emit dataChanged(index(0, 0, parent), index(rows - 1, columnCount() - 1, parent));
    };
    announce({});
    for (int row = 0; row < rowCount(); ++row) {
        if (tops_[static_cast<std::size_t>(row)].group) announce(index(row, 0));
    }
}

void RunTableModel::setFilter(engine::RunQuery filter) {
    beginResetModel();
    filter_ = std::move(filter);
    groupTexts_.clear();
    arrange();
    endResetModel();
}

void RunTableModel::setGrouped(bool grouped) {
    if (grouped == grouped_) return;
    beginResetModel();
    grouped_ = grouped;
    makeTops();
    endResetModel();
}

void RunTableModel::setColumns(const std::vector<std::string>& names) {
    beginResetModel();
    wanted_ = names;
    chooseColumns();
    endResetModel();
}

void RunTableModel::chooseColumns() {
    columns_.clear();
    for (const auto& name : wanted_) {
        const auto* field = engine::find_run_field(fields_, name);
        if (field != nullptr) columns_.push_back(*field);
    }
}

void RunTableModel::sortBy(const std::string& field, Qt::SortOrder order) {
    beginResetModel();
    sortField_ = field;
    sortOrder_ = order;
    arrange();
    endResetModel();
}

void RunTableModel::sort(int column, Qt::SortOrder order) {
    if (column >= 0) sortBy(fieldOf(column), order);
}

std::string RunTableModel::fieldOf(int column) const {
    return column == 0 ? "run" : columns_.at(static_cast<std::size_t>(column - 1)).name;
}

int RunTableModel::columnOf(const std::string& field) const {
    for (int column = 0; column < columnCount(); ++column) {
        if (fieldOf(column) == field) return column;
    }
    return -1;
}

void RunTableModel::arrange() {
    shown_.clear();
    const auto* field = engine::find_run_field(fields_, sortField_);
    if (field != nullptr) {
        shown_ = engine::order_by(*runs_, *field, sortOrder_ == Qt::DescendingOrder);
    } else {
        for (std::size_t i = 0; i < runs_->size(); ++i) shown_.push_back(i);
    }
    if (!filter_.empty())
        std::erase_if(shown_, [this](std::size_t i) { return !filter_.matches((*runs_)[i]); });
    makeTops();
}

/// A group stands where its first run would.
void RunTableModel::makeTops() {
    tops_.clear();
    std::map<std::string, std::size_t> groups;
    for (std::size_t i = 0; i < shown_.size(); ++i) {
        const std::string& group = at(i).group;
        const bool single = !grouped_ || group.empty();
        const auto found = single ? groups.end() : groups.find(group);
        if (found != groups.end()) {
            tops_[found->second].runs.push_back(i);
            continue;
        }
        if (!single) groups.emplace(group, tops_.size());
        tops_.push_back({{i}, false});
    }
    for (Top& top : tops_) top.group = top.runs.size() > 1;
}

const engine::RunSummary* RunTableModel::run(const QModelIndex& index) const {
    if (!index.isValid()) return nullptr;
    const auto row = static_cast<std::size_t>(index.row());
    if (index.internalId() != topLevel)
        return &at(tops_[static_cast<std::size_t>(index.internalId() - 1)].runs[row]);
    const Top& top = tops_[row];
    return top.group ? nullptr : &at(top.runs.front());
}

std::vector<const engine::RunSummary*> RunTableModel::runsAt(const QModelIndex& index) const {
    if (!index.isValid()) return {};
    if (const auto* single = run(index)) return {single};
    std::vector<const engine::RunSummary*> out;
    for (const std::size_t i : tops_[static_cast<std::size_t>(index.row())].runs)
        out.push_back(&at(i));
    return out;
}

QModelIndex RunTableModel::indexOf(const std::string& run) const {
    for (std::size_t top = 0; top < tops_.size(); ++top) {
        const auto& runs = tops_[top].runs;
        for (std::size_t i = 0; i < runs.size(); ++i) {
            if (at(runs[i]).run != run) continue;
            const QModelIndex above = index(static_cast<int>(top), 0);
            return tops_[top].group ? index(static_cast<int>(i), 0, above) : above;
        }
    }
    return {};
}

QModelIndex RunTableModel::index(int row, int column, const QModelIndex& parent) const {
    if (!hasIndex(row, column, parent)) return {};
    return createIndex(row, column,
                       parent.isValid() ? static_cast<quintptr>(parent.row()) + 1 : topLevel);
}

QModelIndex RunTableModel::parent(const QModelIndex& index) const {
    if (!index.isValid() || index.internalId() == topLevel) return {};
    return createIndex(static_cast<int>(index.internalId()) - 1, 0, topLevel);
}

int RunTableModel::rowCount(const QModelIndex& parent) const {
    if (!parent.isValid()) return static_cast<int>(tops_.size());
    if (parent.internalId() != topLevel || parent.column() != 0) return 0;
    const Top& top = tops_[static_cast<std::size_t>(parent.row())];
    return top.group ? static_cast<int>(top.runs.size()) : 0;
}

int RunTableModel::columnCount(const QModelIndex&) const {
    return static_cast<int>(columns_.size()) + 1;
}

QString RunTableModel::name(const engine::RunSummary& run) const {
    const QString id = QString::fromStdString(run.run);
    return run.title.empty() ? id : id + u"  "_s + QString::fromStdString(run.title).simplified();
}

/// Below a group of the same name just the number.
QString RunTableModel::shownName(const QModelIndex& index, const engine::RunSummary& run) const {
    if (index.internalId() == topLevel) return name(run);
    const QString above = groupTitle(tops_[static_cast<std::size_t>(index.internalId() - 1)]);
    return above.isEmpty() ? name(run) : QString::fromStdString(run.run);
}

QVariant RunTableModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    const auto* found = run(index);
    if (found == nullptr)
        return groupData(tops_[static_cast<std::size_t>(index.row())], index.column(), role);
    const auto column = static_cast<std::size_t>(index.column());
    switch (role) {
        case Qt::DisplayRole:
            return column == 0 ? shownName(index, *found)
                               : fieldText(*found, columns_[column - 1]);
        case Qt::EditRole:
        case TitleRole:
            return QString::fromStdString(found->title);
        case Qt::ToolTipRole:
            return column == 0 ? name(*found) : fieldText(*found, columns_[column - 1]);
        case Qt::AccessibleTextRole:
            if (column > 0)
                return QString(fieldLabel(columns_[column - 1]) + u' ' +
                               fieldText(*found, columns_[column - 1]));
            return found->starred ? tr("%1, starred").arg(name(*found)) : name(*found);
        case Qt::TextAlignmentRole:
            return QVariant::fromValue(
                (column > 0 && isFigure(columns_[column - 1]) ? Qt::AlignRight : Qt::AlignLeft) |
                Qt::AlignVCenter);
        case StarRole:
            return found->starred;
        case PrecisionRole:
            return QString::fromStdString(found->config.precision.preset);
        case BrokenRole:
            return found->state == "failed" || found->state == "diverged";
        case GroupRole:
            return false;
        default:
            return {};
    }
}

QVariant RunTableModel::groupData(const Top& top, int column, int role) const {
    if (role == GroupRole) return true;
    if (column != 0) return {};
    if (role == Qt::EditRole || role == TitleRole) return groupTitle(top);
    if (role != Qt::DisplayRole && role != Qt::ToolTipRole && role != Qt::AccessibleTextRole)
        return {};
    QString& text = groupTexts_[at(top.runs.front()).group];
    if (text.isEmpty()) text = groupText(top);
    return text;
}

/// The title that all of its runs have; empty if they have none, or different ones.
QString RunTableModel::groupTitle(const Top& top) const {
    const std::string& title = at(top.runs.front()).title;
    const bool same =
        std::ranges::all_of(top.runs, [&](std::size_t i) { return at(i).title == title; });
    return same ? QString::fromStdString(title).simplified() : QString();
}

/// "Title · Comparison 3 · stopped · 4 runs: Learning rate, Seed · Glyphs · LeNet": its state unless it
/// ended as planned, what its runs differ in, then what they share.
QString RunTableModel::groupText(const Top& top) const {
    const engine::RunSummary& first = at(top.runs.front());
    QStringList names;
    for (std::size_t i = 1; i < std::min(top.runs.size(), maxCompared); ++i) {
        for (const auto& path : engine::differing_fields(first.config, at(top.runs[i]).config)) {
            const QString name = settingTitle(path);
            if (!names.contains(name)) names << name;
        }
    }
    if (names.size() > maxNamed) names = names.mid(0, maxNamed) << u"…"_s;
    const QString runs = count(static_cast<std::int64_t>(top.runs.size()));
    QStringList parts;
    if (const QString title = groupTitle(top); !title.isEmpty()) parts << title;
    if (first.group_number > 0) parts << engineText(engine::group_title(first));
    std::vector<engine::RunSummary> states;  // one of each; a sweep may have thousands of runs
    for (const std::size_t i : top.runs) {
        const std::string& state = at(i).state;
        if (std::ranges::find(states, state, &engine::RunSummary::state) == states.end())
            states.emplace_back().state = state;
    }
    engine::RunSummary whole;
    whole.state = engine::group_state(states);
    if (whole.state != "done") parts << stateText(whole);
    return (parts << QStringList{names.isEmpty() ? tr("%1 runs").arg(runs)
                                                 : tr("%1 runs: %2").arg(runs, names.join(u", "_s)),
                                 datasetTitle(first), modelTitle(first)})
        .join(u" · "_s);
}

QVariant RunTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
    const auto column = static_cast<std::size_t>(section);
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(
            (column > 0 && isFigure(columns_[column - 1]) ? Qt::AlignRight : Qt::AlignLeft) |
            Qt::AlignVCenter);
    if (role == Qt::ToolTipRole && column > 0) return fieldLabel(columns_[column - 1]);
    if (role != Qt::DisplayRole) return {};
    return column == 0 ? tr("Run") : fieldLabel(columns_[column - 1]);
}

Qt::ItemFlags RunTableModel::flags(const QModelIndex& index) const {
    auto flags = QAbstractItemModel::flags(index);
    if (index.isValid() && index.column() == 0) flags |= Qt::ItemIsEditable;
    return flags;
}

bool RunTableModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    if (role != Qt::EditRole || !index.isValid() || index.column() != 0) return false;
    const QString title = value.toString().simplified();
    if (title == index.data(Qt::EditRole).toString()) return true;
    QStringList runs;
    if (const auto* single = run(index)) {
        runs << QString::fromStdString(single->run);
    } else {
        // All of the group's, also those that the filter hides.
        const std::string& group = runsAt(index).front()->group;
        for (const auto& each : *runs_)
            if (each.group == group) runs << QString::fromStdString(each.run);
    }
    emit renameWanted(runs, title);
    return true;
}

}  // namespace ui
