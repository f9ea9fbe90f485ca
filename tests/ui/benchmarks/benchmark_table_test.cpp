#include "benchmarks/benchmark_table.h"

#include <gtest/gtest.h>

#include "benchmarks/made_results.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

std::vector<BenchmarkResult> two() {
    std::vector<BenchmarkResult> results{madeResult(0, "amp-fp16"), madeResult(2, "amp-bf16", 5)};
    results[1].row.batch_memory = 0;
    results[1].machine = u"Another one"_s;
    return results;
}

QString csv(const std::vector<BenchmarkResult>& results) {
    return QString::fromStdString(to_csv(benchmarkTable(results)));
}

TEST(BenchmarkTable, AsCsvHasTheNamesOfTheCommandLineAndExactFigures) {
    const QStringList lines = csv(two()).split(u'\n');
    ASSERT_EQ(lines.size(), 4);
    EXPECT_EQ(lines[3], QString());
    const QStringList heads = lines[0].split(u',');
    EXPECT_EQ(heads.first(), u"model"_s);
    const auto field = [&](int line, const QString& head) {
        return lines[line].split(u',').value(heads.indexOf(head));
    };
    EXPECT_EQ(field(1, u"model"_s), u"mlp"_s);
    EXPECT_EQ(field(1, u"dataset"_s), u"spirals"_s);
    EXPECT_EQ(field(1, u"speed_up"_s).toDouble(), two()[0].row.speed_up);
    EXPECT_EQ(field(1, u"peak_bytes"_s), u"40000000"_s);
    EXPECT_EQ(field(1, u"largest_batch"_s), u"150"_s);
    EXPECT_EQ(field(1, u"pays"_s), u"true"_s);
    EXPECT_EQ(field(2, u"largest_batch"_s), QString()) << "it was not searched";
    EXPECT_EQ(field(2, u"largest_batch_at_least"_s), QString());
    EXPECT_EQ(field(2, u"pays"_s), u"false"_s);
    EXPECT_EQ(field(2, u"reason"_s), u"casts"_s);
    EXPECT_TRUE(lines[1].contains(u"AMP FP16 trains 1.67 times as fast"_s));
}

TEST(BenchmarkTable, AsMarkdownHasOneLineAMeasurementAndNamesTheMachines) {
    const QStringList lines = benchmarkMarkdown(two()).split(u'\n');
    ASSERT_EQ(lines.size(), 7);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(lines[i].count(u'|'), 8) << lines[i].toStdString();
    EXPECT_TRUE(lines[2].contains(u"| 150, FP32 100 in 1,000 MB |"_s)) << lines[2].toStdString();
    EXPECT_TRUE(lines[3].contains(u"casts are 45 % of its step"_s)) << lines[3].toStdString();
    EXPECT_EQ(lines[5], u"Measured on A processor, Another one."_s);
}

/// 2^20 is where the search ends.
TEST(BenchmarkTable, TellsTheLimitOfTheSearchFromAResult) {
    std::vector<BenchmarkResult> results{madeResult(0, "amp-fp16")};
    results[0].row.fp32_largest_batch = 909'585;
    results[0].row.largest_batch = 1'048'576;
    EXPECT_TRUE(benchmarkMarkdown(results).contains(u"| ≥ 1,048,576, FP32 909,585 in 1,000 MB |"_s));
    const QString table = csv(results);
    EXPECT_TRUE(table.contains(u",fp32_largest_batch_at_least,largest_batch,largest_batch_at_least,"_s));
    EXPECT_TRUE(table.contains(u",909585,false,1048576,true,"_s)) << table.toStdString();
}

}  // namespace
}  // namespace ui
