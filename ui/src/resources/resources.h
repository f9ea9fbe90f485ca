#pragma once

/// Registers the icons and translations that are compiled into the library: a static library's are
/// not there by themselves.
void initResources();

namespace ui {

/// Gives the program the name under which settings are kept. Before QApplication and QSettings,
/// which look at it.
void nameProgram();

}  // namespace ui
