#include "engine/runs/run_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "done_of.h"
#include "engine/base/error.h"
#include "engine/runs/run_group.h"
#include "support/part_figures.h"
#include "temp_folder.h"

namespace engine {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(RunStoreRebuild, NotesAndTagsSurviveARebuild) {
    test_support::TempFolder dir;
    RunStore store(dir.path());
    const auto run = store.create(config_with_seed(9));
    store.append(EpochDone{run.run, 1, 20, classified(0.6, 0.7), {}, classified(0.5, 0.8), 1});
    store.append(done_of(run.run));
    store.set_notes(run.run, "it \"diverged\"\nhere");
    store.set_tags(run.run, "lesson, 雪");
    const auto before = store.find(run.run);
    store.rebuild();
    const auto after = store.find(run.run);
    EXPECT_EQ(after->notes, "it \"diverged\"\nhere");
    EXPECT_EQ(after->tags, "lesson, 雪");
    EXPECT_EQ(after->config, before->config);
    EXPECT_EQ(after->started, before->started);
    EXPECT_EQ(after->state, before->state);
    EXPECT_EQ(after->test.loss, before->test.loss);
    EXPECT_THAT(store.events(run.run), SizeIs(2));
}

TEST(RunStoreRebuild, ATitleSurvivesARebuildAndChangesOfNotes) {
    test_support::TempFolder dir;
    RunStore store(dir.path());
    const auto run = store.create({});
    store.append(done_of(run.run));
    store.set_title(run.run, "第一 \"try\"");
    store.set_notes(run.run, "a note");
    store.set_tags(run.run, "a tag");
    EXPECT_EQ(store.find(run.run)->title, "第一 \"try\"");
    store.rebuild();
    EXPECT_EQ(store.find(run.run)->title, "第一 \"try\"");
    EXPECT_EQ(store.find(run.run)->notes, "a note");
}

TEST(RunStoreRebuild, AStarSurvivesARebuildAndChangesOfNotesAndCanBeTakenBack) {
    test_support::TempFolder dir;
    RunStore store(dir.path());
    const auto starred = store.create({});
    const auto plain = store.create({});
    for (const auto& run : {starred, plain}) store.append(done_of(run.run));
    store.set_starred(starred.run, true);
    store.set_notes(starred.run, "a note");
    for (int i = 0; i < 2; ++i) {
        EXPECT_TRUE(store.find(starred.run)->starred);
        EXPECT_EQ(store.find(starred.run)->notes, "a note");
        EXPECT_FALSE(store.find(plain.run)->starred);
        store.rebuild();
    }
    store.set_starred(starred.run, false);
    EXPECT_FALSE(store.find(starred.run)->starred);
    store.rebuild();
    EXPECT_FALSE(store.find(starred.run)->starred);
    EXPECT_THROW(store.set_starred("7", true), Error);
}

TEST(RunStoreRebuild, TheGroupOfARunSurvivesARebuildAndAResume) {
    test_support::TempFolder dir;
    const std::string group = new_run_group();
    EXPECT_NE(group, new_run_group());
    RunStore::NewRun run;
    {
        RunStore store(dir.path());
        run = store.create({}, {}, group);
        store.append(done_of(run.run));
        const auto single = store.create({});
        EXPECT_EQ(store.find(run.run)->group, group);
        EXPECT_EQ(store.find(single.run)->group, "");
        store.rebuild();
        EXPECT_EQ(store.find(run.run)->group, group);
    }
    RunStore store(dir.path());
    store.reopen(run.folder, 0);
    store.append(done_of(run.run));
    EXPECT_EQ(store.find(run.run)->group, group);
}

TEST(RunStoreRebuild, ADamagedIndexIsPutAsideAndBuiltAgain) {
    for (const std::string damage :
         {"not a database at all, but long enough to be looked at", ""}) {
        test_support::TempFolder dir;
        std::string run;
        {
            RunStore store(dir.path());
            run = store.create(config_with_seed(8)).run;
            store.append(done_of(run));
        }
        fs::remove(dir / "runs.db-wal");
        if (damage.empty()) {  // the first pages stay valid, the later ones are overwritten
            std::fstream file(dir / "runs.db", std::ios::in | std::ios::out | std::ios::binary);
            file.seekp(4096);
            file << std::string(3 * 4096, 'Z');
        } else {
            std::ofstream(dir / "runs.db") << damage;
        }
        RunStore store(dir.path());
        const auto warnings = store.take_warnings();
        ASSERT_THAT(warnings, SizeIs(1));
        EXPECT_THAT(warnings[0].str(), HasSubstr("runs.db.damaged-"));
        EXPECT_THAT(store.take_warnings(), IsEmpty());
        ASSERT_TRUE(store.find(run).has_value());
        EXPECT_EQ(store.find(run)->config.seed, 8);
        EXPECT_EQ(store.find(run)->state, "done");
    }
}

TEST(RunStoreRebuild, ARemovedIndexIsBuiltAgain) {
    test_support::TempFolder dir;
    { RunStore(dir.path()).create(config_with_seed(8)); }
    for (const char* file : {"runs.db", "runs.db-wal", "runs.db-shm"}) fs::remove(dir / file);
    EXPECT_EQ(RunStore(dir.path()).find("1")->config.seed, 8);
}

TEST(RunStoreRebuild, AnIndexThatAFullDiskLeftEmptyIsBuiltAgain) {
    test_support::TempFolder dir;
    { RunStore(dir.path()).create(config_with_seed(8)); }
    for (const char* file : {"runs.db-wal", "runs.db-shm"}) fs::remove(dir / file);
    fs::resize_file(dir / "runs.db", 0);
    EXPECT_EQ(RunStore(dir.path()).find("1")->config.seed, 8);
}

TEST(RunStoreRebuild, DamagedFilesInARunFolderDoNotStopARebuild) {
    test_support::TempFolder dir;
    RunStore store(dir.path());
    const auto run = store.create({});
    store.append(done_of(run.run));
    std::ofstream(run.folder / "events.jsonl", std::ios::app) << "{\"event\":\"warn";
    std::ofstream(run.folder / "notes.json") << "\xff";
    fs::create_directories(dir / "2");
    std::ofstream(dir / "2/config.json") << "{";
    std::ofstream(dir / "2/steps.rec") << "x";
    store.rebuild();
    EXPECT_EQ(store.find("1")->state, "done");
    EXPECT_EQ(store.find("2")->state, "interrupted");
    EXPECT_EQ(store.create({}).run, "3");
}

}  // namespace
}  // namespace engine
