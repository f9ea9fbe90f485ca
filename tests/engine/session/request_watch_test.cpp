#include "session/request_watch.h"

#include <gtest/gtest.h>

#include "engine/session/session.h"
#include "runs/run_hold.h"
#include "support/patience.h"
#include "temp_folder.h"

namespace engine {
namespace {

using test::comes_true;
using test::patience_s;

/// A session whose run other programs find in the store's folder.
class RequestWatchTest : public testing::Test {
protected:
    void SetUp() override {
        RunConfig config;
        config.dataset.kind = "spirals";
        config.model.kind = "mlp";
        config.batch_size = 32;
        config.epochs = 1'000'000;
        config.threads = 1;
        session_ = std::make_unique<Session>(config, std::make_shared<ComputeThread>(), store_);
        session_->post(Command::start);
        ASSERT_TRUE(comes_true([&] { return session_->record().size() >= 2; }));
        folder_ = store_->find(session_->run())->folder;
    }
    /// The lease is written by a thread of its own.
    bool becomes(const std::string& activity) const {
        return comes_true([&] { return holder_of(folder_).activity == activity; });
    }
    bool send(OutsideRequest request) const {
        return send_request(folder_, request, patience_s).is_done;
    }

    const test_support::TempFolder root_;
    const std::shared_ptr<RunStore> store_ = std::make_shared<RunStore>(root_.path());
    std::unique_ptr<Session> session_;
    std::filesystem::path folder_;
};

TEST_F(RequestWatchTest, PausesARunAndLetsItGoOn) {
    EXPECT_TRUE(send(OutsideRequest::pause));
    EXPECT_EQ(session_->state(), RunState::paused);
    EXPECT_TRUE(RunStore(root_.path()).find(session_->run())->paused);
    EXPECT_TRUE(send(OutsideRequest::pause)) << "it is paused already";
    const std::int64_t steps = session_->record().size();
    EXPECT_TRUE(send(OutsideRequest::unpause));
    EXPECT_TRUE(comes_true([&] { return session_->record().size() > steps; }));
    EXPECT_FALSE(RunStore(root_.path()).find(session_->run())->paused);
}

TEST_F(RequestWatchTest, StopsARunThatIsPaused) {
    ASSERT_TRUE(send(OutsideRequest::pause));
    EXPECT_TRUE(send(OutsideRequest::stop));
    ASSERT_TRUE(session_->wait(patience_s));
    EXPECT_EQ(session_->state(), RunState::done);
    EXPECT_EQ(store_->find(session_->run())->state, "stopped");
}

TEST_F(RequestWatchTest, ShowsWhatThisProcessWasToldToDo) {
    EXPECT_TRUE(becomes("training"));
    session_->post(Command::pause);
    EXPECT_TRUE(becomes("paused"));
}

}  // namespace
}  // namespace engine
