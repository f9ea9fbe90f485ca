#include "runs/outside_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <memory>
#include <thread>

#include "runs/run_folder.h"
#include "runs/run_hold.h"
#include "support/expectations.h"
#include "temp_folder.h"

namespace engine {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// A folder that a program holds.
class OutsideRequestTest : public testing::Test {
protected:
    void SetUp() override { hold_ = RunHold::try_take(dir_.path(), seen_, holder_); }
    void write(const std::string& text) const { std::ofstream(dir_ / request_file) << text; }
    std::string request(const std::string& id, const std::string& word) const {
        return R"({"id":")" + id + R"(","lease":")" + hold_->lease().id() + R"(","request":")" +
               word + "\"}";
    }
    RequestReader reader() const { return {dir_.path(), hold_->lease().id()}; }
    /// Answers the next request after having done `first`.
    std::jthread holder(std::function<void(const WrittenRequest&)> first) {
        return std::jthread([this, first = std::move(first)](const std::stop_token& stop) {
            RequestReader requests = reader();
            while (!stop.stop_requested()) {
                if (const auto next = requests.next()) return first(*next);
                std::this_thread::sleep_for(1ms);
            }
        });
    }

    const test_support::TempFolder dir_;
    LeaseSighting seen_;
    LeaseState holder_;
    std::shared_ptr<RunHold> hold_;
};

TEST_F(OutsideRequestTest, IsReadOnceByItsHolder) {
    RequestReader requests = reader();
    EXPECT_FALSE(requests.next());
    write(request("a", "pause"));
    const auto first = requests.next();
    ASSERT_TRUE(first);
    EXPECT_EQ(first->request, OutsideRequest::pause);
    EXPECT_EQ(first->id, "a");
    EXPECT_FALSE(requests.next());
    write(request("b", "stop"));
    EXPECT_EQ(requests.next()->request, OutsideRequest::stop);
}

TEST_F(OutsideRequestTest, ForAnotherHolderOrDamagedDoesNotCount) {
    RequestReader requests = reader();
    for (const std::string& text :
         {std::string(), std::string("{"), std::string("[1]"), request("", "stop"),
          request("c", "jump"), std::string(R"({"id":"d","lease":"other","request":"stop"})"),
          std::string(R"({"id":7,"lease":1,"request":[]})"), std::string(10000, ' ')}) {
        write(text);
        EXPECT_FALSE(requests.next()) << text;
    }
}

TEST_F(OutsideRequestTest, WaitsForTheAnswerAndForWhatWasAskedFor) {
    const auto theirs = holder([this](const WrittenRequest& request) {
        EXPECT_EQ(request.request, OutsideRequest::pause);
        hold_->lease().answer(request.id);
        std::this_thread::sleep_for(20ms);
        hold_->lease().show("paused");
    });
    const RequestAnswer answer = send_request(dir_.path(), OutsideRequest::pause, 60);
    EXPECT_TRUE(answer.is_done);
    EXPECT_EQ(answer.host, "");
    EXPECT_EQ(answer.process, ::getpid());
    EXPECT_EQ(holder_of(dir_.path()).activity, "paused");
    EXPECT_FALSE(std::filesystem::exists(dir_ / request_file));
}

TEST_F(OutsideRequestTest, AStoppedRunHasNoHolder) {
    const auto theirs = holder([this](const WrittenRequest&) { hold_->release(); });
    EXPECT_TRUE(send_request(dir_.path(), OutsideRequest::stop, 60).is_done);
}

TEST_F(OutsideRequestTest, IsToldApartFromOneThatIsTakenAndNotDoneYet) {
    const auto theirs = holder(
        [this](const WrittenRequest& request) { hold_->lease().answer(request.id); });
    EXPECT_FALSE(send_request(dir_.path(), OutsideRequest::stop, 3).is_done);
}

TEST_F(OutsideRequestTest, WithoutAnAnswerIsWithdrawn) {
    EXPECT_THAT(message_of(ErrorCode::state,
                           [&] { send_request(dir_.path(), OutsideRequest::pause, 0.2); }),
                HasSubstr("has not answered"));
    EXPECT_FALSE(std::filesystem::exists(dir_ / request_file));
}

TEST_F(OutsideRequestTest, ToARunThatEndsIsRefused) {
    const auto theirs = holder([this](const WrittenRequest&) { hold_->release(); });
    EXPECT_THAT(message_of(ErrorCode::state,
                           [&] { send_request(dir_.path(), OutsideRequest::pause, 60); }),
                HasSubstr("the run has ended"));
    EXPECT_THAT(message_of(ErrorCode::state,
                           [&] { send_request(dir_.path(), OutsideRequest::pause, 60); }),
                HasSubstr("no program trains this run"));
}

}  // namespace
}  // namespace engine
