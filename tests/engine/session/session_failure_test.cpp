#include "session/session_failure.h"

#include <gtest/gtest.h>

#include <new>

#include "kernels/device_error.h"

namespace engine {
namespace {

TEST(SessionFailure, KeepsTheWordsOfAnErrorAndFindsThemForTheOthers) {
    const SessionFailure own =
        to_session_failure(Error(ErrorCode::data, msg("The file is short."), msg("Take another.")));
    EXPECT_EQ(own.code, ErrorCode::data);
    EXPECT_EQ(own.message.str(), "The file is short.");
    EXPECT_EQ(own.hint.str(), "Take another.");
    const SessionFailure device = to_session_failure(kernels::DeviceError("lost"));
    EXPECT_EQ(device.code, ErrorCode::device);
    EXPECT_EQ(device.message.str(), "The device failed: lost.");
    EXPECT_EQ(to_session_failure(std::bad_alloc()).message.str(), "This machine is out of memory.");
    EXPECT_EQ(to_session_failure(std::runtime_error("no")).message.str(),
              "Training cannot continue: no.");
}

}  // namespace
}  // namespace engine
