#include "engine/runs/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "record/step_record.h"
#include "temp_folder.h"

namespace engine {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string text_in_file(const fs::path& file) {
    std::ifstream stream(file);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

TEST(ExportCsv, WritesAHeaderAndALineAStep) {
    test_support::TempFolder dir;
    {
        auto record = StepRecordWriter::create(dir.path());
        for (std::int64_t i = 1; i <= 5000; ++i) {
            StepRecord step{};
            step.step = i;
            step.loss = i == 2 ? -std::nanf("") : 0.05f;
            step.accuracy = std::nanf("");
            record.append(step);
        }
    }
    export_csv(dir.path(), dir / "steps.csv");
    std::ifstream file(dir / "steps.csv");
    std::string line;
    std::getline(file, line);
    EXPECT_THAT(line, testing::StartsWith("step,epoch,samples,updates,elapsed_s"));
    std::getline(file, line);
    EXPECT_THAT(line, testing::StartsWith("1,0,0,0,0,0,0,0,0.05,,0,"));
    std::getline(file, line);
    EXPECT_THAT(line, testing::StartsWith("2,0,0,0,0,0,0,0,nan,,0,"));
    int lines = 3;
    while (std::getline(file, line)) ++lines;
    EXPECT_EQ(lines, 5001);
}

TEST(ExportCsv, NamesTheRunOfEveryLineWhereThereAreSeveral) {
    test_support::TempFolder dir;
    for (const char* name : {"a", "b"}) {
        fs::create_directories(dir / name);
        auto record = StepRecordWriter::create(dir / name);
        for (std::int64_t i = 1; i <= 2; ++i) {
            StepRecord step{};
            step.step = i;
            record.append(step);
        }
    }
    export_csv({{"=12 fp32", dir / "a"}, {"-b", dir / "b"}}, dir / "guarded.csv");
    EXPECT_THAT(text_in_file(dir / "guarded.csv"),
                testing::AllOf(HasSubstr("\n'=12 fp32,1,0,"), HasSubstr("\n'-b,2,0,")));
    export_csv({{"=12 fp32", dir / "a"}}, dir / "raw.csv", true);
    EXPECT_THAT(text_in_file(dir / "raw.csv"), HasSubstr("\n=12 fp32,1,0,"));
    export_csv({{"12 fp32", dir / "a"}, {"12, \"mine\"", dir / "b"}}, dir / "steps.csv");
    std::ifstream file(dir / "steps.csv");
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    ASSERT_EQ(lines.size(), 5u);
    EXPECT_THAT(lines[0], testing::StartsWith("run,step,epoch"));
    EXPECT_THAT(lines[1], testing::StartsWith("12 fp32,1,0,"));
    EXPECT_THAT(lines[2], testing::StartsWith("12 fp32,2,0,"));
    EXPECT_THAT(lines[3], testing::StartsWith("\"12, \"\"mine\"\"\",1,0,"));
    EXPECT_THROW(export_csv({{"a", dir / "a"}, {"c", dir / "c"}}, dir / "more.csv"), Error);
    EXPECT_FALSE(fs::exists(dir / "more.csv"));
}

TEST(ExportCsv, AMissingRecordOrAFolderThatIsNotThereIsAnError) {
    test_support::TempFolder dir;
    EXPECT_THROW(export_csv(dir.path(), dir / "steps.csv"), Error);
    EXPECT_FALSE(fs::exists(dir / "steps.csv"));
    { auto record = StepRecordWriter::create(dir.path()); }
    EXPECT_THROW(export_csv(dir.path(), dir / "absent/steps.csv"), Error);
}

}  // namespace
}  // namespace engine
