#include "runs/serve/pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>

namespace engine {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ServedPages, HaveANonceOfTheirOwnEachTime) {
    const PageWithPolicy one = with_policy("<a {{nonce}}><b {{nonce}}>");
    const PageWithPolicy other = with_policy("<a {{nonce}}><b {{nonce}}>");
    EXPECT_NE(one.html, other.html);
    const std::string nonce = one.html.substr(3, one.html.find('>') - 3);
    EXPECT_GE(nonce.size(), 16U);
    EXPECT_EQ(one.html, "<a " + nonce + "><b " + nonce + ">");
    EXPECT_THAT(one.policy, HasSubstr("script-src 'nonce-" + nonce + "'"));
    EXPECT_THAT(one.policy, HasSubstr("default-src 'none'"));
    EXPECT_THAT(one.policy, HasSubstr("frame-ancestors 'none'"));
}

TEST(ServedPages, NeedNothingFromElsewhereAndRunUnderTheirPolicy) {
    for (const std::string_view page : {main_page(), login_page()}) {
        const std::string html(page);
        EXPECT_THAT(html, HasSubstr("</html>"));
        for (const char* word : {"http:", "https:", "//cdn", "@import", " style=", " onclick=", "innerHTML", "eval("})
            EXPECT_THAT(html, Not(HasSubstr(word)));
        const std::regex tag("<(script|style)[^>]*>");
        for (std::sregex_iterator it(html.begin(), html.end(), tag), end; it != end; ++it)
            EXPECT_THAT(it->str(), HasSubstr("nonce=\"{{nonce}}\""));
    }
}

}  // namespace
}  // namespace engine
