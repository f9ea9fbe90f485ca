#include "kernels/plan_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "kernels/thread_context.h"
#include "temp_folder.h"

namespace kernels::test {
namespace {

namespace fs = std::filesystem;

class PlanStores : public ::testing::Test {
protected:
    std::string text() const {
        std::ifstream in(file);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    void write(const std::string& text) const {
        fs::create_directories(file.parent_path());
        std::ofstream(file) << text;
    }
    std::optional<std::string> found(const std::string& key) const {
        return PlanStore(file).find(key);
    }

    test_support::TempFolder folder;
    const fs::path file = folder.path() / "cache" / "halftone" / "measured-plans";
};

TEST_F(PlanStores, KeepEntriesForTheNextProcess) {
    PlanStore store(file);
    EXPECT_EQ(store.find("product a"), std::nullopt);
    EXPECT_EQ(store.keep("product a", "fast", 0.25), "fast");
    EXPECT_EQ(store.keep("product b", "faster", 0.125), "faster");
    EXPECT_EQ(store.find("product a"), "fast");
    EXPECT_EQ(found("product a"), "fast");
    EXPECT_EQ(found("product b"), "faster");
    EXPECT_EQ(found("product"), std::nullopt);
    EXPECT_EQ(PlanStore(file).size(), 2u);
    EXPECT_THAT(text(), testing::StartsWith("halftone measured plans 1\n"));
    EXPECT_THAT(text(), testing::HasSubstr("product b\tfaster\t0.125"));
}

TEST_F(PlanStores, LeaveNothingElseBehind) {
    PlanStore(file).keep("product a", "fast", 1);
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(file.parent_path()))
        names.push_back(entry.path().filename().string());
    EXPECT_THAT(names, testing::UnorderedElementsAre("measured-plans", "measured-plans.lock"));
}

TEST_F(PlanStores, KeepTheFirstOfTwoWinners) {
    PlanStore one(file), other(file);
    EXPECT_EQ(other.find("product a"), std::nullopt);  // has read the file
    one.keep("product a", "fast", 1);
    EXPECT_EQ(other.keep("product a", "faster", 0.5), "fast");
    EXPECT_EQ(other.find("product a"), "fast");
    EXPECT_EQ(found("product a"), "fast");
}

TEST_F(PlanStores, ReplaceAWinnerThatIsNoLongerOffered) {
    PlanStore store(file);
    store.keep("product a", "gone", 1);
    EXPECT_EQ(store.keep("product a", "fast", 2, "gone"), "fast");
    EXPECT_EQ(found("product a"), "fast");
    EXPECT_EQ(store.keep("product a", "other", 2, "gone"), "fast") << "it is not the one that went";
}

TEST_F(PlanStores, IgnoreAFileThatIsNotWhole) {
    PlanStore(file).keep("product a", "fast", 1);
    const std::string good = text();
    ASSERT_EQ(found("product a"), "fast");
    std::string wrong_name = good, wrong_version = good;
    wrong_name[good.find("fast")] = 'l';
    wrong_version[good.find(" 1\n") + 1] = '2';
    const std::string last = good.substr(0, good.size() - 1);
    for (const std::string& bad :
         {std::string(), std::string("\n\n"), std::string(1000, '\0'), wrong_name, wrong_version,
          last, good.substr(0, good.size() - 5) + "\n", good + "x\n", good + "\t\n",
          good + "a\tb\tc\td\n", good.substr(good.find('\n') + 1)}) {
        write(bad);
        EXPECT_EQ(found("product a"), std::nullopt) << bad;
        PlanStore store(file);
        EXPECT_EQ(store.keep("product b", "quick", 1), "quick");
        EXPECT_EQ(found("product b"), "quick") << "the next entry replaces it";
        EXPECT_EQ(found("product a"), std::nullopt);
    }
}

TEST_F(PlanStores, TakeKeysAndNamesWithTheSeparatorsOfTheFile) {
    PlanStore(file).keep("card\tof\nours", "a\tb", 1);
    EXPECT_EQ(found("card\tof\nours"), "a b");
}

TEST_F(PlanStores, WorkWhereNothingCanBeWritten) {
    PlanStore memory{fs::path()};
    EXPECT_EQ(memory.keep("product a", "fast", 1), "fast");
    EXPECT_EQ(memory.keep("product a", "other", 1), "fast");
    EXPECT_EQ(memory.find("product a"), "fast");
    std::ofstream(folder.path() / "cache") << "a file in the folder's place";
    PlanStore barred(file);
    EXPECT_EQ(barred.keep("product a", "fast", 1), "fast");
    EXPECT_EQ(barred.find("product a"), "fast");
}

TEST_F(PlanStores, LoseNothingOfProcessesThatWriteAtOnce) {
    constexpr int processes = 4, entries = 25;
    std::vector<pid_t> children;
    for (int p = 0; p < processes; ++p) {
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            PlanStore store(file);
            for (int i = 0; i < entries; ++i) {
                const std::string own = std::to_string(p) + " " + std::to_string(i);
                store.keep("own " + own, "fast " + own, 1);
                store.keep("shared " + std::to_string(i), "of " + std::to_string(p), 1);
            }
            ::_exit(0);
        }
        children.push_back(child);
    }
    for (const pid_t child : children) {
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
    }
    PlanStore store(file);
    EXPECT_EQ(store.size(), static_cast<std::size_t>(processes * entries + entries));
    for (int p = 0; p < processes; ++p)
        for (int i = 0; i < entries; ++i) {
            const std::string own = std::to_string(p) + " " + std::to_string(i);
            EXPECT_EQ(store.find("own " + own), "fast " + own);
        }
}

TEST(DefaultPlanFile, LiesInTheUsersCacheFolder) {
    const auto kept = [](const char* name) {
        const char* value = std::getenv(name);
        return std::string(value ? value : "");
    };
    const std::string cache = kept("XDG_CACHE_HOME"), home = kept("HOME");
    ::setenv("XDG_CACHE_HOME", "/cache", 1);
    EXPECT_EQ(default_plan_file(), "/cache/halftone/measured-plans");
    ::unsetenv("XDG_CACHE_HOME");
    ::setenv("HOME", "/home/one", 1);
    EXPECT_EQ(default_plan_file(), "/home/one/.cache/halftone/measured-plans");
    ::unsetenv("HOME");
    EXPECT_EQ(default_plan_file(), "");
    if (!cache.empty()) ::setenv("XDG_CACHE_HOME", cache.c_str(), 1);
    if (!home.empty()) ::setenv("HOME", home.c_str(), 1);
}

TEST(PlanChoices, AreNotMeasuredWhileRacesAreOff) {
    const bool before = plan_races_allowed();
    const PlanChoiceScope measured{{.measured = true, .bit_stable = false}};
    allow_plan_races(false);
    EXPECT_EQ(plan_choice(), (PlanChoice{.measured = false, .bit_stable = false}));
    allow_plan_races(true);
    EXPECT_EQ(plan_choice(), (PlanChoice{.measured = true, .bit_stable = false}));
    allow_plan_races(before);
}

// Set by the tests' main function (support/main.cpp).
TEST(TestProgram, AsksCublasForOneWorkspaceAStream) {
    EXPECT_NE(std::getenv("CUBLAS_WORKSPACE_CONFIG"), nullptr);
}

}  // namespace
}  // namespace kernels::test
