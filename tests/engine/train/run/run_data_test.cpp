#include "train/run/run_data.h"

#include <cstring>
#include <fstream>

#include "data/detection/detection_truth.h"
#include "data/input_guide.h"
#include "engine/base/error.h"
#include "engine/train/trained_model.h"
#include "instruments/replay/run_replay.h"
#include "run_data_support.h"
#include "support/picture_files.h"
#include "support/small_tokenizer.h"

// Runs whose data set is opened again: evaluated, resumed, and steps that are computed again.
namespace engine {
namespace {

namespace fs = std::filesystem;
using test::Ended;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST_F(RunDataTest, OtherColumnsAreRefusedAndSayWhatDiffers) {
    write_table();
    const Ended run = train(table());
    const auto number = [](int i) { return std::to_string(i) + ".5"; };
    struct Other {
        std::string header;
        std::function<std::string(int)> row;
        std::string sentence;
    };
    const std::vector<Other> others = {
        {"a,y", [&](int i) { return number(i) + ',' + number(i); },
         "columns are a instead of a, b"},
        {"a,c,y", plain, "columns are a, c instead of a, b"},
        {"b,a,y", plain, "columns are b, a instead of a, b"},
        {"a,b,z", plain, "target is z instead of y"},
        {"a,b,y", flower, "a sample has features (2), label instead of features (2), target (1)"},
        {"a,b,y", [&](int i) { return number(i) + ',' + number(i) + ',' + std::to_string(i % 3); },
         "features (2), target (1), label instead of"},
        {"a,b,y", [&](int i) { return number(i) + (i % 2 == 0 ? ",red," : ",blue,") + number(i); },
         "column b holds words instead of numbers"},
        {"a,b,c,d,e,f,g,h,i,j,y",
         [&](int i) {
             std::string out;
             for (int k = 0; k < 10; ++k) out += number(k) + ',';
             return out + number(i);
         },
         "columns are a, b, c, d, e, f, g, h, ... (10) instead of a, b"}};
    for (const Other& other : others) {
        write_table(other.row, other.header);
        EXPECT_THAT(evaluation_error(run), HasSubstr(other.sentence));
        EXPECT_THAT(evaluation_error(run, /*accept=*/true), HasSubstr(other.sentence));
        EXPECT_THAT(failure_of(resume_accepting(run, true, "last", {"epochs=4"})),
                    HasSubstr(other.sentence));
        EXPECT_THROW(capsule_before(run.folder, 3), Error) << other.sentence;
    }
    write_table();
    EXPECT_EQ(evaluation_error(run), "");
}

TEST_F(RunDataTest, OtherClassesAndCategoriesAreRefused) {
    write_table(flower);
    const Ended run = train(table());
    for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
             {"rose", "tulip"}, {"rose", "Rose"}, {"rose", "lily"}, {"2.25,lily", "2.25,iris"}}) {
        write_table([&from, &to](int i) {
            std::string row = flower(i);
            if (const auto at = row.find(from); at != std::string::npos)
                row.replace(at, from.size(), to);
            return row;
        });
        EXPECT_THAT(evaluation_error(run), HasSubstr("the classes are ")) << to;
    }
    const auto words = [](const char* other) {
        return [other](int i) {
            return std::string(i % 3 == 0   ? "red"
                               : i % 3 == 1 ? "blue"
                                            : other) +
                   ',' + std::to_string(i % 5) + ".25," + std::to_string(i % 9) + ".125";
        };
    };
    write_table(words("green"));
    const Ended categories = train(table());
    write_table(words("violet"));
    EXPECT_THAT(
        evaluation_error(categories),
        HasSubstr("column a holds the words blue, red, violet instead of blue, green, red"));
}

