#pragma once

namespace ui {

/// Opens the window and runs until it is closed. Files and folders on the command line are opened
/// in it (settings, data, a run). Returns the exit code. Without a display Qt ends the program:
/// check for one before.
int run_window(int& argc, char** argv);

}  // namespace ui
