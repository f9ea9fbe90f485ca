#pragma once

#include <memory>

#include "engine/train/trained_model.h"
#include "models/row_model.h"

namespace ui {

using SharedReport = std::shared_ptr<const engine::PartReport>;

/// A class a row: precision, recall, F1 and samples. Qt::UserRole has the number to sort by.
class ClassModel final : public RowModel<std::size_t> {
    Q_OBJECT
public:
    enum Column { Name, Precision, Recall, F1, Samples };
    ClassModel(SharedReport report, const std::vector<std::string>& classes, QObject* parent);

private:
    QVariant value(const std::size_t& number, int column, int role) const override;

    SharedReport report_;
};

/// The samples with the largest loss, one a row, for data that are no pictures. Qt::UserRole has the
/// number to sort by.
class HardestModel final : public RowModel<const engine::HardSample*> {
    Q_OBJECT
public:
    enum Column { Sample, Actual, Predicted, Probability, Loss };
    HardestModel(SharedReport report, const std::vector<std::string>& classes, QObject* parent);

    /// Whether the report is of classes; a predicted number has no probability.
    bool ofClasses() const { return !report_->confusion.empty(); }

private:
    QVariant value(const engine::HardSample* const& sample, int column, int role) const override;

    SharedReport report_;
};

}  // namespace ui
