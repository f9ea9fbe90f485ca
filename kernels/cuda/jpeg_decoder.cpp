#include "kernels/jpeg_decoder.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "cuda/native.h"
#include "cuda/nvjpeg_api.h"
#include "kernels/cuda_device.h"
#include "kernels/device_error.h"

namespace kernels::cuda {
namespace {

void check_jpeg(nvjpeg::Status status, const char* call) {
    if (status != nvjpeg::success)
        throw DeviceError(std::string(call) + ": status " + std::to_string(status));
}

/// Statuses that concern the picture, or memory for it: another decoder may take it.
bool refuses_picture(nvjpeg::Status status) {
    return status == nvjpeg::bad_jpeg || status == nvjpeg::jpeg_not_supported ||
           status == nvjpeg::implementation_not_supported ||
           status == nvjpeg::incomplete_bitstream || status == nvjpeg::allocator_failure;
}

/// Decoder of one thread on one device. nvJPEG's state is for one thread at a time.
class JpegDecoder {
public:
    JpegDecoder() {
        try {
            open();
        } catch (...) {
            close();
            throw;
        }
    }
    ~JpegDecoder() { close(); }
    JpegDecoder(const JpegDecoder&) = delete;
    JpegDecoder& operator=(const JpegDecoder&) = delete;

    std::optional<DecodedJpeg> decode(std::span<const std::uint8_t> bytes) {
        int components = 0, widths[nvjpeg::max_components] = {},
            heights[nvjpeg::max_components] = {};
        auto subsampling = nvjpeg::Subsampling::unknown;
        nvjpeg::Status status = nvjpeg::table().image_info(
            handle_, bytes.data(), bytes.size(), &components, &subsampling, widths, heights);
        if (refuses_picture(status) || (status == nvjpeg::success && components != 3)) return {};
        check_jpeg(status, "nvjpegGetImageInfo");
        DecodedJpeg out{widths[0], heights[0], {}};
        const std::size_t row = static_cast<std::size_t>(out.width) * 3;
        out.rgb.resize(row * static_cast<std::size_t>(out.height));
        if (!has_room(out.rgb.size())) return {};
        nvjpeg::Image image{};
        image.channel[0] = static_cast<unsigned char*>(device_);
        image.pitch[0] = row;
        status = nvjpeg::table().decode(handle_, state_, bytes.data(), bytes.size(),
                                        nvjpeg::OutputFormat::rgb_interleaved, &image,
                                        native_stream(stream_));
        if (refuses_picture(status)) return {};
        check_jpeg(status, "nvjpegDecode");
        copy_to_host(pinned_, device_, out.rgb.size(), stream_);
        synchronize(stream_);
        std::memcpy(out.rgb.data(), pinned_, out.rgb.size());
        return out;
    }

private:
    void open() {
        const nvjpeg::Table& library = nvjpeg::table();
        stream_ = make_stream();
        const auto create = [&](unsigned flags) {
            return library.create(nvjpeg::Backend::standard, nullptr, nullptr, flags, &handle_);
        };
        // Early versions know fewer flags.
        nvjpeg::Status status = create(nvjpeg::strict | nvjpeg::interpolated);
        if (status == nvjpeg::invalid_parameter) status = create(0);
        check_jpeg(status, "nvjpegCreateEx");
        check_jpeg(library.state_create(handle_, &state_), "nvjpegJpegStateCreate");
    }
    void close() noexcept {
        if (state_) nvjpeg::table().state_destroy(state_);
        if (handle_) nvjpeg::table().destroy(handle_);
        cuda::release(device_);
        release_pinned(pinned_);
        cuda::release(stream_);
    }
    /// Grows the buffers by doubling, since each growth waits for the device.
    bool has_room(std::size_t bytes) {
        if (bytes <= capacity_) return true;
        const std::size_t larger = std::max(bytes, 2 * capacity_);
        cuda::release(std::exchange(device_, nullptr));
        release_pinned(std::exchange(pinned_, nullptr));
        capacity_ = 0;
        try {
            device_ = allocate(larger);
            pinned_ = allocate_pinned(larger);
        } catch (const OutOfMemory&) {
            return false;
        }
        capacity_ = larger;
        return true;
    }

    Stream stream_{};
    nvjpeg::Handle handle_ = nullptr;
    nvjpeg::State state_ = nullptr;
    void *device_ = nullptr, *pinned_ = nullptr;
    std::size_t capacity_ = 0;
};

}  // namespace

std::optional<DecodedJpeg> decode_jpeg(std::span<const std::uint8_t> bytes) {
    thread_local std::map<int, std::unique_ptr<JpegDecoder>> decoders;  // by device
    auto& decoder = decoders[current_device()];
    if (!decoder) decoder = std::make_unique<JpegDecoder>();
    return decoder->decode(bytes);
}

}  // namespace kernels::cuda
