// Histories, runs, checkpoints, settings and lessons that earlier releases wrote, as their programs
// left them: runs/earlier/VERSION-COMMIT.zip.xz. A change of a file's form adds one of the form
// before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "data/byte_reader.h"
#include "engine/base/error.h"
#include "engine/lab/lesson.h"
#include "engine/runs/checkpoint.h"
#include "engine/runs/run_listing.h"
#include "engine/runs/run_store.h"
#include "engine/train/resume.h"
#include "io/zip/zip.h"
#include "record/record_layout.h"
#include "runs/checkpoint.h"
#include "runs/database.h"
#include "support/expectations.h"
#include "temp_folder.h"

namespace engine {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Upgrade : public testing::TestWithParam<const char*> {
protected:
    Upgrade() {
        std::vector<std::uint8_t> archive(1 << 20);
        archive.resize(
            open_packed(fs::path(HALFTONE_SOURCE_DIR) / "tests/engine/runs/earlier" / GetParam())
                ->read(archive));
        ZipReader zip(folder_.write("release.zip", archive));
        while (const ZipEntry* entry = zip.next()) {
            const fs::path file = folder_ / entry->name;
            fs::create_directories(file.parent_path());
            std::ofstream(file, std::ios::binary) << zip.read_text(1 << 20);
        }
        Database index(root() / "runs.db");
        Statement(index, "UPDATE runs SET folder = replace(folder, '/earlier', ?)")
            .bind(root().string())
            .run();
    }
    fs::path root() const { return folder_ / "runs"; }
    /// The runs as the program that wrote them listed them, newest first.
    std::vector<json> listed() const {
        std::vector<json> out;
        std::ifstream lines(folder_ / "runs.jsonl");
        for (std::string line; std::getline(lines, line);) out.push_back(json::parse(line));
        return out;
    }
    static void expect_as_before(const RunSummary& run, const json& before,
                                 std::set<std::string> changed = {}) {
        const json now = json::parse(to_json_line(run));
        for (const auto& [key, value] : before.items()) {
            if (key == "folder" || key == "config" || changed.contains(key)) continue;
            EXPECT_EQ(now.value(key, json()), value) << run.run << ": " << key;
        }
        for (const auto& [section, settings] : before.at("config").items())
            EXPECT_EQ(now.at("config").value(section, json()).is_null(), false) << section;
        EXPECT_EQ(now.at("config").at("optimizer"), before.at("config").at("optimizer"));
        EXPECT_EQ(now.at("config").at("seed"), before.at("config").at("seed"));
    }
    static std::string text_of(const fs::path& file) {
        std::ifstream in(file);
        return std::string((std::istreambuf_iterator<char>(in)), {});
    }
    void change(const fs::path& file, const std::string& from, const std::string& to) {
        std::string text = text_of(file);
        const auto at = text.find(from);
        ASSERT_NE(at, std::string::npos) << file;
        std::ofstream(file) << text.replace(at, from.size(), to);
    }

