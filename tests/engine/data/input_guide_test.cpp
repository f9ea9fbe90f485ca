#include "data/input_guide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "support/expectations.h"
#include "temp_folder.h"

namespace engine {
namespace {

using testing::HasSubstr;

/// inputs.json of a table with a column at this place.
std::string with_offset(const std::string& offset, const std::string& more = {}) {
    return R"({"fields":[{"name":"x","kind":"features","dtype":"f32","shape":[2],"cardinality":0}],)"
           R"("columns":[{"name":"a","offset":)" +
           offset + "}]" + more + "}";
}

InputGuide read(const std::string& text) {
    const test_support::TempFolder folder;
    folder.write("inputs.json", text);
    return read_input_guide(folder.path());
}

TEST(InputGuide, IsReadFromItsFile) {
    const InputGuide guide = read(with_offset("1", R"(,"vocabulary":["a","b"],"words":true)"));
    ASSERT_EQ(guide.columns.size(), 1U);
    EXPECT_EQ(guide.columns.front().offset, 1U);
    EXPECT_EQ(guide.vocabulary.size(), 2U);
}

TEST(InputGuide, WithAPlaceOutsideOfAnyRowIsRefused) {
    for (const char* offset : {"-1", "-9223372036854775808", "18446744073709551615", "1e300",
                               "2147483649", "null", "\"1\"", "[]"}) {
        EXPECT_THAT(message_of(ErrorCode::data, [&] { read(with_offset(offset)); }),
                    HasSubstr("damaged"))
            << offset;
    }
}

TEST(InputGuide, ThatIsNoJsonIsRefused) {
    const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
    for (const std::string& text :
         {std::string(), std::string("{"), deep, with_offset("1", ",\"vocabulary\":" + deep),
          with_offset("1", ",\"words\":true,\"words\":false"),
          with_offset("1", ",\"vocabulary\":[1]"), with_offset(deep)}) {
        EXPECT_THAT(message_of(ErrorCode::data, [&] { read(text); }), HasSubstr("damaged"))
            << text.substr(0, 60);
    }
}

}  // namespace
}  // namespace engine
