#pragma once

#include <QCoreApplication>
#include <QObject>
#include <QPointer>
#include <QThreadPool>
#include <utility>

namespace ui {

/// Runs work() on a pool thread and then done(result) on the GUI thread, unless `context` is gone
/// by then. work() must not throw and must not touch the context.
template <typename Work, typename Done>
void inBackground(QObject* context, Work work, Done done) {
    QPointer<QObject> alive(context);
    QThreadPool::globalInstance()->start(
        [alive, work = std::move(work), done = std::move(done)]() mutable {
            auto result = work();
            // Posted through the application, which outlives every context. `alive` is read on that
            // thread only.
            QMetaObject::invokeMethod(
                QCoreApplication::instance(),
                [alive, done = std::move(done), result = std::move(result)]() mutable {
                    if (alive) done(std::move(result));
                },
                Qt::QueuedConnection);
        });
}

}  // namespace ui