TEST_F(RunDataTest, OtherContentsAreToldByAnEvaluationAndRefusedByAResume) {
    write_table();
    const Ended run = train(table());
    const std::string guide = text_of(run.folder / "inputs.json");
    const std::string files = text_of(run.folder / "data.jsonl");
    EXPECT_THAT(report_of(run).notes, IsEmpty());
    write_table([](int i) { return plain(i + 1); });

    const PartReport report = report_of(run);
    ASSERT_EQ(report.notes.size(), 1U);
    EXPECT_THAT(report.notes[0].str(), HasSubstr("1 file changed (t.csv)"));
    EXPECT_THROW(capsule_before(run.folder, 3), Error);
    EXPECT_THAT(failure_of(resume_accepting(run, false, "last", {"epochs=4"})),
                HasSubstr("1 file changed (t.csv)"));
    EXPECT_EQ(text_of(run.folder / "inputs.json"), guide) << "nothing was rewritten";
    EXPECT_EQ(text_of(run.folder / "data.jsonl"), files);

    const Ended accepted = resume_accepting(run, true, "last", {"epochs=4"});
    EXPECT_EQ(failure_of(accepted), "");
    EXPECT_THAT(warnings_of(accepted), HasSubstr("1 file changed (t.csv)"));
    EXPECT_EQ(text_of(accepted.folder / "inputs.json"), guide) << "its own normalisation";
    EXPECT_NE(text_of(accepted.folder / "data.jsonl"), files);
    EXPECT_THAT(report_of(accepted).notes, IsEmpty()) << "it knows its new data";
}

TEST_F(RunDataTest, AResumeOfChangedDataStopsBeforeAnythingIsRewritten) {
    write_table();
    RunConfig config = table();
    config.epochs = 50;
    const Ended stopped = train_to(config, 9);
    const auto state = [&] {
        return text_of(stopped.folder / "steps.rec") + text_of(stopped.folder / "events.jsonl") +
               text_of(stopped.folder / "inputs.json") + text_of(stopped.folder / "data.jsonl");
    };
    const std::string before = state();
    write_table([](int i) { return plain(i + 1); });
    EXPECT_THAT(failure_of(resume_accepting(stopped, false)), HasSubstr("have changed"));
    EXPECT_EQ(state(), before);
    const Ended went_on = resume_accepting(stopped, true);
    EXPECT_EQ(went_on.run, stopped.run) << "in place";
    EXPECT_EQ(went_on.record.size(), 50 * 6);
}

TEST_F(RunDataTest, AnotherNumberOfSamplesNeedsTheEndOfAnEpochAndANewRun) {
    write_table();
    RunConfig config = table();  // 48 training rows: 6 steps an epoch
    config.epochs = 4;
    const Ended within = train_to(config, 8);
    const Ended at_end = train_to(config, 12);
    write_table({}, "a,b,y", 40);
    for (const Ended* run : {&within, &at_end}) {
        EXPECT_THAT(failure_of(resume_accepting(*run, false)),
                    HasSubstr("32 training, 0 validation and 8 test samples"));
        EXPECT_THAT(evaluation_error(*run), HasSubstr("had 48, 0 and 12"));
        EXPECT_EQ(evaluation_error(*run, /*accept=*/true), "");
        EXPECT_THROW(capsule_before(run->folder, 3), Error);
    }
    EXPECT_THAT(failure_of(resume_accepting(within, true)), HasSubstr("lies within an epoch"));
    const Ended went_on = resume_accepting(at_end, true);
    EXPECT_EQ(failure_of(went_on), "");
    EXPECT_NE(went_on.run, at_end.run);
    EXPECT_EQ(went_on.record.size(), 12 + 2 * 4) << "two more epochs of 32 rows";
    EXPECT_EQ(store_->find(at_end.run)->state, "stopped");
}

