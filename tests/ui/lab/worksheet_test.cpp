#include "lab/worksheet.h"

#include <gtest/gtest.h>

#include <QFileInfo>
#include <QTemporaryDir>
#include <QTextDocument>

#include "support/lesson_texts.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;
using test_support::small_lesson;

TEST(Worksheet, AsksAndLeavesTheAnswersBlank) {
    QTextDocument document;
    fillWorksheet(document, engine::parse_lesson(small_lesson(), "small"));
    const QString text = document.toPlainText();
    EXPECT_TRUE(text.contains(u"☐  worse"_s)) << text.toStdString();
    EXPECT_TRUE(text.contains(u"0 to 40"_s));
    EXPECT_TRUE(text.contains(u"I said"_s));
    EXPECT_FALSE(text.contains(u"Because it overflowed"_s)) << "the explanation";
}

TEST(Worksheet, IsWrittenAsAPdf) {
    const QTemporaryDir folder;
    const auto lesson = engine::parse_lesson(small_lesson(), "small");
    const QString file = folder.filePath(u"small.pdf"_s);
    ASSERT_TRUE(writeWorksheet(lesson, file));
    QFile pdf(file);
    ASSERT_TRUE(pdf.open(QIODevice::ReadOnly));
    EXPECT_TRUE(pdf.readAll().startsWith("%PDF-"));
    EXPECT_FALSE(writeWorksheet(lesson, folder.filePath(u"absent/small.pdf"_s)));
}

}  // namespace
}  // namespace ui
