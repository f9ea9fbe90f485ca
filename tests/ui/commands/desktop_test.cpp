// Against stand-ins for the notification server and logind, on a bus of its own.
#include "commands/desktop.h"

#include <gtest/gtest.h>

#include <QDBusMessage>
#include <QDBusPendingCallWatcher>
#include <QDBusVirtualObject>
#include <QProcess>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTest>

namespace ui {
namespace {

using namespace Qt::StringLiterals;

/// A bus that only this test uses.
class PrivateBus {
public:
    PrivateBus() {
        const QString program = QStandardPaths::findExecutable(u"dbus-daemon"_s);
        if (program.isEmpty()) return;
        daemon_.start(program, {u"--session"_s, u"--nofork"_s, u"--print-address"_s});
        if (!daemon_.waitForStarted() || !daemon_.waitForReadyRead(10'000)) return;
        address_ = QString::fromUtf8(daemon_.readLine()).trimmed();
    }
    ~PrivateBus() {
        daemon_.terminate();  // and removes its socket
        daemon_.waitForFinished();
    }
    bool works() const { return !address_.isEmpty(); }
    QDBusConnection connect(const QString& name) const {
        return QDBusConnection::connectToBus(address_, name);
    }

private:
    QProcess daemon_;
    QString address_;
};

/// A stand-in that notes its calls.
class StandIn : public QDBusVirtualObject {
public:
    using QDBusVirtualObject::QDBusVirtualObject;
    QString introspect(const QString&) const override { return {}; }
    bool handleMessage(const QDBusMessage& call, const QDBusConnection& bus) override {
        calls << call;
        if (refuses)
            return bus.send(call.createErrorReply(u"org.freedesktop.DBus.Error.AccessDenied"_s,
                                                  u"not allowed"_s));
        return bus.send(call.member() == "Notify"_L1 ? call.createReply(QVariant(uint{7}))
                                                     : call.createReply());
    }
    QList<QDBusMessage> calls;
    bool refuses = false;
};

struct DesktopTest : testing::Test {
    void SetUp() override {
        if (!bus.works()) GTEST_SKIP() << "dbus-daemon is not installed";
        ASSERT_TRUE(served.registerService(u"org.freedesktop.Notifications"_s));
        ASSERT_TRUE(served.registerService(u"org.freedesktop.login1"_s));
        ASSERT_TRUE(served.registerVirtualObject(u"/org/freedesktop"_s, &standIn,
                                                 QDBusConnection::SubPath));
        desktop.setBuses(own, own);
    }
    ~DesktopTest() override {
        for (const char* name : {"halftone-served", "halftone-own"})
            QDBusConnection::disconnectFromBus(QString::fromLatin1(name));
    }
    /// Waits until the desktop has read the replies to its calls.
    bool isAnswered() {
        return QTest::qWaitFor(
            [&] { return desktop.findChildren<QDBusPendingCallWatcher*>().isEmpty(); }, 300'000);
    }
    bool isCalled(int times) {
        return QTest::qWaitFor([&] { return standIn.calls.size() == times; }, 300'000);
    }

    PrivateBus bus;
    StandIn standIn;
    QDBusConnection served = bus.connect(u"halftone-served"_s);
    QDBusConnection own = bus.connect(u"halftone-own"_s);
    Desktop desktop;
};

TEST_F(DesktopTest, ANotificationIsShownReplacedAndClicked) {
    desktop.show(u"Run 3 has ended"_s, u"loss < 0.1 & falling"_s);
    ASSERT_TRUE(isCalled(1));
    const auto arguments = standIn.calls[0].arguments();
    EXPECT_EQ(standIn.calls[0].member(), u"Notify"_s);
    EXPECT_EQ(arguments.at(3).toString(), u"Run 3 has ended"_s);
    EXPECT_EQ(arguments.at(4).toString(), u"loss &lt; 0.1 &amp; falling"_s);
    EXPECT_EQ(arguments.at(1).toUInt(), 0u);
    ASSERT_TRUE(isAnswered());
    desktop.show(u"Run 4 has ended"_s, {});
    ASSERT_TRUE(isCalled(2));
    EXPECT_EQ(standIn.calls[1].arguments().at(1).toUInt(), 7u) << "in place of the first";
    QSignalSpy clicked(&desktop, &Desktop::clicked);
    auto acted = QDBusMessage::createSignal(u"/org/freedesktop/Notifications"_s,
                                            u"org.freedesktop.Notifications"_s, u"ActionInvoked"_s);
    acted << uint{8} << u"default"_s;
    served.send(acted);
    acted.setArguments({QVariant(uint{7}), u"default"_s});
    served.send(acted);
    EXPECT_TRUE(clicked.wait(300'000));
    EXPECT_EQ(clicked.size(), 1) << "not for another program's";
}

TEST_F(DesktopTest, SuspendGoesToLogindAndAnErrorIsReported) {
    QSignalSpy refused(&desktop, &Desktop::notSuspended);
    desktop.suspend();
    ASSERT_TRUE(isCalled(1));
    EXPECT_EQ(standIn.calls[0].member(), u"Suspend"_s);
    EXPECT_EQ(standIn.calls[0].interface(), u"org.freedesktop.login1.Manager"_s);
    EXPECT_EQ(standIn.calls[0].path(), u"/org/freedesktop/login1"_s);
    standIn.refuses = true;
    desktop.suspend();
    ASSERT_TRUE(refused.wait(300'000));
    ASSERT_EQ(refused.size(), 1);
    EXPECT_EQ(refused[0][0].toString(), u"not allowed"_s);
}

TEST(Desktop, WithoutABusNothingHappens) {
    Desktop desktop;
    const QDBusConnection none{u"halftone-none"_s};
    desktop.setBuses(none, none);
    QSignalSpy refused(&desktop, &Desktop::notSuspended);
    desktop.show(u"a"_s, u"b"_s);
    desktop.setProgress(0.5);
    desktop.suspend();
    EXPECT_EQ(refused.size(), 1);
}

}  // namespace
}  // namespace ui
