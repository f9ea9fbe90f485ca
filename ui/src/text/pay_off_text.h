#pragma once

#include <QString>

#include "engine/pay_off.h"

namespace ui {

/// What is measured, for people: "ResNet-18 · Glyphs · batch 16".
QString payOffTitle(const engine::RunConfig& settings);
/// The same without the data: "ResNet-18, batch 16".
QString payOffShortTitle(const engine::RunConfig& settings);

/// Whether the precision pays, and why or why not, with the precision's title.
QString payOffSentence(const engine::PayOff& row);
/// The figures that the sentence of a measurement rests on, as HTML: both steps in their parts,
/// memory, largest batches and what a large product reaches.
QString payOffFigures(const engine::PayOff& row);

/// "1.24×"
QString timesText(double ratio);

}  // namespace ui
