#include "resources/resources.h"

#include <QtGlobal>

// Outside any namespace: the macro declares functions.
void initResources() {
    Q_INIT_RESOURCE(ui);
    Q_INIT_RESOURCE(translations);
}
