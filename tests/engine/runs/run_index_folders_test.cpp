// The index and the folders of its runs: new ones, ones that are gone, numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "engine/base/error.h"
#include "kept_history.h"
#include "record/step_record.h"
#include "temp_folder.h"

namespace engine {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(RunIndex, FoldersThatTheIndexDoesNotKnowAreAdopted) {
    test_support::TempFolder dir;
    make_history(dir.path());
    change_index(dir.path(), "DELETE FROM runs WHERE id = '2'");
    RunStore store(dir.path());
    EXPECT_EQ(store.find("2")->state, "done");
    EXPECT_THAT(store.events("2"), SizeIs(2));
    EXPECT_THAT(store.take_warnings(), IsEmpty());
}

TEST(RunIndex, AFolderWithoutSettingsThatAKilledProcessLeftIsRemoved) {
    test_support::TempFolder dir;
    make_history(dir.path());
    fs::create_directories(dir / "4");
    fs::create_directories(dir / "5");
    std::ofstream(dir / "5/lock") << "";
    std::ofstream(dir / "5/config.json.77.part") << "{";
    fs::create_directories(dir / "6");
    std::ofstream(dir / "6/thesis.txt") << "precious";
    fs::create_directories(dir / "backup");
    fs::create_directories(dir / "7");
    const FileLock held = FileLock::take(dir / "7/lock");
    RunStore store(dir.path());
    EXPECT_FALSE(fs::exists(dir / "4"));
    EXPECT_FALSE(fs::exists(dir / "5"));
    EXPECT_TRUE(fs::exists(dir / "6/thesis.txt"));
    EXPECT_TRUE(fs::exists(dir / "7"));
    EXPECT_TRUE(fs::exists(dir / "backup"));
    EXPECT_EQ(store.create({}).run, "8");
}

TEST(RunIndex, ANumberIsNeverGivenTwice) {
    test_support::TempFolder dir;
    RunStore store(dir.path());
    const auto first = store.create({});
    fs::remove_all(first.folder);  // while the run trains
    const auto second = store.create({});
    EXPECT_EQ(second.run, "2");
    EXPECT_EQ(second.folder.filename(), "2");
    store.append(done_of(second.run));
    fs::remove_all(second.folder);
    for (const char* file : {"runs.db", "runs.db-wal", "runs.db-shm"}) fs::remove(dir / file);
    EXPECT_EQ(RunStore(dir.path()).create({}).run, "3") << "though nothing else remembers it";
}

TEST(RunIndex, NumbersOfAnEarlierProgramsIndexAreNotGivenAgain) {
    test_support::TempFolder dir;
    make_history(dir.path());
    fs::remove_all(dir / "3");
    fs::resize_file(dir / "index.lock", 0);  // an earlier program stored no number
    EXPECT_EQ(RunStore(dir.path()).create({}).run, "4");
}

TEST(RunIndex, ARunInAFolderWhoseRunWasDeletedTakesItsPlace) {
    test_support::TempFolder dir;
    RunStore store(dir / "runs");
    store.append(done_of(store.create({}, dir / "mine").run));
    fs::remove_all(dir / "mine");
    EXPECT_EQ(store.create({}, dir / "mine").run, "mine");
    EXPECT_THAT(store.list(), SizeIs(1)) << "no two share a folder";
    EXPECT_THAT(store.events("mine"), IsEmpty());
}

TEST(RunIndex, AFolderThatIsDeletedWhileItsRunTrainsIsAnErrorOfThatRun) {
    test_support::TempFolder dir;
    RunStore store(dir.path());
    const auto run = store.create({}), other = store.create({});
    fs::remove_all(run.folder);
    EXPECT_THAT(index_error([&] { store.check_folder(run.run); }), HasSubstr(run.folder.string()));
    EXPECT_NO_THROW(store.check_folder(other.run));
    store.append(RunFailed{run.run, ErrorCode::data, msg("gone"), {}});
    EXPECT_FALSE(fs::exists(run.folder)) << "it is not made anew";
    EXPECT_EQ(store.find(run.run)->state, "missing");
    EXPECT_TRUE(std::holds_alternative<RunFailed>(store.events(run.run).back()));
}

TEST(RunIndex, AnEventForADeletedFolderIsAnErrorThatSaysSo) {
    test_support::TempFolder dir;
    RunStore store(dir.path());
    const auto run = store.create({});
    fs::rename(run.folder, dir / "moved");
    EXPECT_THAT(index_error([&] {
                    store.append(RunWarning{run.run, msg("w"), 1});
                }),
                HasSubstr("deleted or moved"));
}

TEST(RunIndex, AHistoryThatWasMovedKeepsItsIds) {
    test_support::TempFolder dir;
    make_history(dir / "before");
    fs::rename(dir / "before", dir / "after");
    RunStore store(dir / "after");
    const auto runs = store.list();
    ASSERT_THAT(runs, SizeIs(3));
    EXPECT_EQ(runs[0].run, "3");
    EXPECT_EQ(runs[0].folder, dir / "after" / "3");
}

}  // namespace
}  // namespace engine
