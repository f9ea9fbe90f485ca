#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "data/dataset_descriptor.h"
#include "data/loader/batch_loader.h"
#include "engine/base/error.h"
#include "open_kind.h"
#include "read_sample.h"
#include "simt/device.h"
#include "simt/nvjpeg.h"
#include "support/data_fixtures.h"
#include "support/picture_files.h"
#include "tensor/device.h"

// JPEG pictures by nvJPEG (dataset.decoder=nvjpeg), for which a libjpeg of another transform
// stands.
namespace engine {
namespace {

using ::testing::HasSubstr;

constexpr int pictures = 4;

struct DeviceDecoder : testing::Test {
    DeviceDecoder() {
        for (int i = 0; i < pictures; ++i)
            for (const std::string name : {"ants/", "bees/"}) {
                const Picture picture =
                    test::make_picture(40 + 3 * i, 50 - 2 * i, name == "ants/" ? i : i + 50);
                folder.write(name + std::to_string(i) + ".jpg", test::jpeg_of(picture));
            }
        kernels::simt::take_decoded_pictures();
    }
    ~DeviceDecoder() override {
        kernels::simt::set_nvjpeg_installed(true);
        kernels::simt::configure(kernels::simt::DeviceSettings{});
    }

    DataParts open(const std::string& decoder) const {
        DatasetConfig config = test::dataset("image-folder", {folder.str()});
        config.options["image_size"] = std::int64_t{28};
        config.options["test_share"] = 0.0;
        config.options["decoder"] = decoder;
        return test::open_kind(config);
    }
    Error error_of_nvjpeg() const {
        try {
            open("nvjpeg");
        } catch (const Error& error) {
            return error;
        }
        return {ErrorCode::data, {}};
    }

    test_support::TempFolder folder;
};

TEST_F(DeviceDecoder, GivesThePixelsOfTheExactOneWithinAFewLevels) {
    const DataParts exact = open("exact"), device = open("nvjpeg");
    double largest = 0;
    for (std::int64_t i = 0; i < exact.train.size(); ++i) {
        const auto a = test::read_sample(*exact.train.data, i);
        const auto b = test::read_sample(*device.train.data, i);
        EXPECT_EQ(a.label, b.label);
        ASSERT_EQ(a.values.size(), b.values.size());
        for (std::size_t k = 0; k < a.values.size(); ++k)
            largest =
                std::max(largest, 255 * std::abs(static_cast<double>(a.values[k] - b.values[k])));
    }
    EXPECT_LE(largest, 3);
    EXPECT_GT(largest, 0) << "the exact decoder";
    EXPECT_EQ(kernels::simt::take_decoded_pictures(), 2 * pictures);
}

TEST_F(DeviceDecoder, IsUsedByTheLoadersThreadsOnTheLoadersGpu) {
    const DataParts parts = open("nvjpeg");
    const int states = kernels::simt::nvjpeg_states();
    {
        const DeviceScope scope({Device::Kind::cuda, 1});
        const std::int64_t first = kernels::simt::device_choices(0),
                           second = kernels::simt::device_choices(1);
        BatchLoader loader(parts.train, parts.train.data->schema(),
                           {.sampler = {.batch_size = 2 * pictures}, .epochs = 1, .threads = 3});
        Batch batch;
        ASSERT_TRUE(loader.next(batch));
        EXPECT_EQ(kernels::simt::take_decoded_pictures(), 2 * pictures);
        EXPECT_EQ(kernels::simt::device_choices(0), first);
        EXPECT_GT(kernels::simt::device_choices(1), second);
    }
    EXPECT_EQ(kernels::simt::nvjpeg_states(), states) << "a thread's decoder ends with it";
}

TEST_F(DeviceDecoder, LeavesOtherPicturesToTheExactOne) {
    folder.write("ants/grey.png", test::png_of(test::make_picture(30, 30)));
    const DataParts exact = open("exact"), device = open("nvjpeg");
    bool seen = false;
    for (std::int64_t i = 0; i < exact.train.size(); ++i) {
        kernels::simt::take_decoded_pictures();
        const auto b = test::read_sample(*device.train.data, i);
        if (kernels::simt::take_decoded_pictures() > 0) continue;
        seen = true;
        EXPECT_EQ(test::read_sample(*exact.train.data, i).values, b.values);
    }
    EXPECT_TRUE(seen);
}

TEST_F(DeviceDecoder, FindsDamageAsTheExactOneDoes) {
    std::vector<std::uint8_t> bytes = test::jpeg_of(test::make_picture(64, 64));
    std::fill(bytes.end() - static_cast<std::ptrdiff_t>(bytes.size() / 3), bytes.end() - 2,
              std::uint8_t{0});
    folder.write("ants/0.jpg", bytes);
    const auto damaged_of = [&](const char* decoder) {
        const DataParts parts = open(decoder);
        int damaged = 0;
        for (std::int64_t i = 0; i < parts.train.size(); ++i) {
            try {
                test::read_sample(*parts.train.data, i);
            } catch (const DamagedSample&) {
                ++damaged;
            }
        }
        return damaged;
    };
    EXPECT_EQ(damaged_of("nvjpeg"), damaged_of("exact"));
}

TEST_F(DeviceDecoder, IsRefusedWithTheReasonWhereItsLibraryOrTheGpuIsMissing) {
    kernels::simt::set_nvjpeg_installed(false);
    const Error library = error_of_nvjpeg();
    EXPECT_EQ(library.code(), ErrorCode::device);
    EXPECT_EQ(library.message().str(),
              "dataset.decoder is nvjpeg, but nvJPEG of the CUDA toolkit is "
              "missing: simulated absence.");
    EXPECT_EQ(library.hint().str(), "Set dataset.decoder to exact.");
    kernels::simt::set_nvjpeg_installed(true);
    kernels::simt::configure(kernels::simt::DeviceSettings{.devices = 0});
    EXPECT_THAT(error_of_nvjpeg().message().str(),
                HasSubstr("dataset.decoder is nvjpeg, which needs a GPU: "));
    EXPECT_EQ(open("exact").train.size(), 2 * pictures);
}

}  // namespace
}  // namespace engine
