#include "engine/train/trained_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "engine/base/error.h"
#include "engine/runs/run_store.h"
#include "support/click_run.h"
#include "trained_models.h"

// Uses of trained runs: evaluation, and predictions for single inputs.
namespace engine {
namespace {

namespace fs = std::filesystem;
using test::small_masked_run;
using test::small_run;
using test::small_text_run;
using test::small_transformer_run;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST_F(TrainedModels, EvaluateToTheFiguresThatTheirRunsEndedWith) {
    for (const RunConfig& from :
         {small_run("mlp", "fp32"), small_run("lenet", "amp-fp16"), small_run("mlp", "o2-fp16"),
          small_run("mlp", "amp-bf16"), small_text_run("amp-fp16"),
          small_transformer_run("amp-bf16"), small_masked_run("amp-fp16"), regression(),
          test::small_click_run("amp-bf16")}) {
        RunConfig config = from;
        config.epochs = config.dataset.kind == "csv" ? 2 : 1;
        config.dataset.train_limit = config.dataset.kind == "text-generated" ? 400 : 640;
        config.dataset.test_limit = 300;
        const RunSummary run = train(config);
        TrainedModel model(run.folder);
        EXPECT_EQ(model.step(), run.steps);
        const PartReport report = model.evaluate();
        EXPECT_EQ(report.figures.loss, run.test.loss) << config.model.kind;
        ASSERT_EQ(report.figures.metrics.size(), run.test.metrics.size());
        for (const MetricValue& metric : run.test.metrics)
            EXPECT_EQ(report.figures.of(metric.key), metric.value) << metric.key;
    }
}

TEST_F(TrainedModels, AnswerToARowOfNumbersAndIds) {
    RunConfig config = test::small_click_run("fp32");
    config.epochs = 1;
    config.dataset.train_limit = 640;
    config.dataset.test_limit = 100;
    TrainedModel model(train(config).folder);
    EXPECT_THAT(model.classes(), ElementsAre("no click", "click"));
    EXPECT_THAT(model.form().columns, SizeIs(13 + 3));
    const auto click = [&](const std::map<std::string, std::string>& row) {
        return model.answer(row).probabilities.at(1);
    };
    const double usual = click({});
    EXPECT_TRUE(usual > 0 && usual < 1);
    EXPECT_NE(click({{"x1", "2"}}), usual);
    EXPECT_NE(click({{"id3", "7"}}), usual);
    EXPECT_EQ(click({{"id3", "0"}, {"x1", "0"}}), usual) << "what is missing is 0";
    for (const char* wrong : {"20", "-1", "1.5", "x"})
        EXPECT_THROW((void)click({{"id1", wrong}}), Error) << wrong;
    EXPECT_THROW((void)click({{"id4", "1"}}), Error);
    const PartReport report = model.evaluate("test", 3);
    EXPECT_EQ(report.support(0) + report.support(1), 100);
    EXPECT_THAT(report.hardest, SizeIs(3));
}

TEST_F(TrainedModels, CountConfusionsAndFindTheHardestSamples) {
    RunConfig config = small_run("lenet", "fp32");
    config.epochs = 1;
    config.dataset.train_limit = 1600;
    config.dataset.test_limit = 300;
    const RunSummary run = train(config);
    TrainedModel model(run.folder);
    const PartReport report = model.evaluate("test", 7);
    std::int64_t all = 0, right = 0;
    for (std::size_t i = 0; i < report.confusion.size(); ++i) {
        all += report.support(i);
        right += report.confusion[i][i];
    }
    EXPECT_EQ(all, 300);
    EXPECT_DOUBLE_EQ(static_cast<double>(right) / 300, run.test.of("accuracy"));
    ASSERT_THAT(report.hardest, SizeIs(7));
    for (std::size_t i = 1; i < 7; ++i)
        EXPECT_GE(report.hardest[i - 1].loss, report.hardest[i].loss);
    const HardSample& worst = report.hardest.front();
    EXPECT_GT(worst.loss, run.test.loss);
    // The answer for the single picture is the same, up to the rounding of the picture to 8 bits.
    const Answer answer = model.answer(worst.picture);
    EXPECT_EQ(answer.best(), worst.predicted);
    EXPECT_NEAR(answer.probabilities[static_cast<std::size_t>(worst.predicted)], worst.probability,
                0.05);
    EXPECT_NEAR(-std::log(answer.probabilities[static_cast<std::size_t>(worst.label)]), worst.loss,
                0.1 * worst.loss);
}

TEST(PartReport, FiguresOfAClassFollowFromTheConfusionMatrix) {
    PartReport report;
    report.confusion = {{8, 2, 0}, {1, 3, 0}, {0, 0, 0}};
    EXPECT_DOUBLE_EQ(report.precision(0), 8.0 / 9);
    EXPECT_DOUBLE_EQ(report.recall(0), 0.8);
    EXPECT_DOUBLE_EQ(report.f1(0), 2 * (8.0 / 9) * 0.8 / (8.0 / 9 + 0.8));
    EXPECT_EQ(report.support(1), 4);
    EXPECT_TRUE(std::isnan(report.precision(2)));
    EXPECT_TRUE(std::isnan(report.recall(2)));
    EXPECT_TRUE(std::isnan(report.f1(2)));
}

TEST(PartReport, OutputsThatAreNaNCountAgainstTheRecall) {
    PartReport report;
    report.confusion = {{8, 0}, {1, 3}};
    report.unpredicted = {2, 0};
    EXPECT_EQ(report.support(0), 10);
    EXPECT_DOUBLE_EQ(report.recall(0), 0.8);
    EXPECT_DOUBLE_EQ(report.precision(0), 8.0 / 9);
}

TEST(Answer, ThatIsNaNIsNoPrediction) {
    Answer answer;
    answer.probabilities = {0.2, 0.8};
    EXPECT_EQ(answer.best(), 1);
    answer.probabilities[0] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(answer.best(), -1);
}

TEST_F(TrainedModels, WithWeightsThatAreNaNPredictNothing) {
    RunConfig config = small_run("mlp", "fp32");
    config.epochs = 1;
    config.dataset.train_limit = 64;
    config.dataset.test_limit = 40;
    config.optimizer.options["lr"] = 1e30;
    config.stop_on_nan = 0;
    config.checkpoint.at_end = true;
    const RunSummary run = train(config);
    TrainedModel model(run.folder);
    const PartReport report = model.evaluate("test", 3);
    std::int64_t none = 0, predicted = 0;
    for (const std::int64_t each : report.unpredicted) none += each;
    for (const auto& row : report.confusion)
        for (const std::int64_t each : row) predicted += each;
    EXPECT_EQ(none, 40);
    EXPECT_EQ(predicted, 0);
    EXPECT_EQ(report.figures.of("accuracy"), 0);
    EXPECT_EQ(report.hardest.front().predicted, -1);
    EXPECT_TRUE(std::isnan(report.hardest.front().loss));
}

TEST_F(TrainedModels, AnEvaluationStopsWhenAsked) {
    RunConfig config = small_run("mlp", "fp32");
    config.epochs = 1;
    TrainedModel model(train(config).folder);
    std::vector<double> shares;
    const PartReport report = model.evaluate("test", 0, [&](double share) {
        shares.push_back(share);
        return shares.size() < 2;
    });
    ASSERT_THAT(shares, SizeIs(2));
    EXPECT_LT(shares[0], shares[1]);
    EXPECT_EQ(report.samples, 2 * 256);
    EXPECT_THAT(report.hardest, IsEmpty());
}

TEST_F(TrainedModels, PredictANumberInItsOwnUnits) {
    const RunSummary run = train(regression());
    TrainedModel model(run.folder);
    EXPECT_EQ(model.target(), "price");
    ASSERT_EQ(model.form().kind, InputForm::Kind::row);
    ASSERT_THAT(model.form().columns, SizeIs(2));
    EXPECT_THAT(model.form().columns[1].categories, ElementsAre("blue", "red"));
    EXPECT_NEAR(model.form().columns[0].usual, 3.25, 0.3);
    const double blue = model.answer({{"length", "3"}, {"colour", "blue"}}).values.at(0);
    const double red = model.answer({{"length", "3"}, {"colour", "red"}}).values.at(0);
    const double noise = 3 * run.test.of("rmse");
    EXPECT_NEAR(blue, 300.5, noise);
    EXPECT_NEAR(red - blue, 50, 2 * noise);
    // A missing cell takes the usual value.
    EXPECT_NEAR(model.answer({{"colour", "blue"}}).values.at(0), 325.5, noise + 30);
}

TEST_F(TrainedModels, RefuseCellsThatDoNotFitTheirColumn) {
    RunConfig config = regression();
    config.epochs = 1;
    TrainedModel model(train(config).folder);
    using Row = std::map<std::string, std::string>;
    for (const Row& row : {Row{{"length", "long"}}, Row{{"length", "nan"}},
                           Row{{"colour", "green"}}, Row{{"width", "3"}}}) {
        EXPECT_THROW(model.answer(row), Error) << row.begin()->first;
    }
    EXPECT_THROW(model.answer(Picture{1, 1, {0, 0, 0}}), Error) << "it takes rows";
    EXPECT_THROW(model.generate({}, [](const std::string&) { return true; }), Error);
}

TEST_F(TrainedModels, NeedACheckpointAndKnowTheirInputs) {
    RunConfig config = small_run("mlp", "fp32");
    config.max_steps = 3;
    config.checkpoint.at_end = config.checkpoint.best = false;
    EXPECT_THROW(TrainedModel(train(config).folder), Error);
    config.checkpoint.at_end = true;
    const RunSummary run = train(config);
    EXPECT_THROW(TrainedModel(run.folder, "17"), Error);
    for (
        const std::string text :
        {"", "{}", "[]", R"({"fields":[{"name":"features"}]})",
         R"({"fields":[{"name":"features","kind":"features","dtype":"f32","shape":[-1],"cardinality":0}]})",
         R"({"fields":[{"name":"features","kind":"features","dtype":"f32","shape":[4000000000,4],"cardinality":0}]})",
         R"({"fields":[{"name":"features","kind":"magic","dtype":"f32","shape":[2],"cardinality":0}]})",
         R"({"fields":[{"name":"features","kind":"features","dtype":"f32","shape":[2],"cardinality":0,"mean":[1],"deviation":[1]}]})"}) {
        std::ofstream(run.folder / "inputs.json") << text;
        EXPECT_THROW(TrainedModel(run.folder), Error) << text;
    }
    fs::remove(run.folder / "inputs.json");
    EXPECT_THROW(TrainedModel(run.folder), Error);
}

TEST_F(TrainedModels, OfAnotherSizeThanTheirInputsSayAreRefused) {
    RunConfig config = small_run("mlp", "fp32");
    config.max_steps = 3;
    const RunSummary run = train(config);
    std::ofstream(run.folder / "inputs.json")
        << R"({"fields":[{"name":"features","kind":"features","dtype":"f32","shape":[9],"cardinality":0},)"
        << R"({"name":"label","kind":"label","dtype":"i64","shape":[],"cardinality":2}]})";
    EXPECT_THROW(TrainedModel(run.folder), Error);
}

TEST_F(TrainedModels, PredictRowsAsTheirTableWasRead) {
    std::ofstream file(folder_ / "gaps.csv");
    file << "share,colour,price\n";
    for (int i = 0; i < 60; ++i) {
        file << (i % 6 == 3 ? "?" : std::to_string(i % 10) + " %") << ','
             << (i % 4 == 0   ? ""
                 : i % 3 == 0 ? "red"
                              : "blue")
             << ',' << i % 10 << ".5\n";
    }
    file.close();
    RunConfig config = regression();
    config.dataset.path = {(folder_ / "gaps.csv").string()};
    config.dataset.options["missing"] = std::string("mean");
    config.dataset.options["standardize"] = false;
    config.epochs = 1;
    TrainedModel model(train(config).folder);
    EXPECT_NEAR(model.form().columns.at(0).usual, 4.5, 0.6) << "without standardising, too";
    const InputTable table = model.read_rows(folder_ / "gaps.csv");
    ASSERT_THAT(table.rows, SizeIs(60));
    for (const InputRow& row : table.rows) EXPECT_TRUE(row.problem.empty()) << row.problem.str();
    EXPECT_EQ(table.rows[4].cells.at("colour"), "blue") << "the most frequent one";
    const double usual = model.form().columns[0].usual;
    EXPECT_EQ(model.answer(table.rows[3].cells).values,
              model.answer({{"share", std::to_string(usual)}, {"colour", "red"}}).values);
    std::ofstream(folder_ / "bare.csv") << "3,red,0\n4 %,green,0\n";
    const InputTable bare = model.read_rows(folder_ / "bare.csv");
    EXPECT_EQ(bare.rows.at(0).cells.at("share"), "3");
    EXPECT_THAT(bare.rows.at(1).problem.str(), HasSubstr("column colour: green"));
    EXPECT_THROW((void)model.read_rows(folder_ / "none.csv"), Error);
}

RunConfig drawing_run(const std::string& model) {
    RunConfig config = small_run(model, "amp-fp16");
    config.model.options["channels"] = std::int64_t{4};
    config.dataset.train_limit = 64;
    config.dataset.test_limit = 20;
    config.epochs = 2;
    return completed(config);
}

TEST_F(TrainedModels, DrawAPictureAgainFromAnAutoencodersCode) {
    const RunSummary run = train(drawing_run("autoencoder"));
    EXPECT_THAT(list_sample_pictures(run.folder), SizeIs(2));
    TrainedModel model(run.folder);
    EXPECT_EQ(model.form().kind, InputForm::Kind::picture);
    const Picture white{28, 28, std::vector<std::uint8_t>(28 * 28 * 3, 255)};
    const Answer answer = model.answer(white);
    EXPECT_EQ(answer.picture.width, 28);
    EXPECT_EQ(answer.picture.height, 28);
    EXPECT_THAT(answer.values, IsEmpty());
    EXPECT_EQ(answer.picture.rgb, model.answer(white).picture.rgb);
    const Picture black{28, 28, std::vector<std::uint8_t>(28 * 28 * 3, 0)};
    EXPECT_NE(answer.picture.rgb, model.answer(black).picture.rgb);
    EXPECT_FALSE(model.draws());
    EXPECT_THROW(model.draw(1, 1), Error);
    EXPECT_EQ(model.evaluate().figures.loss, run.test.loss);
}

TEST_F(TrainedModels, DrawPicturesFromTheNumbersOfASeed) {
    const RunSummary run = train(drawing_run("dcgan"));
    const auto kept = list_sample_pictures(run.folder);
    ASSERT_THAT(kept, SizeIs(2));
    EXPECT_NE(load_picture(kept[0].file).rgb, load_picture(kept[1].file).rgb);
    TrainedModel model(run.folder);
    EXPECT_EQ(model.form().kind, InputForm::Kind::random);
    ASSERT_TRUE(model.draws());
    const Picture four = model.draw(4, 7);
    EXPECT_EQ(four.width, 4 * 28 + 3);
    EXPECT_EQ(four.rgb, model.draw(4, 7).rgb);
    EXPECT_NE(four.rgb, model.draw(4, 8).rgb);
    EXPECT_THROW(model.draw(0, 1), Error);
    EXPECT_THROW(model.draw(65, 1), Error);
    EXPECT_THROW(model.answer(four), Error);
    const PartReport report = model.evaluate();
    EXPECT_EQ(report.figures.loss, run.test.loss);
    EXPECT_EQ(report.figures.of("generator_loss"), run.test.of("generator_loss"));
}

TEST_F(TrainedModels, OfAnAdversarialPairWaitForNoBetterEvaluation) {
    RunConfig config = drawing_run("dcgan");
    config.early_stopping.patience = 1;
    Session session(config, std::make_shared<ComputeThread>(), store_);
    session.post(Command::start);
    EXPECT_TRUE(session.wait(600));
    std::string refused;
    for (const Event& event : session.drain()) {
        if (const auto* failed = std::get_if<RunFailed>(&event)) refused = failed->message.str();
    }
    EXPECT_THAT(refused, HasSubstr("no best evaluation"));
}

}  // namespace
}  // namespace engine
