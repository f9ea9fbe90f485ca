#include "engine/report/problem_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "engine/base/version.h"
#include "engine/runs/run_store.h"
#include "io/zip/zip.h"
#include "support/long_run.h"
#include "temp_folder.h"

namespace engine {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

constexpr char telling[] = "erika-mustermann";

/// The environment of a person whose names can be recognised.
class ProblemReportTest : public testing::Test {
protected:
    ProblemReportTest() {
        keep("HOME", (folder_ / telling).string());
        keep("USER", "emustermann");
        keep("LOGNAME", "emustermann");
        keep("XDG_DATA_HOME", (folder_ / telling / "share").string());
    }
    ~ProblemReportTest() override {
        for (const auto& [name, value] : before_) {
            if (value)
                setenv(name.c_str(), value->c_str(), 1);
            else
                unsetenv(name.c_str());
        }
    }
    void keep(const char* name, const std::string& value) {
        const char* now = std::getenv(name);
        before_[name] = now == nullptr ? std::nullopt : std::optional<std::string>(now);
        setenv(name, value.c_str(), 1);
    }
    static std::string text_of(const std::vector<ProblemFile>& files, const std::string& name) {
        for (const ProblemFile& file : files)
            if (file.name == name) return file.text;
        return {};
    }

    const test_support::TempFolder folder_;
    std::map<std::string, std::optional<std::string>> before_;
};

TEST_F(ProblemReportTest, HoldsNoNameOfThePersonAndNoPath) {
    const fs::path home = folder_ / telling;
    RunStore store(home / "share" / "halftone" / "runs");
    RunConfig config;
    config.dataset.kind = "csv";
    config.dataset.path = {(home / "patients of erika" / "blood.csv").string()};
    config.model.kind = "mlp";
    const auto made = store.create(completed(config));
    store.set_notes(made.run, "Notes of Erika");
    store.set_title(made.run, "Erika's title");
    store.append(RunWarning{made.run,
                            msg("{}: row 7 cannot be read", config.dataset.path.front()), 3});
    store.append(RunWarning{made.run, msg("blood.csv is kept by emustermann in {}",
                                          (home / "other" / "place.txt").string()), 4});
    const auto files = problem_report({.run_folder = made.folder,
                                       .settings = {},
                                       .log = {"Saved " + (home / "x.png").string() + "."},
                                       .toolkit = "Qt 6"});
    std::string all;
    for (const ProblemFile& file : files) all += file.name + '\n' + file.text;
    for (const std::string& secret : {std::string(telling), std::string("rika"),
                                      std::string("mustermann"), std::string("blood.csv"),
                                      std::string("patients"), std::string("place.txt"),
                                      folder_.path().string()})
        EXPECT_THAT(all, Not(HasSubstr(secret)));
    EXPECT_THAT(text_of(files, "versions.txt"), HasSubstr(program_version()));
    EXPECT_THAT(text_of(files, "machine.txt"), HasSubstr("processor: "));
    EXPECT_THAT(text_of(files, "log.txt"), HasSubstr("Saved ~."));
    EXPECT_THAT(text_of(files, "events.jsonl"), HasSubstr("<data set csv>: row 7 cannot be read"));
    const json settings = json::parse(text_of(files, "settings.json"));
    EXPECT_EQ(settings.at("dataset").at("path"), "<data set csv>");
    EXPECT_EQ(settings.at("model").at("kind"), "mlp");
}

TEST_F(ProblemReportTest, HoldsTheLastEventsAndStepsAsValidJson) {
    RunStore store(folder_ / telling / "runs");
    const auto run = test::long_run(store, 300);
    const auto files = problem_report({.run_folder = run.folder, .settings = {}, .log = {},
                                       .toolkit = {}});
    for (const char* name : {"events.jsonl", "steps.jsonl"}) {
        std::istringstream lines(text_of(files, name));
        std::int64_t count = 0;
        for (std::string line; std::getline(lines, line); ++count)
            EXPECT_TRUE(json::accept(line)) << line;
        EXPECT_GT(count, 0) << name;
        EXPECT_LE(count, 200) << name;
    }
}

TEST_F(ProblemReportTest, SaysWhatOfADamagedRunCannotBeRead) {
    RunStore store(folder_ / telling / "runs");
    const auto run = store.create(completed(RunConfig{}));
    folder_.write("none", "");
    std::ofstream(run.folder / "steps.rec") << "no record";
    const auto files = problem_report({.run_folder = run.folder, .settings = {}, .log = {},
                                       .toolkit = {}});
    EXPECT_THAT(text_of(files, "steps.jsonl.problem.txt"), HasSubstr("not a step record"));
}

TEST_F(ProblemReportTest, IsWrittenAsOneArchive) {
    const fs::path file = folder_ / "report.zip";
    write_problem_report({{"a.txt", "first"}, {"b.txt", "second"}}, file);
    ZipReader zip(file);
    const ZipEntry* entry = zip.next();
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(entry->name, "a.txt");
    EXPECT_EQ(zip.read_text(100), "first");
    EXPECT_EQ(zip.next()->name, "b.txt");
}

TEST(PrivacyFilter, ReplacesWholeWordsAndWholePaths) {
    PrivacyFilter filter;
    filter.replace("/home/max", "~");
    filter.replace("max", "<user>");
    filter.replace("/", "<root>");
    EXPECT_EQ(filter.apply(R"({"path":"/home/max/a b/c.csv","maximum":1})"),
              R"({"path":"~ b/c.csv","maximum":1})");
    EXPECT_EQ(filter.apply("max wrote /home/max/notes.txt, and /home/maxim/x stays."),
              "<user> wrote ~, and /home/maxim/x stays.");
    EXPECT_EQ(filter.apply("/home/max"), "~");
}

}  // namespace
}  // namespace engine
