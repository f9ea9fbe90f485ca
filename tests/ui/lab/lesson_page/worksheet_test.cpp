#include "lab/lesson_page/worksheet.h"

#include <gtest/gtest.h>

#include <QAbstractTextDocumentLayout>
#include <QTextBlock>
#include <QTextDocument>
#include <cmath>
#include <thread>

#include "engine/lab/lesson_files.h"

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

/// A question, and the table, is never divided between pages, whatever the height of a page.
TEST(Worksheet, DividesNoQuestionAndNotTheTable) {
    const auto& lessons = engine::builtin_lessons().lessons;
    ASSERT_FALSE(lessons.empty());
    for (const double height : {700.0, 830.0, 960.0}) {
        for (const auto& files : lessons) {
            QTextDocument document;
            document.setPageSize({600, height});
            const auto kept = fillWorksheet(document, files.in("en"));
            ASSERT_FALSE(kept.empty());
            breakPages(document, kept);
            for (const auto& [first, last] : kept) {
                const auto page = [&](int block) {
                    const auto* layout = document.documentLayout();
                    const auto found = document.findBlockByNumber(block);
                    return std::floor(layout->blockBoundingRect(found).top() / height);
                };
                EXPECT_EQ(page(first), page(last)) << files.name << ' ' << height;
            }
        }
    }
}

TEST(Worksheet, IsWrittenAsAPdf) {
    const auto lesson = engine::parse_lesson(small_lesson(), "small");
    QByteArray pdf;
    std::thread([&] { pdf = worksheetPdf(lesson); }).join();
    EXPECT_TRUE(pdf.startsWith("%PDF-"));
    EXPECT_GT(pdf.size(), 2000);
}

}  // namespace
}  // namespace ui
