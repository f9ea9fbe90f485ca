#pragma once

#include <QAbstractTableModel>
#include <functional>
#include <vector>

namespace ui {

/// A list as a table: a row for each element, and columns with a head and a text of the element.
template <typename Row>
class RowModel : public QAbstractTableModel {
public:
    struct TextColumn {
        QString head;
        std::function<QString(const Row&)> text;
        bool figure = false;  ///< aligned to the right, as is its head
    };

    const Row& row(int at) const { return rows_.at(static_cast<std::size_t>(at)); }

    int rowCount(const QModelIndex& parent = {}) const override {
        return parent.isValid() ? 0 : static_cast<int>(rows_.size());
    }
    int columnCount(const QModelIndex& parent = {}) const override {
        return parent.isValid() ? 0 : static_cast<int>(columns_.size());
    }
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override {
        if (!index.isValid()) return {};
        if (role == Qt::TextAlignmentRole) return alignment(index.column());
        if (role == Qt::DisplayRole) return column(index.column()).text(row(index.row()));
        return value(row(index.row()), index.column(), role);
    }
    QVariant headerData(int section, Qt::Orientation orientation,
                        int role = Qt::DisplayRole) const override {
        if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
        if (role == Qt::TextAlignmentRole) return alignment(section);
        return role == Qt::DisplayRole ? QVariant(column(section).head) : QVariant();
    }

protected:
    explicit RowModel(QObject* parent) : QAbstractTableModel(parent) {}

    /// A value for a role other than text and alignment.
    virtual QVariant value(const Row& /*row*/, int /*column*/, int /*role*/) const { return {}; }
    void setRows(std::vector<Row> rows) {
        beginResetModel();
        rows_ = std::move(rows);
        endResetModel();
    }
    const std::vector<Row>& allRows() const { return rows_; }

    std::vector<TextColumn> columns_;  ///< set by the constructor of the table

private:
    const TextColumn& column(int at) const { return columns_[static_cast<std::size_t>(at)]; }
    QVariant alignment(int at) const {
        const auto side = column(at).figure ? Qt::AlignRight : Qt::AlignLeft;
        return QVariant::fromValue(side | Qt::AlignVCenter);
    }

    std::vector<Row> rows_;
};

}  // namespace ui
