#include "data/dataset_descriptor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "engine/base/error.h"
#include "support/data_fixtures.h"

namespace engine {
namespace {

TEST(DatasetDescriptor, EveryKindIsDescribed) {
    std::set<std::string> kinds, titles;
    for (const DatasetDescriptor& descriptor : datasets()) {
        SCOPED_TRACE(descriptor.kind);
        EXPECT_FALSE(descriptor.kind.empty());
        EXPECT_FALSE(descriptor.title.empty());
        EXPECT_THAT(descriptor.summary, ::testing::EndsWith("."));
        EXPECT_FALSE(descriptor.unit.empty());
        EXPECT_NE(descriptor.open, nullptr);
        ASSERT_NE(descriptor.schema, nullptr);
        EXPECT_GE(descriptor.schema({}).fields.size(), 2U);
        EXPECT_EQ(&dataset_descriptor(descriptor.kind), &descriptor);
        kinds.insert(descriptor.kind);
        titles.insert(descriptor.title);
    }
    EXPECT_EQ(kinds.size(), datasets().size());
    EXPECT_EQ(titles.size(), datasets().size());
}

TEST(DatasetDescriptor, EveryOptionHasAValidDefaultAndAnExplanation) {
    for (const DatasetDescriptor& descriptor : datasets()) {
        std::set<std::string> names;
        for (const OptionSpec& option : descriptor.options) {
            SCOPED_TRACE(descriptor.kind + "." + option.name);
            EXPECT_TRUE(names.insert(option.name).second) << "twice";
            EXPECT_FALSE(option.label.empty());
            EXPECT_THAT(option.help, ::testing::EndsWith("."));
            EXPECT_EQ(check_option(option, option.default_value).str(), "");
        }
    }
}

TEST(DatasetDescriptor, AugmentsOnlyImages) {
    for (const DatasetDescriptor& descriptor : datasets()) {
        if (!descriptor.augments) continue;
        EXPECT_NE(descriptor.schema({}).find(FieldKind::image), nullptr) << descriptor.kind;
    }
}

TEST(DatasetDescriptor, RefusesAKindThatItDoesNotKnow) {
    try {
        dataset_descriptor("imagenet");
        FAIL() << "not refused";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::settings);
        EXPECT_THAT(error.what(), ::testing::HasSubstr("dataset.kind: imagenet"));
    }
}

/// With `of_files`, sizes, names and normalisation may differ, since they depend on the files.
void expect_same_fields(const Schema& actual, const Schema& expected, bool of_files) {
    ASSERT_EQ(actual.fields.size(), expected.fields.size());
    for (std::size_t f = 0; f < actual.fields.size(); ++f) {
        const FieldSpec& a = actual.fields[f];
        const FieldSpec& b = expected.fields[f];
        SCOPED_TRACE(b.name);
        EXPECT_EQ(a.name, b.name);
        EXPECT_EQ(a.kind, b.kind);
        EXPECT_EQ(a.dtype, b.dtype);
        EXPECT_EQ(a.ragged, b.ragged);
        EXPECT_EQ(a.windowed, b.windowed);
        if (of_files) continue;
        EXPECT_EQ(a.shape, b.shape);
        EXPECT_EQ(a.cardinality, b.cardinality);
        EXPECT_EQ(a.names, b.names);
        EXPECT_EQ(a.normalization.mean, b.normalization.mean);
        EXPECT_EQ(a.normalization.deviation, b.normalization.deviation);
    }
}

DatasetConfig small(const DatasetDescriptor& descriptor) {
    DatasetConfig config = test::dataset(descriptor.kind, {});
    config.train_limit = 300;
    config.test_limit = 200;
    return config;
}

TEST(DatasetDescriptor, DescribesTheFieldsOfGeneratedSetsAsTheyAre) {
    int generated = 0;
    for (const DatasetDescriptor& descriptor : datasets()) {
        if (!descriptor.needs.empty()) continue;
        SCOPED_TRACE(descriptor.kind);
        ++generated;
        const DatasetConfig config = small(descriptor);
        const DataParts parts = descriptor.open(config, 1, {});
        const bool of_files = descriptor.files_decide;
        expect_same_fields(parts.train.data->schema(), descriptor.schema(config), of_files);
        expect_same_fields(parts.test.data->schema(), parts.train.data->schema(), false);
    }
    EXPECT_GT(generated, 0);
}

/// The bytes to the next field, which may hold integers of 64 bits.
std::size_t aligned(std::size_t bytes) {
    return (bytes + alignof(std::int64_t) - 1) / alignof(std::int64_t) * alignof(std::int64_t);
}

/// All fields of sample `index`. For a stream: a window of 8 tokens.
std::vector<std::byte> read_sample_bytes(const Dataset& data, std::int64_t index) {
    std::vector<std::size_t> sizes;
    std::size_t total = 0;
    for (const FieldSpec& field : data.schema().fields) {
        sizes.push_back(field.windowed ? 8 * size_of(field.dtype) : field.sample_bytes());
        total += aligned(sizes.back());
    }
    std::vector<std::byte> bytes(total, std::byte{0xff});
    std::vector<SampleFields::Place> places;
    std::size_t at = 0;
    for (const std::size_t size : sizes) {
        places.push_back({.data = bytes.data() + at, .bytes = size});
        at += aligned(size);
    }
    data.read(index, SampleFields(places));
    return bytes;
}

TEST(DatasetDescriptor, GeneratesTheSameSamplesOfTheSameSeed) {
    for (const DatasetDescriptor& descriptor : datasets()) {
        if (!descriptor.needs.empty()) continue;
        SCOPED_TRACE(descriptor.kind);
        const DatasetConfig config = small(descriptor);
        const DataParts first = descriptor.open(config, 3, {});
        const DataParts second = descriptor.open(config, 3, {});
        const DataParts other = descriptor.open(config, 4, {});
        ASSERT_EQ(first.train.size(), second.train.size());
        int differing = 0;
        for (std::int64_t i = 0; i < 100; ++i) {
            const auto sample = read_sample_bytes(*first.train.data, i);
            EXPECT_EQ(sample, read_sample_bytes(*second.train.data, i)) << i;
            EXPECT_EQ(read_sample_bytes(*first.test.data, i),
                      read_sample_bytes(*second.test.data, i))
                << i;
            differing += sample != read_sample_bytes(*other.train.data, i);
        }
        EXPECT_GT(differing, 50) << "another seed gives other samples";
    }
}

TEST(DatasetDescriptor, LimitsASize) {
    EXPECT_EQ(limited(10, 0), 10);
    EXPECT_EQ(limited(10, 3), 3);
    EXPECT_EQ(limited(10, 30), 10);
}

/// The bytes of sample 0, reading only the field `wanted`.
std::vector<std::byte> read_alone(const Dataset& data, std::size_t wanted) {
    const auto& fields = data.schema().fields;
    std::vector<std::byte> memory(fields[wanted].sample_bytes());
    std::vector<SampleFields::Place> places(fields.size());
    places[wanted] = {.data = memory.data(), .bytes = memory.size()};
    data.read(0, SampleFields(places));
    return memory;
}

TEST(DatasetDescriptor, GeneratedSetsGiveEachFieldAlone) {
    for (const DatasetDescriptor& descriptor : datasets()) {
        if (!descriptor.needs.empty()) continue;
        SCOPED_TRACE(descriptor.kind);
        const DataParts parts = descriptor.open(small(descriptor), 1, {});
        const auto& data = *parts.train.data;
        for (std::size_t f = 0; f < data.schema().fields.size(); ++f)
            EXPECT_EQ(read_alone(data, f), read_alone(data, f)) << data.schema().fields[f].name;
    }
}

}  // namespace
}  // namespace engine
