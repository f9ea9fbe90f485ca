#include "record/histogram_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <random>

#include "engine/base/error.h"
#include "histogram_support.h"
#include "temp_folder.h"

namespace engine {
namespace {

using test::histogram_of;
using test_support::TempFolder;
using ::testing::HasSubstr;

std::vector<float> random_values(unsigned seed) {
    std::mt19937 engine(seed);
    std::normal_distribution<float> normal(0, 0.01f);
    std::vector<float> out(100 + seed % 50);
    for (float& value : out) value = normal(engine);
    out[0] = 0;
    return out;
}

/// A sample with made-up counts for three layers and all kinds.
HistogramSample sample_of_layers(std::int64_t step, bool shadow = false) {
    HistogramSample out{step, shadow, shadow ? 1.0 : 1024.0, {}};
    auto seed = static_cast<unsigned>(10 * step + (shadow ? 5 : 0));
    for (const char* layer : {"conv1", "layer1.0.bn1", ""})
        for (int kind = 0; kind < histogram_kind_count; ++kind)
            out.layers.push_back({layer, static_cast<HistogramKind>(kind),
                                  histogram_of(random_values(seed++)),
                                  kind == 0 ? ValueType::f16 : ValueType::f32, kind == 0});
    return out;
}

std::string writing_error(const std::function<void()>& work) {
    try {
        work();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(HistogramRecord, GivesBackWhatWasWritten) {
    const TempFolder run;
    EXPECT_FALSE(HistogramRecordReader::exists(run.path()));
    HistogramWriter writer(run.path());
    for (const std::int64_t step : {10, 20, 30}) writer.append(sample_of_layers(step));
    const auto reader = HistogramRecordReader::open(run.path());
    ASSERT_TRUE(HistogramRecordReader::exists(run.path()));
    ASSERT_EQ(reader.samples().size(), 3u);
    for (std::size_t i = 0; i < 3; ++i)
        EXPECT_EQ(reader.read(i), sample_of_layers(static_cast<std::int64_t>(10 * (i + 1))));
    EXPECT_EQ(reader.layers(), (std::vector<std::string>{"conv1", "layer1.0.bn1", ""}));
}

/// Rows are indexed in pieces of 4,096, whose end is inside a sample of 12 rows.
TEST(HistogramRecord, IndexesMoreRowsThanOnePiece) {
    const TempFolder run;
    HistogramWriter writer(run.path());
    for (std::int64_t step = 1; step <= 400; ++step) writer.append(sample_of_layers(step));
    writer.append(
        sample_of_layers(342));  // computed again: rows 4,092 to 4,103 are no longer valid
    const auto reader = HistogramRecordReader::open(run.path());
    ASSERT_EQ(reader.samples().size(), 400u);
    for (const std::size_t at : {0u, 340u, 341u, 342u, 399u})
        EXPECT_EQ(reader.read(at), sample_of_layers(static_cast<std::int64_t>(at) + 1)) << at;
    const auto drift = reader.read("conv1", HistogramKind::weights, 339, 4);
    for (std::size_t i = 0; i < 4; ++i)
        EXPECT_EQ(drift[i], sample_of_layers(static_cast<std::int64_t>(340 + i))
                                .find("conv1", HistogramKind::weights)
                                ->values);
}

TEST(HistogramRecord, IsFollowedWhileItIsWritten) {
    const TempFolder run;
    HistogramWriter writer(run.path());
    writer.append(sample_of_layers(1));
    auto reader = HistogramRecordReader::open(run.path());
    EXPECT_FALSE(reader.refresh());
    // Exceeds the first chunk, with a layer that did not exist before.
    for (std::int64_t step = 2; step <= 60; ++step) writer.append(sample_of_layers(step));
    HistogramSample more = sample_of_layers(61);
    more.layers.push_back({"fc", HistogramKind::weights, histogram_of({1.0f}), {}, false});
    writer.append(more);
    EXPECT_TRUE(reader.refresh());
    ASSERT_EQ(reader.samples().size(), 61u);
    EXPECT_EQ(reader.read(40), sample_of_layers(41));
    EXPECT_EQ(reader.read(60), more);
    const auto drift = reader.read("layer1.0.bn1", HistogramKind::updates, 10, 51);
    for (std::size_t i = 0; i < 51; ++i)
        EXPECT_EQ(drift[i], sample_of_layers(static_cast<std::int64_t>(i) + 11)
                                .find("layer1.0.bn1", HistogramKind::updates)
                                ->values);
    const auto rare = reader.read("fc", HistogramKind::weights, 59, 2);
    EXPECT_EQ(rare[0], ExponentHistogram{});
    EXPECT_EQ(rare[1], histogram_of({1.0f}));
}

TEST(HistogramRecord, GoesOnInTheSameFilesAndTheLaterSampleOfAStepStands) {
    const TempFolder run;
    {
        HistogramWriter writer(run.path());
        for (const std::int64_t step : {10, 20, 30}) writer.append(sample_of_layers(step));
    }
    HistogramWriter writer(run.path());
    HistogramSample again = sample_of_layers(20);
    again.loss_scale = 512;
    writer.append(again);
    writer.append(again);
    const auto reader = HistogramRecordReader::open(run.path());
    ASSERT_EQ(reader.samples().size(), 3u);
    EXPECT_EQ(reader.read(1), again);
    EXPECT_EQ(reader.read(2), sample_of_layers(30));
    EXPECT_EQ(reader.samples()[1].loss_scale, 512);
}

TEST(HistogramRecord, KeepsAShadowBesideTheStepItself) {
    const TempFolder run;
    HistogramWriter writer(run.path());
    writer.append(sample_of_layers(10));
    writer.append(sample_of_layers(11, true));
    writer.append(sample_of_layers(11));
    const auto reader = HistogramRecordReader::open(run.path());
    ASSERT_EQ(reader.samples().size(), 3u);
    EXPECT_EQ(reader.nearest(100), 1u);
    EXPECT_EQ(reader.nearest(1), 0u);
    EXPECT_EQ(reader.nearest(1, true), 2u);
    EXPECT_EQ(reader.read(2), sample_of_layers(11, true));
    EXPECT_EQ(reader.read(1), sample_of_layers(11));
}

TEST(HistogramRecord, NamesTheNearestStepAndTheEarlierOfTwo) {
    const TempFolder run;
    HistogramWriter writer(run.path());
    for (const std::int64_t step : {10, 20}) writer.append(sample_of_layers(step));
    const auto reader = HistogramRecordReader::open(run.path());
    EXPECT_EQ(reader.nearest(15), 0u);
    EXPECT_EQ(reader.nearest(16), 1u);
    EXPECT_EQ(reader.nearest(15, true), std::nullopt);
    EXPECT_THROW((void)reader.read(2), Error);
}

TEST(HistogramRecord, HoldsCountsBeyond32Bits) {
    const TempFolder run;
    HistogramSample sample{1, false, 1, {}};
    ExponentHistogram huge = histogram_of({1.0f, 2.0f});
    huge.zero = (std::int64_t{1} << 33) + 5;
    huge.bins[3] = (std::int64_t{1} << 31);
    sample.layers.push_back({"a", HistogramKind::activations, huge, {}, false});
    sample.layers.push_back({"a", HistogramKind::weights, histogram_of({1.0f}), {}, false});
    HistogramWriter(run.path()).append(sample);
    const auto reader = HistogramRecordReader::open(run.path());
    EXPECT_EQ(reader.read(0), sample);
    EXPECT_EQ(reader.read("a", HistogramKind::activations, 0, 1).front(), huge);
}

TEST(HistogramRecord, AddsUpTheLayersOfAKind) {
    const HistogramSample sample = sample_of_layers(3);
    ExponentHistogram sum;
    for (const LayerHistogram& layer : sample.layers)
        if (layer.kind == HistogramKind::gradients) sum += layer.values;
    EXPECT_EQ(sample.total(HistogramKind::gradients), sum);
    EXPECT_TRUE(sample.flushed(HistogramKind::gradients));
    EXPECT_FALSE(sample.flushed(HistogramKind::weights));
    EXPECT_EQ(sample.find("none", HistogramKind::gradients), nullptr);
    for (int kind = 0; kind < histogram_kind_count; ++kind)
        EXPECT_EQ(value_of_name<HistogramKind>(name(static_cast<HistogramKind>(kind))),
                  static_cast<HistogramKind>(kind));
    EXPECT_EQ(value_of_name<HistogramKind>("biases"), std::nullopt);
}

TEST(HistogramRecord, RefusesWhatIsNotWhole) {
    const TempFolder run;
    EXPECT_THAT(writing_error([&] { HistogramRecordReader::open(run.path()); }),
                HasSubstr("cannot open the histograms"));
    {
        HistogramWriter writer(run.path());
        for (std::int64_t step = 1; step <= 40; ++step) writer.append(sample_of_layers(step));
    }
    const auto folder = run.path() / "histograms";
    const auto file = folder / "exponents.rec";
    const auto layers = folder / "layers.json";
    std::filesystem::rename(layers, folder / "kept");
    for (const char* text : {"", "[]", "{\"layers\":3}", "{\"layers\":[1]}", "{\"layers\":[]}"}) {
        std::ofstream(layers) << text;
        EXPECT_THAT(writing_error([&] { HistogramRecordReader::open(run.path()).read(0); }),
                    HasSubstr("damaged"))
            << text;
    }
    std::filesystem::rename(folder / "kept", layers);
    EXPECT_EQ(HistogramRecordReader::open(run.path()).read(0), sample_of_layers(1));
    std::filesystem::resize_file(file, std::filesystem::file_size(file) - 8192);
    EXPECT_THAT(writing_error([&] { HistogramRecordReader::open(run.path()); }),
                HasSubstr("too short"));
    std::filesystem::resize_file(file, 100);
    EXPECT_THAT(writing_error([&] { HistogramRecordReader::open(run.path()); }),
                HasSubstr("damaged"));
    EXPECT_THAT(writing_error([&] { HistogramWriter(run.path()).append(sample_of_layers(1)); }),
                HasSubstr("damaged"));
}

TEST(MicroscopeCsv, HasALineForEachLayerOfTheKind) {
    HistogramSample sample;
    sample.step = 12;
    sample.shadow = true;
    sample.loss_scale = 65536;
    sample.layers.resize(2);
    sample.layers[0].layer = "fc,1";
    sample.layers[0].values.bins[0] = 3;
    sample.layers[0].values.zero = 5;
    sample.layers[0].values.nan = 2;
    sample.layers[1].kind = HistogramKind::weights;
    const Table table = to_table(sample, HistogramKind::gradients);
    ASSERT_EQ(table.columns.size(), 9U + ExponentHistogram::bin_count + 2U);
    EXPECT_EQ(table.columns[9], "-48");
    EXPECT_EQ(table.columns[table.columns.size() - 3], "17");
    const std::string csv = to_csv(table);
    EXPECT_THAT(csv, testing::HasSubstr("\n12,1,65536,gradients,\"fc,1\",f32,0,5,0,3,0,"));
    EXPECT_TRUE(csv.ends_with(",0,0,2\n"));
    EXPECT_EQ(std::ranges::count(csv, '\n'), 2);
}

}  // namespace
}  // namespace engine
