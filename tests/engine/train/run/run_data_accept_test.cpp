// Which changes of its data a run can go on with.
#include <gtest/gtest.h>

#include "run_data_support.h"

namespace engine {
namespace {

TEST_F(RunDataTest, ASessionTellsWhichChangesCanBeAccepted) {
    write_table();
    RunConfig config = table();  // 48 training rows: 6 steps an epoch
    config.epochs = 4;
    const test::Ended within = train_to(config, 8), at_end = train_to(config, 12);
    const auto told = [&](const test::Ended& run) {
        SessionOptions options;
        options.continuation = plan_resume(*store_->find(run.run)).continuation;
        Session session(config, thread_, store_, options);
        session.post(Command::start);
        EXPECT_TRUE(session.wait(60));
        EXPECT_EQ(session.state(), RunState::failed);
        return session.data_changed();
    };
    write_table([](int i) { return plain(i + 1); });
    EXPECT_EQ(told(within), DataChanged::contents);
    EXPECT_EQ(told(at_end), DataChanged::contents);
    write_table({}, "a,b,y", 40);
    EXPECT_EQ(told(within), DataChanged::no) << "within an epoch nothing helps";
    EXPECT_EQ(told(at_end), DataChanged::samples);
    write_table(flower);
    EXPECT_EQ(told(at_end), DataChanged::no) << "other columns";
    EXPECT_EQ(store_->find(at_end.run)->state, "stopped");
}

}  // namespace
}  // namespace engine