    test_support::TempFolder folder_;
};

TEST_P(Upgrade, TheHistoryHasTheRunsWithTheFiguresThatTheyHad) {
    const auto before = listed();
    const RunStore store(root());
    const auto now = store.list();
    ASSERT_EQ(now.size(), before.size());
    for (std::size_t i = 0; i < now.size(); ++i) expect_as_before(now[i], before[i]);
}

TEST_P(Upgrade, ARunIsReadFromItsFolderAlone) {
    fs::remove(root() / "runs.db");
    const RunStore store(root());
    for (const json& before : listed()) {
        const auto run = store.find(before.at("run").get<std::string>());
        ASSERT_TRUE(run.has_value()) << before.at("run");
        // 6cc2d93c took the mean speed and the peak of the last part alone. A run that is read from
        // its folder has those of its record, as its page shows them.
        const bool other_figures = std::string(GetParam()).find("6cc2d93c") != std::string::npos;
        expect_as_before(*run, before,
                         other_figures ? std::set<std::string>{"samples_per_s", "peak_bytes"}
                                       : std::set<std::string>{});
        EXPECT_GT(run->samples_per_s, 0);
        EXPECT_GT(run->peak_bytes, 0);
    }
}

TEST_P(Upgrade, ACheckpointIsWholeAndTheRunCanGoOnFromIt) {
    std::vector<std::int64_t> steps;
    for (const auto& each : list_checkpoints(root() / "1")) {
        steps.push_back(each.step);
        EXPECT_FALSE(read_checkpoint(each.folder).weights.empty());
    }
    EXPECT_THAT(steps, ElementsAre(4, 8));
    const RunStore store(root());
    const ResumePlan plan = plan_resume(*store.find("1"), "last", {"epochs=4", "max_steps=16"});
    EXPECT_THAT(plan.errors, IsEmpty());
    EXPECT_EQ(plan.config.max_steps, 16);
}

TEST_P(Upgrade, SettingsAndLessonsAreReadWithoutAnError) {
    const ParsedConfig parsed = parse_run_config(text_of(root() / "1" / "config.json"));
    EXPECT_THAT(parsed.errors, IsEmpty());
    EXPECT_EQ(parsed.config.max_steps, 8);
    const Lesson lesson = parse_lesson(text_of(folder_ / "lesson.lesson.md"), "lesson");
    EXPECT_THAT(lesson.problems, IsEmpty());
}

TEST_P(Upgrade, ALessonOfALaterVersionShowsWhatIsNotKnown) {
    const fs::path file = folder_ / "lesson.lesson.md";
    change(file, "title:", "later: 1\ntitle:");
    const Lesson lesson = parse_lesson(text_of(file), "lesson");
    ASSERT_EQ(lesson.problems.size(), 1U);
    EXPECT_THAT(lesson.problems[0].text.str(), HasSubstr("later"));
    EXPECT_FALSE(lesson.steps.empty()) << "the rest can be read";
}

TEST_P(Upgrade, AFileOfALaterVersionIsRefusedInASentence) {
    const fs::path run = root() / "1";
    {
        record_layout::Header header{};
        std::fstream file(run / "steps.rec", std::ios::in | std::ios::out | std::ios::binary);
        file.read(reinterpret_cast<char*>(&header), sizeof header);
        header.version = record_layout::version + 1;
        file.seekp(0);
        file.write(reinterpret_cast<const char*>(&header), sizeof header);
    }
    EXPECT_THAT(message_of(ErrorCode::data, [&] { StepRecordReader::open(run); }),
                HasSubstr("a step record of version 2; this program reads version 1"));
    change(run / "checkpoint-8" / "state.json", "\"version\": 1", "\"version\": 9");
    EXPECT_THAT(message_of(ErrorCode::data, [&] { read_checkpoint(run / "checkpoint-8"); }),
                HasSubstr("later version of this program"));
    {
        Database index(root() / "runs.db");
        index.run("CREATE TABLE later (x)");
        index.run("PRAGMA user_version = 99");
    }
    EXPECT_THAT(message_of(ErrorCode::io, [&] { RunStore store(root()); }),
                HasSubstr("later version of this program"));
}

TEST_P(Upgrade, ASettingOfALaterVersionIsToldAndNotReplacedInSilence) {
    const fs::path run = root() / "1";
    change(run / "config.json", "\"amp-fp16\"", "\"amp-fp4\"");
    const auto listed = read_run_folder(run);
    ASSERT_TRUE(listed.has_value());
    EXPECT_THAT(run_page(*listed), HasSubstr("amp-fp4"));
    change(run / "config.json", "\"scaler\"", "\"later\": 1, \"scaler\"");
    EXPECT_THAT(message_of(ErrorCode::data, [&] { plan_resume(listed->summary); }),
                HasSubstr("has a setting that this version does not take: "));
}

INSTANTIATE_TEST_SUITE_P(Releases, Upgrade,
                         testing::Values("0.1-6cc2d93c.zip.xz", "0.1-b04385c3.zip.xz"),
                         [](const auto& each) {
                             std::string name = each.param;
                             std::erase_if(name, [](char c) { return c == '.' || c == '-'; });
                             return name;
                         });

}  // namespace
}  // namespace engine
