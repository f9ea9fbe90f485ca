#include "lab/lessons/run_style.h"

#include <gtest/gtest.h>

#include <set>

#include "theme/theme.h"

namespace ui {
namespace {

TEST(RunStyle, EightRunsOfOnePrecisionAreToldApart) {
    for (const auto choice : {Theme::Choice::light, Theme::Choice::dark}) {
        const Theme theme(choice);
        const std::vector<std::string> precisions(8, "amp-fp16");
        std::set<std::pair<QRgb, bool>> looks;
        for (std::size_t run = 0; run < precisions.size(); ++run) {
            const RunStyle style = runStyle(theme, precisions, run);
            looks.emplace(style.color.rgb(), style.dashed);
        }
        EXPECT_EQ(looks.size(), precisions.size());
        for (const auto& look : looks)
            EXPECT_NE(look.first, theme.precision("amp-fp16").rgb()) << "means the precision";
    }
}

TEST(RunStyle, TheFirstRunOfEachPrecisionHasItsColour) {
    const Theme theme(Theme::Choice::light);
    const std::vector<std::string> precisions{"fp32", "amp-fp16", "fp32"};
    for (const std::size_t run : {0, 1}) {
        EXPECT_EQ(runStyle(theme, precisions, run).color, theme.precision(precisions[run]));
        EXPECT_FALSE(runStyle(theme, precisions, run).dashed);
    }
    EXPECT_EQ(runStyle(theme, precisions, 2).color, theme.precision("fp32"));
    EXPECT_TRUE(runStyle(theme, precisions, 2).dashed);
}

}  // namespace
}  // namespace ui
