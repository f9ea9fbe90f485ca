#include "text/named_output.h"

#include <gtest/gtest.h>

#include <QFile>
#include <QFileInfo>
#include <filesystem>

#include "temp_folder.h"

namespace ui {
namespace {

namespace fs = std::filesystem;
using namespace Qt::StringLiterals;

class NamedOutput : public testing::Test {
protected:
    QString path(const char* name) const {
        return QString::fromStdString((folder_ / name).string());
    }
    static QByteArray content(const QString& file) {
        QFile in(file);
        return in.open(QIODevice::ReadOnly) ? in.readAll() : QByteArray();
    }

    const test_support::TempFolder folder_;
};

TEST_F(NamedOutput, FollowsALinkAndKeepsTheMode) {
    folder_.write("real.csv", std::string("old"));
    fs::create_symlink("real.csv", folder_ / "link.csv");
    fs::permissions(folder_ / "real.csv", fs::perms::owner_read | fs::perms::owner_write);
    EXPECT_TRUE(writeNamed(path("link.csv"), QByteArray("new")));
    EXPECT_EQ(content(path("real.csv")), "new");
    EXPECT_TRUE(fs::is_symlink(folder_ / "link.csv"));
    EXPECT_EQ(fs::status(folder_ / "real.csv").permissions(),
              fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(NamedOutput, IsFalseForAFileThatNobodyMayWrite) {
    folder_.write("kept.csv", std::string("old"));
    fs::permissions(folder_ / "kept.csv", fs::perms::owner_read);
    EXPECT_FALSE(writeNamed(path("kept.csv"), QByteArray("new")));
    EXPECT_FALSE(writeNamed(path("absent/kept.csv"), QByteArray("new")));
    EXPECT_EQ(content(path("kept.csv")), "old");
}

TEST_F(NamedOutput, IsMadeBesideWithTheSameEnding) {
    folder_.write("picture.png", std::string("old"));
    QString scratch;
    EXPECT_TRUE(writeNamed(path("picture.png"), [&](const QString& file) {
        scratch = file;
        QFile out(file);
        return out.open(QIODevice::WriteOnly) && out.write("new") == 3;
    }));
    EXPECT_TRUE(scratch.endsWith(u".png"_s));
    EXPECT_FALSE(QFileInfo::exists(scratch));
    EXPECT_EQ(content(path("picture.png")), "new");
    EXPECT_FALSE(writeNamed(path("picture.png"), [](const QString&) { return false; }));
    EXPECT_EQ(content(path("picture.png")), "new");
}

}  // namespace
}  // namespace ui
