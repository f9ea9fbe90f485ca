#pragma once

/// Registers the icons and translations that are compiled into the library: those of a static
/// library are not registered automatically.
void initResources();

namespace ui {

/// Sets the program's name, under which settings are stored. Call it before QApplication and
/// QSettings, which read it.
void nameProgram();

}  // namespace ui
