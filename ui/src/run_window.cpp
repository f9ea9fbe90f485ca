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
    // After the first paint: opening the store reads the disk.
    QTimer::singleShot(0, &application, [&application] { application.openFirst(); });
    return Application::exec();
}

}  // namespace ui
