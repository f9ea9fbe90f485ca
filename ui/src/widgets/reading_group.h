#pragma once

namespace ui {

/// Property of a widget whose children the Tab key visits before it goes on: a column of a page.
/// Columns follow from left to right.
inline constexpr const char* readingGroup = "readingGroup";

}  // namespace ui
