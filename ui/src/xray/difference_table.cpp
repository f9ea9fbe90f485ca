#include "xray/difference_table.h"

#include <cmath>

#include "text/format.h"
#include "text/precision_title.h"
#include "xray/op_tree.h"

namespace ui {

using engine::XrayOp;
using engine::XrayPair;

namespace {

constexpr double minTime = 0.5;  // us: shorter times say nothing about a change

QString timeOf(const XrayOp* op) {
    if (op == nullptr) return unmeasured();
    return op->us < 100 ? QString::number(op->us, 'f', 1) : count(std::llround(op->us));
}

/// "−45 %" of the second's time.
QString pairChange(const XrayPair& pair) {
    if (pair.first == nullptr || pair.second == nullptr) return {};
    if (pair.first->us < minTime || pair.second->us < minTime) return {};
    const auto change = std::lround(100 * (pair.first->us / pair.second->us - 1));
    if (change == 0) return u"0 %"_s;
    return u"%1%2 %"_s.arg(change > 0 ? u"+"_s : u"−"_s).arg(std::abs(change));
}

QString pairOutput(const XrayPair& pair) {
    const auto written = [](const XrayOp* op) {
        return op == nullptr ? unmeasured() : bytes(op->bytes_written);
    };
    const QString first = written(pair.first), second = written(pair.second);
    return first == second ? first : u"%1 · %2"_s.arg(first, second);
}

QString pairName(const XrayPair& pair) {
    const XrayOp& op = pair.first != nullptr ? *pair.first : *pair.second;
    const QString title = QString::fromStdString(op.module + "  " + op.op).trimmed();
    return op.pass == engine::XrayPass::backward ? DifferenceTable::tr("%1 (backward)").arg(title)
                                                 : title;
}

}  // namespace

DifferenceTable::DifferenceTable(QObject* parent) : RowModel(parent) {
    const auto painted = [](const XrayPair&) { return QString(); };
    columns_ = {{tr("module and operation"), pairName},
                {{}, painted},
                {{}, painted},
                {{}, [](const XrayPair& pair) { return timeOf(pair.first); }, true},
                {{}, [](const XrayPair& pair) { return timeOf(pair.second); }, true},
                {tr("change"), pairChange, true},
                {tr("output"), pairOutput, true}};
    build();
}

void DifferenceTable::show(const engine::Xray* first, const engine::Xray* second) {
    first_ = first;
    second_ = second;
    build();
}

void DifferenceTable::setFilter(const OpFilter& filter) {
    filter_ = filter;
    build();
}

void DifferenceTable::build() {
    const auto title = [](const engine::Xray* of) {
        return of == nullptr ? QString() : precisionTitle(of->precision);
    };
    columns_[firstTypes].head = title(first_);
    columns_[secondTypes].head = title(second_);
    columns_[firstTime].head = tr("µs, %1").arg(title(first_));
    columns_[secondTime].head = tr("µs, %1").arg(title(second_));
    std::vector<XrayPair> rows;
    if (first_ != nullptr && second_ != nullptr) rows = engine::pair_ops(*first_, *second_);
    std::erase_if(rows, [this](const XrayPair& pair) {
        const bool first = pair.first != nullptr && filter_.passes(*pair.first);
        return !first && (pair.second == nullptr || !filter_.passes(*pair.second));
    });
    setRows(std::move(rows));
}

XrayPair DifferenceTable::pair(const QModelIndex& index) const {
    return index.isValid() ? row(index.row()) : XrayPair{};
}

QVariant DifferenceTable::value(const XrayPair& pair, int column, int role) const {
    if (role != OpTree::typesRole) return {};
    const XrayOp* op = column == secondTypes ? pair.second : pair.first;
    return op == nullptr ? QStringList() : typesOf(*op);
}

}  // namespace ui
