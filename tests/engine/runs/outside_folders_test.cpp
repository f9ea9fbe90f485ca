#include "runs/outside_folders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "done_of.h"
#include "engine/runs/run_store.h"
#include "temp_folder.h"

namespace engine {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

void remove_index(const fs::path& root) {
    for (const char* file : {"runs.db", "runs.db-wal", "runs.db-shm"}) fs::remove(root / file);
}

TEST(OutsideFolders, AreListedOnceAndCanBeTakenOut) {
    const test_support::TempFolder dir;
    OutsideFolders outside(dir.path());
    EXPECT_THAT(outside.all(), IsEmpty());
    outside.add({"/a/b"});
    outside.add({"/a/line\nbreak \"quoted\" 雪"});
    outside.add({"/a/b"});
    outside.add({dir / "7"});  // is found without the list
    EXPECT_THAT(outside.all(), ElementsAre("/a/b", "/a/line\nbreak \"quoted\" 雪"));
    outside.remove("/a/b");
    outside.remove("/not/there");
    EXPECT_THAT(OutsideFolders(dir.path()).all(), ElementsAre("/a/line\nbreak \"quoted\" 雪"));
}

TEST(OutsideFolders, DamagedLinesAreLeftOut) {
    const test_support::TempFolder dir;
    std::ofstream(dir / "outside.jsonl") << "{\"folder\":\"/a\"}\n{\"folder\":5}\n[[[\n\n"
                                         << std::string(100'000, '[') << "\n{\"folder\":\"rel\"}\n"
                                         << "{\"folder\":\"/b\"}\n{\"folder\":\"/cut";
    EXPECT_THAT(OutsideFolders(dir.path()).all(), ElementsAre("/a", "/b"));
}

TEST(OutsideFolders, AreFoundWhenTheIndexIsLost) {
    const test_support::TempFolder dir;
    for (const bool damaged : {false, true}) {
        {
            RunStore store(dir / "runs");
            if (!damaged) {
                for (const char* name : {"one", "two"})
                    store.append(done_of(store.create({}, dir / "elsewhere" / name).run));
                store.append(done_of(store.create({}).run));
            }
        }
        remove_index(dir / "runs");
        if (damaged) std::ofstream(dir / "runs/runs.db") << std::string(9000, 'Z');
        RunStore store(dir / "runs");
        EXPECT_EQ(store.list().size(), 3U);
        for (const char* run : {"one", "two", "1"}) EXPECT_EQ(store.find(run)->state, "done");
    }
}

TEST(OutsideFolders, OfRunsThatWereResumedEnteredOrListedByAnEarlierVersionAreFoundToo) {
    const test_support::TempFolder dir;
    for (const char* name : {"resumed", "entered", "earlier"}) {
        RunStore other(dir / "other");
        other.append(done_of(other.create({}, dir / name).run));
    }
    {
        RunStore store(dir / "runs");
        store.append(done_of(store.reopen(dir / "resumed", 0).run));
        store.enter(dir / "entered");
        store.enter(dir / "earlier");
    }
    OutsideFolders(dir / "runs").remove(dir / "earlier");
    { RunStore store(dir / "runs"); }  // with an index that has it
    remove_index(dir / "runs");
    EXPECT_EQ(RunStore(dir / "runs").list().size(), 3U);
}

TEST(OutsideFolders, ARunThatWasDeletedOrIsGoneStaysAway) {
    const test_support::TempFolder dir;
    {
        RunStore store(dir / "runs");
        for (const char* name : {"deleted", "gone", "kept"})
            store.append(done_of(store.create({}, dir / name).run));
        store.remove("deleted", [](const fs::path&) {});  // into a trash
    }
    fs::rename(dir / "gone", dir / "moved");
    remove_index(dir / "runs");
    EXPECT_EQ(RunStore(dir / "runs").list().size(), 1U);
    fs::rename(dir / "moved", dir / "gone");  // a disk that was away
    remove_index(dir / "runs");
    EXPECT_EQ(RunStore(dir / "runs").list().size(), 2U);
}

}  // namespace
}  // namespace engine
