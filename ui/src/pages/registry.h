#pragma once

#include <QString>
#include <vector>

#include "view/context.h"

class QWidget;

namespace ui {

/// Makes a page, whose parent takes it over.
using PageFactory = QWidget*(const Context& context, QWidget* parent);

/// A page of the window: it fills the area between the settings and the window's right edge, or the
/// area of the settings too. All pages share the selected run and step, in Context::link.
struct PageEntry {
    QString name;   ///< identifies it where it is remembered: it never changes
    QString title;  ///< of its tab, in the window's language
    PageFactory* make = nullptr;
    bool needsRun = false;         ///< has nothing to show while no run is on screen
    bool takesWholeWidth = false;  ///< the settings are hidden while it is shown
    bool startsRailed = false;     ///< does not use the settings: a rail until the user opens them
    int key = 0;  ///< the letter of its shortcut with Ctrl+Shift; 0: it has the next digit with Ctrl
};
/// The pages of every window, in the order of their tabs and of Ctrl+1 to Ctrl+9 and Ctrl+0, without
/// those that have a letter. The first is Training, which has the plots and the right column. A new page is one line in
/// registry.cpp.
std::vector<PageEntry> pageEntries();

/// Lists the commands of the pages (KeyBindings::declare), so that their keys can be seen and chosen
/// before the pages were opened. A page binds them when it is made.
void declarePageKeys();

}  // namespace ui
