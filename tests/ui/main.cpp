#include <gtest/gtest.h>

#include <QApplication>
#include <QFile>
#include <QTemporaryDir>

static void initResources() {
    Q_INIT_RESOURCE(ui);
    Q_INIT_RESOURCE(translations);
}

/// A screen that is large enough for the tests' windows and their title bars.
static QByteArray makeScreen(const QTemporaryDir& folder) {
    QFile file(folder.filePath(QStringLiteral("screen.json")));
    if (!file.open(QIODevice::WriteOnly)) return {};
    file.write(R"({"synchronousWindowSystemEvents": false, "windowFrameMargins": true,
                   "screens": [{"name": "large", "x": 0, "y": 0, "width": 3840, "height": 2160,
                                "logicalDpi": 96, "logicalBaseDpi": 96, "dpr": 1}]})");
    return file.fileName().toUtf8();
}

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    // Uses no display, and neither the settings nor the runs of the user.
    QTemporaryDir home;
    qputenv("QT_QPA_PLATFORM", "offscreen:configfile=" + makeScreen(home));
    qputenv("XDG_CONFIG_HOME", home.path().toUtf8());
    qputenv("XDG_DATA_HOME", home.path().toUtf8());
    initResources();
    QCoreApplication::setOrganizationName(QStringLiteral("halftone-test"));
    QApplication application(argc, argv);
    return RUN_ALL_TESTS();
}
