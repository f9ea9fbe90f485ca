#include "models/op_model.h"

#include "text/language.h"

namespace ui {
namespace {

QString regionWords(const std::string& policy) {
    if (policy == "low") return OpModel::tr("16 bits");
    if (policy == "f32") return OpModel::tr("fp32");
    if (policy == "f32_dtype" || policy == "f32_append") return OpModel::tr("fp32 result");
    if (policy == "promote") return OpModel::tr("widest input");
    if (policy == "banned") return OpModel::tr("refused");
    return OpModel::tr("as its inputs");
}

QString gradientWords(int orders) {
    if (orders == 0) return OpModel::tr("none");
    return orders == 1 ? OpModel::tr("first") : OpModel::tr("first, second");
}

}  // namespace

OpModel::OpModel(QObject* parent) : QAbstractTableModel(parent), ops_(engine::ops()) {}

int OpModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(ops_.size());
}

int OpModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : columns; }

QVariant OpModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    const engine::OpSummary& op = ops_[static_cast<std::size_t>(index.row())];
    if (role == Qt::ToolTipRole && index.column() == Name)
        return QString::fromStdString(op.signature);
    if (role != Qt::DisplayRole) return {};
    switch (index.column()) {
        case Name:
            return QString::fromStdString(op.name);
        case Region:
            return regionWords(op.policy);
        case Gradients:
            return gradientWords(op.derivatives);
        default:
            return engineText(op.why);
    }
}

QVariant OpModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
    switch (section) {
        case Name:
            return tr("Operation");
        case Region:
            return tr("Under autocast");
        case Gradients:
            return tr("Gradients");
        default:
            return tr("Why");
    }
}

}  // namespace ui
