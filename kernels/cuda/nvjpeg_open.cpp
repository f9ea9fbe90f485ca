#include "cuda/library.h"
#include "cuda/nvjpeg_api.h"
#include "kernels/jpeg_decoder.h"

namespace kernels::cuda {

LibraryInfo jpeg_library() { return nvjpeg_library().info; }

namespace nvjpeg {
namespace {

template <typename F>
void take(F*& function, const char* name) {
    function = reinterpret_cast<F*>(nvjpeg_library().function(name));
}

Table open_table() {
    Table t{};
    take(t.property, "nvjpegGetProperty");
    take(t.create, "nvjpegCreateEx");
    take(t.destroy, "nvjpegDestroy");
    take(t.state_create, "nvjpegJpegStateCreate");
    take(t.state_destroy, "nvjpegJpegStateDestroy");
    take(t.image_info, "nvjpegGetImageInfo");
    take(t.decode, "nvjpegDecode");
    return t;
}

}  // namespace

const Table& table() {
    static const Table only = open_table();  // what throws is tried again by the next call
    return only;
}

}  // namespace nvjpeg

}  // namespace kernels::cuda
