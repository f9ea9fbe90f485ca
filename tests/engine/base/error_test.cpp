#include "engine/base/error.h"

#include <gtest/gtest.h>

namespace engine {
namespace {

TEST(ExitCode, IsFiveForAFailedTrainingAlone) {
    for (const ErrorCode code : {ErrorCode::settings, ErrorCode::state, ErrorCode::value,
                                 ErrorCode::shape, ErrorCode::dtype})
        EXPECT_EQ(exit_code(code), 2) << name(code);
    for (const ErrorCode code : {ErrorCode::data, ErrorCode::io})
        EXPECT_EQ(exit_code(code), 3) << name(code);
    for (const ErrorCode code : {ErrorCode::device, ErrorCode::memory})
        EXPECT_EQ(exit_code(code), 4) << name(code);
    EXPECT_EQ(exit_code(ErrorCode::training), 5);
}

TEST(ExitCode, OfARunIsFiveUnlessItsSettingsDataOrDeviceAreToBlame) {
    for (const ErrorCode code : {ErrorCode::training, ErrorCode::io, ErrorCode::state,
                                 ErrorCode::value, ErrorCode::shape, ErrorCode::dtype})
        EXPECT_EQ(exit_code_of_run(code), 5) << name(code);
    EXPECT_EQ(exit_code_of_run(ErrorCode::settings), 2);
    EXPECT_EQ(exit_code_of_run(ErrorCode::data), 3);
    EXPECT_EQ(exit_code_of_run(ErrorCode::device), 4);
    EXPECT_EQ(exit_code_of_run(ErrorCode::memory), 4);
}

}  // namespace
}  // namespace engine
