#pragma once

#include <QDBusConnection>
#include <QObject>
#include <QString>

namespace ui {

/// Services of the desktop over D-Bus: notifications, progress in the task bar, and suspending the
/// machine. Waits for nothing: where there is no bus, or nobody listens, nothing happens. The buses
/// are opened when they are first needed. GUI thread.
class Desktop final : public QObject {
    Q_OBJECT
public:
    explicit Desktop(QObject* parent = nullptr) : QObject(parent) {}

    /// Other buses than the session's and the system's, for tests.
    void setBuses(const QDBusConnection& session, const QDBusConnection& system);

    /// Shows a notification. A later one takes its place.
    void show(const QString& title, const QString& text);
    /// 0 to 1; negative: nothing runs.
    void setProgress(double share);
    /// Asks logind, which asks the user if it must.
    void suspend();

signals:
    /// The user clicked the notification.
    void clicked();
    /// The machine was not suspended, with the reason.
    void notSuspended(const QString& reason);

private slots:
    void acted(uint id, const QString& action);

private:
    QDBusConnection session();

    QDBusConnection session_{QString()};
    QDBusConnection system_{QString()};
    bool given_ = false;  ///< the buses are those of setBuses()
    bool listens_ = false;
    uint shown_ = 0;  ///< id of the notification on screen
    double progress_ = -1;
};

}  // namespace ui