TEST_F(RunDataTest, AMovedFolderWithTheSameContentsIsTheSame) {
    const auto fill = [&](const std::string& name) {
        for (int i = 0; i < 6; ++i) {
            for (const std::string part : {"/train/a/", "/train/b/", "/test/a/", "/test/b/"})
                folder_.write(
                    name + part + std::to_string(i) + ".png",
                    test::png_of(test::make_picture(24, 24, i + static_cast<int>(part.size()))));
        }
    };
    fill("one");
    RunConfig config = base("image-folder", "one");
    config.dataset.options["image_size"] = std::int64_t{16};
    config.model.options.clear();
    config.batch_size = 4;
    config.epochs = 4;
    config = completed(config);
    const Ended whole = train(config);
    const Ended stopped = train_to(config, 5);
    fill("two");  // at another time
    fs::remove_all(folder_ / "one");
    const std::string two = "dataset.path=[\"" + (folder_ / "two").string() + "\"]";
    const Ended moved = resume_accepting(stopped, false, "last", {two});
    EXPECT_EQ(failure_of(moved), "");
    EXPECT_EQ(moved.figures, whole.figures);

    folder_.write("two/train/a/3.png", test::png_of(test::make_picture(24, 24, 99)));
    EXPECT_THAT(failure_of(resume_accepting(stopped, false, "last", {two})),
                HasSubstr("1 file changed (3.png)"));
    fs::rename(folder_ / "two/train/a", folder_ / "two/train/c");
    fs::rename(folder_ / "two/test/a", folder_ / "two/test/c");
    EXPECT_THAT(failure_of(resume_accepting(stopped, true, "last", {two})),
                HasSubstr("the classes are b, c instead of a, b"));
}

TEST_F(RunDataTest, ATextIsReadByTheVocabularyOfItsRun) {
    const auto text = [&](const std::string& line) {
        std::string all;
        for (int i = 0; i < 60; ++i) all += line;
        folder_.write("t.txt", all);
    };
    text("the dog saw a cat\n");
    RunConfig config = base("text-chars", "t.txt");
    config.model.kind = "rnn-lm";
    config.model.options = {{"hidden", std::int64_t{8}}, {"embedding", std::int64_t{8}}};
    const Ended run = train(completed(config));
    const double before = report_of(run).figures.loss;
    text("the dot saw a cat\n");  // without g, so that its own vocabulary would be another one
    const PartReport report = report_of(run);
    ASSERT_EQ(report.notes.size(), 1U);
    EXPECT_THAT(report.notes[0].str(), HasSubstr("1 file changed (t.txt)"));
    EXPECT_NEAR(report.figures.loss, before, 0.5);
    EXPECT_THROW(capsule_before(run.folder, 1), Error);
    text("the dog saw a ant\n");
    EXPECT_THAT(evaluation_error(run), HasSubstr("1 character that the vocabulary"));
    text("THE dog saw a cat\n");
    EXPECT_THAT(evaluation_error(run, true), HasSubstr("lacks: \"T\", \"H\", \"E\""));
}

TEST_F(RunDataTest, OtherTextUnderWordsIsMappedAndUnknownWordsAreTold) {
    const auto text = [&](const std::string& line) {
        std::string all;
        for (int i = 0; i < 60; ++i) all += line;
        folder_.write("t.txt", all);
    };
    text("the dog saw <unk> cat\n");
    DatasetConfig config;
    config.kind = "text-words";
    config.path = {(folder_ / "t.txt").string()};
    const std::vector<std::string> own = {"cat", "saw", "<unk>", "<eos>", "the", "dog"};
    text("the cow saw dog\n");
    RunConfig run;
    run.dataset = config;
    const DataParts parts = open_dataset_as(own, completed(run).dataset, 1);
    std::vector<std::int64_t> tokens(5), targets(5);
    std::vector<SampleFields::Place> places{
        {reinterpret_cast<std::byte*>(tokens.data()), 40, 0, 0},
        {reinterpret_cast<std::byte*>(targets.data()), 40, 0, 0}};
    parts.train.data->read(0, SampleFields(places));
    EXPECT_THAT(tokens, testing::ElementsAre(4, 2, 1, 5, 3));
    InputGuide guide;
    parts.train.data->guide(guide);
    EXPECT_EQ(guide.vocabulary, own);
    ASSERT_FALSE(parts.warnings.empty());
    EXPECT_THAT(parts.warnings[0].str(), HasSubstr("became <unk>: \"cow\""));
}

