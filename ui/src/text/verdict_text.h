#pragma once

#include <QString>

#include "engine/verdict/verdict.h"

namespace ui {

/// "16 % slower, 38 % less memory."; empty where the verdict has no cost.
QString costText(const engine::Verdict& verdict);
/// The sentences of the evidence, in the window's language.
QString evidenceText(const engine::Verdict& verdict);

}  // namespace ui
