#include "xray/op_filter.h"

#include <QCoreApplication>
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

struct RuleWords {
    Q_DECLARE_TR_FUNCTIONS(RuleWords)
};

/// The chip that stands for a rule; the rule itself if none does.
QString chipOf(const std::string& rule) {
    return rule == "f32_dtype" || rule == "f32_append" ? u"f32"_s : QString::fromStdString(rule);
}

}  // namespace

QList<QPair<QString, QString>> ruleChips() {
    return {{u"low"_s, RuleWords::tr("16 bits")},    {u"f32"_s, RuleWords::tr("FP32")},
            {u"promote"_s, RuleWords::tr("widest")}, {u"none"_s, RuleWords::tr("no entry")},
            {u"casts"_s, RuleWords::tr("casts")},    {u"forced"_s, RuleWords::tr("forced")}};
}

QString ruleTitle(const std::string& rule) {
    const QString chip = chipOf(rule);
    for (const auto& [name, title] : ruleChips())
        if (name == chip) return title;
    if (rule == "gradient") return RuleWords::tr("as forward");
    if (rule == "off") return RuleWords::tr("outside autocast");
    if (rule == "inside") return RuleWords::tr("by its parts");
    return chip;
}

bool isKeptInFp32(const engine::XrayOp& op) {
    return chipOf(op.rule) == u"f32"_s || (op.rule == "inside" && op.compute_dtype == "f32");
}

bool OpFilter::passes(const engine::XrayOp& op) const {
    const bool isCasts = rule == u"casts"_s;
    if (isCasts && op.casts.empty()) return false;
    if (!rule.isEmpty() && !isCasts && chipOf(op.rule) != rule) return false;
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

ForceMark markOf(const QString& rule) {
    if (rule == u"forced"_s) return ForceMark::user;
    const QStringList lists{u"low"_s, u"f32"_s, u"f32_dtype"_s, u"f32_append"_s, u"promote"_s};
    return lists.contains(rule) ? ForceMark::autocast : ForceMark::none;
}

bool isNamedBy(const std::string& key, const engine::XrayOp& op) {
    if (op.pass != engine::XrayPass::forward) return false;
    const auto colon = key.find(':');
    const std::string module = key.substr(0, colon);
    if (colon == std::string::npos && module == op.op) return true;
    if (colon != std::string::npos && key.substr(colon + 1) != op.op) return false;
    return op.module == module || op.module.starts_with(module + '.');
}

QString typeTitle(engine::ForcedType type) {
    return QString::fromStdString(engine::word_of(type)).toUpper();
}

}  // namespace ui
