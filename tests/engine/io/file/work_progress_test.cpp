#include "io/file/work_progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "engine/base/error.h"
#include "engine/io/named_file.h"
#include "io/file/atomic_file.h"
#include "temp_folder.h"

namespace engine {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(WorkProgress, GoesToTheInnermostScopeOfTheThread) {
    std::vector<double> outer, inner;
    report_work(0.1);  // without a scope
    poll_work();
    const WorkScope first([&](double share) { outer.push_back(share); });
    report_work(0.2);
    {
        const WorkScope second([&](double share) { inner.push_back(share); });
        WorkCount count(4);
        count.add(1);
        count.add(2);
    }
    {
        const WorkScope silent({});
        report_work(0.3);
    }
    std::thread([] { report_work(0.4); }).join();
    poll_work();
    report_work(1.5);
    WorkCount(0).add(7);  // nothing is known of the whole
    EXPECT_THAT(outer, ElementsAre(0.2, 0.2, 1.0));
    EXPECT_THAT(inner, ElementsAre(0.25, 0.75));
}

TEST(WorkProgress, AFileInOnePieceIsTheRestOfTheWork) {
    const test_support::TempFolder folder;
    const std::string text(std::size_t{128} << 10, 'x');  // of two pieces
    std::vector<double> shares;
    const WorkScope scope([&](double share) {
        if (shares.empty() || share > shares.back()) shares.push_back(share);
    });
    report_work(0.5);
    write_named_file(folder / "file", text);
    EXPECT_THAT(shares, ElementsAre(0.5, 0.75, 1.0));
    EXPECT_EQ(fs::file_size(folder / "file"), text.size());
    const WorkScope silent([](double share) { EXPECT_EQ(share, 0); });
    write_named_file(folder / "short", "x");
    write_named_file(folder / "empty", "");
    EXPECT_EQ(fs::file_size(folder / "empty"), 0u);
}

TEST(WorkProgress, AFileThatIsGivenUpLeavesNothingBehind) {
    const test_support::TempFolder folder;
    const std::string text(std::size_t{9} << 20, 'x');  // of three pieces
    int polls = 0;
    const WorkScope scope([&](double) {
        if (++polls == 3) throw Error(ErrorCode::state, msg("Cancelled."));
    });
    EXPECT_THROW(write_file(folder / "file", text), Error);
    EXPECT_EQ(polls, 3) << "between the pieces";
    EXPECT_TRUE(fs::is_empty(folder.path()));
}

}  // namespace
}  // namespace engine
