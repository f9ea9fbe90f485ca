#pragma once

#include <QString>

#include "xray/op_filter.h"

namespace ui {

/// One line for each operation that passes the filter, in the order of the step, below a header.
/// Times in microseconds; an unknown share of the peak is left out.
QString xrayCsv(const engine::Xray& trace, const OpFilter& filter);
/// The operations of two traces side by side: those of which either passes.
QString xrayCsv(const engine::Xray& first, const engine::Xray& second, const OpFilter& filter);

}  // namespace ui
