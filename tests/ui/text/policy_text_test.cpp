#include "text/policy_text.h"

#include <gtest/gtest.h>

#include "engine/verdict/what_if.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

TEST(PolicyText, NoPolicyShowsItsKey) {
    for (const auto& policy : engine::usual_policies()) {
        const QString title = policyTitle(policy.name);
        EXPECT_NE(title, QString::fromStdString(policy.name));
        EXPECT_TRUE(title.front().isUpper()) << policy.name;
        EXPECT_FALSE(title.contains(u'^')) << policy.name;
    }
    EXPECT_EQ(policyTitle("init-2^24"), u"Initial scale 2²⁴"_s);
    EXPECT_EQ(policyTitle("static-65536"), u"Static 2¹⁶"_s);
}

}  // namespace
}  // namespace ui
