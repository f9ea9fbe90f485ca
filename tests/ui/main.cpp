#include <gtest/gtest.h>

#include <QApplication>
#include <QTemporaryDir>

static void initResources() {
    Q_INIT_RESOURCE(ui);
    Q_INIT_RESOURCE(translations);
}

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    // No display, no settings and no runs of the user's.
    qputenv("QT_QPA_PLATFORM", "offscreen");
    QTemporaryDir home;
    qputenv("XDG_CONFIG_HOME", home.path().toUtf8());
    qputenv("XDG_DATA_HOME", home.path().toUtf8());
    initResources();
    QCoreApplication::setOrganizationName(QStringLiteral("halftone-test"));
    QApplication application(argc, argv);
    return RUN_ALL_TESTS();
}
