#include "train/run/epoch_rules.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/golden_file.h"


// Compares with PyTorch's ReduceLROnPlateau, from the file that tests/peer/schedule_golden.py
// writes.

namespace engine {
namespace {

using nlohmann::json;

std::vector<Metric> metric_of(const json& variant) {
    return {{.key = "figure",
             .title = "Figure",
             .higher_is_better = variant.at("higher_is_better").get<bool>()}};
}

PlateauRate rate_of(const json& variant) {
    return {metric_of(variant),
            {.lr = variant.at("lr"),
             .factor = variant.at("gamma"),
             .patience = variant.at("patience")}};
}

SavedNumbers saved(const PlateauRate& rate) {
    SavedNumbers out;
    rate.save_into(out);
    return out;
}

PartFigures figures_of(double value) { return {.loss = 1, .metrics = {{"figure", value}}}; }

TEST(PlateauRate, FollowsPyTorchsReduceLROnPlateau) {
    const test::GoldenFile golden("schedules");
    for (const json& variant : golden.setting("plateau")) {
        const std::string prefix = "plateau." + variant.at("name").get<std::string>();
        const auto figures = golden.tensor(prefix + ".figures").values();
        const auto rates = golden.tensor(prefix + ".rates").values();
        PlateauRate rate = rate_of(variant);
        const double base = variant.at("lr");
        int drops = 0;
        for (std::size_t epoch = 0; epoch < figures.size(); ++epoch) {
            const double before = rate.multiplier();
            const bool moved = rate.see({{}, figures_of(figures[epoch])});
            EXPECT_EQ(moved, rate.multiplier() != before);
            drops += moved;
            // Each drop rounds once in PyTorch and once here. The base is multiplied in once.
            EXPECT_NEAR(base * rate.multiplier(), rates[epoch],
                        rates[epoch] * (2 * drops + 1) * 0x1p-53)
                << prefix << " epoch " << epoch;
        }
        EXPECT_GT(drops, 1) << prefix << ": or this shows too little";
    }
}

TEST(PlateauRate, GoesOnFromASavedStateAtEveryEpoch) {
    const test::GoldenFile golden("schedules");
    const json variant = golden.setting("plateau").at(0);
    const auto figures = golden.tensor("plateau.loss.figures").values();
    PlateauRate whole = rate_of(variant);
    for (const double figure : figures) whole.see({{}, figures_of(figure)});
    for (std::size_t saved_at = 0; saved_at < figures.size(); ++saved_at) {
        PlateauRate before = rate_of(variant);
        for (std::size_t i = 0; i < saved_at; ++i) before.see({{}, figures_of(figures[i])});
        PlateauRate after = rate_of(variant);
        after.load_from(saved(before));
        for (std::size_t i = saved_at; i < figures.size(); ++i)
            after.see({{}, figures_of(figures[i])});
        EXPECT_EQ(saved(after), saved(whole)) << saved_at;
    }
}

TEST(PlateauRate, IsMadeForThePlateauScheduleAlone) {
    const auto with = [](const std::vector<std::string>& overrides) {
        return make_plateau_rate(parse_run_config("{}", overrides).config, {});
    };
    EXPECT_FALSE(with({}).has_value());
    auto rate =
        with({"schedule.kind=plateau", "schedule.gamma=0.25", "schedule.patience=0"}).value();
    EXPECT_FALSE(rate.see({{}, {.loss = 1, .metrics = {}}, 1, 1}));
    EXPECT_TRUE(rate.see({{}, {.loss = 1, .metrics = {}}, 2, 2}));
    EXPECT_EQ(rate.multiplier(), 0.25);
}

}  // namespace
}  // namespace engine
