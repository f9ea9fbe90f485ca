#pragma once

// The one place that includes qcustomplot.h. By <QtPrintSupport/QtPrintSupport> it would take in all
// of Qt Core, GUI and Widgets, which costs a file that includes it more than the rest of it. The
// headers that it uses are in its own list, but for these.
#ifndef QT_QTPRINTSUPPORT_MODULE_H
#define QT_QTPRINTSUPPORT_MODULE_H
#endif

#include <QWidget>
#include <QtNumeric>

#include <qcustomplot.h>
