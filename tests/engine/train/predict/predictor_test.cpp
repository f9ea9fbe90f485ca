#include "train/predict/predictor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "engine/runs/checkpoint.h"
#include "engine/session/session.h"
#include "engine/train/trained_model.h"
#include "support/device_support.h"
#include "temp_folder.h"

namespace engine {
namespace {

using ::testing::DoubleEq;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsNan;

TEST(Predictor, CarriesTheStateFromSampleToSampleAndBeginsCold) {
    const test_support::TempFolder folder;
    const auto store = std::make_shared<RunStore>(folder / "runs");
    RunConfig config = test::small_text_run("amp-fp16");
    config.max_steps = 20;
    Session session(config, std::make_shared<ComputeThread>(), store);
    session.post(Command::start);
    ASSERT_TRUE(session.wait(600));
    const auto run = store->find(session.run())->folder;
    const InputGuide guide = read_input_guide(run);
    Predictor predictor(read_saved_run(find_checkpoint(run, "last").folder), guide.schema,
                        Device{});
    const auto sample = std::make_shared<MadeSample>(guide.schema);
    sample->i64("tokens") = {3};
    predictor.begin();
    const auto first = predictor.predict(sample).values();
    const auto second = predictor.predict(sample).values();
    EXPECT_EQ(first.size(), guide.vocabulary.size());
    EXPECT_NE(first, second) << "the same token after another one";
    predictor.begin();
    EXPECT_EQ(predictor.predict(sample).values(), first);
}

TEST(Probabilities, AreTheSoftmaxOfTheScores) {
    const auto three = to_probabilities({0, std::log(2.0), std::log(5.0)});
    EXPECT_THAT(three, ElementsAre(DoubleEq(0.125), DoubleEq(0.25), DoubleEq(0.625)));
}

TEST(Probabilities, OfInfiniteScoresAreTheirLimit) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    EXPECT_THAT(to_probabilities({1, infinity, 0}), ElementsAre(0, 1, 0));
    EXPECT_THAT(to_probabilities({infinity, -infinity, infinity}), ElementsAre(0.5, 0, 0.5));
    EXPECT_THAT(to_probabilities({-infinity, 3}), ElementsAre(0, 1));
    EXPECT_THAT(to_probabilities({-infinity, -infinity}), ElementsAre(0.5, 0.5));
    Answer answer;
    answer.probabilities = to_probabilities({1, infinity, 0});
    EXPECT_EQ(answer.best(), 1);
}

TEST(Probabilities, OfNaNAreNaN) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    for (const auto& scores : {std::vector{1, nan}, {nan, infinity}, {infinity, nan, 2}})
        EXPECT_THAT(to_probabilities(scores), Each(IsNan()));
}

TEST(MadeSample, IsWhatWasPutIntoItsFields) {
    Schema schema;
    schema.add(
        {.name = "features", .kind = FieldKind::features, .dtype = DType::f32, .shape = {2}});
    schema.add({.name = "label", .kind = FieldKind::label, .dtype = DType::i64, .cardinality = 3});
    MadeSample sample(schema);
    sample.f32("features") = {1.5f, -2};
    sample.i64("label") = {2};
    float features[2] = {};
    std::int64_t label = 0;
    std::vector<SampleFields::Place> places = {{reinterpret_cast<std::byte*>(features), 8, 0, 0},
                                               {reinterpret_cast<std::byte*>(&label), 8, 0, 0}};
    sample.read(0, SampleFields(places));
    EXPECT_EQ(features[0], 1.5f);
    EXPECT_EQ(features[1], -2.0f);
    EXPECT_EQ(label, 2);
}

}  // namespace
}  // namespace engine
