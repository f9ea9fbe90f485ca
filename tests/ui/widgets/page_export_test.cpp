#include "widgets/page_export.h"

#include <gtest/gtest.h>

#include <QFile>
#include <QImage>
#include <QLabel>
#include <QTemporaryDir>

#include "widgets/write_page.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;
using test::writePage;

struct PageExportTest : testing::Test {
    PageExportTest() {
        plots.setText(u"plot"_s);
        plots.resize(120, 40);
        page.table = [] { return engine::Table{{"a", "b"}, {{1, "µs"}}}; };
        page.plots = &plots;
    }
    QString at(const QString& name) const { return folder.filePath(name); }
    static QByteArray read(const QString& file) {
        QFile in(file);
        return in.open(QIODevice::ReadOnly) ? in.readAll() : QByteArray();
    }

    QTemporaryDir folder;
    QLabel plots;
    PageExport page;
};

TEST_F(PageExportTest, WritesFiguresOrPicturesByTheEnding) {
    ASSERT_TRUE(writePage(page, at(u"a.csv"_s)));
    EXPECT_EQ(read(at(u"a.csv"_s)), QByteArray("a,b\n1,\xc2\xb5s\n"));
    ASSERT_TRUE(writePage(page, at(u"a.png"_s)));
    EXPECT_EQ(QImage(at(u"a.png"_s)).size(), QSize(240, 80));
    ASSERT_TRUE(writePage(page, at(u"a.SVG"_s)));
    EXPECT_TRUE(read(at(u"a.SVG"_s)).contains("<svg"));
}

TEST_F(PageExportTest, WritesATableWhereThePageHasOne) {
    EXPECT_FALSE(writePage(page, at(u"a.md"_s)));
    page.markdown = [] { return u"| a |\n"_s; };
    ASSERT_TRUE(writePage(page, at(u"a.md"_s)));
    EXPECT_EQ(read(at(u"a.md"_s)), QByteArray("| a |\n"));
}

TEST_F(PageExportTest, SaysThatAFileCannotBeWritten) {
    EXPECT_FALSE(writePage(page, at(u"a.txt"_s)));
    EXPECT_FALSE(writePage(page, at(u"missing/a.csv"_s)));
    EXPECT_FALSE(writePage(page, at(u"missing/a.png"_s)));
    page.plots = nullptr;
    EXPECT_FALSE(writePage(page, at(u"b.png"_s)));
}

}  // namespace
}  // namespace ui
