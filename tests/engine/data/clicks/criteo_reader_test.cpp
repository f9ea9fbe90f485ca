#include "data/clicks/criteo_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <fstream>

#include "engine/base/error.h"
#include "support/expectations.h"
#include "temp_folder.h"

namespace engine {
namespace {

using testing::HasSubstr;

/// A line with the given fields changed.
std::string line(const std::map<std::size_t, std::string>& changed = {}) {
    std::string out;
    for (std::size_t i = 0; i < 40; ++i) {
        std::string field = i == 0   ? "1"
                            : i < 14 ? std::to_string(static_cast<int>(i) - 3)
                                     : "68fd1e64";
        if (const auto found = changed.find(i); found != changed.end()) field = found->second;
        out += (i == 0 ? "" : "\t") + field;
    }
    return out;
}

class CriteoReader : public testing::Test {
protected:
    std::filesystem::path file(const std::string& text, const char* name = "train.txt") {
        std::ofstream(folder_ / name, std::ios::binary) << text;
        return folder_ / name;
    }
    static std::vector<CriteoRow> rows(const std::filesystem::path& path,
                                       std::int64_t table_rows = 1000) {
        std::vector<CriteoRow> out;
        read_criteo(path, table_rows, {}, [&](const CriteoRow& row) {
            out.push_back(row);
            return true;
        });
        return out;
    }
    void expect_refused(const std::string& text, const std::string& words) {
        EXPECT_THAT(message_of(ErrorCode::data, [&] { rows(file(text)); }), HasSubstr(words));
    }

    test_support::TempFolder folder_;
};

TEST_F(CriteoReader, TakesTheLogarithmOfCountsAndHashesCategories) {
    const auto found = rows(file(line() + "\n" + line({{0, "0"}, {2, ""}, {20, ""}}) + "\r\n"));
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].label, 1);
    EXPECT_EQ(found[0].dense[0], 0) << "-2 counts as 0";
    EXPECT_EQ(found[0].dense[12], static_cast<float>(std::log(11.0)));
    EXPECT_EQ(found[0].id[0], 0x68fd1e64 % 1000);
    EXPECT_EQ(found[1].label, 0);
    EXPECT_EQ(found[1].dense[1], 0) << "missing";
    EXPECT_EQ(found[1].id[6], 0) << "missing";
    EXPECT_EQ(found[1].id[25], 0x68fd1e64 % 1000);
    EXPECT_EQ(criteo_id("ffffffff", 100000), 4294967295 % 100000);
}

TEST_F(CriteoReader, TheLastLineNeedsNoEndAndAFileMayBePacked) {
    const std::string text = line() + "\n" + line();
    EXPECT_EQ(rows(file(text)).size(), 2u);
    const auto packed = folder_ / "day_0.gz";
    gzFile out = gzopen(packed.c_str(), "wb");
    gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
    gzclose(out);
    EXPECT_EQ(rows(packed).size(), 2u);
}

TEST_F(CriteoReader, ReadsOverAByteOrderMarkAndBlankLastLines) {
    const std::string mark = "\xEF\xBB\xBF", rows_of_two = line() + "\n" + line();
    for (const std::string& text :
         {mark + rows_of_two + "\n", rows_of_two + "\n\n", rows_of_two + "\r\n\r\n\r\n",
          rows_of_two + "\n ", rows_of_two + "\n  \n\n", mark + rows_of_two + "\r\n \r\n"}) {
        EXPECT_EQ(rows(file(text)).size(), 2u) << text;
    }
    expect_refused(line() + "\n" + std::string(39, '\t') + "\n", "line 2, field 1:  is not 0 or 1");
    expect_refused(line() + "\n" + mark + line(), "line 2, field 1: ???1 is not 0 or 1");
}

TEST_F(CriteoReader, ReadsLinesThatStandAcrossBlocks) {
    std::string text;
    std::size_t count = 0;
    while (text.size() < (std::size_t{5} << 19)) {
        text += line({{1, std::to_string(count)}}) + "\n";
        ++count;
    }
    const auto found = rows(file(text));
    ASSERT_EQ(found.size(), count);
    for (std::size_t i = 0; i < count; ++i)
        ASSERT_EQ(found[i].dense[0], static_cast<float>(std::log1p(static_cast<double>(i))));
}

TEST_F(CriteoReader, RefusesOtherLinesWithTheirNumber) {
    const std::string good = line() + "\n";
    expect_refused(good + "1\t2\n", "line 2 has 2 fields between tabs, not 40");
    expect_refused(good + good + line() + "\tx\n", "line 3 has more than 40 fields");
    expect_refused(line({{0, "2"}}), "line 1, field 1: 2 is not 0 or 1");
    expect_refused(line({{0, ""}}), "field 1:  is not 0 or 1");
    expect_refused(line({{3, "1.5"}}), "field 4: 1.5 is not a whole number");
    expect_refused(line({{3, "99999999999999999999"}}), "is not a whole number");
    expect_refused(line({{39, "xyz"}}), "field 40: xyz is not up to 8 hexadecimal digits");
    expect_refused(line({{39, "123456789"}}), "is not up to 8 hexadecimal digits");
    expect_refused(line({{39, "-1"}}), "is not up to 8 hexadecimal digits");
    expect_refused(good + "\n\n" + good, "line 2 is blank");
    expect_refused("\n" + good, "line 1 is blank");
    expect_refused(good + std::string(5000, '1'), "line 2 has more than 4096 bytes");
    expect_refused(std::string(3 << 20, '\t'), "line 1 has more than 4096 bytes");
    expect_refused(line({{5, std::string("\0\x1b", 2)}}), "field 6: ?? is not a whole number");
}

}  // namespace
}  // namespace engine
