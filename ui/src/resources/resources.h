#pragma once

/// Registers the icons and translations that are compiled into the library: those of a static
/// library are not registered automatically.
void initResources();
