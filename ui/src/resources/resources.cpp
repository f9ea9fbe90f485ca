#include "resources/resources.h"

#include <QCoreApplication>

// Outside any namespace: the macro declares functions.
void initResources() {
    Q_INIT_RESOURCE(ui);
    Q_INIT_RESOURCE(translations);
}

void ui::nameProgram() {
    QCoreApplication::setOrganizationName(QStringLiteral("halftone"));
    QCoreApplication::setApplicationName(QStringLiteral("Halftone"));
}
