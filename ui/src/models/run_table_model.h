#pragma once

#include <QAbstractItemModel>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/runs/run_query.h"

namespace ui {

/// The runs of the history as a table: filtered, sorted by any field, with the columns that the
/// user chose. The runs of one comparison or sweep may be grouped below a row of their own. Column
/// 0 is the run itself: its number, name, star and precision.
class RunTableModel final : public QAbstractItemModel {
    Q_OBJECT
public:
    enum Role {
        StarRole = Qt::UserRole,  ///< bool
        PrecisionRole,            ///< preset
        BrokenRole,               ///< true: failed or diverged
        GroupRole,                ///< true: the row of a group
        TitleRole                 ///< that a person gave it
    };
    using Runs = std::shared_ptr<const std::vector<engine::RunSummary>>;

    explicit RunTableModel(QObject* parent = nullptr);

    void setRuns(Runs runs);
    /// Updates the figures of the runs, which keep their order: no row moves.
    void setFigures(Runs runs);
    void setFilter(engine::RunQuery filter);
    void setGrouped(bool grouped);
    bool isGrouped() const { return grouped_; }
    /// Names of fields, after column 0. Unknown ones are left out.
    void setColumns(const std::vector<std::string>& names);
    const std::vector<engine::RunField>& columns() const { return columns_; }
    /// By a field, whether or not it has a column; an empty name: newest first.
    void sortBy(const std::string& field, Qt::SortOrder order);
    const std::string& sortField() const { return sortField_; }
    Qt::SortOrder sortOrder() const { return sortOrder_; }
    /// "run" for column 0.
    std::string fieldOf(int column) const;
    /// -1: it has no column.
    int columnOf(const std::string& field) const;

    /// Every field that these runs can be filtered and sorted by.
    const std::vector<engine::RunField>& fields() const { return fields_; }
    std::size_t runCount() const { return runs_->size(); }
    std::size_t shownCount() const { return shown_.size(); }
    /// Null for the row of a group.
    const engine::RunSummary* run(const QModelIndex& index) const;
    /// The run of a row, or the runs of a group's row.
    std::vector<const engine::RunSummary*> runsAt(const QModelIndex& index) const;
    /// Index of a run in column 0; invalid if the filter holds it back.
    QModelIndex indexOf(const std::string& run) const;

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& index) const override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;
    /// A name of a run, or of all runs of a group, under Qt::EditRole: only asks for it with
    /// renameWanted().
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;
    void sort(int column, Qt::SortOrder order) override;

signals:
    void renameWanted(const QStringList& runs, const QString& title);

private:
    /// A row without a parent: a run, or the runs of a group.
    struct Top {
        std::vector<std::size_t> runs;  ///< positions in shown_
        bool group = false;
    };
    void chooseColumns();
    /// Filters and sorts the rows.
    void arrange();
    void makeTops();
    const engine::RunSummary& at(std::size_t shown) const { return (*runs_)[shown_[shown]]; }
    QVariant groupData(const Top& top, int column, int role) const;
    QString groupTitle(const Top& top) const;
    QString groupText(const Top& top) const;
    QString name(const engine::RunSummary& run) const;
    QString shownName(const QModelIndex& index, const engine::RunSummary& run) const;

    Runs runs_ = std::make_shared<const std::vector<engine::RunSummary>>();
    engine::RunQuery filter_;
    std::vector<engine::RunField> fields_ = engine::run_fields();
    std::vector<std::string> wanted_;  ///< columns, also of fields that no run has yet
    std::vector<engine::RunField> columns_;
    std::string sortField_;
    Qt::SortOrder sortOrder_ = Qt::DescendingOrder;
    bool grouped_ = false;
    std::vector<std::size_t> shown_;  ///< positions in *runs_, in the order of the table
    std::vector<Top> tops_;
    mutable std::map<std::string, QString> groupTexts_;  ///< by group
};

}  // namespace ui
