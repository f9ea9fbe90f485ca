#include "data/data_fingerprint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "data/dataset.h"
#include "engine/base/error.h"
#include "support/data_fixtures.h"
#include "support/picture_files.h"

namespace engine {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct DataFingerprintTest : testing::Test {
    /// A table with a fixed time, so that only its content decides.
    fs::path table(const std::string& name, const std::string& last = "0.5,1.5", int hour = 0) {
        std::string text = "a,y\n";
        for (int i = 0; i < 30; ++i) text += std::to_string(i) + ".5," + std::to_string(i) + ".5\n";
        folder.write(name, text + last + '\n');
        const fs::path file = folder / name;
        fs::last_write_time(file, fs::file_time_type(std::chrono::hours(hour)));
        return file;
    }
    static DataParts open(const std::string& kind, const fs::path& path) {
        return open_dataset(test::dataset(kind, {path.string()}), 1);
    }
    /// Fingerprint that a run keeps of an opened data set.
    static DataFingerprint kept(const DataParts& parts) {
        return {parts.train.size(), 0, parts.test.size(), parts.files->marks()};
    }
    static DataChange change(const DataFingerprint& before, const DataParts& parts) {
        auto now = parts.files->marks();
        return compare_data(before, now, {});
    }
    test_support::TempFolder folder;
};

TEST_F(DataFingerprintTest, ATableHasItsChecksumOnceItIsOpened) {
    const auto marks = open("csv", table("t.csv")).files->marks();
    ASSERT_EQ(marks.size(), 1U);
    EXPECT_EQ(marks[0].name, "0");
    EXPECT_EQ(marks[0].size, static_cast<std::int64_t>(fs::file_size(folder / "t.csv")));
    EXPECT_EQ(marks[0].hashed, marks[0].size);
    std::ifstream stream(folder / "t.csv");
    const std::string text(std::istreambuf_iterator<char>(stream), {});
    EXPECT_EQ(marks[0].hash, content_hash(0, text.data(), text.size()));
}

TEST_F(DataFingerprintTest, ComparesContentsNotTimes) {
    const DataFingerprint before = kept(open("csv", table("t.csv")));
    EXPECT_TRUE(change(before, open("csv", table("t.csv"))).empty());
    EXPECT_TRUE(change(before, open("csv", table("t.csv", "0.5,1.5", 7))).empty()) << "copied";
    EXPECT_TRUE(change(before, open("csv", table("moved.csv", "0.5,1.5", 7))).empty());
    const DataChange other = change(before, open("csv", table("t.csv", "0.5,1.6")));
    EXPECT_THAT(other.changed, ElementsAre("t.csv")) << "of the same size and time";
    EXPECT_THAT(change(before, open("csv", table("t.csv", "0.5,1.5\n1.5,2.5"))).changed,
                ElementsAre("t.csv"));
    EXPECT_EQ(other.text(), "1 file changed (t.csv)");
}

TEST_F(DataFingerprintTest, WithoutAChecksumOnlySizeAndTimeCount) {
    DataFingerprint before = kept(open("csv", table("t.csv")));
    before.files[0].hashed = 0;
    auto now = before.files;
    now[0].time += 1;
    EXPECT_THAT(compare_data(before, now, {}).unknown, ElementsAre("t.csv"));
    now[0].size += 1;
    EXPECT_THAT(compare_data(before, now, {}).changed, ElementsAre("t.csv"));
}

TEST_F(DataFingerprintTest, APictureHasItsChecksumOnceItIsDecoded) {
    for (int i = 0; i < 4; ++i) {
        for (const std::string part : {"train/a/", "train/b/", "test/a/", "test/b/"})
            folder.write(part + std::to_string(i) + ".png",
                         test::png_of(test::make_picture(20, 20, i)));
    }
    DatasetConfig config = test::dataset("image-folder", {folder.str()});
    config.options["image_size"] = std::int64_t{8};
    const DataParts parts = open_dataset(config, 1);
    EXPECT_EQ(parts.files->hash_count(), 0);
    std::vector<float> pixels(3 * 8 * 8);
    std::int64_t label = 0;
    std::vector<SampleFields::Place> places{
        {reinterpret_cast<std::byte*>(pixels.data()), pixels.size() * sizeof(float), 0, 0},
        {reinterpret_cast<std::byte*>(&label), sizeof label, 0, 0}};
    parts.train.data->read(5, SampleFields(places));
    EXPECT_EQ(parts.files->hash_count(), 1);

    DataFingerprint before = kept(parts);
    EXPECT_EQ(before.files[5].name, "0/train/b/1.png");
    ASSERT_TRUE(before.files[5].has_hash());
    auto now = before.files;
    for (FileMark& mark : now) {  // as another opening finds them, later
        mark.hashed = 0;
        mark.time += 1;
    }
    EXPECT_EQ(compare_data(before, now, {}).unknown.size(), 15U);
    EXPECT_EQ(now[5].hash, before.files[5].hash) << "read because its time differs";
    now[5].hashed = 0;
    folder.write("train/b/1.png", test::png_of(test::make_picture(20, 20, 9)));
    now[5].size = static_cast<std::int64_t>(fs::file_size(folder / "train/b/1.png"));
    EXPECT_THAT(compare_data(before, now, {}).changed, ElementsAre("1.png"));
    before.files[5].name = "0/train/b/old.png";
    const DataChange renamed = compare_data(before, now, {});
    EXPECT_THAT(renamed.gone, ElementsAre("old.png"));
    EXPECT_THAT(renamed.added, ElementsAre("1.png"));
}

TEST_F(DataFingerprintTest, KeepsWhatIsReadOfAPackedFile) {
    const std::string text = "the quick brown fox\njumps over the lazy dog\n";
    folder.write("t.txt.gz", test::gzip(test::bytes_of(text)));
    const DataParts parts = open("text-chars", folder / "t.txt.gz");
    ASSERT_EQ(parts.files->marks().size(), 1U);
    EXPECT_EQ(parts.files->marks()[0].hashed, static_cast<std::int64_t>(text.size()));
}

TEST_F(DataFingerprintTest, IsReadBackAsItWasWritten) {
    const DataFingerprint data{
        10, 2, 3, {{"0/a \"b\".png", 5, -7, 5, 0xfedcba9876543210U}, {"0/\xe7\x8c\xab.png", 6, 8}}};
    write_data_fingerprint(folder.path(), data);
    const auto read = read_data_fingerprint(folder.path());
    ASSERT_TRUE(read);
    EXPECT_EQ(read->train + read->validation + read->test, 15);
    ASSERT_EQ(read->files.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(read->files[i].name, data.files[i].name);
        EXPECT_EQ(read->files[i].size, data.files[i].size);
        EXPECT_EQ(read->files[i].time, data.files[i].time);
        EXPECT_EQ(read->files[i].hash, data.files[i].hash);
        EXPECT_EQ(read->files[i].hashed, data.files[i].hashed);
    }
    EXPECT_FALSE(read_data_fingerprint(folder / "no"));
}

TEST_F(DataFingerprintTest, AFileNameThatIsNoUtf8IsKept) {
    ReadFiles files({folder.str()});
    folder.write("x\xff.png", "1");
    const std::size_t number = files.add(folder / "x\xff.png");
    EXPECT_EQ(files.marks()[number].name, "0/x%FF.png");
    EXPECT_EQ(files.marks()[number].path, folder / "x\xff.png");
    EXPECT_EQ(files.marks()[number].size, 1);
    write_data_fingerprint(folder.path(), {1, 0, 0, files.marks()});
    EXPECT_EQ(read_data_fingerprint(folder.path())->files[0].name, "0/x%FF.png");
}

TEST_F(DataFingerprintTest, ADamagedListIsRefused) {
    const std::string begin = "{\"version\":1,\"train\":1,\"validation\":0,\"test\":0}\n";
    const std::string long_line = begin + "[\"" + std::string(1 << 17, 'a') + "\",1,2]\n";
    for (const std::string& text : std::vector<std::string>{
             long_line, long_line + "[\"a\",1,2]\n", std::string(1 << 17, ' ') + begin,
             "", "x", "{}", "[1]", R"({"version":2,"train":1,"validation":0,"test":0})",
          R"({"version":1,"train":-1,"validation":0,"test":0})",
          "{\"version\":1,\"train\":1,\"validation\":0,\"test\":0}\n[\"a\",1]",
          "{\"version\":1,\"train\":1,\"validation\":0,\"test\":0}\n[\"a\",1,2,3,\"xyz\"]",
          "{\"version\":1,\"train\":1,\"validation\":0,\"test\":0}\n{\"a\":1}"}) {
        folder.write("data.jsonl", text);
        EXPECT_THAT(test::data_error([&] { read_data_fingerprint(folder.path()); }),
                    HasSubstr("data.jsonl: damaged"))
            << text;
    }
}

}  // namespace
}  // namespace engine
