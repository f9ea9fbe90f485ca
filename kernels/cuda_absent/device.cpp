#include "kernels/device.h"

#include "cuda_absent/absent.h"
#include "kernels/attention.h"
#include "kernels/cuda_device.h"
#include "kernels/cuda_graph.h"
#include "kernels/cuda_libraries.h"
#include "kernels/deferred_error.h"
#include "kernels/device_error.h"
#include "kernels/jpeg_decoder.h"
#include "kernels/profiler_calls.h"
#include "kernels/rank_group.h"
#include "kernels/recurrent_network.h"

/// Functions that are not declared as kernels: queries have an answer, releases do nothing, the
/// rest throws.
namespace kernels::cuda {

bool built() { return false; }
int device_count() noexcept { return 0; }
std::string why_absent() { return "this build has no CUDA backend"; }
std::string lost_to() { return {}; }

DeviceInfo device_info(int) { absent("device_info"); }
void set_device(int) { absent("set_device"); }
int current_device() { return 0; }
int chosen_device() { return no_device; }
void* allocate(std::size_t) { absent("allocate"); }
void release(void*) noexcept {}
void* allocate_pinned(std::size_t) { absent("allocate_pinned"); }
void release_pinned(void*) noexcept {}
void copy_to_device(void*, const void*, std::size_t, Stream) { absent("copy_to_device"); }
void copy_to_host(void*, const void*, std::size_t, Stream) { absent("copy_to_host"); }
void copy_on_device(void*, const void*, std::size_t, Stream) { absent("copy_on_device"); }
void copy_between_devices(void*, int, const void*, int, std::size_t, Stream) {
    absent("copy_between_devices");
}
void put_bytes(void*, const void*, std::size_t, Stream) { absent("put_bytes"); }
void set_zero(void*, std::size_t, Stream) { absent("set_zero"); }

Stream make_stream() { absent("make_stream"); }
void release(Stream) noexcept {}
void synchronize(Stream) { absent("synchronize"); }
Event::Event() : handle_(nullptr) { absent("Event"); }
Event::~Event() = default;
void Event::record(Stream) { absent("Event::record"); }
void Event::hold(Stream) const { absent("Event::hold"); }
bool Event::passed() const { absent("Event::passed"); }
void Event::synchronize() const { absent("Event::synchronize"); }
float Event::ms_since(const Event&) const { absent("Event::ms_since"); }
CallCounts call_counts() noexcept { return {}; }

void begin_capture(Stream) { absent("begin_capture"); }
bool capturing(Stream) { absent("capturing"); }
bool recording(int) noexcept { return false; }
std::unique_ptr<Graph> end_capture(Stream) { absent("end_capture"); }
void abandon_capture(Stream) noexcept {}

std::vector<LibraryInfo> libraries() { return {}; }
void open_profiler() {}
void set_workspace_allocator(const WorkspaceAllocator&) {}
void set_cache_trimmer(void (*)(int)) {}
std::int64_t workspace_bytes() noexcept { return 0; }
void release_workspaces() noexcept {}
void release_workspaces_of(int) noexcept {}

LibraryInfo rank_library() {
    LibraryInfo info;
    info.name = "NCCL";
    info.problem = "this build has no CUDA backend";
    return info;
}
LibraryInfo jpeg_library() {
    LibraryInfo info;
    info.name = "nvJPEG";
    info.problem = "this build has no CUDA backend";
    return info;
}
std::optional<DecodedJpeg> decode_jpeg(std::span<const std::uint8_t>) { absent("decode_jpeg"); }
RankGroupId make_rank_group_id() { absent("make_rank_group_id"); }
RankGroup::RankGroup(const RankGroupId&, int rank, int) : rank_(rank) { absent("RankGroup"); }
RankGroup::~RankGroup() = default;
void RankGroup::sum(Array, Stream) { absent("RankGroup::sum"); }
void RankGroup::broadcast(Array, Stream) { absent("RankGroup::broadcast"); }
void RankGroup::gather(Array, ConstArray, std::span<const std::int64_t>, Stream) {
    absent("RankGroup::gather");
}
void RankGroup::check_errors() { absent("RankGroup::check_errors"); }
void RankGroup::abort() noexcept {}

std::optional<std::size_t> attention_workspace(const Attention&) { return std::nullopt; }
std::optional<RecurrentSpaces> recurrent_spaces(const RecurrentNetwork&) {
    absent("recurrent_spaces");
}
DeferredError* deferred_error_word() { absent("deferred_error_word"); }

}  // namespace kernels::cuda
