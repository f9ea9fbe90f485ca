#pragma once

#include <QString>
#include <cstdint>

#include "engine/instruments/xray.h"

namespace ui {

/// Which operations of a trace are listed.
struct OpFilter {
    QString words;  ///< each of which module, operation, types or rule hold; empty: any
    QString rule;   ///< "low", "f32", "casts", ...; empty: any

    bool passes(const engine::XrayOp& op) const;
};

/// Types of tensors without repetition, for the delegate: inputs, "", outputs.
QStringList typesOf(const engine::XrayOp& op);
/// The rules that the list can be filtered by, with their titles: "16 bits", ...
QList<QPair<QString, QString>> ruleChips();
/// The title of a rule: that of its chip, if it has one.
QString ruleTitle(const std::string& rule);
/// The operation computes in FP32, or keeps its result in it, because of a rule of autocast.
bool isKeptInFp32(const engine::XrayOp& op);
/// Marks of the row of an operation whose type was not its own choice.
enum class ForceMark : std::uint8_t {
    none,      ///< it keeps its inputs' types, follows the forward pass, or is outside autocast
    autocast,  ///< a list of autocast, or the widest of its inputs
    user       ///< precision.force, or the experiment on show
};
/// The mark of a rule by its name.
ForceMark markOf(const QString& rule);
/// Whether a key of precision.force names the operation: its module or one around it, its name, or
/// both as "MODULE:OP".
bool isNamedBy(const std::string& key, const engine::XrayOp& op);
/// "FP16".
QString typeTitle(engine::ForcedType type);

}  // namespace ui
