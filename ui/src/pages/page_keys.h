#pragma once

namespace ui {

/// Lists the commands of the pages (KeyBindings::declare), so that their keys can be seen and chosen
/// before the pages were opened. A page binds them when it is made.
void declarePageKeys();

}  // namespace ui
