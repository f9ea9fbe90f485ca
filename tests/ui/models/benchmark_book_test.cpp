#include "models/benchmark_book.h"

#include <gtest/gtest.h>

#include <QFile>
#include <QTemporaryDir>

#include "benchmarks/made_results.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

TEST(BenchmarkBook, BeginsWithTheEnginesListAndAFewModelsChosen) {
    const BenchmarkBook book = newBenchmarkBook();
    EXPECT_EQ(book.entries.size(), engine::speedup_settings().size());
    const auto chosen = std::ranges::count(book.entries, true, &BenchmarkEntry::chosen);
    EXPECT_EQ(chosen, 3);
    EXPECT_EQ(book.precisions, (QStringList{u"amp-bf16"_s, u"amp-fp16"_s}));
    EXPECT_TRUE(book.results.empty());
}

TEST(BenchmarkBook, IsReadBackAsItWasWritten) {
    const QTemporaryDir folder;
    const QString file = folder.filePath(u"deep/benchmarks.json"_s);
    BenchmarkBook book = newBenchmarkBook();
    for (auto& entry : book.entries) entry.chosen = !entry.chosen;
    engine::RunConfig own = book.entries[1].settings;
    own.batch_size = 7;
    book.entries.push_back({own, true, true});
    book.precisions = {u"pure-fp16"_s};
    book.findsBatches = false;
    book.memory = u"2 GiB"_s;
    book.results = {madeResult(0, "amp-fp16"), madeResult(2, "amp-bf16", 5)};
    ASSERT_TRUE(writeBenchmarkBook(book, file));
    const BenchmarkBook read = readBenchmarkBook(file);
    ASSERT_EQ(read.entries.size(), book.entries.size());
    for (std::size_t i = 0; i < book.entries.size(); ++i) {
        EXPECT_EQ(read.entries[i].settings, book.entries[i].settings) << i;
        EXPECT_EQ(read.entries[i].chosen, book.entries[i].chosen) << i;
        EXPECT_EQ(read.entries[i].ofRun, book.entries[i].ofRun) << i;
    }
    EXPECT_EQ(read.precisions, book.precisions);
    EXPECT_FALSE(read.findsBatches);
    EXPECT_EQ(read.memory, u"2 GiB"_s);
    ASSERT_EQ(read.results.size(), 2u);
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(read.results[i].settings, book.results[i].settings);
        EXPECT_EQ(engine::to_json(read.results[i].row), engine::to_json(book.results[i].row));
        EXPECT_EQ(read.results[i].row.sentence.str(), book.results[i].row.sentence.str());
        EXPECT_EQ(read.results[i].machine, u"A processor"_s);
        EXPECT_EQ(read.results[i].when, book.results[i].when);
    }
}

TEST(BenchmarkBook, OfADamagedFileIsANewOne) {
    const QTemporaryDir folder;
    const QString file = folder.filePath(u"benchmarks.json"_s);
    EXPECT_EQ(readBenchmarkBook(file).entries.size(), newBenchmarkBook().entries.size());
    for (const QByteArray& text :
         {QByteArray("no JSON"), QByteArray("[]"),
          QByteArray(
              R"({"entries": [7, {"settings": {"batch_size": -1}}], "results": [{}, 1]})")}) {
        QFile out(file);
        ASSERT_TRUE(out.open(QIODevice::WriteOnly));
        out.write(text);
        out.close();
        const BenchmarkBook read = readBenchmarkBook(file);
        EXPECT_EQ(read.entries.size(), newBenchmarkBook().entries.size()) << text.toStdString();
        EXPECT_TRUE(read.results.empty());
    }
    EXPECT_FALSE(writeBenchmarkBook({}, u"/proc/benchmarks.json"_s));
}

TEST(BenchmarkBook, OrdersResultsAsItsEntriesAndTheCatalogsPrecisions) {
    BenchmarkBook book = newBenchmarkBook();
    BenchmarkResult gone = madeResult(0, "amp-fp16");
    gone.settings.batch_size = 12'345;
    book.results = {gone, madeResult(3, "amp-bf16"), madeResult(1, "amp-bf16"),
                    madeResult(1, "amp-fp16")};
    const auto ordered = orderedResults(book);
    ASSERT_EQ(ordered.size(), 4u);
    EXPECT_EQ(ordered[0].row.model, "lenet");
    EXPECT_EQ(ordered[0].row.precision, "amp-fp16") << "the catalog has it before amp-bf16";
    EXPECT_EQ(ordered[1].row.precision, "amp-bf16");
    EXPECT_EQ(ordered[2].settings, book.entries[3].settings);
    EXPECT_EQ(ordered[3].settings.batch_size, 12'345);
}

}  // namespace
}  // namespace ui
