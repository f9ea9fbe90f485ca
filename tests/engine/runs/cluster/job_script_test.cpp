#include "runs/cluster/job_script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/run_program.h"
#include "engine/base/error.h"
#include "engine/runs/cluster.h"
#include "temp_folder.h"

namespace engine {
namespace {

using testing::HasSubstr;

JobScriptValues values() {
    return {"halftone-7", "/opt/half tone/halftone", {"train", "it's $HOME.json"}, "/jobs/7",
            "/jobs/7/run"};
}

TEST(JobScript, PlaceholdersBecomeWordsThatTheShellReadsBack) {
    EXPECT_EQ(fill_job_script("#!/bin/sh\n{{program}} {{arguments}} {{name}} {{folder}} {{run}}\n",
                              values()),
              "#!/bin/sh\n'/opt/half tone/halftone' train 'it'\\''s $HOME.json' halftone-7 /jobs/7 "
              "/jobs/7/run\n");
}

TEST(JobScript, WordsOfAnyKindReachTheProgram) {
    JobScriptValues given = values();
    given.program = "printf";
    given.arguments = {"%s|", "a b", "$(id)", "`id`", "\"", "'", "", "*", "line\nline", "ümläut"};
    const auto out = run_program(
        {"sh", "-c", fill_job_script("#!/bin/sh\n{{program}} {{arguments}}", given)},
        std::chrono::seconds(60));
    EXPECT_EQ(out.output, "a b|$(id)|`id`|\"|'||*|line\nline|ümläut|");
}

TEST(JobScript, ATemplateThatTrainsNothingOrNamesWhatIsUnknownIsRefused) {
    EXPECT_TRUE(job_script_problem(default_job_script()).empty());
    EXPECT_THAT(job_script_problem("#!/bin/sh\necho\n").str(), HasSubstr("lacks {{arguments}}"));
    EXPECT_THAT(job_script_problem("#!/bin/sh\n{{arguments}} {{data}}\n").str(),
                HasSubstr("{{data}}, which stands for nothing"));
    EXPECT_THAT(job_script_problem("{{arguments}}").str(), HasSubstr("begin with its shell"));
    EXPECT_TRUE(job_script_problem("#!/bin/sh\n{{arguments}} ${x} {{ \n").empty());
    EXPECT_THROW(fill_job_script("#!/bin/sh\n", values()), Error);
}

TEST(JobScript, EachPlaceholderThatIsListedIsReplaced) {
    for (const auto& each : script_placeholders()) {
        const std::string word = std::string("{{") + each.name + "}}";
        EXPECT_EQ(fill_job_script("#!/bin/sh\n{{arguments}}" + word, values()).find(word),
                  std::string::npos)
            << word;
        EXPECT_FALSE(each.meaning.empty());
    }
}

/// The default template as it runs: the program is a script that ends by itself or after SIGUSR1.
TEST(JobScript, TheDefaultEndsWithTheRunsOwnExitCode) {
    const test_support::TempFolder folder;
    JobScriptValues given = values();
    given.program = "sh";
    given.arguments = {"-c", "exit 5"};
    const auto file = folder.write("job.sh", fill_job_script(default_job_script(), given));
    EXPECT_EQ(run_program({"bash", file}, std::chrono::seconds(60)).exit_code, 5);
}

TEST(JobScript, TheDefaultPassesTheSignalsOnAndWaitsForTheRun) {
    const test_support::TempFolder folder;
    for (const std::string signal : {"USR1", "TERM"}) {
        JobScriptValues given = values();
        given.program = "bash";
        given.arguments = {"-c", "trap 'sleep 0.3; echo saved; exit 4' USR1; kill -" + signal +
                                     " $PPID; while :; do sleep 0.05; done"};
        const auto file = folder.write("job.sh", fill_job_script(default_job_script(), given));
        const auto out = run_program({"bash", file}, std::chrono::seconds(60));
        EXPECT_EQ(out.output, "saved\n") << signal;
        EXPECT_EQ(out.exit_code, 4) << signal;
    }
}

}  // namespace
}  // namespace engine
