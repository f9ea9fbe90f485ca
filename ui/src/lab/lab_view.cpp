#include "lab/lab_view.h"

#include <QCoreApplication>

namespace ui {

using namespace Qt::StringLiterals;

#define HALFTONE_LAB_VIEWS(VIEW)                                          \
    /* name, title, function that the view's own file defines */          \
    VIEW("lessons", QT_TRANSLATE_NOOP("Lab", "Lessons"), makeLessonsView) \
    VIEW("numbers", QT_TRANSLATE_NOOP("Lab", "Numbers"), makeNumbersView) \
    /* end of the list */

#define HALFTONE_DECLARE(name, title, make) LabViewFactory make;
HALFTONE_LAB_VIEWS(HALFTONE_DECLARE)

std::vector<LabViewEntry> labViewEntries() {
#define HALFTONE_ENTRY(name, title, make) \
    {u"" name##_s, QCoreApplication::translate("Lab", title), make},
    return {HALFTONE_LAB_VIEWS(HALFTONE_ENTRY)};
}

}  // namespace ui
