#include "pages/registry.h"

#include <QCoreApplication>

namespace ui {

using namespace Qt::StringLiterals;

#define HALFTONE_PAGES(PAGE)                                                               \
    /* name, title, function that the page's own file defines, whether it needs a run */   \
    PAGE("training", QT_TRANSLATE_NOOP("Pages", "Training"), makeTrainingPage, false)      \
    PAGE("microscope", QT_TRANSLATE_NOOP("Pages", "Microscope"), makeMicroscopePage, true) \
    PAGE("xray", QT_TRANSLATE_NOOP("Pages", "X-ray"), makeXrayPage, false)                 \
    PAGE("skips", QT_TRANSLATE_NOOP("Pages", "Skips"), makeSkipsPage, true)                \
    PAGE("twin", QT_TRANSLATE_NOOP("Pages", "Twin"), makeTwinPage, false)                  \
    PAGE("queue", QT_TRANSLATE_NOOP("Pages", "Queue"), makeQueuePage, false)               \
    PAGE("runs", QT_TRANSLATE_NOOP("Pages", "Runs"), makeRunsPage, false)                  \
    PAGE("tryit", QT_TRANSLATE_NOOP("Pages", "Try it"), makeTryItPage, true)               \
    /* end of the list */

#define HALFTONE_DECLARE(name, title, make, needs_run) PageFactory make;
HALFTONE_PAGES(HALFTONE_DECLARE)

std::vector<PageEntry> pageEntries() {
#define HALFTONE_ENTRY(name, title, make, needs_run) \
    {u"" name##_s, QCoreApplication::translate("Pages", title), make, needs_run},
    return {HALFTONE_PAGES(HALFTONE_ENTRY)};
}

}  // namespace ui
