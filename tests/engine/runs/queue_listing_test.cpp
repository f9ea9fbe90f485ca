#include "engine/runs/queue_listing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace engine {
namespace {

using testing::HasSubstr;

QueuedRun job_with(JobNote note) {
    QueuedRun run;
    run.id = 3;
    run.entry.label = "optimizer.lr=0.1";
    run.entry.where = QueuePlace::slurm;
    run.state = QueueState::submitted;
    run.job = {"41", "/jobs/queue-3", note, "Priority"};
    return run;
}

TEST(QueueListing, HasALineForEachRunWithItsJobAndNote) {
    QueuedRun here;
    here.id = 4;
    const std::vector<QueuedRun> queue = {job_with(JobNote::waits), here};
    const std::string table = queue_table(queue);
    EXPECT_THAT(table, HasSubstr("slurm 41"));
    EXPECT_THAT(table, HasSubstr("The job waits in Slurm: Priority"));
    EXPECT_THAT(table, HasSubstr("waiting"));
}

TEST(QueueListing, EachNoteButNoneHasASentenceWithTheClustersWords) {
    for (const JobNote note :
         {JobNote::waits, JobNote::refused, JobNote::silent, JobNote::not_run, JobNote::late,
          JobNote::abandoned, JobNote::no_run, JobNote::cut_off})
        EXPECT_THAT(job_sentence(job_with(note)).str(), HasSubstr("Priority"));
    EXPECT_FALSE(job_sentence(job_with(JobNote::cancelled)).empty());
    EXPECT_TRUE(job_sentence(job_with(JobNote::none)).empty());
}

TEST(QueueListing, NamesTheOutputOfAJob) {
    EXPECT_EQ(job_output(job_with(JobNote::none)), "/jobs/queue-3/slurm.out");
    EXPECT_TRUE(job_output(QueuedRun()).empty());
}

TEST(QueueListing, WritesARunAsOneLineOfJson) {
    const std::string line = to_json_line(job_with(JobNote::waits));
    EXPECT_EQ(line.find('\n'), std::string::npos);
    EXPECT_THAT(line, HasSubstr(R"("event":"queued","id":3,"where":"slurm","state":"submitted")"));
    EXPECT_THAT(line, HasSubstr(R"("job":"41","folder":"/jobs/queue-3")"));
}

}  // namespace
}  // namespace engine
