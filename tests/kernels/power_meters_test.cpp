#include "kernels/power_meters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/nvml_stand_in.h"
#include "temp_folder.h"

namespace kernels {
namespace {

namespace fs = std::filesystem;
using test_support::CardStandIn;
using test_support::CardState;
using test_support::write_package;

constexpr char stand_in[] = HALFTONE_NVML_STAND_IN;

TEST(CardMeter, ReadsTheCardWithThatBusId) {
    const CardStandIn library(stand_in);
    const CardState card{.percent = 97,
                         .celsius = 61,
                         .milliwatts = 312'500,
                         .used_bytes = 13'000'000'000,
                         .millijoules = 8'250};
    library.set(card);
    {
        const CardMeter meter(card.pci, stand_in);
        ASSERT_TRUE(meter.found());
        const CardReading reading = meter.read();
        EXPECT_DOUBLE_EQ(reading.load, 0.97);
        EXPECT_EQ(reading.celsius, 61);
        EXPECT_DOUBLE_EQ(reading.watts, 312.5);
        EXPECT_EQ(reading.memory_bytes, 13e9);
        EXPECT_DOUBLE_EQ(reading.joules, 8.25);
    }
    EXPECT_EQ(library.opened(), 0) << "each meter closes the library that it opened";
}

TEST(CardMeter, HasNoFigureThatTheCardDoesNotReport) {
    const CardState card{.milliwatts = 50'000, .measures_energy = false};
    CardStandIn(stand_in).set(card);
    const CardReading reading = CardMeter(card.pci, stand_in).read();
    EXPECT_TRUE(std::isnan(reading.joules));
    EXPECT_DOUBLE_EQ(reading.watts, 50);
}

TEST(CardMeter, FindsNothingWithoutTheLibraryOrTheCard) {
    const CardStandIn library(stand_in);
    library.set({});
    for (const CardMeter& meter :
         {CardMeter("00000000:66:00.0", stand_in), CardMeter("00000000:65:00.0", "libabsent.so.1")}) {
        EXPECT_FALSE(meter.found());
        EXPECT_TRUE(std::isnan(meter.read().load));
    }
    EXPECT_EQ(library.opened(), 0);
}

TEST(CpuEnergyMeter, AddsTheEnergyOfAllPackagesAlone) {
    const test_support::TempFolder folder;
    write_package(folder / "intel-rapl:0", "package-0", 1'000'000, 100'000'000);
    write_package(folder / "intel-rapl:1", "package-1", 2'000'000, 100'000'000);
    write_package(folder / "intel-rapl:0:0", "core", 0, 100'000'000);
    write_package(folder / "intel-rapl:2", "psys", 0, 100'000'000);
    write_package(folder / "intel-rapl-mmio:0", "package-0", 0, 100'000'000);
    CpuEnergyMeter meter(folder.path());
    ASSERT_TRUE(meter.found());
    EXPECT_EQ(meter.joules(), 0);
    for (const char* zone : {"intel-rapl:0", "intel-rapl:1", "intel-rapl:0:0", "intel-rapl:2",
                             "intel-rapl-mmio:0"})
        std::ofstream(folder / zone / "energy_uj") << 5'000'000 << '\n';
    EXPECT_DOUBLE_EQ(meter.joules(), 7);
}

TEST(CpuEnergyMeter, CountsOnWhereACounterBeginsAgain) {
    const test_support::TempFolder folder;
    write_package(folder / "intel-rapl:0", "package-0", 99'000'000, 100'000'000);
    CpuEnergyMeter meter(folder.path());
    std::ofstream(folder / "intel-rapl:0/energy_uj") << 3'000'000 << '\n';
    EXPECT_DOUBLE_EQ(meter.joules(), 4);
    EXPECT_DOUBLE_EQ(meter.joules(), 4) << "nothing was used since";
}

TEST(CpuEnergyMeter, FindsNothingWhereNothingCanBeRead) {
    const test_support::TempFolder folder;
    EXPECT_FALSE(CpuEnergyMeter(folder / "absent").found());
    write_package(folder / "intel-rapl:0", "package-0", 1, 100);
    fs::remove(folder / "intel-rapl:0/energy_uj");
    EXPECT_FALSE(CpuEnergyMeter(folder.path()).found());
}

}  // namespace
}  // namespace kernels
