#pragma once

#include <QApplication>
#include <QElapsedTimer>
#include <QThread>
#include <QThreadPool>

namespace ui {

/// Watches the application for layouts and paints, so that a test can wait until a window stands
/// still instead of for a time that is enough on one machine only.
class Stillness final : public QObject {
public:
    Stillness() { qApp->installEventFilter(this); }

    /// Lets the window work until it is laid out and painted, its jobs have ended and nothing more
    /// comes for `ms` and three rounds. False if it still moves after `limit` rounds, each of which
    /// takes a millisecond, and longer where the machine is busy.
    bool wait(int ms = 30, int limit = 500) {
        changed_ = true;
        QElapsedTimer quiet;
        for (int round = 0, still = 0; round < limit; ++round) {
            QCoreApplication::processEvents(QEventLoop::AllEvents, 10);
            QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
            if (changed_ || QThreadPool::globalInstance()->activeThreadCount() > 0) {
                changed_ = false;
                still = 0;
                quiet.start();
            } else if (++still >= 3 && quiet.elapsed() >= ms) {
                return true;
            }
            QThread::msleep(1);
        }
        return false;
    }

protected:
    bool eventFilter(QObject*, QEvent* event) override {
        switch (event->type()) {
            case QEvent::LayoutRequest:
            case QEvent::Resize:
            case QEvent::Move:
            case QEvent::Show:
            case QEvent::Hide:
            case QEvent::UpdateRequest:
            case QEvent::UpdateLater:
            case QEvent::Paint:
            case QEvent::DeferredDelete: changed_ = true; break;
            default: break;
        }
        return false;
    }

private:
    bool changed_ = true;
};

/// Lets the window work until it stands still.
inline bool standsStill(int ms = 30, int limit = 500) { return Stillness().wait(ms, limit); }

/// Lets the window work until `done`, for at most `ms`.
template <typename Done>
bool waitFor(Done done, int ms = 300'000) {
    QElapsedTimer clock;
    clock.start();
    while (!done() && clock.elapsed() < ms) {
        QCoreApplication::processEvents(QEventLoop::AllEvents, 10);
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
        QThread::msleep(1);
    }
    return done();
}

}  // namespace ui
