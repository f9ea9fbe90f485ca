#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "engine/base/error.h"
#include "engine/runs/cluster.h"
#include "support/slurm_stand_in.h"

namespace engine {
namespace {

struct ClusterSettingsTest : testing::Test {
    test_support::SlurmStandIn slurm;  // has a folder for settings
};

TEST_F(ClusterSettingsTest, AreTheDefaultsUntilTheyAreWritten) {
    EXPECT_EQ(read_cluster_settings().folder, RunStore::default_root().parent_path() / "jobs");
    EXPECT_EQ(read_cluster_settings().script, default_job_script());
    write_cluster_settings({"/shared/jobs", "#!/bin/sh\n{{program}} {{arguments}}\n"});
    EXPECT_EQ(read_cluster_settings().folder, "/shared/jobs");
    EXPECT_EQ(read_cluster_settings().script, "#!/bin/sh\n{{program}} {{arguments}}\n");
    EXPECT_TRUE(std::filesystem::exists(job_script_file()));
}

TEST_F(ClusterSettingsTest, TheDefaultScriptIsNotKeptAsTheUsers) {
    write_cluster_settings({"/shared/jobs", "#!/bin/sh\n{{arguments}}\n"});
    write_cluster_settings({"/shared/jobs", default_job_script()});
    EXPECT_FALSE(std::filesystem::exists(job_script_file()));
    EXPECT_EQ(read_cluster_settings().script, default_job_script());
}

TEST_F(ClusterSettingsTest, RefuseAFolderOrAScriptThatCannotBeUsed) {
    EXPECT_THROW(write_cluster_settings({"jobs", default_job_script()}), Error);
    EXPECT_THROW(write_cluster_settings({"/jobs\n#SBATCH", default_job_script()}), Error);
    EXPECT_THROW(write_cluster_settings({"/jobs", "#!/bin/sh\n"}), Error);
}

TEST_F(ClusterSettingsTest, AScriptThatCannotBeReadIsRefusedAndNotReplaced) {
    write_cluster_settings({"/shared/jobs", default_job_script()});
    const auto refuses = [](const std::string& problem) {
        try {
            read_cluster_settings();
            ADD_FAILURE() << "not refused: " << problem;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::settings);
            EXPECT_THAT(error.what(), testing::HasSubstr(problem));
        }
    };
    ASSERT_EQ(::mkfifo(job_script_file().c_str(), 0600), 0);
    refuses("slurm.sh: the file cannot be read");
    std::filesystem::remove(job_script_file());
    std::filesystem::create_symlink("absent", job_script_file());
    refuses("slurm.sh: the file cannot be read");
    std::filesystem::remove(job_script_file());
    std::string script = "#!/bin/sh\n{{program}} {{arguments}}\n";
    script.resize(std::size_t{1} << 20, '#');
    std::ofstream(job_script_file()) << script;
    EXPECT_EQ(read_cluster_settings().script, script);
    script += '#';
    std::ofstream(job_script_file()) << script;
    refuses("longer than 1 MiB");
    EXPECT_THROW(write_cluster_settings({"/shared/jobs", script}), Error);
}

TEST_F(ClusterSettingsTest, ADamagedFileIsRefusedWithASentence) {
    write_cluster_settings({"/shared/jobs", default_job_script()});
    for (const char* text : {"{", "{}", R"({"folder": 3})", R"({"folder": "jobs"})", "[]"}) {
        std::ofstream(job_script_file().parent_path() / "cluster.json") << text;
        EXPECT_THROW(read_cluster_settings(), Error) << text;
    }
}

}  // namespace
}  // namespace engine
