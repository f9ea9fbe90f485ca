#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include "engine/runs/run_store.h"
#include "record/record_layout.h"
#include "step_record_support.h"
#include "temp_folder.h"

// Columns of the record for metrics other than accuracy.
namespace engine {
namespace {

using test::message_of;
using test::row_of;
using testing::ElementsAre;
using testing::HasSubstr;

const Metric accuracy_metric{.key = "accuracy", .title = "Accuracy", .is_share = true};
const Metric rmse_metric{.key = "rmse", .title = "RMSE", .higher_is_better = false};
const Metric r2{.key = "r2", .title = "R²"};
const Metric perplexity{.key = "perplexity", .title = "Perplexity", .higher_is_better = false};

/// The names of the columns in a record's header.
std::vector<std::string> columns_of(const std::filesystem::path& folder) {
    std::ifstream file(folder / record_layout::file_name, std::ios::binary);
    record_layout::Header header;
    file.read(reinterpret_cast<char*>(&header), sizeof header);
    std::vector<std::string> out;
    for (std::size_t i = 0; i < header.column_count; ++i)
        out.emplace_back(header.columns[i].name.data());
    return out;
}

TEST(StepRecordMetrics, ARecordHasTheColumnsThatItsTaskNeeds) {
    for (const std::size_t count : {0u, 1u, 2u, 8u}) {
        SCOPED_TRACE(count);
        const test_support::TempFolder dir;
        auto writer = StepRecordWriter::create(dir.path(), count);
        writer.append(row_of(1));
        const StepRecord row = StepRecordReader::open(dir.path()).row(0), wanted = row_of(1);
        EXPECT_EQ(row.accuracy, wanted.accuracy);
        EXPECT_EQ(row.samples_per_s, wanted.samples_per_s);
        for (std::size_t i = 0; i < max_metrics; ++i) {
            const auto column = metric_columns[i];
            if (i < count)
                EXPECT_EQ(row.*column, wanted.*column) << i;
            else
                EXPECT_TRUE(std::isnan(row.*column)) << i;
            std::vector<double> values(1);
            writer.reader().column(column, 0, values);
            EXPECT_EQ(std::isnan(values[0]), i >= count);
        }
        EXPECT_EQ(columns_of(dir.path()).size(), 31 + count);
    }
}

// Records of image classifiers keep their earlier form.
TEST(StepRecordMetrics, WithoutFurtherMetricsTheColumnsAreThoseOfEarlierVersionsAndWhatWasAdded) {
    const test_support::TempFolder dir;
    { auto writer = StepRecordWriter::create(dir.path()); }
    EXPECT_THAT(
        columns_of(dir.path()),
        ElementsAre("step", "epoch", "samples", "updates", "elapsed_s", "clock_s",
                    "memory_bytes", "peak_bytes", "loss", "accuracy", "lr", "loss_scale", "growth_tracker",
                    "found_inf", "grad_norm", "grad_max", "grad_max_exponent", "scaled_f16_max",
                    "scale_ceiling", "f16_zero_share", "f16_subnormal_share", "f16_overflow_share",
                    "lost_update_share", "grad_zero_share", "step_ms", "data_ms", "forward_ms",
                    "backward_ms", "optimizer_ms", "samples_per_s", "scale_floor"));
}

// A column is found by its name, wherever it lies.
TEST(StepRecordMetrics, ARecordWithoutTheClockGoesOnWithoutIt) {
    const test_support::TempFolder dir;
    const record_layout::Header now = record_layout::make_header(2, test::every_column);
    record_layout::Header earlier = now;
    earlier.columns = {};
    earlier.column_count = 0;
    for (std::uint32_t i = 0; i < now.column_count; ++i) {
        const std::string name = now.columns[i].name.data();
        if (name != "clock_s") add_column(earlier, name, now.columns[i].type);
    }
    earlier.checksum = record_layout::checksum(earlier);
    { const auto made = ColumnWriter::create(dir.path() / record_layout::file_name, earlier); }
    StepRecordWriter::open(dir.path(), 0, 2).append(row_of(1));
    const StepRecord row = StepRecordReader::open(dir.path()).row(0), wanted = row_of(1);
    EXPECT_TRUE(std::isnan(row.clock_s));
    EXPECT_EQ(row.elapsed_s, wanted.elapsed_s);
    EXPECT_EQ(row.metric_2, wanted.metric_2);
    EXPECT_EQ(row.exchange_hidden_share, wanted.exchange_hidden_share);
}

TEST(StepRecordMetrics, ARunWhoseMachineIsMeasuredHasColumnsForIt) {
    const test_support::TempFolder plain, card, cpu;
    StepRecordWriter::create(plain.path()).append(row_of(1));
    StepRecordWriter::create(card.path(), 0, {.card = true}).append(row_of(1));
    StepRecordWriter::create(cpu.path(), 0, {.cpu_meter = true}).append(row_of(1));
    const auto more = [&](const test_support::TempFolder& folder) {
        return columns_of(folder.path()).size() - columns_of(plain.path()).size();
    };
    EXPECT_EQ(more(card), 5U);
    EXPECT_EQ(more(cpu), 1U);
    EXPECT_EQ(StepRecordReader::open(card.path()).row(0).card_watts, row_of(1).card_watts);
    EXPECT_TRUE(std::isnan(StepRecordReader::open(card.path()).row(0).cpu_joules));
    EXPECT_EQ(StepRecordReader::open(cpu.path()).row(0).cpu_joules, row_of(1).cpu_joules);
    StepRecordWriter::open(card.path(), 1).append(row_of(2));  // on a machine without a card
}

TEST(StepRecordMetrics, ARunOfSeveralRanksHasColumnsForTheirExchange) {
    const test_support::TempFolder plain, shared;
    StepRecordWriter::create(plain.path(), 2).append(row_of(1));
    StepRecordWriter::create(shared.path(), 2, {.exchange = true}).append(row_of(1));
    EXPECT_EQ(columns_of(shared.path()).size(), columns_of(plain.path()).size() + 2);
    const StepRecord row = StepRecordReader::open(shared.path()).row(0);
    EXPECT_EQ(row.exchange_ms, row_of(1).exchange_ms);
    EXPECT_EQ(row.exchange_hidden_share, row_of(1).exchange_hidden_share);
    EXPECT_TRUE(std::isnan(StepRecordReader::open(plain.path()).row(0).exchange_ms));
    for (const auto* folder : {&plain, &shared}) {  // each continues in its own form
        StepRecordWriter::open(folder->path(), 1, 2).append(row_of(2));
        EXPECT_EQ(StepRecordReader::open(folder->path()).row(1).scale_floor, row_of(2).scale_floor);
    }
}

TEST(StepRecordMetrics, ARecordOfAnEarlierVersionGoesOnWithoutWhatWasAdded) {
    const test_support::TempFolder dir;
    record_layout::Header earlier = record_layout::make_header(1);
    earlier.columns[--earlier.column_count] = {};
    earlier.checksum = record_layout::checksum(earlier);
    { const auto made = ColumnWriter::create(dir.path() / record_layout::file_name, earlier); }
    auto writer = StepRecordWriter::open(dir.path(), 0, 1);
    test::append_steps(writer, 600);  // exceeds the first chunk
    writer.check();
    const StepRecord row = StepRecordReader::open(dir.path()).row(599), wanted = row_of(600);
    EXPECT_EQ(row.samples_per_s, wanted.samples_per_s);
    EXPECT_EQ(row.metric_1, wanted.metric_1);
    EXPECT_TRUE(std::isnan(row.scale_floor));
    EXPECT_EQ(row.clock_s, wanted.clock_s);
    for (const std::size_t metrics : {0u, 2u})
        EXPECT_THAT(
            message_of([&] { StepRecordWriter::open(dir.path(), 3, metrics); }, ErrorCode::data),
            HasSubstr("another version"));
}

TEST(StepRecordMetrics, AccuracyKeepsItsColumnAndOthersFollowInOrder) {
    EXPECT_EQ(metric_column(std::vector{accuracy_metric}, 0), &StepRecord::accuracy);
    const std::vector<Metric> mixed{rmse_metric, accuracy_metric, r2};
    EXPECT_EQ(metric_column(mixed, 0), &StepRecord::metric_1);
    EXPECT_EQ(metric_column(mixed, 1), &StepRecord::accuracy);
    EXPECT_EQ(metric_column(mixed, 2), &StepRecord::metric_2);
    std::vector<Metric> many(9, rmse_metric);
    EXPECT_EQ(metric_column(many, 7), &StepRecord::metric_8);
    message_of([&] { (void)metric_column(many, 8); }, ErrorCode::state);
}

TEST(StepRecordMetrics, FieldsAreNamedByTheKeysOfTheMetrics) {
    const auto names = [](const std::vector<Metric>& metrics) {
        std::vector<std::string> out;
        for_each_named_field(metrics, [&](std::string_view name, auto) { out.emplace_back(name); });
        return out;
    };
    const auto plain = names({accuracy_metric});
    EXPECT_EQ(plain.size(), 47u);
    EXPECT_EQ(plain[9], "accuracy");
    const auto regression = names({rmse_metric, r2});
    EXPECT_EQ(regression.size(), 48u);
    EXPECT_EQ(std::ranges::count(regression, "accuracy"), 0);
    EXPECT_EQ(regression[29], "rmse");
    EXPECT_EQ(regression[30], "r2");
    EXPECT_EQ(names({}).size(), 46u);
}

/// The cells of a CSV file: a map by column name for each line.
std::vector<std::map<std::string, std::string>> cells_of(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::vector<std::string> names;
    std::vector<std::map<std::string, std::string>> out;
    for (std::string line; std::getline(in, line);) {
        std::vector<std::string> cells;
        std::istringstream text(line + ",");
        for (std::string cell; std::getline(text, cell, ',');) cells.push_back(cell);
        if (names.empty()) {
            names = cells;
            continue;
        }
        EXPECT_EQ(cells.size(), names.size()) << line;
        auto& row = out.emplace_back();
        for (std::size_t i = 0; i < names.size(); ++i) row[names[i]] = cells[i];
    }
    return out;
}

/// The folder of a run of two steps with these metrics. They are 1.5, 2.5, ... in the first step
/// and one more in the second.
std::filesystem::path run_with(RunStore& store, const std::vector<Metric>& metrics,
                               bool tells_metrics = true) {
    const auto run = store.create({});
    if (tells_metrics) {
        RunStarted started{run.run, {}, "cpu", 1, 10, 20, 30, 2, run.folder.string()};
        started.metrics = started.step_metrics = metrics;
        store.append(started);
    }
    const auto columns = static_cast<std::size_t>(std::ranges::count_if(
        metrics, [](const Metric& metric) { return metric.key != "accuracy"; }));
    auto record = StepRecordWriter::create(run.folder, columns);
    for (std::int64_t step = 1; step <= 2; ++step) {
        StepRecord row{};
        row.step = step;
        row.accuracy = std::nanf("");
        for (const auto column : metric_columns) row.*column = std::nanf("");
        for (std::size_t i = 0; i < metrics.size(); ++i)
            row.*metric_column(metrics, i) =
                static_cast<float>(i) + 0.5F + static_cast<float>(step);
        record.append(row);
    }
    return run.folder;
}

TEST(StepRecordMetrics, TheCsvOfARunNamesItsMetrics) {
    const test_support::TempFolder dir;
    RunStore store(dir / "runs");
    export_csv(run_with(store, {rmse_metric, r2}), dir / "steps.csv");
    const auto rows = cells_of(dir / "steps.csv");
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0].at("rmse"), "1.5");
    EXPECT_EQ(rows[0].at("r2"), "2.5");
    EXPECT_EQ(rows[1].at("r2"), "3.5");
    EXPECT_FALSE(rows[0].contains("accuracy"));
    EXPECT_FALSE(rows[0].contains("metric_1"));
}

