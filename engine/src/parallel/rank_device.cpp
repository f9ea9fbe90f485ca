#include "parallel/rank_device.h"

#include <optional>

#include "engine/base/error.h"
#include "kernels/device.h"
#include "kernels/rank_group.h"

namespace engine {
namespace {

Message hint() { return msg("Set device to cpu or auto."); }

/// Throws Error(device) if this rank cannot use its GPU.
Device own_gpu(int local_rank) {
    const int devices = kernels::cuda::device_count();
    if (devices > 0 && local_rank >= devices) {
        throw Error(ErrorCode::device,
                    msg("Each worker needs a GPU of its own, and this machine has {}.", devices),
                    hint());
    }
    const Device device = resolve_device("cuda:" + std::to_string(local_rank));
    const auto nccl = kernels::cuda::rank_library();
    if (nccl.found) return device;
    throw Error(ErrorCode::device,
                msg("Workers exchange gradients between GPUs through NCCL, which is missing: {}.",
                    nccl.problem),
                hint());
}

}  // namespace

Device device_of_rank(const std::string& setting, Communicator* ranks) {
    if (!ranks || setting == "cpu") return resolve_device(setting);
    if (setting.starts_with("cuda:")) {
        throw Error(ErrorCode::device,
                    msg("The device {} cannot be used by several workers, which take the GPUs in "
                        "order.",
                        setting),
                    msg("Set device to cuda, auto or cpu."));
    }
    if (setting != "auto" && setting != "cuda") return resolve_device(setting);
    Device device;
    std::optional<Error> problem;
    try {
        device = own_gpu(ranks->local_rank());
    } catch (const Error& error) {
        problem = error;
    }
    if (!any(*ranks, problem.has_value())) return device;
    if (setting == "auto") return {};
    if (problem) throw *problem;
    ranks->barrier();  // ends with the reason of the rank that has no GPU
    return {};
}

}  // namespace engine
