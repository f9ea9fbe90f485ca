#include "cuda/nvjpeg_api.h"

#include <cstdio>
// jpeglib.h needs FILE.
#include <jpeglib.h>

#include <algorithm>
#include <atomic>
#include <csetjmp>
#include <utility>
#include <vector>

#include "kernels/device_error.h"
#include "kernels/jpeg_decoder.h"
#include "simt/nvjpeg.h"
#include "simt/queue.h"

// nvJPEG of the simulated device: libjpeg, with another transform than the program's own decoder
// has, so that its numbers differ from that by a little, as the real one's do.
namespace kernels::cuda::nvjpeg {

struct Context {
    unsigned flags;
};
struct StateOpaque {
    Handle of;
};

namespace {

std::atomic<bool> is_installed{true};
std::atomic<int> decoded{0}, states{0};

struct Source {
    jpeg_error_mgr errors{};
    std::jmp_buf back{};
};

void leave(j_common_ptr info) { std::longjmp(reinterpret_cast<Source*>(info->err)->back, 1); }
void say_nothing(j_common_ptr, int) {}

struct Header {
    int components = 0, width = 0, height = 0;
    bool is_common = false;
};

/// The header of the stream, and its rows where `rgb` is given. False: libjpeg refuses it.
bool read(const unsigned char* data, std::size_t bytes, unsigned flags, Header& header,
          std::vector<unsigned char>* rgb) {
    Source source;
    jpeg_decompress_struct info{};
    info.err = jpeg_std_error(&source.errors);
    source.errors.error_exit = leave;
    source.errors.emit_message = say_nothing;
    if (setjmp(source.back) != 0) {
        jpeg_destroy_decompress(&info);
        return false;
    }
    jpeg_create_decompress(&info);
    jpeg_mem_src(&info, const_cast<unsigned char*>(data), static_cast<unsigned long>(bytes));
    jpeg_read_header(&info, TRUE);
    header = {info.num_components, static_cast<int>(info.image_width),
              static_cast<int>(info.image_height),
              info.jpeg_color_space == JCS_YCbCr && !info.arith_code};
    if (rgb) {
        info.dct_method = JDCT_FLOAT;
        info.do_fancy_upsampling = (flags & interpolated) != 0 ? TRUE : FALSE;
        info.out_color_space = JCS_RGB;
        jpeg_start_decompress(&info);
        rgb->resize(std::size_t{info.output_width} * info.output_height * 3);
        while (info.output_scanline < info.output_height) {
            JSAMPROW row = rgb->data() + std::size_t{info.output_scanline} * info.output_width * 3;
            jpeg_read_scanlines(&info, &row, 1);
        }
        jpeg_finish_decompress(&info);
    }
    const long warnings = source.errors.num_warnings;
    jpeg_destroy_decompress(&info);
    return (flags & strict) == 0 || warnings == 0;
}

Status property(Property, int* value) { return *value = 12, success; }
Status create(Backend, DeviceAllocator*, PinnedAllocator*, unsigned flags, Handle* handle) {
    return *handle = new Context{flags}, success;
}
Status destroy(Handle handle) { return delete handle, success; }
Status state_create(Handle handle, State* state) {
    ++states;
    return *state = new StateOpaque{handle}, success;
}
Status state_destroy(State state) {
    --states;
    return delete state, success;
}

Status image_info(Handle handle, const unsigned char* data, std::size_t bytes, int* components,
                  Subsampling*, int* widths, int* heights) {
    Header header;
    if (!read(data, bytes, handle->flags, header, nullptr)) return bad_jpeg;
    *components = header.components;
    std::fill_n(widths, header.components, header.width);
    std::fill_n(heights, header.components, header.height);
    return header.is_common ? success : jpeg_not_supported;
}

Status decode(Handle handle, State state, const unsigned char* data, std::size_t bytes,
              OutputFormat, Image* image, void* stream) {
    if (state->of != handle) return invalid_parameter;
    Header header;
    std::vector<unsigned char> rgb;
    if (!read(data, bytes, handle->flags, header, &rgb)) return bad_jpeg;
    if (image->pitch[0] != static_cast<std::size_t>(header.width) * 3) return invalid_parameter;
    ++decoded;
    simt::enqueue("nvjpegDecode", {stream}, [to = image->channel[0], rgb = std::move(rgb)] {
        std::copy(rgb.begin(), rgb.end(), to);
    });
    return success;
}

}  // namespace

const Table& table() {
    static constexpr Table only{.property = property,
                                .create = create,
                                .destroy = destroy,
                                .state_create = state_create,
                                .state_destroy = state_destroy,
                                .image_info = image_info,
                                .decode = decode};
    if (!is_installed) throw DeviceError("nvJPEG is not installed (simulated)");
    return only;
}

}  // namespace kernels::cuda::nvjpeg

namespace kernels::cuda {

LibraryInfo jpeg_library() {
    if (!nvjpeg::is_installed) return {"nvJPEG", false, "", "", {}, "simulated absence"};
    return {"nvJPEG", true, "", "simulated", {}, ""};
}

}  // namespace kernels::cuda

namespace kernels::simt {

void set_nvjpeg_installed(bool installed) { cuda::nvjpeg::is_installed = installed; }
int take_decoded_pictures() { return cuda::nvjpeg::decoded.exchange(0); }
int nvjpeg_states() { return cuda::nvjpeg::states; }

}  // namespace kernels::simt
