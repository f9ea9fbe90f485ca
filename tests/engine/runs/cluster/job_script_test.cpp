#include "runs/cluster/job_script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/platform/run_program.h"
#include "engine/base/error.h"
#include "engine/runs/cluster.h"
#include "temp_folder.h"

namespace engine {
namespace {

using testing::HasSubstr;

JobScriptValues values() {
    return {"halftone-7",
            "/opt/half tone/halftone",
            {"train", "it's $HOME.json"},
            "/jobs/7",
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
    const auto out =
        run_program({"sh", "-c", fill_job_script("#!/bin/sh\n{{program}} {{arguments}}", given)},
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

/// A run that writes how often it was signalled while it saves, as the default template sees it.
ProgramOutcome run_signalled(const std::string& signals) {
    const test_support::TempFolder folder;
    JobScriptValues given = values();
    given.program = "bash";
    given.arguments = {
        "-c", "count=0; trap 'count=$((count + 1))' USR1 TERM; " + signals +
                  "while ((count == 0)); do sleep 0.05; done; sleep 0.5; echo $count; exit 4"};
    const auto file = folder.write("job.sh", fill_job_script(default_job_script(), given));
    return run_program({"bash", file}, std::chrono::seconds(60));
}

TEST(JobScript, TheDefaultPassesTheSignalBeforeTheTimeLimitOnAndWaitsForTheRun) {
    const auto out = run_signalled("kill -USR1 $PPID; ");
    EXPECT_EQ(out.output, "1\n");
    EXPECT_EQ(out.exit_code, 4);
}

TEST(JobScript, ARunWhoseJobIsCancelledGetsOneSignal) {
    const auto out = run_signalled("kill -TERM $PPID $$; ");
    EXPECT_EQ(out.output, "1\n");
    EXPECT_EQ(out.exit_code, 4);
}

}  // namespace
}  // namespace engine
