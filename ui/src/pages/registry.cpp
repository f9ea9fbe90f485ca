#include "pages/registry.h"

#include <QCoreApplication>

#include "widgets/key_bindings.h"

namespace ui {

using namespace Qt::StringLiterals;

#define HALFTONE_PAGES(PAGE)                                                                    \
    /* name, title, function that the page's own file defines, what differs from other pages */ \
    PAGE("training", QT_TRANSLATE_NOOP("Pages", "Training"), makeTrainingPage)                  \
    PAGE("network", QT_TRANSLATE_NOOP("Pages", "Network"), makeNetworkPage,                     \
         .startsRailed = true, .key = Qt::Key_N)                                                \
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

/// The titles are those of the pages' buttons.
void declarePageKeys() {
    const auto declare = [](const char* id, const char* page, const char* title,
                            const QList<QKeySequence>& keys) {
        KeyBindings::instance()->declare(QString::fromLatin1(id),
                                         QCoreApplication::translate(page, title), keys);
    };
    const QList<QKeySequence> exports{Qt::CTRL | Qt::Key_E};
    declare("network/next-error", "ui::NetworkPage", "Next error", {Qt::Key_F8});
    declare("network/previous-error", "ui::NetworkPage", "Previous error",
            {Qt::SHIFT | Qt::Key_F8});
    declare("network/find", "ui::NetworkPage", "Find", {Qt::CTRL | Qt::Key_F});
    declare("network/replace", "ui::NetworkPage", "Replace the error at the cursor",
            {Qt::ALT | Qt::Key_Return, Qt::ALT | Qt::Key_Enter});
    declare("network/next-run", "ui::NetworkPage", "Next use of the block",
            {Qt::ALT | Qt::Key_Right});
    declare("network/previous-run", "ui::NetworkPage", "Previous use of the block",
            {Qt::ALT | Qt::Key_Left});
    declare("microscope/shadow", "ui::MicroscopePage", "Shadow pass now", {Qt::Key_P});
    declare("microscope/export", "ui::MicroscopePage", "Export…", exports);
    declare("xray/trace", "ui::XrayPage", "Trace this step", {Qt::Key_T});
    declare("xray/filter", "ui::XrayPage", "Filter", {Qt::Key_Slash});
    declare("xray/export", "ui::XrayPage", "Export…", exports);
    declare("xray/menu", "ui::XrayPage", "Menu of the row",
            {Qt::SHIFT | Qt::Key_F10, Qt::Key_Menu});
    declare("skips/examine", "ui::SkipsPage", "Examine this step", {Qt::Key_R});
    declare("skips/capsule", "ui::SkipsPage", "Save as capsule…", {Qt::Key_K});
    declare("skips/export", "ui::SkipsPage", "Export…", exports);
    declare("twin/resync", "ui::TwinPage", "Resync now", {Qt::Key_Y});
    declare("twin/export", "ui::TwinPage", "Export…", exports);
    declare("lab/next", "ui::LessonView", "Next step", {Qt::CTRL | Qt::Key_PageDown});
    declare("lab/previous", "ui::LessonView", "Previous step", {Qt::CTRL | Qt::Key_PageUp});
    declare("lab/edit", "ui::LessonView", "Edit", {Qt::Key_E});
    declare("lab/present", "ui::LessonView", "Present", {Qt::Key_F5});
    declare("lab/worksheet", "ui::LessonView", "Worksheet…", {Qt::CTRL | Qt::Key_P});
    declare("benchmarks/run", "ui::BenchmarksPage", "Run", {Qt::Key_B});
    declare("benchmarks/export", "ui::BenchmarksPage", "Export…", exports);
}

}  // namespace ui
