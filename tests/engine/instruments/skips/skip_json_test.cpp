#include "instruments/skips/skip_json.h"

#include <gtest/gtest.h>

#include "capsule_support.h"
#include "engine/base/error.h"
#include "instruments/skips/skip_examination.h"

namespace engine {
namespace {

TEST(SkipJson, AReportComesBackAsItWas) {
    RunConfig config = test::small_run("lenet", "amp-fp16");
    config.scaler.init_scale = 0x1p24;
    SkipReport report = examine_step(test::capsule_after(config, 0));
    report.run = "12";
    report.damaged_at = 3;
    const SkipReport back = parse_skip_report(to_json_line(report));
    EXPECT_EQ(to_json_line(back), to_json_line(report));
    EXPECT_EQ(back.first->tensor.shape, report.first->tensor.shape);
    EXPECT_EQ(back.tests.size(), 6U);
    EXPECT_EQ(back.tests.front().finding.str(), report.tests.front().finding.str());
}

TEST(SkipJson, RefusesWhatIsNoReport) {
    for (const char* text : {"", "[]", "{}", "{\"run\":1}", "null"})
        EXPECT_THROW(parse_skip_report(text), Error) << text;
    std::string line = to_json_line(SkipReport{});
    const std::string cause = "\"cause\":\"unknown\"";
    line.replace(line.find(cause), cause.size(), "\"cause\":\"fate\"");
    EXPECT_THROW(parse_skip_report(line), Error);
}

}  // namespace
}  // namespace engine
