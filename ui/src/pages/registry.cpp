#include "pages/registry.h"

#include <QCoreApplication>

namespace ui {

using namespace Qt::StringLiterals;

#define HALFTONE_PAGES(PAGE)                                                                    \
    /* name, title, function that the page's own file defines, what differs from other pages */ \
    PAGE("training", QT_TRANSLATE_NOOP("Pages", "Training"), makeTrainingPage)                  \
    PAGE("microscope", QT_TRANSLATE_NOOP("Pages", "Microscope"), makeMicroscopePage,            \
         .needsRun = true, .startsRailed = true)                                                \
    PAGE("xray", QT_TRANSLATE_NOOP("Pages", "X-ray"), makeXrayPage, .startsRailed = true)       \
    PAGE("skips", QT_TRANSLATE_NOOP("Pages", "Skips"), makeSkipsPage, .needsRun = true,         \
         .startsRailed = true)                                                                  \
    PAGE("twin", QT_TRANSLATE_NOOP("Pages", "Twin"), makeTwinPage, .startsRailed = true)        \
    PAGE("lab", QT_TRANSLATE_NOOP("Pages", "Lab"), makeLabPage, .takesWholeWidth = true)        \
    PAGE("queue", QT_TRANSLATE_NOOP("Pages", "Queue"), makeQueuePage)                           \
    PAGE("runs", QT_TRANSLATE_NOOP("Pages", "Runs"), makeRunsPage, .startsRailed = true)        \
    PAGE("tryit", QT_TRANSLATE_NOOP("Pages", "Try it"), makeTryItPage, .needsRun = true,        \
         .startsRailed = true)                                                                  \
    PAGE("benchmarks", QT_TRANSLATE_NOOP("Pages", "Benchmarks"), makeBenchmarksPage,            \
         .startsRailed = true)                                                                  \
    /* end of the list */

#define HALFTONE_DECLARE(page, page_title, factory, ...) PageFactory factory;
HALFTONE_PAGES(HALFTONE_DECLARE)

std::vector<PageEntry> pageEntries() {
#define HALFTONE_ENTRY(page, page_title, factory, ...)          \
    {.name = u"" page##_s,                                      \
     .title = QCoreApplication::translate("Pages", page_title), \
     .make = factory,                                           \
     __VA_ARGS__},
    return {HALFTONE_PAGES(HALFTONE_ENTRY)};
}

}  // namespace ui
