#include "train/run/machine_meter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/nvml_stand_in.h"
#include "support/patience.h"
#include "temp_folder.h"

namespace engine {
namespace {

using test::comes_true;
using test_support::CardStandIn;
using test_support::CardState;
using test_support::write_package;
using Seconds = MachineMeter::Seconds;

constexpr char stand_in[] = HALFTONE_NVML_STAND_IN;

TEST(MachineMeter, HasTheCardsFiguresAndTheEnergyOfTheRunsOwnTime) {
    const CardStandIn library(stand_in);
    CardState card{.percent = 40,
                   .celsius = 50,
                   .milliwatts = 100'000,
                   .used_bytes = 7,
                   .millijoules = 500'000};
    library.set(card);
    MachineMeter meter(std::make_unique<kernels::CardMeter>(card.pci, stand_in), nullptr,
                       Seconds(0.01));
    ASSERT_TRUE(meter.has_card());
    const MachineFigures first = meter.figures(0);
    EXPECT_FLOAT_EQ(first.card_load, 0.4F);
    EXPECT_EQ(first.card_celsius, 50);
    EXPECT_EQ(first.card_watts, 100);
    EXPECT_EQ(first.card_memory_bytes, 7);
    EXPECT_EQ(first.card_joules, 0);
    EXPECT_TRUE(std::isnan(first.cpu_joules));
    // Time of other runs alone: the card's energy is not this run's.
    card.percent = 90;
    card.millijoules = 600'000;
    library.set(card);
    ASSERT_TRUE(comes_true([&] { return meter.figures(0).card_load > 0.8F; }));
    EXPECT_EQ(meter.figures(0).card_joules, 0);
    // A run that computes without a pause.
    EXPECT_TRUE(comes_true([&, elapsed = 0.0]() mutable {
        card.millijoules += 100'000;
        library.set(card);
        return meter.figures(elapsed += 1).card_joules > 99;
    }));
}

TEST(MachineMeter, GoesOnFromTheEnergyOfTheRunsEarlierPart) {
    const test_support::TempFolder folder;
    write_package(folder / "intel-rapl:0", "package-0", 0, 1'000'000'000);
    MachineMeter meter(nullptr, std::make_unique<kernels::CpuEnergyMeter>(folder.path()),
                       Seconds(0.01));
    EXPECT_FALSE(meter.has_card());
    StepRecord last{};
    last.elapsed_s = 20;
    last.cpu_joules = 300;
    meter.go_on_from(last);
    EXPECT_EQ(meter.figures(20).cpu_joules, 300);
    EXPECT_TRUE(std::isnan(meter.figures(20).card_joules));
    EXPECT_TRUE(comes_true([&, elapsed = 20.0, energy = 0]() mutable {
        std::ofstream(folder / "intel-rapl:0/energy_uj") << (energy += 50'000'000) << '\n';
        return meter.figures(elapsed += 1).cpu_joules > 349;
    }));
}

TEST(MachineMeter, WithoutAMeterEveryFigureIsUnknown) {
    MachineMeter meter(nullptr, nullptr, Seconds(0.01));
    const MachineFigures figures = meter.figures(1);
    EXPECT_TRUE(std::isnan(figures.card_load));
    EXPECT_TRUE(std::isnan(figures.card_joules));
    EXPECT_TRUE(std::isnan(figures.cpu_joules));
}

}  // namespace
}  // namespace engine