TEST(StepRecordMetrics, RunsOfSeveralKindsShareOneCsv) {
    const test_support::TempFolder dir;
    RunStore store(dir / "runs");
    const std::vector<CsvRun> runs = {{"images", run_with(store, {accuracy_metric})},
                                      {"early", run_with(store, {accuracy_metric}, false)},
                                      {"table", run_with(store, {rmse_metric, r2})},
                                      {"text", run_with(store, {perplexity})},
                                      {"mixed", run_with(store, {r2, accuracy_metric})}};
    export_csv(runs, dir / "steps.csv");
    const auto rows = cells_of(dir / "steps.csv");
    ASSERT_EQ(rows.size(), 10u);
    const auto cells = [&](std::size_t row) {
        std::vector<std::string> out;
        for (const char* name : {"run", "accuracy", "rmse", "r2", "perplexity"})
            out.push_back(rows[row].at(name));
        return out;
    };
    EXPECT_THAT(cells(0), ElementsAre("images", "1.5", "", "", ""));
    EXPECT_THAT(cells(2), ElementsAre("early", "1.5", "", "", "")) << "that told no metrics";
    EXPECT_THAT(cells(4), ElementsAre("table", "", "1.5", "2.5", ""));
    EXPECT_THAT(cells(6), ElementsAre("text", "", "", "", "1.5"));
    EXPECT_THAT(cells(8), ElementsAre("mixed", "2.5", "", "1.5", "")) << "each in its own order";
    EXPECT_THAT(cells(9), ElementsAre("mixed", "3.5", "", "2.5", ""));
}

