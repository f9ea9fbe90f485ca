#include "xray/op_filter.h"

#include <QStringList>
#include <algorithm>

namespace ui {

using namespace Qt::StringLiterals;

namespace {

QStringList distinct(const std::vector<engine::XrayTensor>& tensors) {
    QStringList out;
    for (const auto& tensor : tensors) {
        if (!out.contains(QString::fromStdString(tensor.dtype)))
            out << QString::fromStdString(tensor.dtype);
    }
    return out;
}

}  // namespace

bool OpFilter::passes(const engine::XrayOp& op) const {
    const bool isCasts = rule == u"casts"_s;
    if (isCasts && op.casts.empty()) return false;
    if (!rule.isEmpty() && !isCasts && QString::fromStdString(op.rule) != rule) return false;
    QString all =
        QString::fromStdString(op.module + " " + op.op + " " + op.rule + " " + op.compute_dtype);
    for (const auto& tensor : op.inputs) all += u' ' + QString::fromStdString(tensor.dtype);
    for (const auto& tensor : op.outputs) all += u' ' + QString::fromStdString(tensor.dtype);
    return std::ranges::all_of(words.split(u' ', Qt::SkipEmptyParts), [&](const QString& word) {
        return all.contains(word, Qt::CaseInsensitive);
    });
}

QStringList typesOf(const engine::XrayOp& op) {
    return distinct(op.inputs) + QStringList{QString()} + distinct(op.outputs);
}

QString typeTitle(engine::ForcedType type) {
    switch (type) {
        case engine::ForcedType::fp32:
            return u"FP32"_s;
        case engine::ForcedType::fp16:
            return u"FP16"_s;
        case engine::ForcedType::bf16:
            return u"BF16"_s;
    }
    return {};
}

}  // namespace ui
