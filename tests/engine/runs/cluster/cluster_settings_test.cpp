#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST_F(ClusterSettingsTest, ADamagedFileIsRefusedWithASentence) {
    write_cluster_settings({"/shared/jobs", default_job_script()});
    for (const char* text : {"{", "{}", R"({"folder": 3})", R"({"folder": "jobs"})", "[]"}) {
        std::ofstream(job_script_file().parent_path() / "cluster.json") << text;
        EXPECT_THROW(read_cluster_settings(), Error) << text;
    }
}

}  // namespace
}  // namespace engine
