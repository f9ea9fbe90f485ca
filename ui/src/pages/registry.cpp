#include "pages/registry.h"

#include <QCoreApplication>

namespace ui {

using namespace Qt::StringLiterals;

#define HALFTONE_PAGES(PAGE)                                                                      \
    /* name, title, function that the page's own file defines, needs a run, takes whole width */  \
    PAGE("training", QT_TRANSLATE_NOOP("Pages", "Training"), makeTrainingPage, false, false)      \
    PAGE("microscope", QT_TRANSLATE_NOOP("Pages", "Microscope"), makeMicroscopePage, true, false) \
    PAGE("xray", QT_TRANSLATE_NOOP("Pages", "X-ray"), makeXrayPage, false, false)                 \
    PAGE("skips", QT_TRANSLATE_NOOP("Pages", "Skips"), makeSkipsPage, true, false)                \
    PAGE("twin", QT_TRANSLATE_NOOP("Pages", "Twin"), makeTwinPage, false, false)                  \
    PAGE("lab", QT_TRANSLATE_NOOP("Pages", "Lab"), makeLabPage, false, true)                      \
    PAGE("queue", QT_TRANSLATE_NOOP("Pages", "Queue"), makeQueuePage, false, false)               \
    PAGE("runs", QT_TRANSLATE_NOOP("Pages", "Runs"), makeRunsPage, false, false)                  \
    PAGE("tryit", QT_TRANSLATE_NOOP("Pages", "Try it"), makeTryItPage, true, false)               \
    /* end of the list */

#define HALFTONE_DECLARE(name, title, make, needs_run, whole_width) PageFactory make;
HALFTONE_PAGES(HALFTONE_DECLARE)

std::vector<PageEntry> pageEntries() {
#define HALFTONE_ENTRY(name, title, make, needs_run, whole_width) \
    {u"" name##_s, QCoreApplication::translate("Pages", title), make, needs_run, whole_width},
    return {HALFTONE_PAGES(HALFTONE_ENTRY)};
}

}  // namespace ui
