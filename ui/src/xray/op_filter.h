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
/// "FP16".
QString typeTitle(engine::ForcedType type);

}  // namespace ui