TEST_F(RunDataTest, ATextIsReadByTheTokenizerThatItsRunKept) {
    std::string text;
    for (int i = 0; i < 60; ++i) text += "the dog saw a cat.\n";
    folder_.write("t.txt", text);
    RunConfig config = base("text-tokens", "t.txt");
    config.dataset.options["tokenizer"] = folder_.write("t.json", test::small_tokenizer());
    config.model.kind = "rnn-lm";
    config.model.options = {{"hidden", std::int64_t{8}}, {"embedding", std::int64_t{8}}};
    const Ended run = train(completed(config));
    const double before = report_of(run).figures.loss;
    fs::remove(folder_ / "t.json");
    EXPECT_EQ(report_of(run).figures.loss, before) << "its own copy is enough";
    std::ofstream(run.folder / "tokenizer.json", std::ios::app) << ' ';
    EXPECT_THAT(evaluation_error(run),
                HasSubstr("not the tokenizer that the run was trained with"));
}

TEST_F(RunDataTest, AChangedOrderFileIsOtherData) {
    write_table();
    folder_.write("order.txt", "0 1 2 3\n4 5 6 7\n8 9 10 11\n");
    RunConfig config = table();
    config.dataset.order = (folder_ / "order.txt").string();
    config.epochs = 20;
    const Ended stopped = train_to(config, 4);
    folder_.write("order.txt", "0 1 2 3\n4 5 6 7\n8 9 10 12\n");
    EXPECT_THAT(failure_of(resume_accepting(stopped, false)), HasSubstr("(order.txt)"));
}

TEST_F(RunDataTest, ARunOfAnEarlierVersionHasItsColumnsAndCountsCompared) {
    write_table();
    const Ended run = train(table());
    fs::remove(run.folder / "data.jsonl");
    const PartReport report = report_of(run);
    ASSERT_EQ(report.notes.size(), 1U);
    EXPECT_THAT(report.notes[0].str(), HasSubstr("kept no list of its data files"));
    write_table({}, "a,b,y", 40);
    EXPECT_THAT(evaluation_error(run), HasSubstr("had 48, 0 and 12"));
    write_table(flower);
    EXPECT_THAT(evaluation_error(run), HasSubstr("a sample has features (2), label"));
}

TEST_F(RunDataTest, ClassesHaveTheNumbersThatTheRunGaveThem) {
    write_table([](int i) { return flower(i % 3); });  // twice as many roses as lilies
    const Ended run = train(table());
    const PartReport before = report_of(run);
    ASSERT_EQ(before.confusion.size(), 2U);
    ASSERT_NE(before.support(0), before.support(1));
    // As if the run had numbered them the other way round.
    std::string guide = text_of(run.folder / "inputs.json");
    const auto swap = [&guide](const std::string& a, const std::string& b) {
        const auto first = guide.find(a), second = guide.find(b);
        ASSERT_TRUE(first < second && second < guide.size());
        guide.replace(second, b.size(), a);
        guide.replace(first, a.size(), b);
    };
    swap("\"lily\"", "\"rose\"");
    std::ofstream(run.folder / "inputs.json") << guide;
    const PartReport after = report_of(run);
    EXPECT_EQ(after.support(0), before.support(1));
    EXPECT_EQ(after.support(1), before.support(0));
    ASSERT_EQ(after.notes.size(), 1U);
    EXPECT_THAT(after.notes[0].str(), HasSubstr("classes have other numbers"));
    EXPECT_THROW(capsule_before(run.folder, 1), Error);
}

