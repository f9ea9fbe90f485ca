#include "ui/run_window.h"

#include <QTimer>

#include "application.h"
#include "commands/commands.h"
#include "resources/resources.h"

namespace ui {

int run_window(int& argc, char** argv) {
    initResources();
    Application application(argc, argv);
    application.openWindow();
    // The first paint does it; a window that is minimised from the start paints nothing.
    constexpr int unseen = 1000;  // ms
    QTimer::singleShot(unseen, &application, [&application] { application.openFirst(); });
    return Application::exec();
}

}  // namespace ui
