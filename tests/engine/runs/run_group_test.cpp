#include "engine/runs/run_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "done_of.h"
#include "engine/runs/export.h"
#include "engine/runs/run_query.h"
#include "io/zip/zip.h"
#include "runs/database.h"
#include "stored_example.h"
#include "support/expectations.h"
#include "temp_folder.h"
#include "write_text.h"

namespace engine {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::string add_run(RunStore& store, const std::string& group,
                    DoneReason reason = DoneReason::epochs, const std::string& precision = "fp32") {
    RunConfig config;
    config.precision.preset = precision;
    const auto run = store.create(config, {}, group);
    RunDone done = done_of(run.run);
    done.reason = reason;
    store.append(done);
    return run.run;
}

std::vector<std::int64_t> numbers(const RunStore& store) {
    std::vector<std::int64_t> out;
    for (const RunSummary& run : store.list()) out.push_back(run.group_number);
    return out;
}

void change_history(const fs::path& root, const char* sql) {
    Database database(root / "runs.db");
    database.run(sql);
}

TEST(RunGroup, ItsNameIsReadExactly) {
    EXPECT_EQ(group_name(3), "g3");
    EXPECT_EQ(number_in_group_name("g3"), 3);
    for (const char* other :
         {"", "g", "g0", "g03", "g3x", "3", "G3", "g-1", "g99999999999999999999"})
        EXPECT_FALSE(number_in_group_name(other)) << other;
}

TEST(RunGroup, GetsANumberThatNoLaterOneHas) {
    test_support::TempFolder dir;
    RunStore store(dir.path());
    add_run(store, "");
    add_run(store, "a");
    add_run(store, "a");
    const std::string last = add_run(store, "sweep-b");
    EXPECT_THAT(numbers(store), ElementsAre(2, 1, 1, 0));
    EXPECT_EQ(group_title(*store.find(last)).str(), "Sweep 2");
    EXPECT_EQ(group_title(*store.find("2")).str(), "Comparison 1");
    store.remove(last, [](const fs::path& folder) { fs::remove_all(folder); });
    add_run(store, "c");
    EXPECT_THAT(numbers(store), ElementsAre(3, 1, 1, 0));
}

TEST(RunGroup, KeepsItsNumberWhenTheIndexIsLost) {
    test_support::TempFolder dir;
    {
        RunStore store(dir.path());
        const std::string first = add_run(store, "a");
        add_run(store, "b");
        store.remove(first, [](const fs::path& folder) { fs::remove_all(folder); });
    }
    fs::remove(dir / "runs.db");
    RunStore again(dir.path());
    EXPECT_THAT(numbers(again), ElementsAre(2));
    again.rebuild();
    EXPECT_THAT(numbers(again), ElementsAre(2));
}

TEST(RunGroup, AHistoryOfTodayShowsItsGroups) {
    test_support::TempFolder dir;
    {
        RunStore store(dir.path());
        for (const char* group : {"b", "b", "a", "", "a"}) add_run(store, group);
    }
    change_history(dir.path(), "DROP TABLE group_numbers");
    for (int i = 1; i <= 5; ++i) {  // as an earlier version wrote them
        const fs::path file = dir / std::to_string(i) / "events.jsonl";
        std::ostringstream read;
        read << std::ifstream(file).rdbuf();
        std::string text = read.str();
        if (const auto at = text.find(",\"group_number\":"); at != std::string::npos)
            text.erase(at, text.find_first_of(",}", at + 1) - at);
        write_text(file, text);
    }
    RunStore store(dir.path());
    EXPECT_THAT(numbers(store), ElementsAre(2, 0, 2, 1, 1)) << "the oldest first";
    EXPECT_EQ(store.find("5")->group_number, 2);
    fs::remove(dir / "runs.db");
    EXPECT_THAT(numbers(RunStore(dir.path())), ElementsAre(2, 0, 2, 1, 1));
}

TEST(RunGroup, IsWhatItsRunsAre) {
    const auto state_of = [](std::vector<std::string> states) {
        std::vector<RunSummary> runs(states.size());
        for (std::size_t i = 0; i < states.size(); ++i) runs[i].state = states[i];
        return group_state(runs);
    };
    EXPECT_EQ(state_of({"done", "done"}), "done");
    EXPECT_EQ(state_of({"done", "diverged"}), "done");
    EXPECT_EQ(state_of({"diverged", "diverged"}), "diverged");
    EXPECT_EQ(state_of({"failed", "diverged"}), "failed");
    EXPECT_EQ(state_of({"stopped", "done"}), "stopped");
    EXPECT_EQ(state_of({"stopped", "interrupted"}), "interrupted");
    EXPECT_EQ(state_of({"interrupted", "running"}), "running");
}

TEST(RunGroup, IsFoundOldestFirst) {
    test_support::TempFolder dir;
    RunStore store(dir.path());
    for (const char* group : {"a", "b", "a"}) add_run(store, group);
    const auto history = store.list();
    const auto ids = [](const GroupRuns& runs) {
        std::vector<std::string> out;
        for (const auto& run : runs) out.push_back(run.run);
        return out;
    };
    EXPECT_THAT(ids(runs_of_group(history, 1)), ElementsAre("1", "3"));
    EXPECT_THAT(ids(runs_of_group(history, "b")), ElementsAre("2"));
    EXPECT_THAT(runs_of_group(history, ""), IsEmpty());
    EXPECT_THAT(runs_of_group(history, 0), IsEmpty());
    EXPECT_EQ(common_group(runs_of_group(history, 1)), "a");
    const RunQuery query("group=g1", run_fields());
    EXPECT_EQ(std::ranges::count_if(history, [&](const auto& run) { return query.matches(run); }),
              2);
    EXPECT_EQ(common_group(history), "");
}

TEST(RunGroup, AnArchiveOfItIsImportedAsAGroupOfItsOwn) {
    test_support::TempFolder dir;
    RunStore store(dir / "runs");
    std::vector<fs::path> folders;
    for (int i = 0; i < 2; ++i) {
        folders.push_back(stored_example(store).folder);
        fs::create_directory(folders.back() / "checkpoint-3");
        write_text(folders.back() / "checkpoint-3" / "state.json", "{}");
    }
    export_group_file(folders, dir / "both.halftone");
    const auto made = store.import_runs(dir / "both.halftone");
    ASSERT_THAT(made, SizeIs(2));
    EXPECT_THAT(numbers(store), testing::UnorderedElementsAre(2, 2, 1, 1));
    const auto copy = store.find(made[0].run), original = store.find("1");
    EXPECT_NE(copy->group, original->group);
    EXPECT_EQ(copy->title, original->title);
    EXPECT_EQ(copy->steps, original->steps);
    EXPECT_TRUE(fs::exists(made[1].folder / "checkpoint-3" / "state.json"));
}

TEST(RunGroup, AnArchiveWithOtherFilesIsRefusedAndLeavesNothing) {
    test_support::TempFolder dir;
    RunStore store(dir / "runs");
    const auto refused = [&](const std::string& name) {
        ZipWriter zip(dir / "made.halftone");
        zip.add_text("run-1/config.json", "{}");
        zip.add_text(name, "{}");
        zip.commit();
        return message_of(ErrorCode::data, [&] { store.import_runs(dir / "made.halftone"); });
    };
    for (const char* name : {"run-3/config.json", "other", "run-1/a/b/c/d", "run-1/lock"})
        EXPECT_THAT(refused(name), testing::HasSubstr("not a run that can be imported")) << name;
    EXPECT_THAT(store.list(), IsEmpty());
}

}  // namespace
}  // namespace engine
