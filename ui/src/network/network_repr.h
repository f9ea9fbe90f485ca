#pragma once

#include <QString>

namespace ui {

/// Whether a text is what PyTorch prints of a model: "(conv1): Conv2d(3, 64, kernel_size=(7, 7))".
bool isModuleRepr(const QString& text);

/// Lines of the notation for it, `indent` spaces deep: sizes of inputs and defaults are left out,
/// containers keep their names. A whole model becomes a `network` unless it stands in one. What the
/// notation does not have stays as it is, for the check to say so. The print has no connections, so
/// each line takes the value of the one above it.
QString fromModuleRepr(const QString& text, int indent);

}  // namespace ui
