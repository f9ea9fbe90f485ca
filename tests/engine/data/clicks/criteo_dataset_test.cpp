
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "data/dataset_descriptor.h"
#include "engine/base/error.h"
#include "engine/data/dataset_preview.h"
#include "support/expectations.h"
#include "temp_folder.h"

namespace engine {
namespace {

using testing::HasSubstr;

class CriteoDatasets : public testing::Test {
protected:
    /// Rows whose first count is the row's number.
    std::string table(int rows) {
        std::ofstream file(folder_ / "train.txt");
        for (int i = 0; i < rows; ++i) {
            file << i % 2;
            for (int k = 0; k < 13; ++k) file << '\t' << (k == 0 ? i : k);
            for (int k = 0; k < 26; ++k) file << '\t' << std::hex << 1000 * k + i << std::dec;
            file << '\n';
        }
        return (folder_ / "train.txt").string();
    }
    static DataParts open(const DatasetConfig& config) { return open_dataset(config, 1); }

    test_support::TempFolder folder_;
};

TEST_F(CriteoDatasets, HoldsTheLastRowsOutAsTheTestPart) {
    DatasetConfig config;
    config.kind = "criteo";
    config.path = {table(50)};
    config.options = {{"test_share", 0.2}, {"max_rows", std::int64_t{100}}};
    const DataParts parts = open(config);
    EXPECT_EQ(parts.train.size(), 40);
    EXPECT_EQ(parts.test.size(), 10);
    EXPECT_EQ(parts.test.sample(0), 40);
    const Schema& schema = parts.train.data->schema();
    EXPECT_EQ(schema["ids"].cardinality, 100);
    EXPECT_EQ(schema["ids"].shape, Shape({26}));
    EXPECT_EQ(schema["dense"].shape, Shape({13}));
    EXPECT_EQ(schema["label"].cardinality, 2);
    config.train_limit = 7;
    EXPECT_EQ(open(config).train.size(), 7);
}

TEST_F(CriteoDatasets, AreRecognisedByTheirFirstLine) {
    EXPECT_EQ(recognise_path(table(3)), "criteo");
    std::ofstream(folder_ / "other.csv") << "a,b\n1,2\n3,4\n";
    EXPECT_EQ(recognise_path((folder_ / "other.csv").string()), "csv");
}

TEST_F(CriteoDatasets, RefusesNoFileAndTooFewRows) {
    DatasetConfig config;
    config.kind = "criteo";
    EXPECT_THAT(message_of(ErrorCode::data, [&] { open(config); }), HasSubstr("no path is given"));
    config.path = {table(1)};
    EXPECT_THAT(message_of(ErrorCode::data, [&] { open(config); }),
                HasSubstr("fewer than two rows"));
    config.path = {(folder_ / "absent.txt").string()};
    EXPECT_THAT(message_of(ErrorCode::data, [&] { open(config); }), HasSubstr("absent.txt"));
    try {
        open(config);
    } catch (const Error& error) {
        EXPECT_THAT(error.hint().str(), HasSubstr("The official page is https://ailab.criteo.com"));
    }
    config.path = {folder_.path().string()};
    EXPECT_THAT(message_of(ErrorCode::data, [&] { open(config); }),
                HasSubstr("a folder, not a file"));
}

}  // namespace
}  // namespace engine
