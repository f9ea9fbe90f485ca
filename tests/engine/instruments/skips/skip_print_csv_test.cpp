#include <gtest/gtest.h>

#include <limits>

#include "engine/instruments/skip_report.h"

namespace engine {
namespace {

TEST(SkipsCsv, HasALineForEachStepAndWhatItsExaminationFound) {
    SkipList skips;
    skips.list.resize(2);
    skips.list[0] = {.step = 3, .skipped = true, .loss = 1.5, .loss_scale = 65536};
    skips.list[0].grad_norm = std::numeric_limits<double>::infinity();
    SkipReport report;
    report.cause = SkipCause::scale_too_large;
    report.passing_scale = 32768;
    BadTensor bad;
    bad.stage = SkipStage::backward;
    bad.module = "conv,1";
    bad.op = "conv2d";
    bad.tensor.dtype = "f16";
    bad.infinite = 2;
    bad.total = 36;
    bad.largest_in_f32 = 77359;
    report.first = bad;
    skips.list[0].report = report;
    skips.list[1] = {.step = 9, .loss = std::numeric_limits<double>::quiet_NaN()};
    EXPECT_EQ(to_csv(to_table(skips)),
              "step,skipped,loss,loss_scale,grad_norm,cause,stage,module,name,op,dtype,inf,nan,"
              "values,largest_in_f32,passing_scale,scale_bound\n"
              "3,1,1.5,65536,inf,scale_too_large,backward,\"conv,1\",,conv2d,f16,2,0,36,77359,"
              "32768,\n"
              "9,0,nan,1,0,,,,,,,,,,,,\n");
}

}  // namespace
}  // namespace engine
