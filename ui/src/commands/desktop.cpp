#include "commands/desktop.h"

#include <QDBusMessage>
#include <QDBusPendingCallWatcher>
#include <QDBusPendingReply>
#include <cmath>

namespace ui {

using namespace Qt::StringLiterals;

namespace {

constexpr double minProgress = 0.005;  ///< a smaller change is not sent
const QString notifications = u"org.freedesktop.Notifications"_s;
const QString notificationPath = u"/org/freedesktop/Notifications"_s;

}  // namespace

void Desktop::setBuses(const QDBusConnection& session, const QDBusConnection& system) {
    session_ = session;
    system_ = system;
    given_ = true;
    listens_ = false;
}

QDBusConnection Desktop::session() {
    if (!given_ && !session_.isConnected()) session_ = QDBusConnection::sessionBus();
    if (!listens_ && session_.isConnected()) {
        listens_ = session_.connect({}, notificationPath, notifications, u"ActionInvoked"_s, this,
                                    SLOT(acted(uint, QString)));
    }
    return session_;
}

void Desktop::show(const QString& title, const QString& text) {
    QDBusConnection bus = session();
    if (!bus.isConnected()) return;
    auto call =
        QDBusMessage::createMethodCall(notifications, notificationPath, notifications, u"Notify"_s);
    // Most servers read the text as markup.
    call << u"Halftone"_s << shown_ << u"halftone"_s << title << text.toHtmlEscaped()
         << QStringList{u"default"_s, tr("Show")}
         << QVariantMap{{u"desktop-entry"_s, u"halftone"_s}} << -1;
    auto* answer = new QDBusPendingCallWatcher(bus.asyncCall(call), this);
    connect(answer, &QDBusPendingCallWatcher::finished, this, [this, answer] {
        const QDBusPendingReply<uint> reply = *answer;
        if (reply.isValid()) shown_ = reply.value();
        answer->deleteLater();
    });
}

void Desktop::acted(uint id, const QString& action) {
    if (id == shown_ && action == "default"_L1) emit clicked();
}

void Desktop::setProgress(double share) {
    const bool same =
        share < 0 ? progress_ < 0 : progress_ >= 0 && std::abs(share - progress_) < minProgress;
    if (same) return;
    QDBusConnection bus = session();
    if (!bus.isConnected()) return;
    progress_ = share;
    auto signal = QDBusMessage::createSignal(u"/com/canonical/unity/launcherentry/1"_s,
                                             u"com.canonical.Unity.LauncherEntry"_s, u"Update"_s);
    signal << u"application://halftone.desktop"_s
           << QVariantMap{{u"progress"_s, std::max(share, 0.0)},
                          {u"progress-visible"_s, share >= 0}};
    bus.send(signal);
}

void Desktop::suspend() {
    if (!given_ && !system_.isConnected()) system_ = QDBusConnection::systemBus();
    if (!system_.isConnected()) return emit notSuspended(tr("There is no system bus."));
    auto call =
        QDBusMessage::createMethodCall(u"org.freedesktop.login1"_s, u"/org/freedesktop/login1"_s,
                                       u"org.freedesktop.login1.Manager"_s, u"Suspend"_s);
    call << true;
    auto* answer = new QDBusPendingCallWatcher(system_.asyncCall(call), this);
    connect(answer, &QDBusPendingCallWatcher::finished, this, [this, answer] {
        if (answer->isError()) emit notSuspended(answer->error().message());
        answer->deleteLater();
    });
}

}  // namespace ui