TEST_F(RunDataTest, DetectionDataKeepTheRunsClassesCanvasAndTruth) {
    const auto write = [&](const std::string& first, const std::string& third, int objects) {
        std::string boxes;
        for (int i = 0; i < objects; ++i)
            boxes += (i > 0 ? "," : "") + std::string(R"({"id":)") + std::to_string(i + 1) +
                     R"(,"image_id":1,"category_id":)" + (i % 2 == 0 ? "3" : "1") +
                     R"(,"bbox":[1,1,9,5]})";
        folder_.write("p/a.json",
                      R"({"images":[{"id":1,"file_name":"a.png","width":20,"height":10}],)"
                      R"("annotations":[)" +
                          boxes + R"(],"categories":[{"id":1,"name":")" + first +
                          R"("},{"id":3,"name":")" + third + R"("}]})");
    };
    folder_.write("p/a.png", test::png_of(test::make_picture(20, 10)));
    write("cat", "dog", 2);
    RunConfig config = base("coco", "p");
    config.dataset.options = {{"test_share", 0.0}};
    const fs::path run = folder_ / "run";
    fs::create_directory(run);
    const DataParts before = open_dataset(config.dataset, 1);
    keep_run_data(run, before, make_fingerprint(before, config.dataset));

    write("dog", "cat", 3);
    const RunData now = open_run_data(run, config, DataUse::evaluate, /*accept=*/true);
    const Dataset& data = *now.parts.train.data;
    EXPECT_THAT(data.schema()["labels"].names, testing::ElementsAre("cat", "dog"));
    const std::vector<std::int64_t> first{0};
    EXPECT_GT(data.canvas(first, nullptr).height, 0);
    const auto truth = data.truth(0);
    ASSERT_EQ(truth->annotations.size(), 3U);
    EXPECT_EQ(truth->annotations[0].label, 1) << "the category 3 is now the cat";
    EXPECT_EQ(truth->annotations[1].label, 2);
    Batch batch;
    Collator(now.parts.train, data.schema(), {.sampler = {.batch_size = 1, .shuffle = false}})
        .make(batch, 0, 0);
    std::vector<std::int64_t> labels(3);
    const BatchField& read = batch.fields[data.schema().index("labels")];
    ASSERT_GE(read.bytes.size(), sizeof(std::int64_t) * 3);
    std::memcpy(labels.data(), read.bytes.data(), sizeof(std::int64_t) * 3);
    EXPECT_THAT(labels, testing::ElementsAre(1, 2, 1));
}

TEST_F(RunDataTest, ADamagedListCostsTheComparisonAndNotTheRun) {
    write_table();
    RunConfig config = table();
    const Ended whole = train(config);
    for (const char* file : {"data.jsonl", "inputs.json"}) {
        const Ended stopped = train_to(config, 5);
        std::ofstream(stopped.folder / file) << "[";
        const Ended resumed = resume_accepting(stopped, false);
        EXPECT_EQ(resumed.figures, whole.figures) << file;
        EXPECT_THAT(warnings_of(resumed), HasSubstr(std::string(file) + ": damaged, so the data"));
        EXPECT_THAT(text_of(stopped.folder / file), HasSubstr("{")) << "written again";
    }
}

TEST_F(RunDataTest, ARunOfASweepMustFindTheDataOfTheOthers) {
    write_table();
    const Ended first = train(table());
    write_table([](int i) { return plain(i + 1); });
    SessionOptions options;
    options.data_of = first.folder;
    options.data_use = DataUse::sweep;
    const Ended refused = train(table(), options);
    EXPECT_THAT(failure_of(refused), HasSubstr("1 file changed (t.csv)"));
    EXPECT_EQ(refused.run, "") << "it left no folder";
    options.accept_data = true;
    EXPECT_EQ(failure_of(train(table(), options)), "");
    write_table();
    options.accept_data = false;
    EXPECT_EQ(failure_of(train(table(), options)), "");
}

}  // namespace
}  // namespace engine
