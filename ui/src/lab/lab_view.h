#pragma once

#include <QString>
#include <vector>

#include "view/context.h"

class QWidget;

namespace ui {

/// One view of the Lab page. The page places and owns the widgets.
struct LabView {
    QWidget* body = nullptr;
    /// At the right of `Lessons | Numbers` in the page bar: what the view has to say and to press.
    QWidget* tools = nullptr;
};
/// Makes both with `parent` as their parent.
using LabViewFactory = LabView(const Context& context, QWidget* parent);

struct LabViewEntry {
    QString name;   ///< identifies it where it is remembered: it never changes
    QString title;  ///< of its button, in the window's language
    LabViewFactory* make = nullptr;
};
/// In the order of their buttons. A new one is one line in lab_view.cpp.
std::vector<LabViewEntry> labViewEntries();

}  // namespace ui
