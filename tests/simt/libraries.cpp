#include "simt/libraries.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>

#include "cuda/native.h"
#include "kernels/cuda_libraries.h"
#include "kernels/profiler_calls.h"
#include "kernels/rank_group.h"
#include "simt/library_plans.h"
#include "simt/nccl.h"
#include "simt/simulation.h"

namespace kernels::simt {
namespace {
LibrarySettings current;
std::atomic<std::int64_t> made{0}, alive{0}, attended{0};
int generation = 0;
std::string problem;
int problems = 0;
AlgorithmRuns runs;
}  // namespace

void configure(const LibrarySettings& settings) {
    current = settings;
    ++generation;
}
int library_generation() { return generation; }
LibrarySettings library_settings() { return current; }
std::int64_t plans_made() { return made; }
void count_plan() { ++made; }
std::int64_t plans_alive() { return alive; }

std::int64_t attention_runs() { return attended; }
void count_attention_run() { ++attended; }

AlgorithmRuns algorithm_runs() { return runs; }
void run_algorithm(int algorithm) {
    const auto& times = current.algorithm_ms;
    if (!times.empty())
        std::this_thread::sleep_for(
            std::chrono::milliseconds(times.at(static_cast<std::size_t>(algorithm))));
    runs = {algorithm, runs.count + 1};
}
bool fails(int algorithm) {
    const auto& times = current.algorithm_ms;
    return !times.empty() && times.at(static_cast<std::size_t>(algorithm)) < 0;
}
std::vector<int> algorithms_known() {
    std::vector<int> out(std::max<std::size_t>(1, current.algorithm_ms.size()));
    std::iota(out.begin(), out.end(), 0);
    return out;
}
std::vector<int> algorithms_offered(bool bit_stable) {
    std::vector<int> out = algorithms_known();
    const int left_out = current.unnamed + (bit_stable ? current.unstable : 0);
    out.resize(out.size() - static_cast<std::size_t>(left_out));
    return out;
}

void fail_plans(const std::string& text, int times) {
    problem = text;
    problems = times;
}
std::string plan_problem() {
    count_plan();
    return problems > 0 && problems-- > 0 ? problem : std::string();
}

LibraryPlan::LibraryPlan() { ++alive; }
LibraryPlan::~LibraryPlan() {
    const Lock lock(simulation().mutex);
    finish_all();  // as the driver does before it unloads a kernel
    --alive;
}

}  // namespace kernels::simt

namespace kernels::cuda {

void* native_stream(Stream stream) { return stream.handle; }
void count_launch() noexcept {}  // the queue counts launches
void open_profiler() {}

LibraryInfo rank_library() {
    if (!simt::nccl_installed()) return {"NCCL", false, "", "", {}, "simulated absence"};
    return {"NCCL", true, "", "simulated", {}, ""};
}

std::vector<LibraryInfo> libraries() {
    return {{"cuBLASLt", true, "", "simulated", {}, ""}, {"cuDNN", true, "", "simulated", {}, ""}};
}

}  // namespace kernels::cuda
