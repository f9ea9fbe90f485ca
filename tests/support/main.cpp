#include <gmock/gmock.h>

#include <cstdlib>
#include <string_view>

#include "kernels/plan_choice.h"

// The main function of test programs that may compute on a GPU.
//
// HALFTONE_TEST_PLANS=first: the library's first choice computes each operation, but in the tests
// of the races themselves (MeasuredChoice).
int main(int argc, char** argv) {
    // As in the program (app/main.cpp). Without it, recurrent networks differ from run to run.
    setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:2", /*overwrite=*/0);
    const char* plans = std::getenv("HALFTONE_TEST_PLANS");
    kernels::allow_plan_races(!plans || plans != std::string_view("first"));
    testing::InitGoogleMock(&argc, argv);
    return RUN_ALL_TESTS();
}
