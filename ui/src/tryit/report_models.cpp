#include "tryit/report_models.h"

#include <cmath>

#include "text/format.h"
#include "tryit/tried_model.h"

namespace ui {

namespace {

/// Names to the left, figures to the right.
QVariant alignment(bool left) {
    return QVariant::fromValue(
        Qt::Alignment((left ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter));
}

}  // namespace

ClassModel::ClassModel(SharedReport report, const std::vector<std::string>& classes,
                       QObject* parent)
    : QAbstractTableModel(parent), report_(std::move(report)), classes_(classes) {}

int ClassModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(report_->confusion.size());
}

int ClassModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : columns;
}

double ClassModel::value(std::size_t row, int column) const {
    switch (column) {
        case Precision:
            return report_->precision(row);
        case Recall:
            return report_->recall(row);
        case F1:
            return report_->f1(row);
        case Samples:
            return static_cast<double>(report_->support(row));
        default:
            return static_cast<double>(row);
    }
}

QVariant ClassModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    const auto row = static_cast<std::size_t>(index.row());
    const int column = index.column();
    if (role == Qt::TextAlignmentRole) return alignment(column == Name);
    const double number = value(row, column);
    // NaN compares with nothing: undefined figures come before all others.
    if (role == Qt::UserRole) return std::isnan(number) ? -1.0 : number;
    if (role != Qt::DisplayRole) return {};
    if (column == Name) return className(classes_, row);
    if (column == Samples) return count(report_->support(row));
    return measured(number, percent);
}

QVariant ClassModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (role == Qt::TextAlignmentRole && section == Name) return alignment(true);
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
    switch (section) {
        case Name:
            return tr("Class");
        case Precision:
            return tr("Precision");
        case Recall:
            return tr("Recall");
        case F1:
            return tr("F1");
        default:
            return tr("Samples");
    }
}

HardestModel::HardestModel(SharedReport report, const std::vector<std::string>& classes,
                           QObject* parent)
    : QAbstractTableModel(parent), report_(std::move(report)), classes_(classes) {}

int HardestModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(report_->hardest.size());
}

int HardestModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : columns;
}

QVariant HardestModel::number(const engine::HardSample& sample, int column) const {
    switch (column) {
        case Sample:
            return static_cast<qlonglong>(sample.index);
        case Actual:
            return ofClasses() ? static_cast<double>(sample.label) : sample.wanted;
        case Predicted:
            return ofClasses() ? static_cast<double>(sample.predicted) : sample.value;
        case Probability:
            return sample.probability;
        default:
            return sample.loss;
    }
}

QString HardestModel::text(const engine::HardSample& sample, int column) const {
    if (column == Sample) return count(sample.index + 1);
    if (column == Loss) return significant(sample.loss);
    if (column == Probability) return percent(sample.probability);
    const bool actual = column == Actual;
    if (!ofClasses()) return significant(actual ? sample.wanted : sample.value, 4);
    return actual ? className(classes_, static_cast<std::size_t>(sample.label))
                  : predictedName(classes_, sample);
}

QVariant HardestModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    const engine::HardSample& sample = report_->hardest[static_cast<std::size_t>(index.row())];
    if (role == Qt::UserRole) return number(sample, index.column());
    if (role == Qt::DisplayRole) return text(sample, index.column());
    if (role == Qt::TextAlignmentRole) return alignment(index.column() == Sample);
    return {};
}

QVariant HardestModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (role == Qt::TextAlignmentRole && section == Sample) return alignment(true);
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
    switch (section) {
        case Sample:
            return tr("Sample");
        case Actual:
            return tr("Actual");
        case Predicted:
            return tr("Predicted");
        case Probability:
            return tr("Probability");
        default:
            return tr("Loss");
    }
}

}  // namespace ui
