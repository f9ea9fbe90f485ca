#include "runs/serve/pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>

namespace engine {
namespace {

using testing::HasSubstr;
using testing::Not;

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

TEST(ServedPages, HaveTheMessagesOfTheEngineInChinese) {
    const std::string texts(chinese_texts());
    EXPECT_THAT(texts, HasSubstr("msgid \"{} pays off: a step takes {} ms instead of {} ms.\"\nmsgstr \""));
}

}  // namespace
}  // namespace engine
