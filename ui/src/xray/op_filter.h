#pragma once

#include <QString>

#include "engine/xray.h"

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
/// "FP16".
QString typeTitle(engine::ForcedType type);

}  // namespace ui
