#include "train/step/run_context.h"

#include <utility>

#include "kernels/parallel.h"
#include "kernels/profiler_calls.h"
#include "parallel/gpu_communicator.h"
#include "train/step/fallback_warning.h"

namespace engine {

RunContext::RunContext(const RunConfig& config, const Device& device,
                       std::shared_ptr<Communicator> ranks)
    : device_(device),
      precision_(resolve(config.precision)),
      plans_{.measured = true, .bit_stable = config.deterministic},
      teach_(config.teach),
      threads_(config.threads > 0 ? static_cast<int>(config.threads)
                                  : kernels::cpu::hardware_threads()),
      ranks_(ranks && device.kind == Device::Kind::cuda
                 ? make_gpu_communicator(std::move(ranks), device)
                 : std::move(ranks)),
      synced_norms_(config.sync_batch_norm) {
    kernels::cpu::set_threads(threads_);
    if (device.kind == Device::Kind::cuda) kernels::cuda::open_profiler();
}

RunContext::Entry::Entry(RunContext& context)
    : device_(context.device_),
      accounting_(context.accounting_),
      tf32_(context.precision_.tf32),
      plans_(context.plans_),
      norms_(context.teach_.norm == TeachNorm::composed, context.teach_.norm_epsilon),
      synced_(context.synced_norms_ ? context.ranks() : nullptr),
      fallbacks_(context.fallbacks_) {
    kernels::cpu::set_threads(context.threads_);
}

std::vector<Message> RunContext::take_fallbacks() {
    std::vector<Message> out;
    for (const auto& fallback : fallbacks_.take()) out.push_back(tell(fallback));
    return out;
}

}  // namespace engine