TEST(StepRecordMetrics, TheCsvOfMoreKindsThanOneRunCanHaveMetrics) {
    const test_support::TempFolder dir;
    RunStore store(dir / "runs");
    std::vector<CsvRun> runs;
    for (int i = 0; i < 10; ++i) {
        const std::string key = "m" + std::to_string(i);
        runs.push_back({key, run_with(store, {{.key = key, .title = key}})});
    }
    export_csv(runs, dir / "steps.csv");
    const auto rows = cells_of(dir / "steps.csv");
    ASSERT_EQ(rows.size(), 20u);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        for (std::size_t k = 0; k < 10; ++k)
            EXPECT_EQ(rows[i].at("m" + std::to_string(k)), k != i / 2   ? ""
                                                           : i % 2 == 0 ? "1.5"
                                                                        : "2.5");
    }
}

TEST(StepRecordMetrics, AStepsLineCarriesThemUnderTheirKeys) {
    StepRecord row = row_of(1);
    row.metric_1 = 0.25F;
    row.metric_2 = std::nanf("");
    const std::string line = to_json_line("1", row, std::vector{rmse_metric, r2});
    EXPECT_THAT(line, HasSubstr("\"rmse\":0.25"));
    EXPECT_THAT(line, testing::Not(HasSubstr("r2"))) << "not measured";
    EXPECT_THAT(line, testing::Not(HasSubstr("accuracy")));
    EXPECT_THAT(line, testing::Not(HasSubstr("metric_")));
}

}  // namespace
}  // namespace engine
