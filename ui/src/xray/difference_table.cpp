#include "xray/difference_table.h"

#include <cmath>

#include "text/format.h"
#include "text/precision_title.h"
#include "xray/op_tree.h"

namespace ui {

using namespace Qt::StringLiterals;
using engine::XrayOp;
using engine::XrayPair;

namespace {

constexpr double minTime = 0.5;  // us: shorter times say nothing about a change

QString timeOf(const XrayOp* op) {
    if (op == nullptr) return unmeasured();
    return op->us < 100 ? QString::number(op->us, 'f', 1) : count(std::llround(op->us));
}

/// "−45 %" of the second's time.
QString changeOf(const XrayPair& pair) {
    if (pair.first == nullptr || pair.second == nullptr) return {};
    if (pair.first->us < minTime || pair.second->us < minTime) return {};
    const auto change = std::lround(100 * (pair.first->us / pair.second->us - 1));
    if (change == 0) return u"0 %"_s;
    return u"%1%2 %"_s.arg(change > 0 ? u"+"_s : u"−"_s).arg(std::abs(change));
}

QString outputOf(const XrayPair& pair) {
    const auto written = [](const XrayOp* op) {
        return op == nullptr ? unmeasured() : bytes(op->bytes_written);
    };
    const QString first = written(pair.first), second = written(pair.second);
    return first == second ? first : u"%1 · %2"_s.arg(first, second);
}

}  // namespace

void DifferenceTable::show(const engine::Xray* first, const engine::Xray* second) {
    beginResetModel();
    first_ = first;
    second_ = second;
    build();
    endResetModel();
}

void DifferenceTable::setFilter(const OpFilter& filter) {
    beginResetModel();
    filter_ = filter;
    build();
    endResetModel();
}

void DifferenceTable::build() {
    rows_.clear();
    if (first_ == nullptr || second_ == nullptr) return;
    for (const XrayPair& pair : engine::pair_ops(*first_, *second_)) {
        const bool first = pair.first != nullptr && filter_.passes(*pair.first);
        const bool second = pair.second != nullptr && filter_.passes(*pair.second);
        if (first || second) rows_.push_back(pair);
    }
}

XrayPair DifferenceTable::pair(const QModelIndex& index) const {
    return index.isValid() ? rows_[static_cast<std::size_t>(index.row())] : XrayPair{};
}

int DifferenceTable::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int DifferenceTable::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : columns;
}

QString DifferenceTable::text(const XrayPair& pair, int column) {
    switch (column) {
        case name: {
            const XrayOp& op = pair.first != nullptr ? *pair.first : *pair.second;
            const QString title = QString::fromStdString(op.module + "  " + op.op).trimmed();
            return op.pass == engine::XrayPass::backward ? tr("%1 (backward)").arg(title) : title;
        }
        case firstTime:
            return timeOf(pair.first);
        case secondTime:
            return timeOf(pair.second);
        case change:
            return changeOf(pair);
        case output:
            return outputOf(pair);
        default:
            return {};
    }
}

QVariant DifferenceTable::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    const XrayPair& pair = rows_[static_cast<std::size_t>(index.row())];
    if (role == Qt::DisplayRole) return text(pair, index.column());
    if (role == Qt::TextAlignmentRole && index.column() >= firstTime)
        return QVariant(Qt::AlignRight | Qt::AlignVCenter);
    if (role != OpTree::typesRole) return {};
    const XrayOp* op = index.column() == secondTypes ? pair.second : pair.first;
    return op == nullptr ? QStringList() : typesOf(*op);
}

QVariant DifferenceTable::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant((section >= firstTime ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    if (role != Qt::DisplayRole) return {};
    const auto title = [](const engine::Xray* of) {
        return of == nullptr ? QString() : precisionTitle(of->precision);
    };
    switch (section) {
        case name:
            return tr("module and operation");
        case firstTypes:
            return title(first_);
        case secondTypes:
            return title(second_);
        case firstTime:
            return tr("µs, %1").arg(title(first_));
        case secondTime:
            return tr("µs, %1").arg(title(second_));
        case change:
            return tr("change");
        case output:
            return tr("output");
        default:
            return {};
    }
}

}  // namespace ui
