#pragma once

#include <QAbstractTableModel>
#include <memory>

#include "engine/train/trained_model.h"

namespace ui {

using SharedReport = std::shared_ptr<const engine::PartReport>;

/// A class a row: precision, recall, F1 and samples. Qt::UserRole has the number to sort by.
class ClassModel final : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Name, Precision, Recall, F1, Samples, columns };
    ClassModel(SharedReport report, const std::vector<std::string>& classes, QObject* parent);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    double value(std::size_t row, int column) const;

    SharedReport report_;
    std::vector<std::string> classes_;
};

/// The samples with the largest loss, one a row, for data that are no pictures.
class HardestModel final : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Sample, Actual, Predicted, Probability, Loss, columns };
    HardestModel(SharedReport report, const std::vector<std::string>& classes, QObject* parent);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    /// Whether the report is of classes; a predicted number has no probability.
    bool ofClasses() const { return !report_->confusion.empty(); }

private:
    QVariant number(const engine::HardSample& sample, int column) const;
    QString text(const engine::HardSample& sample, int column) const;

    SharedReport report_;
    std::vector<std::string> classes_;
};

}  // namespace ui
