#include "lab/lesson_page/lesson_text.h"

#include <gtest/gtest.h>

#include <QDir>
#include <QImage>
#include <QTemporaryDir>

#include "theme/theme.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

TEST(LessonText, ReadsPicturesOfItsFolderAlone) {
    const QTemporaryDir folder;
    ASSERT_TRUE(QDir(folder.path()).mkdir(u"lesson"_s));
    QImage picture(4, 4, QImage::Format_RGB32);
    picture.fill(Qt::red);
    ASSERT_TRUE(picture.save(folder.filePath(u"lesson/inside.png"_s)));
    ASSERT_TRUE(picture.save(folder.filePath(u"outside.png"_s)));
    Theme theme;
    LessonText text(&theme, u"words"_s, folder.filePath(u"lesson"_s));
    const auto load = [&](const QString& name) {
        return text.loadResource(QTextDocument::ImageResource, QUrl(name)).value<QImage>();
    };
    EXPECT_FALSE(load(u"inside.png"_s).isNull());
    EXPECT_TRUE(load(u"../outside.png"_s).isNull());
    EXPECT_TRUE(load(QUrl::fromLocalFile(folder.filePath(u"outside.png"_s)).toString()).isNull());
    EXPECT_TRUE(load(folder.filePath(u"outside.png"_s)).isNull());
}

TEST(LessonText, GrowsWithItsText) {
    Theme theme;
    const LessonText few(&theme, u"A few words."_s, {});
    const LessonText many(&theme, u"Many words in a long line. "_s.repeated(40), {});
    EXPECT_GT(many.heightForWidth(400), 5 * few.heightForWidth(400));
    EXPECT_GT(many.heightForWidth(200), many.heightForWidth(400));
}

}  // namespace
}  // namespace ui
